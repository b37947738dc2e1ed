import { lazy, Suspense, useSyncExternalStore } from 'react'
import { ApiError } from '../api/client.ts'

/** What shows toasts is loaded for the first one. */
const Shelf = lazy(async () => ({ default: (await import('./toast-shelf.tsx')).ToastShelf }))

/** Whether there was a toast yet, and who wants to know. */
const first = { has: false, listeners: new Set<() => void>() }

/** Where toasts appear. It appears once, beside all pages. */
export function Toasts() {
  const has = useSyncExternalStore(
    (listener) => {
      first.listeners.add(listener)
      return () => first.listeners.delete(listener)
    },
    () => first.has,
  )
  return has ? (
    <Suspense fallback={null}>
      <Shelf />
    </Suspense>
  ) : null
}

/** Says that something is done: "Key ci is revoked". */
export function done(message: string): void {
  void show({ message, color: 'accent', autoClose: 4_000 })
}

/** Says that something is done, and what the person may not have meant. It stays until it is closed. */
export function doneBut(message: string, but: string): void {
  void show({ title: message, message: but, color: 'yellow', autoClose: false })
}

/**
 * Says what was not done, why, and the id of the call. It stays until it is closed. `what`: "The revocation".
 */
export function fails(what: string, error: unknown): void {
  const detail = error instanceof Error ? error.message : String(error)
  const id = error instanceof ApiError && error.requestId !== undefined ? ` (request ${error.requestId})` : ''
  void show({ title: `${what} failed`, message: `${detail}${id}`, color: 'red', autoClose: false })
}

async function show(toast: {
  title?: string
  message: string
  color: string
  autoClose: number | false
}): Promise<void> {
  first.has = true
  for (const listener of first.listeners) listener()
  const { showToast } = await import('./toast-shelf.tsx')
  showToast(toast)
}
