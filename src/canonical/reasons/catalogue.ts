import { accessReasons } from './access.ts'
import { adminReasons } from './admin.ts'
import type { ReasonEntry } from './entry.ts'
import { limitReasons } from './limits.ts'
import { requestReasons } from './requests.ts'
import { routingReasons } from './routing.ts'
import { serviceReasons } from './services.ts'
import { stateReasons } from './state.ts'
import { upstreamReasons } from './upstreams.ts'

/**
 * All that Tollgate refuses or reports by itself. A reason is stable: rows, metrics, clients and the runbook go by it.
 * The parts are in the order of docs/reference/errors.md.
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
