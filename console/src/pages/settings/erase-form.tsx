import { Autocomplete, Button, Group, Select, Stack, Switch, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { tenantNamesQuery } from '../../api/access-queries.ts'
import { Problem } from '../../parts/problem.tsx'
import type { ErasureRequest } from './erasure-words.ts'

/** Asks what to erase. It begins as a count: what is gone does not come back. */
export function EraseForm({
  onAsk,
  error,
  isBusy,
}: {
  onAsk(request: ErasureRequest): void
  error: unknown
  isBusy: boolean
}) {
  const tenants = useQuery(tenantNamesQuery)
  const [tenant, setTenant] = useState('')
  const [endUser, setEndUser] = useState('')
  const [what, setWhat] = useState<'content' | 'rows'>('content')
  const [isDry, setDry] = useState(true)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onAsk({
      tenant: tenant.trim(),
      what,
      dry_run: isDry,
      ...(endUser.trim() === '' ? {} : { end_user: endUser.trim() }),
    })
  }
  return (
    <form onSubmit={submit}>
      <Stack gap={12}>
        <Autocomplete
          label="Tenant"
          description="Its name or its id"
          required
          data-autofocus
          data={(tenants.data?.data ?? []).map(({ name }) => name)}
          value={tenant}
          onChange={setTenant}
        />
        <TextInput
          label="End user"
          description="As the log names it. Empty: all of the tenant."
          value={endUser}
          onChange={(event) => setEndUser(event.currentTarget.value)}
        />
        <Select
          label="What"
          allowDeselect={false}
          data={[
            { value: 'content', label: 'Content: rows and money stay' },
            { value: 'rows', label: 'Rows and content: money stays' },
          ]}
          value={what}
          onChange={(value) => setWhat(value === 'rows' ? 'rows' : 'content')}
        />
        <Switch
          label="Only count what would go"
          checked={isDry}
          onChange={(event) => setDry(event.currentTarget.checked)}
        />
        {error === null ? null : <Problem error={error} />}
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy} {...(isDry ? {} : { color: 'red' })}>
            {isDry ? 'Count what would go' : 'Erase data'}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
