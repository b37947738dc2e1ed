import { useDebouncedValue } from '@mantine/hooks'
import '@mantine/spotlight/styles.css'
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight'
import { SearchIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { useMay, useSession } from '../api/session.ts'
import { looksLikeSecret } from '../parts/looks-like-secret.ts'
import { useKeyOfSecret, wordsOfSecretSearch } from '../parts/use-key-of-secret.ts'
import { findThings, requestId } from './find-things.ts'
import { placesOf } from './navigation.ts'
import { ranked } from './ranked.ts'

/**
 * `asked`: another value each time that it was asked for; it opens each time. `onReady`: it has the focus.
 * Pages at once; tenants, keys, channels and models as somebody types; a pasted request id opens its row, and
 * a pasted secret its key.
 */
export function Palette({
  asked,
  words,
  onWords,
  onReady,
  onClose,
}: {
  asked: unknown
  words: string
  onWords(words: string): void
  onReady(): void
  onClose(): void
}) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: it opens once for each time that it was asked for
  useEffect(() => spotlight.open(), [asked])
  const navigate = useNavigate()
  const may = useMay()
  const { role } = useSession()
  const [paused] = useDebouncedValue(words.trim(), 150)
  const onFound = useCallback(() => {
    onWords('')
    spotlight.close()
  }, [onWords])
  const secret = useKeyOfSecret(may('keys') ? words : '', onFound)
  const looked = looksLikeSecret(paused) ? '' : paused
  const found = useQuery({
    queryKey: ['palette', looked],
    enabled: looked.length > 0,
    queryFn: ({ signal }) => findThings(looked, may, signal),
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
  const things = ranked(found.data ?? [], looked).map(({ about, name, to }) => ({
    id: to,
    label: name,
    description: about,
    onClick: go(to),
  }))
  const row =
    id === undefined
      ? []
      : [{ id, label: `Request ${id}`, description: 'Open its row', onClick: go(`/console/log/${id}`) }]
  return (
    <Spotlight
      // A thing that is found by an id has that id: it is no request.
      actions={[...things, ...row, ...pages]}
      // Everything here matches already.
      filter={(_query, actions) => actions}
      query={words}
      onQueryChange={onWords}
      // Mantine would give it to the input that was there while this was loaded.
      returnFocus={false}
      onSpotlightClose={onClose}
      shortcut={null}
      scrollable
      overlayProps={{ blur: 0, backgroundOpacity: 0.4 }}
      maxHeight={420}
      nothingFound={
        wordsOfSecretSearch[secret] ??
        (found.isError
          ? 'The gateway could not look for it. Type on to try again.'
          : found.isFetching || paused !== words.trim()
            ? 'Looking…'
            : 'Nothing has this name')
      }
      searchProps={{
        leftSection: <SearchIcon size={16} />,
        placeholder: 'A page, tenant, key, channel or model, a request id, or the secret of a key',
        'aria-label': 'Find anything',
        onFocus: onReady,
      }}
    />
  )
}

function matches(name: string, words: string): boolean {
  return name.toLowerCase().includes(words.trim().toLowerCase())
}
