import type { GatewayError } from '../canonical/error.ts'
import type { Json } from '../canonical/json.ts'
import type { Job } from '../jobs/job.ts'
import { jobErrorOf } from '../jobs/job-error.ts'
import { orphan } from '../ledger/orphan.ts'
import { type AttemptRecord, atMostHeld, type CloseRecord, chargeOf } from '../ledger/record.ts'
import { background } from '../protocols/index.ts'
import type { AnswerEnding } from './background-answers.ts'

/** What the end of an answer is made from. */
export interface UnmadeAnswer {
  job: Job
  /** As its client got it last. */
  answer: Json
  /** The number of events that it has, and the texts of those that come before the last one now. */
  first: number
  pending: readonly string[]
  /** Items of its output that its events have. */
  output: readonly Json[]
}

/** The end of an answer without a whole one: it failed. `close`: its row, with what it cost. */
export function failedAnswer(unmade: UnmadeAnswer, error: GatewayError, close: CloseRecord): AnswerEnding {
  const last = background.unmadeEvent(unmade.answer, { status: 'failed', error }, unmade.output)
  return { ...endedWith(unmade, last), state: 'failed', close, error: jobErrorOf(error), kept: undefined }
}

/** The end of an answer that its client cancelled. */
export function cancelledAnswer(unmade: UnmadeAnswer, close: CloseRecord): AnswerEnding {
  const last = background.unmadeEvent(unmade.answer, { status: 'cancelled' }, unmade.output)
  return { ...endedWith(unmade, last), state: 'cancelled', close, error: null, kept: undefined }
}

/** The end of a whole answer. `last`: its last event, as the client sees it. */
export function endedWith(
  { first, pending }: Pick<UnmadeAnswer, 'first' | 'pending'>,
  last: Json,
): Pick<AnswerEnding, 'first' | 'events' | 'answer'> {
  const numbered = { ...last, sequence_number: first + pending.length }
  const answer = last.response as Json
  return { first, events: [...pending, JSON.stringify(numbered)], answer }
}

/** The row of an answer that cost nothing, or whose cost is unknown: that of an orphan. */
export function unmadeRow(
  {
    createdAt,
    startedAt,
    tenantId,
    attempts,
  }: Pick<Job, 'createdAt' | 'startedAt' | 'tenantId' | 'attempts'>,
  row: Pick<CloseRecord, 'status' | 'outcome' | 'error' | 'costNano'>,
): CloseRecord {
  return {
    ...orphan,
    ...row,
    accountId: tenantId,
    queueMs: startedAt === null ? null : startedAt.getTime() - createdAt.getTime(),
    totalMs: Date.now() - createdAt.getTime(),
    attempts,
  }
}

/**
 * The row of a run, with the times since its job was accepted, the attempts of earlier runs, and what its job
 * holds.
 */
export function rowOfRun(
  close: CloseRecord,
  { createdAt, attempts, tenantId, quote }: Pick<Job, 'createdAt' | 'attempts' | 'tenantId' | 'quote'>,
  startedAt: number,
): CloseRecord {
  const waited = Math.max(0, startedAt - createdAt.getTime())
  return {
    ...close,
    accountId: tenantId,
    chargedNano: atMostHeld(chargeOf(close), quote.heldNano),
    queueMs: close.queueMs === null ? null : close.queueMs + waited,
    firstTokenMs: close.firstTokenMs === null ? null : close.firstTokenMs + waited,
    totalMs: Date.now() - createdAt.getTime(),
    attempts: allAttempts(attempts, close),
  }
}

export function allAttempts(
  before: readonly AttemptRecord[],
  close: Pick<CloseRecord, 'attempts'> | undefined,
): AttemptRecord[] {
  return [...before, ...(close?.attempts ?? [])]
}
