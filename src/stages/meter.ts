import { estimateTokens } from '../canonical/tokens.ts'
import type { Usage, UsageSource } from '../canonical/usage.ts'
import type { Model } from '../catalog/snapshot.ts'
import { boundedUsage, priceRequest } from '../ledger/price.ts'
import { nothingObserved } from '../protocols/observe.ts'
import type { Observation } from '../protocols/protocol.ts'

/** The usage and the cost of a request. `usageSource` says how far to trust them. */
export interface Metered {
  usage: Usage | null
  usageSource: UsageSource
  /** Nano-USD; null: not known. */
  costNano: bigint | null
  priceId: string | null
  priceMultiplier: string | null
}

/** We paid no upstream. */
export const nothingMetered: Metered = {
  usage: null,
  usageSource: 'none',
  costNano: 0n,
  priceId: null,
  priceMultiplier: null,
}

/** We may have paid an upstream, and cannot know how much. */
export const unknownMetered: Metered = { ...nothingMetered, costNano: null }

/** The observation of an upstream that got no request, or refused it: it charges nothing. */
export const nothingSent: Observation = { ...nothingObserved }

/** The observation of an answer that we did not decode: its tokens are estimated from its size. */
export function observeSize(bytes: number): Observation {
  return { ...nothingObserved, outputTokensEstimate: estimateTokens(bytes) }
}

/**
 * The one place that turns an answer into tokens and money, for every protocol. It takes the usage that the upstream
 * reported. Without such usage it estimates from the delivered bytes, and marks the row so. When the upstream goes on after
 * its answer has ended (`goesOn`), usage and cost are unknown.
 */
export function meter(
  observation: Observation,
  bodyBytes: number,
  model: Model,
  multiplier: string,
): Metered {
  if (observation === nothingSent) return nothingMetered
  const unbounded =
    observation.usage ?? (observation.goesOn === true ? undefined : estimate(observation, bodyBytes))
  if (unbounded === undefined) return unknownMetered
  const usage = boundedUsage(unbounded)
  const cost = model.price === undefined ? undefined : priceRequest(usage, model.price, multiplier)
  return {
    usage,
    usageSource:
      observation.usage === undefined ? 'estimated' : observation.complete ? 'upstream' : 'partial',
    costNano: cost?.total ?? null,
    priceId: model.price?.id ?? null,
    priceMultiplier: multiplier,
  }
}

function estimate(observation: Observation, bodyBytes: number): Usage | undefined {
  // No answer came: we cannot know whether the upstream charges for the input.
  if (observation.outputTokensEstimate === 0 && !observation.complete) return undefined
  return {
    input: estimateTokens(bodyBytes),
    cacheRead: 0,
    cacheWrite: 0,
    output: observation.outputTokensEstimate,
    reasoning: 0,
  }
}
