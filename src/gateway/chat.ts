import { authenticate, tokenFrom } from '../access/authenticate.ts'
import { GatewayError } from '../canonical/error.ts'
import { upstreamSide } from '../protocols/index.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { admit, requireCapacity } from './admit.ts'
import { readBody } from './body.ts'
import { asGatewayError, type Call, type Ending, type Endpoint, newAttempt } from './call.ts'
import type { Gateway } from './gateway.ts'
import { holdersOf, rememberHolder } from './holders.ts'
import { answeredBefore, isKeyed } from './idempotency.ts'
import { journey, requireModel } from './journey.ts'
import { meter, nothingMetered, unknownMetered } from './meter.ts'
import { type Prepared, prepare } from './prepare.ts'
import { type Answer, type Attempted, Relay, type UpstreamRefusal } from './relay.ts'
import { groupOf, planRoute, type Target } from './route.ts'
import { leftBeforeSending, refuse, settle } from './settle.ts'

/**
 * A chat request's journey, for every endpoint that is one: read, authenticate, decode, resolve, admit; then one
 * target after the other until the client has an answer. Whatever happens, one row is written.
 */
export function chat(gateway: Gateway, endpoint: Endpoint) {
  return journey(gateway, endpoint, serve)
}

async function serve(gateway: Gateway, call: Call): Promise<void> {
  requireCapacity(gateway)
  const snapshot = gateway.catalog.snapshot
  call.token = tokenFrom(call.request.headers) ?? null
  const found = authenticate(gateway.keys, snapshot, call.request.headers, call.clientAddress, call.startedAt)
  const identity = found instanceof Promise ? await found : found
  call.identity = identity
  const group = groupOf(snapshot, identity.groupId)
  call.endpoint.client.checkHeaders?.(call.request.headers)
  if (call.clientGone) return settle(gateway, call, leftBeforeSending)
  const body = await readBody(call.request, gateway.bounds.bodyBytesMax)
  if (body === undefined) return settle(gateway, call, leftBeforeSending)
  call.body = body.bytes
  call.slabs.push(body.release)
  const facts = call.endpoint.client.readRequest(body.bytes, gateway.bounds)
  call.facts = facts
  call.requestedModel = facts.model
  if (isKeyed(call) && (await answeredBefore(gateway, call))) return
  const model = requireModel(snapshot, identity, facts.model)
  const planned = planRoute(model, facts.model, group, call.endpoint.protocol)
  const { heldId } = facts
  const targets = heldId === undefined ? planned : await holdersOf(gateway, identity, heldId, planned)
  const translated = targets.filter((target) => !target.native)
  await admit(gateway, call, snapshot, { identity, group, model, facts, body: body.bytes, translated })
  call.price = { model, multiplier: group.priceMultiplier, clientGone: group.clientGone }
  await deliver(gateway, call, targets)
}

/** Try the targets in order until one has answered or none may be tried any more. */
async function deliver(gateway: Gateway, call: Call, targets: Target[]): Promise<void> {
  let last: { target: Target | null; error: GatewayError; refusal?: UpstreamRefusal | undefined } =
    nothingTried
  let sent = 0
  let paid = false
  const unsayable = new Set<ProtocolName>()
  for (const target of targets) {
    if (call.clientGone) return settle(gateway, call, leftBeforeSending)
    if (sent === gateway.bounds.attemptsMax) break
    if (unsayable.has(target.protocol)) continue
    const attempted = await attempt(gateway, call, target)
    if (attempted.kind === 'answered') return
    if (attempted.kind === 'unsaid') {
      // Another format may say it. What an upstream said before stays the answer: it may pass, this will not.
      unsayable.add(target.protocol)
      if (last.target === null) last = { target, error: attempted.error }
      continue
    }
    sent++
    last = { target, error: attempted.error, refusal: attempted.refusal }
    paid ||= attempted.paid === 'unknown'
    // Another channel may do better with what was this one's fault, never with what the client got wrong.
    if (attempted.error.fault !== 'upstream' || gateway.draining) break
  }
  await refuse(gateway, call, last.error, {
    target: last.target,
    metered: paid ? unknownMetered : nothingMetered,
    refusal: last.refusal,
  })
}

/** `unsaid`: the request cannot be said in the target's format, and nothing was sent. */
type Tried = Attempted | { kind: 'unsaid'; error: GatewayError }

function attempt(gateway: Gateway, call: Call, target: Target): Promise<Tried> {
  const record = newAttempt(target)
  call.attempts.push(record)
  for (const secret of target.channel.credentials) if (secret !== '') call.credentials.add(secret)
  let prepared: Prepared
  try {
    prepared = prepare(gateway, call, target)
  } catch (cause) {
    const error = asGatewayError(cause)
    record.error = { kind: error.kind, message: error.message }
    return Promise.resolve({ kind: 'unsaid', error })
  }
  call.sentAt ??= Date.now()
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
      settle: (answer) => {
        rememberHolder(gateway, call, target, answer.observation.answerId)
        return settle(gateway, call, endingOf(call, target, answer))
      },
      done: (attempted) => {
        call.running = undefined
        done(attempted)
      },
    })
    call.running = gateway.upstreams.call(target, prepared.request, relay)
  })
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

const nothingTried = { target: null, error: new GatewayError('unavailable', 'No channel could be tried.') }
