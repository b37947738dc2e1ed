import { Anchor, Button, Group, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { Code } from '../../parts/code.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Section } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Notice, State } from '../../parts/state.tsx'
import { done } from '../../parts/toast.tsx'
import { accountQuery } from './account-query.ts'
import classes from './qr-code.module.css'

/** Few pages need the library. */
const QrCode = lazy(() => import('./qr-code.tsx'))

type Step =
  | { at: 'rest' }
  | { at: 'secret'; factor: Schema<'SecondFactor'> }
  | { at: 'codes'; codes: string[] }

/** A second factor: set up, with its recovery codes, and turned off. */
export function SecondFactor() {
  const account = useQuery(accountQuery)
  // Recovery codes must not go when the account cannot be read for a moment.
  const steps = useFactorSteps()
  return (
    <Section title="Second factor">
      {account.error !== null ? (
        <Problem error={account.error} onAgain={() => void account.refetch()} />
      ) : account.data === undefined ? null : (
        <FactorSteps isOn={account.data.has_second_factor} steps={steps} />
      )}
    </Section>
  )
}

function FactorSteps({ isOn, steps }: { isOn: boolean; steps: ReturnType<typeof useFactorSteps> }) {
  const { step, form, error, isBusy, begin, confirm, end, rest } = steps
  if (step.at === 'codes') return <RecoveryCodes codes={step.codes} onCopied={rest} />
  const isSecret = step.at === 'secret'
  const problem = error === undefined ? null : <Problem error={error} doing="Second factor" />
  const code = (
    <TextInput
      label="Code"
      description={isOn ? 'Six digits of your app, or a recovery code' : 'Six digits of your app'}
      autoComplete="one-time-code"
      inputMode="numeric"
      {...form.getInputProps('code')}
    />
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!isBusy) void (isSecret ? confirm() : isOn ? end() : begin())
      }}
    >
      <Stack gap={12} maw={isSecret ? 480 : 400}>
        {isSecret ? (
          <>
            <NewSecret factor={step.factor} />
            {code}
            {problem}
            <Group gap={8}>
              <Button type="submit" loading={isBusy}>
                Turn on
              </Button>
              <Button variant="default" onClick={rest}>
                Cancel
              </Button>
            </Group>
          </>
        ) : (
          <OnOrOff isOn={isOn} isBusy={isBusy}>
            <PasswordInput
              label="Password"
              autoComplete="current-password"
              required
              {...form.getInputProps('password')}
            />
            {isOn ? code : null}
            {problem}
          </OnOrOff>
        )}
      </Stack>
    </form>
  )
}

/** Where somebody is between no second factor and one, and the calls that lead on. */
function useFactorSteps() {
  const [step, setStep] = useState<Step>({ at: 'rest' })
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const queries = useQueryClient()
  const form = useForm({ initialValues: { password: '', code: '' } })
  const run = async (act: () => Promise<void>) => {
    setBusy(true)
    setError(undefined)
    try {
      await act()
      form.reset()
      await queries.invalidateQueries({ queryKey: accountQuery.queryKey })
    } catch (cause) {
      setError(cause)
    } finally {
      setBusy(false)
    }
  }
  const confirmation = () => {
    const { password, code } = form.getValues()
    return { password, ...(code.trim() === '' ? {} : { code: code.trim() }) }
  }
  return {
    step,
    form,
    error,
    isBusy,
    rest: () => setStep({ at: 'rest' }),
    begin: () =>
      run(async () => {
        setStep({
          at: 'secret',
          factor: await ask(api.POST('/admin/v1/second-factor', { body: confirmation() })),
        })
      }),
    confirm: () =>
      run(async () => {
        const { recovery_codes } = await ask(
          api.POST('/admin/v1/second-factor/confirm', { body: { code: form.getValues().code.trim() } }),
        )
        setStep({ at: 'codes', codes: recovery_codes })
      }),
    end: () =>
      run(async () => {
        await ask(api.POST('/admin/v1/second-factor/disable', { body: confirmation() }))
        done('Your second factor is off')
      }),
  }
}

function RecoveryCodes({ codes, onCopied }: { codes: readonly string[]; onCopied(): void }) {
  return (
    <>
      <Notice tone="warning">
        Your second factor is on. Copy these recovery codes now: they are not shown again. Each works once in
        place of a code, when you have lost the app.
      </Notice>
      <Code text={codes.join('\n')} what="the recovery codes" />
      <Group>
        <Button onClick={onCopied}>I have copied the codes</Button>
      </Group>
    </>
  )
}

function NewSecret({ factor: { uri, secret } }: { factor: Schema<'SecondFactor'> }) {
  return (
    <>
      <div>
        Scan this picture with your app, write the secret into it, or{' '}
        <Anchor href={uri} underline="always">
          open it in an app of this device
        </Anchor>
        . It is shown once. Then write the first code of the app.
      </div>
      <div className={classes.beside}>
        <div className={classes.place}>
          <Suspense fallback={null}>
            <QrCode text={uri} label="QR code of the secret" />
          </Suspense>
        </div>
        <div>
          <div>Secret</div>
          <div className={classes.secret}>
            <code>{inFours(secret)}</code>
            <Copy text={secret} what="the secret" />
          </div>
        </div>
      </div>
    </>
  )
}

/** What stands, and the button to the other. `children`: the fields that confirm it. */
function OnOrOff({ isOn, isBusy, children }: { isOn: boolean; isBusy: boolean; children: ReactNode }) {
  return (
    <>
      <div>
        <State tone={isOn ? 'good' : 'warning'}>{isOn ? 'on' : 'off'}</State>
      </div>
      <div>
        {isOn
          ? 'A sign-in asks for a code of your app beside the password. Without it, the password alone opens your account.'
          : 'With a second factor, a sign-in asks for a code of an app on your phone beside the password.'}
      </div>
      {children}
      <Group gap={8}>
        {isOn ? (
          <Button type="submit" variant="outline" color="var(--tg-bad)" loading={isBusy}>
            Turn off second factor
          </Button>
        ) : (
          <Button type="submit" loading={isBusy}>
            Set up second factor
          </Button>
        )}
      </Group>
    </>
  )
}

/** `ABCD EFGH`: so it is typed without a mistake. Apps take it with the spaces too. */
function inFours(secret: string): string {
  return secret.match(/.{1,4}/g)?.join(' ') ?? secret
}
