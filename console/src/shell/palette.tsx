import { useDebouncedValue } from '@mantine/hooks'
import '@mantine/spotlight/styles.css'
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight'
import { SearchIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { api, ask } from '../api/client.ts'
import { type Area, useMay, useSession } from '../api/session.ts'
import { placesOf } from './navigation.ts'

const requestId = /^(?:req_)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i

/**
 * `asked`: how often it was asked for; it opens each time. Pages at once; tenants, keys, channels and models
 * as somebody types; a pasted request id opens its row.
 */
export function Palette({ asked }: { asked: number }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: it opens once for each time that it was asked for
  useEffect(() => spotlight.open(), [asked])
  const navigate = useNavigate()
  const may = useMay()
  const { role } = useSession()
  const [words, setWords] = useState('')
  const [looked] = useDebouncedValue(words.trim(), 150)
  const found = useQuery({
    queryKey: ['palette', looked],
    enabled: looked.length > 0,
    queryFn: ({ signal }) => find(looked, may, signal),
  })
  const id = requestId.exec(words.trim())?.[1]
  const go =
    (to: string): SpotlightActionData['onClick'] =>
    () =>
      void navigate({ to })
  const pages = placesOf(may, role)
    .flatMap(({ places }) => places)
    .filter(({ title }) => matches(title, words))
    .map(({ title, to, key, icon: Icon }) => ({
      id: to,
      label: title,
      description: `G ${key.toUpperCase()}`,
      leftSection: <Icon size={16} />,
      onClick: go(to),
    }))
  const things = (found.data ?? []).map(({ kind, name, to }) => ({
    id: to,
    label: name,
    description: kind,
    onClick: go(to),
  }))
  const row =
    id === undefined
      ? []
      : [{ id, label: `Request ${id}`, description: 'Open its row', onClick: go(`/console/log/${id}`) }]
  return (
    <Spotlight
      actions={[...row, ...things, ...pages]}
      // Everything here matches already.
      filter={(_query, actions) => actions}
      query={words}
      onQueryChange={setWords}
      shortcut={null}
      scrollable
      overlayProps={{ blur: 0, backgroundOpacity: 0.4 }}
      maxHeight={420}
      nothingFound={
        found.isError
          ? 'The gateway could not look for it. Type on to try again.'
          : found.isFetching || looked !== words.trim()
            ? 'Looking…'
            : 'Nothing has this name'
      }
      searchProps={{
        leftSection: <SearchIcon size={16} />,
        placeholder: 'A page, tenant, key, channel or model, or a request id',
        'aria-label': 'Find anything',
      }}
    />
  )
}

interface Found {
  kind: string
  name: string
  to: string
}

/** Of each kind. Typing more letters shows the others. */
const most = 5

async function find(words: string, may: (area: Area) => boolean, signal: AbortSignal): Promise<Found[]> {
  const options = { params: { query: { search: words, limit: most } }, signal }
  const [tenants, keys, channels, models] = await Promise.all([
    may('tenants') ? ask(api.GET('/admin/v1/tenants', options)) : undefined,
    may('keys') ? ask(api.GET('/admin/v1/keys', options)) : undefined,
    may('catalog') ? ask(api.GET('/admin/v1/channels', options)) : undefined,
    may('catalog') ? ask(api.GET('/admin/v1/models', options)) : undefined,
  ])
  return [
    ...(tenants?.data ?? []).map(({ id, name }) => ({ kind: 'tenant', name, to: `/console/tenants/${id}` })),
    ...(keys?.data ?? []).map(({ id, name }) => ({ kind: 'key', name, to: `/console/keys/${id}` })),
    ...(channels?.data ?? []).map(({ id, name }) => ({
      kind: 'channel',
      name,
      to: `/console/channels/${id}`,
    })),
    ...(models?.data ?? []).map(({ id }) => ({
      kind: 'model',
      name: id,
      to: `/console/models/${encodeURIComponent(id)}`,
    })),
  ]
}

function matches(name: string, words: string): boolean {
  return name.toLowerCase().includes(words.trim().toLowerCase())
}
