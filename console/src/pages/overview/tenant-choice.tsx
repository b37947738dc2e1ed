import { Button, Popover, Stack, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { ChevronDownIcon, OrganizationIcon } from '@primer/octicons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask } from '../../api/client.ts'
import { tenantQuery } from '../../api/who.ts'
import { Problem } from '../../parts/problem.tsx'

/** Whose numbers the page shows: those of all tenants (`id` undefined), or of one. */
export function TenantChoice({
  id,
  onChange,
}: {
  id: string | undefined
  onChange(id: string | undefined): void
}) {
  const [isOpen, setOpen] = useState(false)
  const chosen = useQuery({ ...tenantQuery(id ?? ''), enabled: id !== undefined })
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-start" trapFocus withRoles={false}>
      <Popover.Target>
        <Button
          variant="default"
          aria-expanded={isOpen}
          leftSection={<OrganizationIcon size={14} />}
          rightSection={<ChevronDownIcon size={14} />}
          onClick={() => setOpen(!isOpen)}
        >
          {id === undefined ? 'All tenants' : (chosen.data?.data.name ?? id)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Tenants
          id={id}
          onChange={(next) => {
            setOpen(false)
            onChange(next)
          }}
        />
      </Popover.Dropdown>
    </Popover>
  )
}

const most = 20

function Tenants({ id, onChange }: { id: string | undefined; onChange(id: string | undefined): void }) {
  const [words, setWords] = useState('')
  const [looked] = useDebouncedValue(words.trim(), 150)
  const { data, error, refetch } = useQuery({
    queryKey: ['tenants', 'choice', looked],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      ask(
        api.GET('/admin/v1/tenants', {
          params: { query: { limit: most, sort: 'name', ...(looked === '' ? {} : { search: looked }) } },
          signal,
        }),
      ),
  })
  const choice = (value: string | undefined, title: string) => (
    <Button
      key={value ?? ''}
      variant={value === id ? 'light' : 'subtle'}
      justify="flex-start"
      aria-pressed={value === id}
      onClick={() => onChange(value)}
    >
      {title}
    </Button>
  )
  return (
    <Stack gap={4} w={232}>
      <TextInput
        size="xs"
        aria-label="Search tenants"
        placeholder="A part of the name"
        data-autofocus
        value={words}
        onChange={(event) => setWords(event.currentTarget.value)}
      />
      {choice(undefined, 'All tenants')}
      {error === null ? null : <Problem error={error} onAgain={() => void refetch()} />}
      {data?.data.map((tenant) => choice(tenant.id, tenant.name))}
      {data?.data.length === 0 ? <span className="tg-quiet">No tenant has this name.</span> : null}
      {data === undefined || data.next_cursor === null ? null : (
        <span className="tg-quiet">There are more: search for them.</span>
      )}
    </Stack>
  )
}
