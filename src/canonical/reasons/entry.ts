import type { ErrorKind, Fault } from './kinds.ts'

/** What Tollgate refuses or reports by itself, under one stable word. */
export interface ReasonEntry {
  kind: ErrorKind
  /** The side that has to act, where it is not the kind's. */
  fault?: Fault
  /**
   * The word that a vendor's SDK or an agent acts on. Without one, clients get the code of the kind, or else
   * the reason.
   */
  code?: string
  /**
   * The message for the client. ASCII; it says what to change and holds no secret. Rewording it breaks
   * nothing.
   */
  says: string | Sentence
  /** What a client does about it, as a clause. docs/reference/reasons.md has it. */
  client: string
  /** What an operator looks at or changes, in sentences. docs/reference/reasons.md has it too. */
  operator?: string
}

/** Of the facts that it names. (A method, so that each entry may name its own.) */
type Sentence = { of(facts: object): string }['of']

/**
 * One part of the catalogue. It keeps what each entry says, so that its facts are checked where the error is
 * made.
 */
export function reasonsOf<const Entries extends Record<string, ReasonEntry>>(entries: Entries): Entries {
  return entries
}
