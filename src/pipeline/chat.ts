import { mayUse } from '../access/permitted.ts'
import { factsFrom } from '../bodies/read-body.ts'
import { GatewayError } from '../canonical/error.ts'
import { blockedFor } from '../catalog/catalog.ts'
import type { Channel, Model } from '../catalog/snapshot.ts'
import type { Outline } from '../protocols/json-scan.ts'
import { type Candidate, planRoute, translatable } from '../routing/candidates.ts'
import { type Session, sessionOf } from '../routing/session.ts'
import type { ModelCandidates } from '../routing/targets.ts'
import { admit } from './admit.ts'
import { recordBlocked, recordPassedOver } from './attempt.ts'
import { acceptBackground, asBackground, repeatBackground } from './background/accept-background.ts'
import { deliver } from './deliver.ts'
import { bodyFormatOf, formatOf, type ModelEndpoint } from './endpoints.ts'
import type { Gateway } from './gateway.ts'
import { handleRequest } from './handle-request.ts'
import { isMoneyLimited } from './hold-money.ts'
import { identify } from './identify.ts'
import { inlineFiles, mayNameFiles } from './inline-files.ts'
import { continueKept, usesState } from './kept/continue-kept.ts'
import { holdersOf } from './kept/holders.ts'
import { leaveOutUnable } from './leave-out-unable.ts'
import { Preparation } from './prepare.ts'
import { type Asked, read, requireModel } from './read.ts'
import { extend, type Received } from './received.ts'
import { noModelCan, withEndpoints } from './refusals-that-help.ts'
import { isCostBounded, worstCaseOf } from './worst-case.ts'

/**
 * Handles a text request from its first byte to its row: identifies the caller, reads the request, plans its
 * targets and holds its cost, then calls one target after another until the client has an answer. `plain`
 * endpoints do the same without translation.
 */
export function chat(gateway: Gateway, endpoint: ModelEndpoint) {
  const format = formatOf(endpoint)
  const bodyFormat = bodyFormatOf(endpoint)
  const others = endpoint.kind === 'text' ? translatable : []
  const upstreamPath =
    endpoint.kind === 'plain'
      ? endpoint.upstreamPath
      : endpoint.kind === 'text'
        ? endpoint.compactsAt
        : undefined
  const replayJob = (repeat: Received, jobId: string) => repeatBackground(gateway, repeat, jobId)
  const { jsonDepthMax, jsonValuesMax } = gateway.bounds
  const json = { jsonDepthMax, jsonValuesMax }
  const { turnsMember } = format.client
  return handleRequest(gateway, format, async (_: Gateway, received: Received): Promise<void> => {
    const found = identify(gateway, received)
    const identified = found instanceof Promise ? await found : found
    format.client.checkHeaders?.(received.exchange.headers)
    const reading = {
      decode: (body: Buffer, outline?: Outline) =>
        format.client.readRequest(body, outline === undefined ? gateway.bounds : { ...json, outline }),
      format: bodyFormat,
    }
    const sent = await read(
      gateway,
      identified,
      {
        ...reading,
        turnsMember,
        factsFrom,
        onFacts: (facts) => {
          received.row.facts = facts
        },
      },
      replayJob,
    )
    if (sent === undefined) return
    const background =
      sent.facts.background === undefined ? undefined : await asBackground(gateway, identified, sent, reading)
    identified.trace?.step('route')
    const own = background?.content ?? sent
    const whole = usesState(own.facts) ? await continueKept(gateway, identified, own, reading) : own
    const content = mayNameFiles(whole) ? await inlineFiles(gateway, identified, whole, reading) : whole
    const asked = extend(identified, content)
    const model = requireModel(identified, asked.facts.model)
    const findSession = once(() =>
      sessionOf(asked.identity.tenantId, asked.exchange.headers, asked.body, asked.facts),
    )
    const plan = { model, others, findSession }
    const planning =
      endpoint.kind === 'text' ? planAble(gateway, asked, plan) : planModels(gateway, asked, plan)
    const planned = planning instanceof Promise ? await planning : planning
    const preparation = new Preparation(gateway, asked, upstreamPath)
    const worstCase = () => {
      const models = answeringModels(planned)
      const ahead = preparation.translateAhead(models)
      return ahead === undefined
        ? worstCaseOf(asked, models, preparation)
        : ahead.then(() => worstCaseOf(asked, models, preparation))
    }
    if (background !== undefined) return await acceptBackground(gateway, asked, background, worstCase)
    const admitted = await admit(gateway, asked, worstCase)
    await deliver(gateway, admitted, { planned, findSession, preparation })
  })
}

function answeringModels(planned: readonly ModelCandidates[]) {
  return planned.flatMap(({ model, candidates }) =>
    candidates.length === 0
      ? []
      : { model, candidates, translated: candidates.filter(({ native }) => !native) },
  )
}

interface Plan {
  model: Model
  /** The protocols that the request may be translated into. */
  others: typeof translatable
  findSession: () => Session | undefined
}

type Planned = readonly ModelCandidates[]

/**
 * Like `planModels`, but without candidates that lack something the request needs. Throws when none is left.
 */
function planAble(gateway: Gateway, asked: Asked, plan: Plan): Planned | Promise<Planned> {
  const ableOf = (planned: Planned) => {
    const able = leaveOutUnable(gateway, asked, planned)
    return able instanceof Promise
      ? able.then((each) => requireAble(gateway, asked, each))
      : requireAble(gateway, asked, able)
  }
  const planned = planModels(gateway, asked, plan)
  return planned instanceof Promise ? planned.then(ableOf) : ableOf(planned)
}

function requireAble(gateway: Gateway, asked: Asked, able: Planned): Planned {
  if (able.some(({ candidates }) => candidates.length > 0)) return able
  for (const each of able) {
    for (const { candidate, reason } of each.leftOut ?? []) recordPassedOver(asked, each, candidate, reason)
  }
  throw noModelCan(gateway, asked, able)
}

/**
 * Returns the models that may answer: the requested one, then its fallbacks. A request that continues a kept
 * answer has no fallbacks, and waits for the channel that holds it.
 */
function planModels(gateway: Gateway, asked: Asked, plan: Plan): Planned | Promise<Planned> {
  const { heldId } = asked.facts
  return heldId === undefined ? planAnyHolder(asked, plan) : planHolders(gateway, asked, plan, heldId)
}

async function planHolders(gateway: Gateway, asked: Asked, plan: Plan, heldId: string): Promise<Planned> {
  const { model } = plan
  const { model: name } = asked.facts
  try {
    const planned = { model, name, candidates: candidatesOf(asked, plan, model, name) }
    const candidates = await holdersOf(gateway, asked, heldId, planned, asked.endpoint.protocol)
    return [{ model, candidates, fallback: undefined, blocked: blockedFor(model, asked.group) }]
  } catch (error) {
    recordBlocked(asked, model)
    throw withEndpoints(asked, model, error)
  }
}

function planAnyHolder(asked: Asked, plan: Plan): Planned {
  const { model } = plan
  const blocked = blockedFor(model, asked.group)
  const fallbacks = model.fallbacks.flatMap((name) => planFallback(asked, plan, name))
  try {
    const candidates = candidatesOf(asked, plan, model, asked.facts.model)
    return withSummaries(asked, plan, [{ model, candidates, fallback: undefined, blocked }, ...fallbacks])
  } catch (error) {
    recordBlocked(asked, model)
    // No channel of the model can answer on this endpoint, but a fallback can.
    if (fallbacks.some(({ candidates }) => candidates.length > 0)) return fallbacks
    throw withEndpoints(asked, model, error)
  }
}

/**
 * If the group has a model for summaries, puts channels with their own compaction first, then that model. If
 * the key may not use that model, or the cost there has no bound that could be held, the requested model
 * writes the summary.
 */
function withSummaries(asked: Asked, plan: Plan, planned: Planned): Planned {
  const { compactModel } = asked.group
  if (asked.endpoint.compacts !== true || compactModel === undefined || compactModel === plan.model.id)
    return planned
  const summaries = only(false, planFallback(asked, plan, compactModel))
  return summaries.some(({ candidates }) => candidates.length > 0)
    ? [...only(true, planned), ...summaries]
    : planned
}

function only(native: boolean, planned: readonly ModelCandidates[]): ModelCandidates[] {
  return planned.map((each) => ({
    ...each,
    candidates: each.candidates.filter((candidate) => candidate.native === native),
  }))
}

/**
 * Returns the candidates of a fallback, or the reason why it has none; empty when the model no longer exists.
 */
function planFallback(asked: Asked, plan: Plan, fallback: string): ModelCandidates[] {
  const { snapshot, identity } = asked
  const model = snapshot.models.get(fallback)
  if (model === undefined) return []
  const channel = model.offers[0]?.channel
  const blocked = blockedFor(model, asked.group)
  const refuse = (reason: string, blocked: readonly Channel[] = []): ModelCandidates[] => [
    { model, candidates: [], fallback, refused: { channel, reason }, blocked },
  ]
  if (!mayUse(snapshot, identity, fallback)) return refuse('this key may not use that model')
  let candidates: Candidate[]
  try {
    candidates = candidatesOf(asked, plan, model, fallback)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return refuse(error.kind, blocked)
  }
  if (isMoneyLimited(asked)) {
    // Without a bound, the cost could not be held.
    if (candidates.some(({ price }) => price === undefined)) return refuse('it has no price')
    if (!isCostBounded(asked, { model, candidates })) return refuse('its cost is not bounded')
  }
  return [{ model, candidates, fallback, blocked }]
}

function candidatesOf({ group, endpoint }: Asked, { others, findSession }: Plan, model: Model, name: string) {
  const candidates = planRoute(model, name, group, endpoint.protocol, { others, sessionOf: findSession })
  if (endpoint.compacts !== true) return candidates
  // A channel of the client's format without its own compaction can still be asked to write a summary.
  return candidates.flatMap((each) => (each.native ? [each, { ...each, native: false }] : [each]))
}

/** Calls `find` when its result is first needed, and caches the result. */
function once<T>(find: () => T): () => T {
  let found: { value: T } | undefined
  return () => {
    found ??= { value: find() }
    return found.value
  }
}
