import { accessReasons } from './access.ts'
import { adminReasons } from './admin.ts'
import type { ReasonEntry } from './entry.ts'
import { limitReasons } from './limits.ts'
import { requestReasons } from './requests.ts'
import { routingReasons } from './routing.ts'
import { serviceReasons } from './services.ts'
import { stateReasons } from './state.ts'
import { upstreamReasons } from './upstreams.ts'

/** The parts of the catalogue under the headings of docs/reference/reasons.md. */
export const reasonParts = [
  ['Requests', requestReasons],
  ['Access', accessReasons],
  ['Limits, money and waiting lines', limitReasons],
  ['Models and channels', routingReasons],
  ['Answers, conversations, files and jobs', stateReasons],
  ['Upstreams', upstreamReasons],
  ['Services', serviceReasons],
  ['Administration', adminReasons],
] as const satisfies readonly [string, Readonly<Record<string, ReasonEntry>>][]

/**
 * All that Tollgate refuses or reports by itself. A reason is stable: rows, metrics, clients and the runbook
 * go by it.
 */
const catalogue = {
  ...requestReasons,
  ...accessReasons,
  ...limitReasons,
  ...routingReasons,
  ...stateReasons,
  ...upstreamReasons,
  ...serviceReasons,
  ...adminReasons,
}

export type Reason = keyof typeof catalogue

export const reasons: Readonly<Record<Reason, ReasonEntry>> = catalogue

/** Whether a word is a reason. A row may have one of another version. */
export function isReason(word: string): word is Reason {
  return Object.hasOwn(catalogue, word)
}

/** All reasons, in the order of the documents. */
export const reasonWords = Object.keys(catalogue).filter(isReason)

/** The facts that the message of a reason names; `NoFacts` where it is a plain text. */
export type FactsOf<R extends Reason> = (typeof catalogue)[R]['says'] extends (facts: infer Facts) => string
  ? Facts
  : NoFacts

/** Facts of a message that names none. */
export type NoFacts = Readonly<Record<never, never>>

/** The message of a reason. */
export function sentenceOf(reason: Reason, facts: object): string {
  const { says } = reasons[reason]
  return typeof says === 'string' ? says : says(facts)
}
