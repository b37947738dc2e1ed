import { useDebouncedValue } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { ApiError, api, ask } from '../api/client.ts'
import { looksLikeSecret } from './looks-like-secret.ts'

/** Of a text that looks like a secret; `none`: it does not. */
export type SecretSearch = 'none' | 'looking' | 'unknown' | 'failed'

/**
 * Opens the page of the key whose secret is in a field, when the reader pauses, and calls `onFound`, which
 * clears the field. The secret is in the body of one call, and in no address, no key of a query and no
 * storage. `onFound` does not change.
 */
export function useKeyOfSecret(text: string, onFound: () => void): SecretSearch {
  const navigate = useNavigate()
  const [asked] = useDebouncedValue(text.trim(), 250)
  const [left, setLeft] = useState<'unknown' | 'failed'>()
  useEffect(() => {
    setLeft(undefined)
    if (!looksLikeSecret(asked)) return
    const ended = new AbortController()
    const { signal } = ended
    ask(api.POST('/admin/v1/keys/find', { body: { secret: asked }, signal })).then(
      ({ id }) => {
        if (signal.aborted) return
        onFound()
        void navigate({ to: '/console/keys/$id', params: { id } })
      },
      (error: unknown) => {
        // What is shorter or longer than any secret is refused with a 400.
        const isNone = error instanceof ApiError && (error.status === 404 || error.status === 400)
        if (!signal.aborted) setLeft(isNone ? 'unknown' : 'failed')
      },
    )
    return () => ended.abort()
  }, [asked, navigate, onFound])
  if (!looksLikeSecret(text)) return 'none'
  return asked === text.trim() ? (left ?? 'looking') : 'looking'
}

/** What a field says meanwhile. */
export const wordsOfSecretSearch: Readonly<Record<SecretSearch, string | undefined>> = {
  none: undefined,
  looking: 'Looking for the key of this secret…',
  unknown: 'No key has this secret',
  failed: 'The gateway could not look for the key. Type on to try again.',
}
