import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { forgetSession } from '../../api/session.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { Problem } from '../../parts/problem.tsx'
import { done } from '../../parts/toast.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import { SignInFrame } from './sign-in-frame.tsx'

const passwordLength = 12

/**
 * A link that the gateway or an owner made: it sets a password, once. Then its person is signed in with it.
 */
export function LinkPage() {
  const [token] = useState(() => window.location.hash.slice(1))
  const link = useQuery({
    queryKey: ['link', token],
    enabled: token !== '',
    retry: false,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => ask(api.POST('/admin/v1/links/show', { body: { token }, signal })),
  })
  if (token === '') {
    return (
      <SignInFrame title="The link is not whole">
        Open the whole link, with everything behind the sign #.
      </SignInFrame>
    )
  }
  if (link.isError) {
    return (
      <SignInFrame title="This link does not work">
        <Stack gap={12}>
          <Problem error={link.error} />
          <Text fz={13}>
            A link works once, and for a limited time. While the gateway has no owner, each start prints a new
            one. Otherwise ask an owner for another.
          </Text>
          <Link to="/console/sign-in">Sign in</Link>
        </Stack>
      </SignInFrame>
    )
  }
  if (link.data === undefined) return <Waiting rows={4} />
  return <SetPassword token={token} link={link.data} />
}

const titles = {
  setup: 'Make the first owner',
  invitation: 'Accept the invitation',
  reset: 'Set a new password',
} as const

function SetPassword({ token, link }: { token: string; link: Schema<'OpenLink'> }) {
  const navigate = useNavigate()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { email: link.email ?? '', password: '', again: '' },
    validate: {
      password: (value) =>
        value.length < passwordLength
          ? `Take ${passwordLength} characters or more; ${value.length} are here.`
          : null,
      again: (value, { password }) => (value === password ? null : 'The two passwords differ.'),
    },
  })
  const use = form.onSubmit(async ({ email, password }) => {
    setBusy(true)
    setError(undefined)
    try {
      const asksForEmail = link.email === null
      await ask(
        api.POST('/admin/v1/links/use', {
          body: { token, password, ...(asksForEmail ? { email } : {}) },
        }),
      )
      forgetSession()
      const to = link.purpose === 'setup' ? '/console/set-up' : '/console'
      // A link signs no one in, so that it does not pass by a second factor.
      const isIn = await ask(api.POST('/admin/v1/session', { body: { email, password } })).then(
        () => true,
        () => false,
      )
      if (isIn) return await navigate({ to, replace: true })
      // A code is missing, or there were too many attempts. The link is used: it cannot be tried again.
      done('The password is set. Sign in with it.')
      await navigate({ to: '/console/sign-in', search: { to }, replace: true })
    } catch (cause) {
      setError(cause)
    } finally {
      setBusy(false)
    }
  })
  return (
    <SignInFrame title={titles[link.purpose]}>
      <form onSubmit={use}>
        <Stack gap={12}>
          <TextInput
            label="E-mail"
            type="email"
            autoComplete="username"
            required
            readOnly={link.email !== null}
            autoFocus={link.email === null}
            {...form.getInputProps('email')}
          />
          <PasswordInput
            label="Password"
            description={`${passwordLength} characters or more`}
            autoComplete="new-password"
            required
            autoFocus={link.email !== null}
            {...form.getInputProps('password')}
          />
          <PasswordInput
            label="The password again"
            autoComplete="new-password"
            required
            {...form.getInputProps('again')}
          />
          {error === undefined ? null : <Problem error={error} />}
          <Button type="submit" size="sm" loading={isBusy}>
            {link.purpose === 'setup' ? 'Make the owner and sign in' : 'Set the password and sign in'}
          </Button>
          <Text fz={12} c="dimmed">
            The link works until <Moment at={link.expires_at} />.
          </Text>
        </Stack>
      </form>
    </SignInFrame>
  )
}
