/**
 * The keys for one purpose. The ring can change while the process runs, so read it on each use and do not
 * store its keys.
 */
export interface KeyRing {
  /** The key that seals and signs. */
  readonly current: Buffer
  /** Keys that only open and verify. */
  readonly former: readonly FormerKey[]
}

export interface FormerKey {
  readonly key: Buffer
  /** When the key was replaced, in ms since 1970. Infinity: another process may still be sealing with it. */
  readonly retiredMs: number
}

/** A ring with a single key that never changes. */
export function ringOf(key: Buffer): KeyRing {
  return { current: key, former: [] }
}
