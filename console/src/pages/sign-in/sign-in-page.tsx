import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, api, ask } from '../../api/client.ts'
import { forgetSession } from '../../api/session.ts'
import { Problem } from '../../parts/problem.tsx'
import { SignInFrame } from './sign-in-frame.tsx'

/** Sign in with a password, and a second factor where one is set up; or by the operator's own sign-on. */
export function SignInPage() {
  const { to } = useSearch({ from: '/console/sign-in' })
  const navigate = useNavigate()
  const ways = useQuery({
    queryKey: ['sign-in'],
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/sign-in', { signal })),
  })
  const form = useForm({ mode: 'uncontrolled', initialValues: { email: '', password: '', code: '' } })
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const needsCode = error instanceof ApiError && error.code === 'second_factor_required'
  const [asksForCode, setAsksForCode] = useState(false)
  const target = pageOf(to)

  const signIn = form.onSubmit(async ({ email, password, code }) => {
    setBusy(true)
    try {
      await ask(
        api.POST('/admin/v1/session', {
          body: { email, password, ...(code === '' ? {} : { code: code.trim() }) },
        }),
      )
      forgetSession()
      await navigate({ to: target, replace: true })
    } catch (cause) {
      setError(cause)
      if (cause instanceof ApiError && cause.code === 'second_factor_required') setAsksForCode(true)
    } finally {
      setBusy(false)
    }
  })
  return (
    <SignInFrame title="Sign in">
      <form onSubmit={signIn}>
        <Stack gap={12}>
          <TextInput
            label="E-mail"
            type="email"
            autoComplete="username"
            required
            autoFocus
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            required
            {...form.getInputProps('password')}
          />
          {asksForCode ? (
            <TextInput
              label="Code"
              description="Six digits of your app, or a recovery code"
              autoComplete="one-time-code"
              inputMode="numeric"
              autoFocus
              required
              {...form.getInputProps('code')}
            />
          ) : null}
          {error === undefined || needsCode ? null : <Problem error={error} />}
          <Button type="submit" size="sm" loading={isBusy}>
            Sign in
          </Button>
          {ways.data?.single_sign_on === true ? (
            <Button
              component="a"
              href={`/admin/v1/oidc/start?return_to=${encodeURIComponent(target)}`}
              variant="default"
              size="sm"
            >
              Sign in with single sign-on
            </Button>
          ) : null}
          <details>
            <summary>Forgotten your password?</summary>
            <Text fz={13} mt={8}>
              Ask an owner: under Users, "Make a password link" makes a link with which you set a new one. An
              operator can make it with <code>ADMIN_TOKEN</code>:{' '}
              <code>POST /admin/v1/users/&#123;id&#125;/reset-link</code>.
            </Text>
          </details>
        </Stack>
      </form>
    </SignInFrame>
  )
}

/** Only pages of the console: a link to this page must lead nowhere else. */
function pageOf(to: string | undefined): string {
  return to !== undefined && /^\/console(\/|\?|$)/.test(to) && !to.startsWith('/console/sign-in')
    ? to
    : '/console'
}
