import { Button, ScrollArea, SegmentedControl, Stack, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask } from '../../api/client.ts'
import { keptFor } from '../../api/kept.ts'
import { short } from '../../format/numbers.ts'
import { looksLikeSecret, secretElsewhere } from '../../parts/looks-like-secret.ts'
import { Problem } from '../../parts/problem.tsx'
import { foundQuery } from '../../parts/things-by-name.ts'
import { filterParts, nameIn } from './overview-address.ts'
import type { PageFilter, SumsPart, Terms } from './overview-query.ts'

/** The most that the sums give at a time. */
const most = 200
const shown = 50

interface Choice {
  value: string
  title: string
  /** In the time of the page; undefined: found by its name. */
  requests?: number
}

/** What to narrow the page to: a part, and one of what had requests in this time, the most first. */
export function FilterList({
  terms,
  isMember,
  onChange,
}: {
  terms: Terms
  isMember: boolean
  onChange(name: keyof PageFilter, value: string | undefined): void
}) {
  const parts = filterParts.filter(({ notForMembers }) => !isMember || notForMembers !== true)
  const [part, setPart] = useState<SumsPart>('model')
  const [words, setWords] = useState('')
  const [looked] = useDebouncedValue(words.trim(), 150)
  const { choices, isWhole, error, refetch } = useChoices(terms, part, looked)
  const { name } = filterParts.find((one) => one.part === part) ?? { name: 'model' }
  return (
    <Stack gap={8} w={320}>
      <SegmentedControl
        size="xs"
        aria-label="Part"
        data={parts.map(({ part, title }) => ({ value: part, label: title }))}
        value={part}
        onChange={(next) => setPart(parts.find((one) => one.part === next)?.part ?? 'model')}
      />
      <TextInput
        data-autofocus
        size="xs"
        aria-label={`Search by name: ${part}`}
        placeholder="Part of the name"
        description={looksLikeSecret(words) ? secretElsewhere : undefined}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
        value={words}
        onChange={(event) => setWords(event.currentTarget.value)}
      />
      {error === null ? null : <Problem error={error} onAgain={() => void refetch()} />}
      <ScrollArea.Autosize mah={264}>
        <Stack gap={0}>
          {choices?.map(({ value, title, requests }) => (
            <Button
              key={value}
              variant={terms.filter[name] === value ? 'light' : 'subtle'}
              color="gray"
              fw={400}
              justify="space-between"
              aria-pressed={terms.filter[name] === value}
              rightSection={
                requests === undefined ? undefined : (
                  <span className="tg-quiet tg-number">{short(requests)}</span>
                )
              }
              onClick={() => onChange(name, value)}
            >
              {title}
            </Button>
          ))}
        </Stack>
      </ScrollArea.Autosize>
      {choices?.length === 0 ? <span className="tg-quiet">No {part} with this name.</span> : null}
      {isWhole ? null : <span className="tg-quiet">More exist: search by name.</span>}
    </Stack>
  )
}

function useChoices(terms: Terms, part: SumsPart, looked: string) {
  const { from, to } = terms
  const bySums = useQuery({
    queryKey: ['filter-choices', part, terms.chosen],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      ask(
        api.GET('/admin/v1/summary', {
          params: { query: { from, to, group_by: part === 'key' ? 'tenant,key' : part, limit: most } },
          signal,
        }),
      ),
  })
  const hasList = part === 'tenant' || part === 'key'
  // Those without a request in this time too.
  const byName = useQuery({
    ...foundQuery(part, looked),
    enabled: hasList && looked !== '',
    placeholderData: keptFor([`${part}s`, 'found', false]),
  })
  const { error, refetch } = hasList && looked !== '' && byName.error !== null ? byName : bySums
  const sums = bySums.data?.data.flatMap((row): Choice[] => {
    const { id, name } = nameIn(row, part)
    return id === '' ? [] : [{ value: id, title: name, requests: row.requests }]
  })
  const fitting = sums?.filter(({ title }) => title.toLowerCase().includes(looked.toLowerCase()))
  const known = new Set(fitting?.map(({ value }) => value))
  const named = (looked === '' ? [] : (byName.data ?? [])).map(
    ({ id, name }): Choice => ({ value: id, title: name }),
  )
  const others = named.filter(({ value }) => !known.has(value))
  const isWaiting = hasList && looked !== '' && byName.data === undefined
  const choices =
    fitting === undefined || (isWaiting && fitting.length === 0) ? undefined : [...fitting, ...others]
  return {
    choices: choices?.slice(0, shown),
    isWhole: choices === undefined || (choices.length <= shown && (bySums.data?.other ?? null) === null),
    error,
    refetch,
  }
}
