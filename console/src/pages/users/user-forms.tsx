import { Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { tenantNamesQuery } from '../../api/access-queries.ts'
import { api, ask, type Schema } from '../../api/client.ts'
import type { Tagged } from '../../api/tagged.ts'
import { ChangeProblem } from '../../parts/change-problem.tsx'
import { Code } from '../../parts/code.tsx'
import { formErrors } from '../../parts/form-errors.ts'
import { Moment } from '../../parts/formatted-values.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Notice } from '../../parts/state.tsx'
import { done } from '../../parts/toast.tsx'
import { gatewayUrl } from '../../site.ts'
import { pageOfLink } from './link-address.ts'
import { useUserEditing } from './user-query.ts'

type Role = Schema<'User'>['role']

const roles: { value: Role; label: string }[] = [
  { value: 'viewer', label: 'Viewer: reads everything but users' },
  { value: 'member', label: 'Member: reads one tenant, and changes its keys' },
  { value: 'admin', label: 'Admin: changes everything but users and settings' },
  { value: 'owner', label: 'Owner: changes everything' },
]

function useTenantOptions() {
  return useQuery(tenantNamesQuery).data?.data.map(({ id, name }) => ({ value: id, label: name })) ?? []
}

export function InviteForm({
  onMade,
  onCancel,
}: {
  onMade(link: Schema<'MadeLink'>): void
  onCancel(): void
}) {
  const tenants = useTenantOptions()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const form = useForm({
    initialValues: { email: '', role: 'viewer' as Role, tenant_id: '' },
    validate: {
      email: (value) => (value.includes('@') ? null : 'Write an e-mail address.'),
      tenant_id: (value, { role }) => (role === 'member' && value === '' ? 'Choose the tenant.' : null),
    },
  })
  const invite = form.onSubmit(async ({ email, role, tenant_id }) => {
    setBusy(true)
    setError(undefined)
    try {
      onMade(
        await ask(
          api.POST('/admin/v1/invitations', {
            body: { email: email.trim(), role, tenant_id: role === 'member' ? tenant_id : null },
          }),
        ),
      )
    } catch (cause) {
      setError(cause)
      form.setErrors(formErrors(cause))
    } finally {
      setBusy(false)
    }
  })
  return (
    <form onSubmit={invite} noValidate>
      <Stack gap={12}>
        <TextInput
          label="E-mail"
          type="email"
          required
          data-autofocus
          autoComplete="off"
          {...form.getInputProps('email')}
        />
        <Select label="Role" data={roles} {...form.getInputProps('role')} />
        {form.values.role === 'member' ? (
          <Select label="Tenant" required searchable data={tenants} {...form.getInputProps('tenant_id')} />
        ) : null}
        <Text c="dimmed">The gateway sends no mail. You get a link, and give it to the person.</Text>
        {error === undefined ? null : <Problem error={error} doing="Make invitation" />}
        <Group justify="flex-end" gap={8}>
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy}>
            Make invitation
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

export function RoleForm({ of, onClose }: { of: Tagged<Schema<'User'>>; onClose(): void }) {
  const editing = useUserEditing(of)
  const user = editing.base
  const queryClient = useQueryClient()
  const tenants = useTenantOptions()
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const form = useForm({
    initialValues: roleOf(of.data),
    validate: {
      tenant_id: (value, { role }) => (role === 'member' && value === '' ? 'Choose the tenant.' : null),
    },
  })
  const save = form.onSubmit(async ({ role, tenant_id }) => {
    setBusy(true)
    setError(undefined)
    try {
      await editing.change((header) =>
        ask(
          api.PATCH('/admin/v1/users/{id}', {
            params: { path: { id: user.id }, header },
            body: { role, tenant_id: role === 'member' ? tenant_id : null },
          }),
        ),
      )
      await queryClient.invalidateQueries({ queryKey: ['users'] })
      done(`${user.email} is ${role} now`)
      onClose()
    } catch (cause) {
      setError(cause)
      form.setErrors(formErrors(cause))
    } finally {
      setBusy(false)
    }
  })
  const goOn = (keeps: boolean) => {
    if (editing.now === undefined) return
    const [typed, before, now] = [form.getValues(), roleOf(editing.base), roleOf(editing.now)]
    const isOwn = (name: 'role' | 'tenant_id') => keeps && typed[name] !== before[name]
    form.setValues({
      role: isOwn('role') ? typed.role : now.role,
      tenant_id: isOwn('tenant_id') ? typed.tenant_id : now.tenant_id,
    })
    setError(undefined)
    editing.goOn()
  }
  return (
    <form onSubmit={save}>
      <Stack gap={12}>
        <Select label="Role" data={roles} data-autofocus {...form.getInputProps('role')} />
        {form.values.role === 'member' ? (
          <Select label="Tenant" required searchable data={tenants} {...form.getInputProps('tenant_id')} />
        ) : null}
        <Text c="dimmed">
          All sessions of {user.email} end: the person signs in again, with the new rights.
        </Text>
        <ChangeProblem
          error={error}
          editing={editing}
          doing="Change role"
          yours={{
            role: form.values.role,
            ...(form.values.role === 'member' ? { tenant_id: form.values.tenant_id } : {}),
          }}
          onGoOn={() => goOn(true)}
          onDrop={() => goOn(false)}
        />
        <Group justify="flex-end" gap={8}>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy}>
            Change role
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function roleOf({ role, tenant_id }: Schema<'User'>) {
  return { role, tenant_id: tenant_id ?? '' }
}

/** The link of an invitation or of a new password, the only time that it is shown. */
export function LinkOnce({ link, onClose }: { link: Schema<'MadeLink'>; onClose(): void }) {
  return (
    <Stack gap={12}>
      <Notice tone="warning">
        Copy the link now, and give it to {link.email ?? 'the person'}. It is not shown again. Whoever has it
        can use it, once, until <Moment at={link.expires_at} />.
      </Notice>
      <Code text={pageOfLink(gatewayUrl, link.token)} what="the link" />
      <Group justify="flex-end">
        <Button onClick={onClose}>I have copied the link</Button>
      </Group>
    </Stack>
  )
}
