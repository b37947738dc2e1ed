import { GatewayError } from '../canonical/error.ts'
import type { Model } from '../catalog/snapshot.ts'
import type { AttemptRecord } from '../ledger/record.ts'
import { upstreamSide } from '../protocols/index.ts'
import type { BreakerCall, Outcome } from '../routing/breakers.ts'
import type { Target } from '../routing/candidates.ts'
import { recordFailure } from '../routing/record-failure.ts'
import type { Session } from '../routing/session.ts'
import {
  type Chosen,
  type ModelCandidates,
  type PassedOverCandidate,
  soonestCooldownMs,
  Targets,
} from '../routing/targets.ts'
import type { Verdict } from '../routing/verdict.ts'
import type { Admitted } from '../stages/admit.ts'
import { newAttempt, passedOver } from '../stages/attempt.ts'
import { end } from '../stages/end.ts'
import { asGatewayError, type Ending, leftEnding } from '../stages/ending.ts'
import type { Gateway } from '../stages/gateway.ts'
import { meter, nothingMetered, unknownMetered } from '../stages/meter.ts'
import { refuse, type UpstreamRefusal } from '../stages/refuse.ts'
import { rememberHolder } from './holders.ts'
import type { Preparation, Prepared } from './prepare.ts'
import { Relay, type RelayedAnswer, type RelayResult } from './relay.ts'
import { channelHeader, routeHeader } from './route-header.ts'

/** Where a request may go, the model that was asked for first. */
export interface Route {
  planned: readonly ModelCandidates[]
  findSession: () => Session | undefined
  preparation: Preparation
}

/** Candidates beyond so many are passed over without a record. */
const passedOverMax = 16

/** Try the targets in order until one has answered or none may be tried any more. */
export async function deliver(gateway: Gateway, admitted: Admitted, route: Route): Promise<void> {
  const { life } = admitted
  const { planned, findSession, preparation } = route
  let last: Failure = noTargetTried
  let calls = 0
  let paid = false
  const passOver = (modelCandidates: ModelCandidates, candidate: PassedOverCandidate, reason: string) =>
    recordPassedOver(admitted, modelCandidates, candidate, reason)
  const targets = new Targets(gateway.routing, planned, findSession, passOver)
  let chosen = targets.next()
  while (chosen !== undefined) {
    if (life.clientGone) return end(gateway, admitted, paid ? leftAfterSending : leftEnding)
    if (calls === gateway.bounds.attemptsMax) break
    const { target } = chosen
    const result = await attempt(gateway, admitted, chosen, preparation)
    if (result.kind === 'answered') return
    if (result.kind === 'untranslatable') {
      // Another format may say it. What an upstream said before stays the answer: it may pass, this will not.
      if (last.target === null) last = { target, error: result.error, refusal: undefined }
      chosen = targets.next({ next: 'untranslatable', reached: true })
      continue
    }
    calls++
    last = { target, error: result.error, refusal: result.refusal }
    paid ||= result.paid === 'unknown'
    if (result.verdict.next === 'nobody' || gateway.draining) break
    chosen = targets.next({ next: result.verdict.next, reached: result.reached })
  }
  const cooldownMs = soonestCooldownMs(gateway.routing, planned)
  if (cooldownMs !== undefined) last = withCooldown(last, calls, cooldownMs)
  const target = calls === 0 ? null : last.target
  setRouteHeaders(admitted, target, undefined)
  await refuse(gateway, admitted, last.error, {
    target,
    metered: paid ? unknownMetered : nothingMetered,
    refusal: last.refusal,
  })
}

interface Failure {
  target: Target | null
  error: GatewayError
  refusal: UpstreamRefusal | undefined
}

const noTargetTried: Failure = {
  target: null,
  error: new GatewayError('unavailable', 'No channel could be tried.'),
  refusal: undefined,
}

/** The ending of a request whose client left between two attempts, of which the first may have been paid. */
const leftAfterSending: Ending = { ...leftEnding, metered: unknownMetered }

/** `untranslatable`: the target's format cannot express the request, so we sent nothing. */
type CallResult =
  | { kind: 'answered' }
  | { kind: 'untranslatable'; error: GatewayError }
  | (Extract<RelayResult, { kind: 'unanswered' }> & { verdict: Verdict; reached: boolean })

function attempt(
  gateway: Gateway,
  admitted: Admitted,
  { modelCandidates, target }: Chosen,
  preparation: Preparation,
): Promise<CallResult> {
  const { row, life, id } = admitted
  const record = newAttempt(target)
  row.attempts.push(record)
  const { secret } = target.credential
  if (secret !== '' && !row.credentials.includes(secret)) row.credentials.push(secret)
  let prepared: Prepared
  try {
    prepared = preparation.prepare(target, modelCandidates.model)
  } catch (cause) {
    const error = asGatewayError(cause)
    record.passedOver = true
    record.error = { kind: error.kind, message: error.message }
    return Promise.resolve({ kind: 'untranslatable', error })
  }
  row.sentAt ??= Date.now()
  setRouteHeaders(admitted, target, modelCandidates)
  // A long answer is known to be one before its end, and one that is not streamed by its head.
  const hasAnswered = () => record.status !== null && record.status >= 200 && record.status <= 299
  const breakerCall = gateway.routing.breakers.begin(target.channel.id, target.channel.name, hasAnswered)
  return new Promise((done) => {
    const relay = new Relay({
      admitted,
      side: upstreamSide(target.protocol),
      reader: prepared.reader,
      attempt: record,
      bounds: gateway.bounds,
      settle: (answer) => {
        recordAnswer(gateway, admitted, target, { answer, record, breakerCall })
        rememberHolder(gateway, admitted, target, answer.observation.answerId)
        return end(gateway, admitted, endingOf(admitted, target, modelCandidates.model, answer))
      },
      done: (relayed) => {
        life.running = undefined
        if (relayed.kind === 'answered') {
          done(relayed)
          return
        }
        // No client has seen any of its answer.
        row.firstTokenAt = null
        const verdict = recordFailure(gateway, id, target, relayed.error, breakerCall)
        done({ ...relayed, verdict, reached: record.status !== null })
      },
    })
    life.running = gateway.upstreams.call(target, prepared.request, relay)
  })
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
  if (error === undefined) breakerCall.end(outcomeOf(answer), '')
  else if (isSlowlyRead(gateway, admitted, error, record)) breakerCall.end('nothing', '')
  else recordFailure(gateway, admitted.id, target, error, breakerCall)
}

/** A stream that went on to its last moment was not read any faster: an upstream that is silent is hung up on before. */
function isSlowlyRead(
  { bounds }: Gateway,
  { row }: Admitted,
  { kind }: GatewayError,
  record: AttemptRecord,
): boolean {
  if (kind !== 'upstream_timeout' || row.firstTokenAt === null || record.totalMs === null) return false
  return record.totalMs >= bounds.upstreamTotalMs - clockMs
}

/** Timers and the time of day may differ by so much. */
const clockMs = 10

/** A client that left in the middle says nothing of the channel. */
function outcomeOf({ streamEnd, observation }: RelayedAnswer): Outcome {
  return streamEnd === 'client_gone' && !observation.complete ? 'nothing' : 'life'
}

function endingOf({ body, group }: Admitted, target: Target, model: Model, answer: RelayedAnswer): Ending {
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
    metered: meter(observation, body.length, model, group.priceMultiplier),
  }
}

function recordPassedOver(
  { row }: Admitted,
  { fallback }: ModelCandidates,
  candidate: PassedOverCandidate,
  reason: string,
): void {
  if (row.attempts.length >= passedOverMax) return
  const label = fallback === undefined ? reason : `fallback ${fallback}, ${reason}`
  row.attempts.push(passedOver(candidate, label))
}

/** Response headers that say which channel this answer is of. `serving`: its model, while it may still become one. */
function setRouteHeaders(
  { headers, request, row }: Admitted,
  target: Target | null,
  serving: ModelCandidates | undefined,
): void {
  if (target === null) delete headers['x-tollgate-channel']
  else headers['x-tollgate-channel'] = channelHeader(target.channel.name)
  if (serving?.fallback === undefined) delete headers['x-tollgate-model']
  else headers['x-tollgate-model'] = channelHeader(serving.fallback)
  if (request.headers['x-tollgate-route'] === 'true')
    headers['x-tollgate-route'] = routeHeader(row.attempts, serving !== undefined)
}

/** Retry-After is the time until the first credential of all may be used again. */
function withCooldown(last: Failure, calls: number, cooldownMs: number): Failure {
  const retryAfterSeconds = Math.max(1, Math.ceil(cooldownMs / 1000))
  if (calls === 0) {
    const message = 'The upstreams of this model limit the rate of requests: try again later.'
    return {
      ...noTargetTried,
      error: new GatewayError('rate_limited', message, { fault: 'upstream', retryAfterSeconds }),
    }
  }
  const { kind, message, upstreamStatus, cause, code } = last.error
  if (kind !== 'rate_limited') return last
  const error = new GatewayError(kind, message, {
    fault: 'upstream',
    retryAfterSeconds,
    cause,
    ...(upstreamStatus === undefined ? {} : { upstreamStatus }),
    ...(code === undefined ? {} : { code }),
  })
  return { ...last, error }
}
