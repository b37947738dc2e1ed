import { authenticate, tokenFrom } from '../access/authenticate.ts'
import type { Identity } from '../access/identity.ts'
import { mayUse } from '../access/permitted.ts'
import { GatewayError } from '../canonical/error.ts'
import type { Group, Model, Snapshot } from '../catalog/snapshot.ts'
import { readBody } from '../http/body.ts'
import type { RequestFacts } from '../protocols/protocol.ts'
import { groupOf, planRoute } from '../routing/candidates.ts'
import { type Session, sessionOf } from '../routing/session.ts'
import type { Leg } from '../routing/targets.ts'
import { admit, requireCapacity } from '../stages/admit.ts'
import type { Call, Endpoint } from '../stages/call.ts'
import type { Gateway } from '../stages/gateway.ts'
import { answeredBefore, isKeyed } from '../stages/idempotency.ts'
import { journey, requireModel } from '../stages/journey.ts'
import { checkTags } from '../stages/labels.ts'
import { isCostBounded, isMoneyLimited } from '../stages/reserve.ts'
import { leftBeforeSending, settle } from '../stages/settle.ts'
import { deliver } from './deliver.ts'
import { holdersOf } from './holders.ts'

/**
 * A chat request's journey, for every endpoint that is one: read, authenticate, decode, resolve, admit; then one
 * target after the other until the client has an answer. Whatever happens, one row is written.
 */
export function chat(gateway: Gateway, endpoint: Endpoint) {
  return journey(gateway, endpoint, serve)
}

async function serve(gateway: Gateway, call: Call): Promise<void> {
  const snapshot = gateway.catalog.snapshot
  call.token = tokenFrom(call.request.headers) ?? null
  const found = authenticate(gateway.keys, snapshot, call.request.headers, call.clientAddress, call.startedAt)
  const identity = found instanceof Promise ? await found : found
  call.identity = identity
  requireCapacity(gateway)
  const group = groupOf(snapshot, identity.groupId)
  call.endpoint.client.checkHeaders?.(call.request.headers)
  checkTags(call.request.headers)
  if (call.clientGone) return settle(gateway, call, leftBeforeSending)
  const { bodyBytesMax, decodedBytesMax } = gateway.bounds
  const decoded = { bytesMax: decodedBytesMax, releases: call.releases }
  const body = await readBody(call.request, bodyBytesMax, decoded)
  if (body === undefined) return settle(gateway, call, leftBeforeSending)
  call.body = body.bytes
  call.slabs.push(body.release)
  const facts = call.endpoint.client.readRequest(body.bytes, gateway.bounds)
  call.facts = facts
  call.requestedModel = facts.model
  if (isKeyed(call) && (await answeredBefore(gateway, call))) return
  const model = requireModel(snapshot, identity, facts.model)
  const findSession = once(() => sessionOf(identity.tenantId, call.request.headers, body.bytes, facts))
  const legs = await planLegs(gateway, call, { snapshot, identity, group, model, facts, findSession })
  const models = legs.flatMap(({ model, candidates }) =>
    candidates.length === 0 ? [] : { model, translated: candidates.filter(({ native }) => !native) },
  )
  await admit(gateway, call, snapshot, { identity, group, facts, body: body.bytes, models })
  call.price = { model, multiplier: group.priceMultiplier, clientGone: group.clientGone }
  await deliver(gateway, call, { legs, findSession, group })
}

interface Planning {
  snapshot: Snapshot
  identity: Identity
  group: Group
  model: Model
  facts: RequestFacts
  findSession: () => Session | undefined
}

/** Where the request may go: the model that was asked for, then its fallbacks. What only one channel holds has none. */
async function planLegs(gateway: Gateway, call: Call, planning: Planning): Promise<Leg[]> {
  const { identity, group, model, facts, findSession: sessionOf } = planning
  const { protocol } = call.endpoint
  const { heldId } = facts
  if (heldId !== undefined) {
    const planned = planRoute(model, facts.model, group, protocol, { sessionOf })
    const candidates = await holdersOf(gateway, identity, heldId, planned)
    return [{ model, candidates, fallback: undefined }]
  }
  const fallbacks = model.fallbacks.flatMap((fallback) => planFallback(call, planning, fallback))
  try {
    const candidates = planRoute(model, facts.model, group, protocol, { sessionOf })
    return [{ model, candidates, fallback: undefined }, ...fallbacks]
  } catch (error) {
    // No channel of its own can answer here: its fallbacks may.
    if (fallbacks.some(({ candidates }) => candidates.length > 0)) return fallbacks
    throw error
  }
}

/** None where the fallback is no more, or cannot be asked on this endpoint. */
function planFallback(call: Call, planning: Planning, fallback: string): Leg[] {
  const { snapshot, identity, group, facts, findSession: sessionOf } = planning
  const model = snapshot.models.get(fallback)
  if (model === undefined) return []
  const channel = model.offers[0]?.channel
  const refuse = (reason: string): Leg[] => [
    { model, candidates: [], fallback, refused: { channel, reason } },
  ]
  if (!mayUse(snapshot, identity, fallback)) return refuse('this key may not use that model')
  if (isMoneyLimited(snapshot, identity, group)) {
    // What it may cost could not be held.
    if (model.price === undefined) return refuse('it has no price')
    if (!isCostBounded(facts, model, group)) return refuse('its cost is not bounded')
  }
  try {
    const candidates = planRoute(model, fallback, group, call.endpoint.protocol, { sessionOf })
    return [{ model, candidates, fallback }]
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return refuse(error.kind)
  }
}

/** Asked for when there is a choice, and then the same for all of the request. */
function once<T>(find: () => T): () => T {
  let found: { value: T } | undefined
  return () => {
    found ??= { value: find() }
    return found.value
  }
}
