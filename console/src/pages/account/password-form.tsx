import { Button, Group, PasswordInput, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask } from '../../api/client.ts'
import { formErrors } from '../../parts/form-errors.ts'
import { Problem } from '../../parts/problem.tsx'
import { done } from '../../parts/toast.tsx'
import { accountQuery } from './account-query.ts'

const shortest = 12

export function PasswordForm() {
  const queryClient = useQueryClient()
  const { data: account } = useQuery(accountQuery)
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const form = useForm({
    initialValues: { current_password: '', new_password: '', again: '', code: '' },
    validate: {
      current_password: (value) => (value === '' ? 'Write your password of now.' : null),
      new_password: (value) =>
        value.length < shortest ? `Take ${shortest} characters or more; ${value.length} are here.` : null,
      again: (value, { new_password }) => (value === new_password ? null : 'The two passwords differ.'),
    },
  })
  const change = form.onSubmit(async ({ current_password, new_password, code }) => {
    setBusy(true)
    setError(undefined)
    try {
      await ask(
        api.POST('/admin/v1/password', {
          body: { current_password, new_password, ...(code.trim() === '' ? {} : { code: code.trim() }) },
        }),
      )
      form.reset()
      void queryClient.invalidateQueries({ queryKey: ['account'] })
      done('Your password is changed, and your other sessions have ended')
    } catch (cause) {
      setError(cause)
      form.setErrors(formErrors(cause))
    } finally {
      setBusy(false)
    }
  })
  return (
    <form onSubmit={change}>
      <Stack gap={12} maw={400}>
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          {...form.getInputProps('current_password')}
        />
        <PasswordInput
          label="New password"
          description={`${shortest} characters or more`}
          autoComplete="new-password"
          {...form.getInputProps('new_password')}
        />
        <PasswordInput
          label="New password again"
          autoComplete="new-password"
          {...form.getInputProps('again')}
        />
        {account?.has_second_factor === true ? (
          <TextInput
            label="Code"
            description="Six digits of your app, or a recovery code"
            autoComplete="one-time-code"
            {...form.getInputProps('code')}
          />
        ) : null}
        {error === undefined ? null : <Problem error={error} doing="Change password" />}
        <Group>
          <Button type="submit" loading={isBusy}>
            Change password
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
