import type { GatewayError } from '../canonical/error.ts'
import { type AttemptRecord, callsIn } from '../journal/record.ts'
import { upstreamSide } from '../protocols/index.ts'
import type { Observation } from '../protocols/protocol.ts'
import type { BreakerCall, CallOutcome } from '../routing/breakers.ts'
import type { Target } from '../routing/candidates.ts'
import { recordFailure } from '../routing/record-failure.ts'
import type { Chosen } from '../routing/targets.ts'
import type { Verdict } from '../routing/verdict.ts'
import { usageOfCall } from '../telemetry/traces/conventions.ts'
import { timeoutsOf } from '../upstream/timeouts.ts'
import type { Admitted } from './admit.ts'
import { newAttempt } from './attempt.ts'
import type { CaptureAnswer } from './client-answer.ts'
import { captureAnswer } from './client-answer.ts'
import { DoubtfulListener } from './doubtful-listener.ts'
import { end } from './end.ts'
import { asGatewayError, type Ending } from './ending.ts'
import type { Gateway } from './gateway.ts'
import { rememberHolder } from './kept/holders.ts'
import { copyToKeep, isToKeep, type KeptCopy, keepTurn } from './kept/keep-answer.ts'
import { type Metered, meter, nothingSent, unknownMetered } from './meter.ts'
import type { Preparation, Prepared } from './prepare.ts'
import { meterMost, meterUnseen, pricingOf } from './pricing.ts'
import { refuse } from './refuse.ts'
import type { RelayedAnswer, RelayResult } from './relay.ts'
import { Relay } from './relay.ts'
import { setRouteHeaders } from './response-headers.ts'
import { traceAttempt } from './trace-attempt.ts'
import { setUsage } from './trace-request.ts'
import { noteLosses } from './translation/note-translation.ts'

/**
 * `untranslatable`: the target's format cannot express the request, so nothing was sent. `reached`: the
 * target answered.
 */
export type CallResult =
  | { kind: 'answered' }
  | { kind: 'untranslatable'; error: GatewayError }
  | UnansweredCall

export type UnansweredCall = Extract<RelayResult, { kind: 'unanswered' }> & {
  metered: Metered
  verdict: Verdict
  reached: boolean
  /** The request that was sent. */
  prepared: Prepared
}

/** Calls one target and relays its answer. Writes the row if the client got an answer. */
export function callTarget(
  gateway: Gateway,
  admitted: Admitted,
  chosen: Chosen,
  preparation: Preparation,
): Promise<CallResult> {
  const { modelCandidates, target } = chosen
  const { row } = admitted
  const record = newAttempt(target)
  row.attempts.push(record)
  row.called.push(target)
  const untranslatable = (cause: unknown): CallResult => {
    const error = asGatewayError(cause)
    record.passedOver = true
    record.error = { kind: error.kind, message: error.message }
    return { kind: 'untranslatable', error }
  }
  const call = () => {
    let prepared: Prepared
    try {
      prepared = preparation.prepare(target, modelCandidates.model)
    } catch (cause) {
      return Promise.resolve(untranslatable(cause))
    }
    return callPrepared(gateway, admitted, chosen, { prepared, record })
  }
  const ahead = preparation.ahead(target, modelCandidates.model)
  return ahead === undefined ? call() : ahead.then(call, untranslatable)
}

/** Sends a prepared request. `record` is its attempt, which is already in the row. */
export function callPrepared(
  gateway: Gateway,
  admitted: Admitted,
  { modelCandidates, target }: Called,
  { prepared, record }: { prepared: Prepared; record: AttemptRecord },
): Promise<Exclude<CallResult, { kind: 'untranslatable' }>> {
  const { row, life, id, trace } = admitted
  row.sentAt ??= gateway.clock.now()
  if (prepared.request.frames !== undefined)
    prepared.request.note = (why) => {
      record.reason += `; over HTTP: ${why}`
    }
  setRouteHeaders(gateway, admitted, target, modelCandidates)
  const breakerCall = gateway.routing.breakers.begin(target.channel.id, target.channel.name)
  const traced =
    trace === undefined
      ? undefined
      : traceAttempt(gateway, trace, {
          record,
          target,
          path: admitted.endpoint.path,
          before: callsIn(row.attempts) - 1,
        })
  prepared.request.traceHeaders = traced?.headers
  let copy: KeptCopy | undefined
  return new Promise((done) => {
    const relay = new Relay({
      clock: gateway.clock,
      admitted,
      side: upstreamSide(target.protocol),
      reader: prepared.reader,
      attempt: record,
      bounds: gateway.bounds,
      breakerCall,
      capture: (streams) => {
        copy = copyToKeep(gateway, admitted)
        return bothOf(captureAnswer(gateway, admitted, streams), copy)
      },
      isDoubtful: () => admitted.books.ledger.doubtOf(id) !== undefined,
      settle: (answer, last) => {
        const span = traced?.end(row.firstTokenAt)
        if (span !== undefined) setUsage(span.attributes, usageOfCall, answer.observation.usage)
        recordAnswer(gateway, admitted, target, { answer, record, breakerCall })
        rememberHolder(gateway, admitted, target, answer.observation.answerId)
        noteLosses(admitted, target, answer.observation.losses)
        return settle(gateway, admitted, { modelCandidates, target }, { answer, last, copy, record })
      },
      done: (relayed) => {
        life.running = undefined
        if (relayed.kind === 'answered') {
          done(relayed)
          return
        }
        traced?.end()
        // The client has not seen any of this answer.
        row.firstTokenAt = null
        const verdict = recordFailure(gateway, id, target, relayed.error, breakerCall)
        const metered = meterFailed(admitted, { modelCandidates, target }, relayed.observation)
        done({ ...relayed, metered, verdict, reached: record.status !== null, prepared })
      },
    })
    life.running = admitted.books.upstreams.call(
      target,
      prepared.request,
      new DoubtfulListener(admitted.books.ledger, admitted, relay),
    )
  })
}

/** The target that was called. */
type Called = Pick<Chosen, 'modelCandidates' | 'target'>

type Copy = ReturnType<CaptureAnswer>

function bothOf(one: Copy, other: Copy): Copy {
  if (one === undefined || other === undefined) return one ?? other
  return {
    take(chunk) {
      one.take(chunk)
      other.take(chunk)
    },
    end() {
      one.end()
      other.end()
    },
  }
}

interface Settling extends Pick<AnsweredCall, 'answer' | 'record'> {
  last: Buffer | undefined
  copy: KeptCopy | undefined
}

/**
 * Keeps the answer if its client requested that, then writes the row. Resolves like `RelayOptions.settle`.
 */
async function settle(
  gateway: Gateway,
  admitted: Admitted,
  { modelCandidates, target }: Called,
  { answer, last, copy, record }: Settling,
): Promise<GatewayError | undefined> {
  const called = { modelCandidates, target }
  const ending = endingOf(admitted, called, answer)
  if (ending.metered === unknownMetered && isUnseen(answer))
    ending.metered = await meterUnseen(gateway, admitted, called)
  // Where money is limited, no answer is free because its upstream reports no tokens.
  else if (isUncounted(admitted, ending.metered) && isOfClient(gateway, admitted, { answer, record, target }))
    ending.metered = meterMost(admitted, called)
  if (isToKeep(admitted, target, answer)) {
    try {
      await keepTurn(gateway, admitted, target, { last, copy })
    } catch (cause) {
      const error = asGatewayError(cause)
      const { metered } = ending
      const own = admitted.exchange.reply.headersSent ? { ownStatus: answer.status } : {}
      await refuse(gateway, admitted, error, { target, metered, refusal: undefined, ...own })
      return error
    }
  }
  await end(gateway, admitted, ending)
  return undefined
}

/**
 * Returns the cost of a failed answer that its client has not seen, from the usage that the upstream reports
 * and without an estimate.
 */
function meterFailed(
  admitted: Admitted,
  { modelCandidates, target }: Called,
  observation: Observation,
): Metered {
  if (observation.usage === undefined && observation !== nothingSent) return unknownMetered
  return meter(observation, admitted.body.length, pricingOf(admitted, modelCandidates.model, target))
}

/** True for an answer of held money whose tokens nobody counts. */
function isUncounted({ row, facts }: Admitted, { costNano, usage }: Metered): boolean {
  return row.heldNano !== null && facts.counts !== undefined && usage === null && costNano === null
}

/** True for an answer that is complete, or that ended early because its client left or read it slowly. */
function isOfClient(
  gateway: Gateway,
  admitted: Admitted,
  { answer, record, target }: Pick<AnsweredCall, 'answer' | 'record'> & { target: Target },
): boolean {
  const { streamEnd, observation, error } = answer
  if (observation.complete || streamEnd === 'client_gone') return true
  return error !== null && isSlowlyRead(gateway, admitted, error, { target, record })
}

interface AnsweredCall {
  answer: RelayedAnswer
  record: AttemptRecord
  breakerCall: BreakerCall
}

function recordAnswer(
  gateway: Gateway,
  admitted: Admitted,
  target: Target,
  { answer, record, breakerCall }: AnsweredCall,
): void {
  const error = answer.error ?? answer.observation.error
  if (error === undefined) {
    const outcome = outcomeOf(answer)
    breakerCall.end(outcome, '')
    if (outcome === 'life') gateway.routing.cooldowns.accept(target.channel.id, target.credential)
  } else if (isSlowlyRead(gateway, admitted, error, { target, record })) breakerCall.end('nothing', '')
  else recordFailure(gateway, admitted.id, target, error, breakerCall)
}

/**
 * A stream that ran for the full `upstreamTotalMs` had a slow client rather than a slow upstream, because a
 * silent upstream is aborted after `upstreamIdleMs`.
 */
function isSlowlyRead(
  { bounds }: Gateway,
  { row }: Admitted,
  { kind }: GatewayError,
  { target, record }: { target: Target; record: AttemptRecord },
): boolean {
  if (kind !== 'upstream_timeout' || row.firstTokenAt === null || record.totalMs === null) return false
  return record.totalMs >= timeoutsOf(target.channel, bounds).upstreamTotalMs - clockMs
}

/** The possible difference between timers and the time of day. */
const clockMs = 10

/** True when the client left and the upstream reported neither the end of its answer nor its usage. */
function isUnseen({ streamEnd, observation }: RelayedAnswer): boolean {
  return streamEnd === 'client_gone' && observation.error === undefined && observation.goesOn !== true
}

/** When the client left before the end, the call is neither a success nor a failure of the channel. */
function outcomeOf({ streamEnd, observation }: RelayedAnswer): CallOutcome {
  return streamEnd === 'client_gone' && !observation.complete ? 'left' : 'life'
}

function endingOf(admitted: Admitted, { modelCandidates, target }: Called, answer: RelayedAnswer): Ending {
  const { body } = admitted
  const { observation, streamEnd } = answer
  const clientGone = streamEnd === 'client_gone'
  const error = clientGone ? null : (answer.error ?? observation.error ?? null)
  return {
    status: answer.status,
    outcome: clientGone ? 'cancelled' : error === null ? 'succeeded' : 'failed',
    error,
    observation,
    streamEnd,
    target,
    metered: meter(observation, body.length, pricingOf(admitted, modelCandidates.model, target)),
  }
}
