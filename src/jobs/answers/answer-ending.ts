import type { GatewayError } from '../../canonical/error.ts'
import type { Json } from '../../canonical/json.ts'
import { orphan } from '../../journal/orphan.ts'
import { type AttemptRecord, atMostHeld, type CloseRecord, chargeOf } from '../../journal/record.ts'
import { backgroundOf } from '../../protocols/index.ts'
import type { BackgroundForm } from '../../protocols/protocol-state.ts'
import type { Job } from '../job.ts'
import { jobErrorOf } from '../job-error.ts'
import type { AnswerEnding } from './background-answers.ts'

/** What the end of an answer is built from. */
export interface UnmadeAnswer {
  job: Job
  /** The answer as its client last saw it. */
  answer: Json
  /** The number of its stored events, and the texts of the events that are added before the last one. */
  first: number
  pending: readonly string[]
  /** The output items that its events contain. */
  output: readonly Json[]
}

/** The end of an answer that failed before it was complete. `close` is its row, with what it cost. */
export function failedAnswer(unmade: UnmadeAnswer, error: GatewayError, close: CloseRecord): AnswerEnding {
  const { unmadeEvent } = formOf(unmade.job)
  const last = unmadeEvent(unmade.answer, { status: 'failed', error }, unmade.output)
  return { ...endedWith(unmade, last), state: 'failed', close, error: jobErrorOf(error), kept: undefined }
}

/** The end of an answer that its client cancelled. */
export function cancelledAnswer(unmade: UnmadeAnswer, close: CloseRecord): AnswerEnding {
  const { unmadeEvent } = formOf(unmade.job)
  const last = unmadeEvent(unmade.answer, { status: 'cancelled' }, unmade.output)
  return { ...endedWith(unmade, last), state: 'cancelled', close, error: null, kept: undefined }
}

/** The end of a complete answer. `last` is its last event as the client sees it. */
export function endedWith(
  { job, first, pending }: Pick<UnmadeAnswer, 'job' | 'first' | 'pending'>,
  last: Json,
): Pick<AnswerEnding, 'first' | 'events' | 'answer'> {
  const form = formOf(job)
  const numbered = form.numbered(last, first + pending.length)
  return { first, events: [...pending, JSON.stringify(numbered)], answer: form.answerIn(last) ?? {} }
}

function formOf({ opened }: Job): BackgroundForm {
  return backgroundOf(opened.clientProtocol)
}

/** The row of an answer that cost nothing, or whose cost is unknown, as for an orphan. */
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
 * The row of a run, with the times since its job was accepted, the attempts of earlier runs, and the amount
 * that its job holds.
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
