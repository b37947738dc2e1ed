import type { ErrorKind, Fault } from './kinds.ts'

/** A refusal or failure that Tollgate reports, identified by a stable reason. */
export interface ReasonEntry {
  kind: ErrorKind
  /** The side that has to act, if it differs from the kind's. */
  fault?: Fault
  /**
   * The code that a vendor's SDK or an agent acts on. Without one, clients receive the kind's code or else
   * the reason.
   */
  code?: string
  /**
   * The message for the client, in ASCII. It explains what to change and contains no secrets. It can be
   * reworded without breaking clients.
   */
  says: string | Sentence
  /** What a client should do about it, as a clause. Shown in docs/reference/reasons.md. */
  client: string
  /** What an operator should check or change, in full sentences. Shown in docs/reference/reasons.md too. */
  operator?: string
}

/**
 * Builds the message from the facts that it uses. Declared as a method so that each entry can have its own
 * facts.
 */
type Sentence = { of(facts: object): string }['of']

/**
 * Defines one part of the catalogue. The exact type of each `says` is kept, so that the facts are
 * type-checked where the error is created.
 */
export function reasonsOf<const Entries extends Record<string, ReasonEntry>>(entries: Entries): Entries {
  return entries
}
