/**
 * The keys of one purpose. It changes while the process runs: read it at each use, and keep none of its keys.
 */
export interface KeyRing {
  /** Seals and signs. */
  readonly current: Buffer
  /** These only open and verify. */
  readonly former: readonly FormerKey[]
}

export interface FormerKey {
  readonly key: Buffer
  /** When another key took its place, in ms since 1970. Infinity: another process may still seal with it. */
  readonly retiredMs: number
}

/** A ring of one key, which stays the same. */
export function ringOf(key: Buffer): KeyRing {
  return { current: key, former: [] }
}
