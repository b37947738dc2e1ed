import { GatewayError } from '../canonical/error.ts'
import type { Group } from '../catalog/snapshot.ts'
import type { AttemptRecord } from '../ledger/record.ts'
import { upstreamSide } from '../protocols/index.ts'
import { redactText } from '../redaction/redact.ts'
import type { BreakerCall, Outcome } from '../routing/breakers.ts'
import type { Target } from '../routing/candidates.ts'
import type { Session } from '../routing/session.ts'
import {
  type Chosen,
  type ModelCandidates,
  type Passed,
  soonestCooldownMs,
  Targets,
} from '../routing/targets.ts'
import { type Verdict, verdictOn } from '../routing/verdict.ts'
import { asGatewayError, type Call, type Ending, newAttempt, passedOver } from '../stages/call.ts'
import type { Gateway } from '../stages/gateway.ts'
import { meter, nothingMetered, unknownMetered } from '../stages/meter.ts'
import { leftBeforeSending, refuse, settle } from '../stages/settle.ts'
import { channelHeader, routeHeader } from './explain-route.ts'
import { rememberHolder } from './holders.ts'
import { type Prepared, prepare } from './prepare.ts'
import { type Answer, type Attempted, Relay, type UpstreamRefusal } from './relay.ts'

/** Where a request may go, the model that was asked for first. */
export interface Route {
  plan: readonly ModelCandidates[]
  findSession: () => Session | undefined
  group: Group
}

/** More candidates than these are passed over without a word. */
const passedOverMax = 16

/** Try the targets in order until one has answered or none may be tried any more. */
export async function deliver(
  gateway: Gateway,
  call: Call,
  { plan, findSession, group }: Route,
): Promise<void> {
  let last: Last = nothingTried
  let calls = 0
  let paid = false
  const passOver = (modelCandidates: ModelCandidates, candidate: Passed, reason: string) =>
    notePassedOver(call, modelCandidates, candidate, reason)
  const targets = new Targets(gateway.routing, plan, findSession, passOver)
  let chosen = targets.next()
  while (chosen !== undefined) {
    if (call.clientGone) return settle(gateway, call, paid ? leftAfterSending : leftBeforeSending)
    if (calls === gateway.bounds.attemptsMax) break
    const { modelCandidates, target } = chosen
    call.price = {
      model: modelCandidates.model,
      multiplier: group.priceMultiplier,
      clientGone: group.clientGone,
    }
    const tried = await attempt(gateway, call, chosen)
    if (tried.kind === 'answered') return
    if (tried.kind === 'unsaid') {
      // Another format may say it. What an upstream said before stays the answer: it may pass, this will not.
      if (last.target === null) last = { target, error: tried.error, refusal: undefined }
      chosen = targets.next({ next: 'unsaid', reached: true })
      continue
    }
    calls++
    last = { target, error: tried.error, refusal: tried.refusal }
    paid ||= tried.paid === 'unknown'
    if (tried.verdict.next === 'nobody' || gateway.draining) break
    chosen = targets.next({ next: tried.verdict.next, reached: tried.reached })
  }
  const cooldownMs = soonestCooldownMs(gateway.routing, plan)
  if (cooldownMs !== undefined) last = withCooldown(last, calls, cooldownMs)
  const target = calls === 0 ? null : last.target
  tellRoute(call, target, undefined)
  await refuse(gateway, call, last.error, {
    target,
    metered: paid ? unknownMetered : nothingMetered,
    refusal: last.refusal,
  })
}

interface Last {
  target: Target | null
  error: GatewayError
  refusal: UpstreamRefusal | undefined
}

const nothingTried: Last = {
  target: null,
  error: new GatewayError('unavailable', 'No channel could be tried.'),
  refusal: undefined,
}

/** The ending of a request whose client left between two attempts, of which the first may have been paid. */
const leftAfterSending: Ending = { ...leftBeforeSending, metered: unknownMetered }

/** `unsaid`: the request cannot be said in the target's format, and nothing was sent. */
type Tried =
  | { kind: 'answered' }
  | { kind: 'unsaid'; error: GatewayError }
  | (Extract<Attempted, { kind: 'unanswered' }> & { verdict: Verdict; reached: boolean })

function attempt(gateway: Gateway, call: Call, { modelCandidates, target }: Chosen): Promise<Tried> {
  const record = newAttempt(target)
  call.attempts.push(record)
  if (target.credential.secret !== '') call.credentials.add(target.credential.secret)
  let prepared: Prepared
  try {
    prepared = prepare(gateway, call, target)
  } catch (cause) {
    const error = asGatewayError(cause)
    record.passedOver = true
    record.error = { kind: error.kind, message: error.message }
    return Promise.resolve({ kind: 'unsaid', error })
  }
  call.sentAt ??= Date.now()
  tellRoute(call, target, modelCandidates)
  // A long answer is known to be one before its end, and one that is not streamed by its head.
  const hasAnswered = () => record.status !== null && record.status >= 200 && record.status <= 299
  const breakerCall = gateway.routing.breakers.begin(target.channel.id, target.channel.name, hasAnswered)
  return new Promise((done) => {
    const relay = new Relay({
      call,
      target,
      side: upstreamSide(target.protocol),
      reader: prepared.reader,
      attempt: record,
      heldAnswerBytesMax: gateway.bounds.heldAnswerBytesMax,
      watchedAnswerBytesMax: gateway.bounds.watchedAnswerBytesMax,
      keepAliveMs: gateway.bounds.keepAliveMs,
      clientStallMs: gateway.bounds.clientStallMs,
      settle: (answer) => {
        recordAnswer(gateway, call, target, { answer, record, breakerCall })
        rememberHolder(gateway, call, target, answer.observation.answerId)
        return settle(gateway, call, endingOf(call, target, answer))
      },
      done: (attempted) => {
        call.running = undefined
        if (attempted.kind === 'answered') {
          done(attempted)
          return
        }
        // What it began to say, no client has seen.
        call.firstTokenAt = null
        const verdict = recordFailure(gateway, call.id, target, attempted.error, breakerCall)
        done({ ...attempted, verdict, reached: record.status !== null })
      },
    })
    call.running = gateway.upstreams.call(target, prepared.request, relay)
  })
}

/** What a failed call means for the channel and the credential: told to all requests that come after. */
export function recordFailure(
  { routing, log }: Gateway,
  requestId: string,
  { channel, credential, upstreamModel, modelNamedBy }: Target,
  error: GatewayError,
  breakerCall: BreakerCall,
): Verdict {
  const verdict = verdictOn(error, modelNamedBy)
  const { openSeconds, cooldown } = verdict
  const openMs = openSeconds === undefined ? undefined : Math.min(openSeconds * 1000, routing.retryAfterMsMax)
  breakerCall.end(verdict.breaker, causeOf(error), openMs)
  if (cooldown === undefined) return verdict
  const isNew = routing.cooldowns.begin(
    channel.id,
    credential,
    upstreamModel,
    cooldown,
    error.retryAfterSeconds,
  )
  if (cooldown !== 'limited' && isNew) {
    const fields = {
      request: requestId,
      channel: channel.name,
      credentialName: credential.name,
      status: error.upstreamStatus,
      ...(cooldown === 'forbidden' ? { upstreamModel: redactText(upstreamModel) } : {}),
    }
    log.warn(
      fields,
      'an upstream refuses a credential of this channel: others are used before it for a while',
    )
  }
  return verdict
}

interface Ended {
  answer: Answer
  record: AttemptRecord
  breakerCall: BreakerCall
}

function recordAnswer(
  gateway: Gateway,
  call: Call,
  target: Target,
  { answer, record, breakerCall }: Ended,
): void {
  const error = answer.error ?? answer.observation.error
  if (error === undefined) breakerCall.end(outcomeOf(answer), '')
  else if (isSlowlyRead(gateway, call, error, record)) breakerCall.end('nothing', '')
  else recordFailure(gateway, call.id, target, error, breakerCall)
}

/** A stream that went on to its last moment was not read any faster: an upstream that is silent is hung up on before. */
function isSlowlyRead(
  { bounds }: Gateway,
  call: Call,
  { kind }: GatewayError,
  record: AttemptRecord,
): boolean {
  if (kind !== 'upstream_timeout' || call.firstTokenAt === null || record.totalMs === null) return false
  return record.totalMs >= bounds.upstreamTotalMs - clockMs
}

/** Timers and the time of day may differ by so much. */
const clockMs = 10

/** A client that left in the middle says nothing of the channel. */
function outcomeOf({ streamEnd, observation }: Answer): Outcome {
  return streamEnd === 'client_gone' && !observation.complete ? 'nothing' : 'life'
}

/** For operators and other clients: nothing that the upstream wrote. */
function causeOf({ kind, upstreamStatus }: GatewayError): string {
  return upstreamStatus === undefined ? kind : `${kind}, status ${upstreamStatus}`
}

function endingOf(call: Call, target: Target, answer: Answer): Ending {
  const { observation, streamEnd } = answer
  const gone = streamEnd === 'client_gone'
  const error = gone ? null : (answer.error ?? observation.error ?? null)
  return {
    status: answer.status,
    outcome: gone ? 'cancelled' : error === null ? 'succeeded' : 'failed',
    error,
    observation,
    streamEnd,
    target,
    metered:
      call.price === null
        ? unknownMetered
        : meter(observation, call.body?.length ?? 0, call.price.model, call.price.multiplier),
  }
}

function notePassedOver(call: Call, { fallback }: ModelCandidates, candidate: Passed, reason: string): void {
  if (call.attempts.length >= passedOverMax) return
  const why = fallback === undefined ? reason : `fallback ${fallback}, ${reason}`
  call.attempts.push(passedOver(candidate, why))
}

/** Response headers that say which channel this answer is of. `serving`: its model, while it may still become one. */
function tellRoute(call: Call, target: Target | null, serving: ModelCandidates | undefined): void {
  const { headers } = call
  if (target === null) delete headers['x-tollgate-channel']
  else headers['x-tollgate-channel'] = channelHeader(target.channel.name)
  if (serving?.fallback === undefined) delete headers['x-tollgate-model']
  else headers['x-tollgate-model'] = channelHeader(serving.fallback)
  if (call.request.headers['x-tollgate-route'] === 'true')
    headers['x-tollgate-route'] = routeHeader(call.attempts, serving !== undefined)
}

/** Who is told to wait is told the truth: until the first of all credentials may be used again. */
function withCooldown(last: Last, calls: number, cooldownMs: number): Last {
  const retryAfterSeconds = Math.max(1, Math.ceil(cooldownMs / 1000))
  if (calls === 0) {
    const message = 'The upstreams of this model limit the rate of requests: try again later.'
    return {
      ...nothingTried,
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
