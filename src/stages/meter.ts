import type { Usage, UsageSource } from '../canonical/usage.ts'
import type { Model } from '../catalog/snapshot.ts'
import { boundedUsage, priceRequest } from '../ledger/price.ts'
import type { Observation } from '../protocols/protocol.ts'

/** What a request used and cost, and how far that can be trusted. */
export interface Metered {
  usage: Usage | null
  usageSource: UsageSource
  /** Nano-USD; null: not known. */
  costNano: bigint | null
  priceId: string | null
  priceMultiplier: string | null
}

/** No upstream was paid. */
export const nothingMetered: Metered = {
  usage: null,
  usageSource: 'none',
  costNano: 0n,
  priceId: null,
  priceMultiplier: null,
}

/** An upstream may have been paid, and nobody can tell how much. */
export const unknownMetered: Metered = { ...nothingMetered, costNano: null }

/** What was observed of an answer of which nothing came, or nothing that could be read. */
export const nothingObserved: Observation = {
  usage: undefined,
  finishReason: undefined,
  servedModel: undefined,
  error: undefined,
  complete: false,
  outputTokensEstimate: 0,
}

/** What was observed of an upstream that was sent nothing, or that refused: there is nothing to pay for. */
export const nothingSent: Observation = { ...nothingObserved }

/** What is observed of an answer that is only counted. */
export function weighed(bytes: number): Observation {
  return { ...nothingObserved, outputTokensEstimate: Math.ceil(bytes / bytesPerToken) }
}

/** English text has about four bytes to a token. */
const bytesPerToken = 4

/**
 * The one place where an answer becomes tokens and money, for every protocol. What the upstream told is taken;
 * an answer that ends without usage is estimated from what was delivered, and marked so; of one that the upstream goes
 * on with behind our back, nothing is known.
 */
export function meter(
  observation: Observation,
  bodyBytes: number,
  model: Model,
  multiplier: string,
): Metered {
  if (observation === nothingSent) return nothingMetered
  const told =
    observation.usage ?? (observation.goesOn === true ? undefined : estimate(observation, bodyBytes))
  if (told === undefined) return unknownMetered
  const usage = boundedUsage(told)
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
  // Nothing came back: whether the upstream charges for the input is its secret.
  if (observation.outputTokensEstimate === 0 && !observation.complete) return undefined
  return {
    input: Math.ceil(bodyBytes / bytesPerToken),
    cacheRead: 0,
    cacheWrite: 0,
    output: observation.outputTokensEstimate,
    reasoning: 0,
  }
}
