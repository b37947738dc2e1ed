import { type GatewayError, gatewayError } from '../canonical/error.ts'
import type { Target } from '../routing/candidates.ts'
import type { Session } from '../routing/session.ts'
import {
  type ModelCandidates,
  type PassedOverCandidate,
  soonestCooldownMs,
  Targets,
} from '../routing/targets.ts'
import type { Admitted } from './admit.ts'
import { recordPassedOver } from './attempt.ts'
import { end } from './end.ts'
import { leftEnding } from './ending.ts'
import type { Gateway } from './gateway.ts'
import { type Metered, nothingMetered, unknownMetered } from './meter.ts'
import type { Preparation } from './prepare.ts'
import { meterUnseen } from './pricing.ts'
import { withUntranslated } from './refusals-that-help.ts'
import { refuse, type UpstreamRefusal } from './refuse.ts'
import { setRouteHeaders } from './response-headers.ts'
import { TargetCaller } from './target-caller.ts'

/** The models and targets that can answer a request. The requested model comes first. */
export interface Route {
  planned: readonly ModelCandidates[]
  findSession: () => Session | undefined
  preparation: Preparation
}

/** Tries the targets in order until one answers, or until no other may be tried. */
export async function deliver(gateway: Gateway, admitted: Admitted, route: Route): Promise<void> {
  const { life, trace } = admitted
  trace?.step(undefined)
  const { planned, findSession, preparation } = route
  let last: Failure = noTargetTried
  const caller = new TargetCaller(gateway, admitted, preparation)
  let metered = nothingMetered
  const passOver = (modelCandidates: ModelCandidates, candidate: PassedOverCandidate, reason: string) =>
    recordPassedOver(admitted, modelCandidates, candidate, reason)
  const targets = new Targets(gateway.routing, planned, findSession, passOver)
  let chosen = targets.next()
  /** The last target that was called. */
  let called: typeof chosen
  /** Ends a request whose client left between two attempts. */
  const left = async () => {
    const isKnown = metered !== unknownMetered
    const known = isKnown || called === undefined ? metered : await meterUnseen(gateway, admitted, called)
    await end(gateway, admitted, { ...leftEnding, metered: known })
  }
  while (chosen !== undefined) {
    if (life.clientGone) return left()
    if (life.cut !== undefined) {
      last = { ...last, error: life.cut, refusal: undefined }
      break
    }
    if (caller.calls >= gateway.bounds.attemptsMax) break
    const { target } = chosen
    const result = await caller.call(chosen)
    if (result.kind === 'answered') return
    if (result.kind === 'untranslatable') {
      // The translation of a large body ends when the client leaves.
      if (life.clientGone) return left()
      // Another format may be able to express the request. If none can, the client gets an upstream's error
      // rather than this one.
      if (last.target === null) last = { target, error: result.error, refusal: undefined }
      chosen = targets.next({ next: 'untranslatable', reached: true })
      continue
    }
    // An error of another channel says more than that this channel lacks the model.
    const isWorth = last.target === null || !lacksModel(result.error) || lacksModel(last.error)
    if (isWorth) last = { target, error: result.error, refusal: result.refusal }
    called = chosen
    metered = dearer(metered, result.metered)
    if (admitted.endpoint.compacts === true && target.native && knowsNoSuchCall(result.error)) {
      chosen = targets.next({ next: 'channel', reached: true })
      continue
    }
    if (result.verdict.next === 'none' || gateway.draining) break
    chosen = targets.next({ next: result.verdict.next, reached: result.reached })
  }
  const { calls } = caller
  if (calls === 0 && last.target !== null)
    last = { ...last, error: withUntranslated(gateway, admitted, planned, last.error) }
  if (calls === 0 && last === noTargetTried && targets.hasMetFull) last = allFull
  const cooldownMs = soonestCooldownMs(gateway.routing, planned)
  if (cooldownMs !== undefined) last = withCooldown(last, calls, cooldownMs)
  const target = calls === 0 ? null : last.target
  setRouteHeaders(gateway, admitted, target, undefined)
  await refuse(gateway, admitted, last.error, {
    target,
    metered,
    refusal: last.refusal,
  })
}

function lacksModel({ kind }: GatewayError): boolean {
  return kind === 'model_not_found'
}

/** True when the channel does not compact conversations itself. */
function knowsNoSuchCall({ upstreamStatus }: GatewayError): boolean {
  return upstreamStatus === 404 || upstreamStatus === 405 || upstreamStatus === 501
}

interface Failure {
  target: Target | null
  error: GatewayError
  refusal: UpstreamRefusal | undefined
}

const noTargetTried: Failure = {
  target: null,
  error: gatewayError('no_channel_tried'),
  refusal: undefined,
}

const allFull: Failure = {
  ...noTargetTried,
  error: gatewayError('channels_full', {}, { retryAfterSeconds: 1 }),
}

/**
 * The cost of a request without an answer: that of the last attempt that reported usage, otherwise unknown if
 * an attempt may have cost something.
 */
function dearer(before: Metered, last: Metered): Metered {
  return last.usage !== null || (last.costNano === null && before.usage === null) ? last : before
}

/** Sets Retry-After to the time until the first credential leaves its cooldown. */
function withCooldown(last: Failure, calls: number, cooldownMs: number): Failure {
  const retryAfterSeconds = Math.max(1, Math.ceil(cooldownMs / 1000))
  if (calls === 0) {
    return { ...noTargetTried, error: gatewayError('upstreams_cool_down', {}, { retryAfterSeconds }) }
  }
  if (last.error.kind !== 'rate_limited') return last
  return { ...last, error: last.error.with({ fault: 'upstream', retryAfterSeconds }) }
}
