import { GatewayError, gatewayError } from '../canonical/error.ts'
import type { Outcome, StreamEnd } from '../canonical/usage.ts'
import { longName, name } from '../journal/column.ts'
import { atMostHeld, type CloseRecord, rowErrorOf } from '../journal/record.ts'
import type { Observation } from '../protocols/protocol.ts'
import { redactText } from '../redaction/redact.ts'
import { type Metered, nothingMetered } from './meter.ts'
import type { Arrival, AskedTarget, RowSoFar } from './received.ts'

/** How a request ended. Together with `RowSoFar`, it forms the second half of its row. */
export interface Ending {
  status: number
  outcome: Outcome
  error: GatewayError | null
  observation: Observation | null
  streamEnd: StreamEnd | null
  /** The target that answered, or the last one that refused. */
  target: AskedTarget | null
  metered: Metered
}

/** The ending of a request that the gateway answered itself. It cost nothing. */
export function answeredEnding(status: number, target: AskedTarget | null = null): Ending {
  return {
    status,
    outcome: 'succeeded',
    error: null,
    observation: null,
    streamEnd: 'complete',
    target,
    metered: nothingMetered,
  }
}

/** The ending of a failed request that was not sent to any upstream. It cost nothing. */
export function refusedEnding(error: GatewayError, status: number): Ending {
  return {
    status,
    outcome: error.fault === 'client' ? 'refused' : 'failed',
    error,
    observation: null,
    streamEnd: null,
    target: null,
    metered: nothingMetered,
  }
}

/** The ending of a request whose client left before anything was sent upstream. It cost nothing. */
export const leftEnding: Ending = {
  status: 499,
  outcome: 'cancelled',
  error: null,
  observation: null,
  streamEnd: 'client_gone',
  target: null,
  metered: nothingMetered,
}

/** The part of a row that says how far the request got. */
type Progress = Pick<Arrival, 'startedAt'> & {
  row: Pick<RowSoFar, 'identity' | 'heldNano' | 'sentAt' | 'firstTokenAt' | 'attempts' | 'notes'>
}

/**
 * Creates the second half of a row that ends now. `secrets` are exact values, which are removed from the
 * upstream's text.
 */
export function closeRecordOf(
  { startedAt, row }: Progress,
  ending: Ending,
  secrets: readonly string[],
  nowMs: number,
): CloseRecord {
  const { error, observation, target, metered } = ending
  const { attempts, notes } = row
  return {
    upstreamProtocol: target?.protocol ?? null,
    servedModel: wordsOf(observation?.servedModel, secrets, longName.max),
    channel: target?.channel.name ?? null,
    status: ending.status,
    outcome: ending.outcome,
    error: rowErrorOf(error),
    finishReason: wordsOf(observation?.finishReason, secrets, name.max),
    usage: metered.usage,
    usageSource: metered.usageSource,
    streamEnd: ending.streamEnd,
    costNano: metered.costNano,
    chargedNano: atMostHeld(metered.costNano, row.heldNano),
    accountId: row.identity?.tenantId ?? null,
    priceId: metered.priceId,
    priceMultiplier: metered.priceMultiplier,
    costFacts:
      metered.facts === undefined
        ? null
        : JSON.stringify(metered.facts, (member, value) =>
            member === 'name' ? wordsOf(value, secrets, name.max) : value,
          ),
    queueMs: row.sentAt === null ? null : row.sentAt - startedAt,
    firstTokenMs: row.firstTokenAt === null ? null : row.firstTokenAt - startedAt,
    totalMs: nowMs - startedAt,
    upstreamRequestId: attempts.findLast((attempt) => !attempt.passedOver)?.upstreamRequestId ?? null,
    attempts,
    notes: notes === null || notes.length === 0 ? null : JSON.stringify(notes),
    folded: 1,
  }
}

function wordsOf(
  text: string | null | undefined,
  secrets: readonly string[],
  charactersMax: number,
): string | null {
  return text == null ? null : redactText(text, secrets, charactersMax)
}

/** Converts anything thrown into an error that a client may see. */
export function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  return gatewayError('internal_fault', {}, { cause: error })
}
