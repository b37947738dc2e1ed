import { Button, Stack, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api, ask } from '../../api/client.ts'
import { keptFor } from '../../api/kept.ts'
import { Problem } from '../../parts/problem.tsx'

const most = 20

/** Tenants to choose from, found by a part of the name. */
export function TenantList({
  id,
  onChange,
}: {
  id: string | undefined
  onChange(id: string | undefined): void
}) {
  const [words, setWords] = useState('')
  const field = useRef<HTMLInputElement>(null)
  // It is loaded after its frame has looked for something to focus.
  useEffect(() => field.current?.focus(), [])
  const [looked] = useDebouncedValue(words.trim(), 150)
  const { data, error, refetch } = useQuery({
    queryKey: ['tenants', 'choice', looked],
    placeholderData: keptFor(['tenants', 'choice']),
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
        ref={field}
        size="xs"
        aria-label="Search tenants"
        placeholder="A part of the name"
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
