import { accessReasons } from './access.ts'
import { adminReasons } from './admin.ts'
import type { ReasonEntry } from './entry.ts'
import { limitReasons } from './limits.ts'
import { requestReasons } from './requests.ts'
import { routingReasons } from './routing.ts'
import { serviceReasons } from './services.ts'
import { stateReasons } from './state.ts'
import { upstreamReasons } from './upstreams.ts'

/** The parts of the catalogue, under their headings in docs/reference/reasons.md. */
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
 * Every refusal and failure that Tollgate reports. A reason never changes, because rows, metrics, clients and
 * the runbook rely on it.
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

/** Whether a word is a known reason. A row can contain a reason of another version. */
export function isReason(word: string): word is Reason {
  return Object.hasOwn(catalogue, word)
}

/** All reasons, in the order used in the documentation. */
export const reasonWords = Object.keys(catalogue).filter(isReason)

/** The facts used in a reason's message; `NoFacts` if the message is a fixed text. */
export type FactsOf<R extends Reason> = (typeof catalogue)[R]['says'] extends (facts: infer Facts) => string
  ? Facts
  : NoFacts

/** The facts of a message that uses none. */
export type NoFacts = Readonly<Record<never, never>>

/** The message of a reason. */
export function sentenceOf(reason: Reason, facts: object): string {
  const { says } = reasons[reason]
  return typeof says === 'string' ? says : says(facts)
}
