import { ApiError } from '../api/client.ts'

export interface PartState {
  state: 'waiting' | 'ready' | 'failed'
  error: unknown
  again(): void
}

interface Told {
  /** "Nothing on this page could be read", or "The numbers and the errors could not be read". */
  what: string
  /** Of one of the parts: they fail alike. */
  error: unknown
  again(): void
}

/**
 * What a page says about its failed parts. Those that fail for one reason are reported together. One that
 * fails alone says so itself; it is silent only while no part has been read and some still wait: they may
 * fail for the same reason. `isTelling`: the page speaks already, and does not stop because a part came later
 * and waits.
 */
export function toldOnce(
  parts: ReadonlyMap<string, PartState>,
  isTelling = false,
): { told: Told[]; silent: Set<string> } {
  const all = [...parts]
  const failed = all.filter(([, { state }]) => state === 'failed')
  const hasNothing = all.every(([, { state }]) => state !== 'ready')
  const mayFail = hasNothing && failed.length < all.length
  if (mayFail && !isTelling) return { told: [], silent: new Set(failed.map(([name]) => name)) }
  const alike = [...Map.groupBy(failed, ([, { error }]) => reasonOf(error)).values()].filter(
    (some) => some.length > 1,
  )
  return {
    told: alike.map((some) => ({
      what:
        hasNothing && some.length === failed.length
          ? 'Nothing on this page could be read'
          : `${listOf(some)} could not be read`,
      error: some[0]?.[1].error,
      again() {
        for (const [, part] of some) part.again()
      },
    })),
    silent: new Set(alike.flatMap((some) => some.map(([name]) => name))),
  }
}

/** Each call has an id of its own: it is not a reason. */
function reasonOf(error: unknown): string {
  return error instanceof ApiError ? `${error.status} ${error.code} ${error.message}` : String(error)
}

function listOf(parts: readonly (readonly [name: string, part: PartState])[]): string {
  const words = new Intl.ListFormat('en').format(parts.map(([name]) => name))
  return words.charAt(0).toUpperCase() + words.slice(1)
}
