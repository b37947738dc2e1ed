import { estimateTokens } from '../canonical/tokens.ts'
import type { Usage, UsageSource } from '../canonical/usage.ts'
import type { Price } from '../catalog/snapshot.ts'
import { boundedUsage } from '../ledger/bounded-usage.ts'
import { type CostFact, costFactsOf } from '../ledger/cost-facts.ts'
import { priceRequest } from '../ledger/price.ts'
import { priceOthers } from '../ledger/price-others.ts'
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
  /** The facts, besides the counts, that decided the cost. Absent: none. */
  facts?: readonly CostFact[] | undefined
}

/** What an answer is priced by. */
export interface Pricing {
  /** Undefined: not known. */
  price: Price | undefined
  /** The multiplier of the caller's group. */
  multiplier: string
  /** The moment of the request, in ms since the epoch. */
  at: number
  /** The price of another model that worked on the answer, by the upstream's name. */
  priceOf(model: string): Price | undefined
  /** False: the request cannot have used this much, whatever its upstream reports. */
  isPlausible(usage: Usage): boolean
  /** True: no more is charged than was held, so that an implausible cost does no harm. */
  isHeld: boolean
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
 * The one place that turns an answer into tokens and money, for every protocol. It takes the usage that the
 * upstream reported. Without such usage it estimates from the delivered bytes, and marks the row so. When the
 * upstream goes on after its answer has ended (`goesOn`), usage and cost are unknown. They are unknown too
 * when the upstream reports more than the request can have used, unless the money held for it bounds its
 * charge: then the row shows what the upstream asks for.
 */
export function meter(observation: Observation, bodyBytes: number, pricing: Pricing): Metered {
  if (observation === nothingSent) return nothingMetered
  const unbounded =
    observation.usage ?? (observation.goesOn === true ? undefined : estimate(observation, bodyBytes))
  if (unbounded === undefined) return unknownMetered
  const isImplausible = observation.usage !== undefined && !pricing.isPlausible(observation.usage)
  if (isImplausible && !pricing.isHeld) return { ...unknownMetered, usageSource: 'implausible' }
  const usage = boundedUsage(unbounded)
  const { price, multiplier, at } = pricing
  const others = usage.others === undefined ? noOthers : priceOthers(usage.others, pricing)
  const cost =
    price === undefined ? undefined : priceRequest(usage, price, multiplier, { at, others: others.total })
  return {
    usage,
    usageSource: isImplausible ? 'implausible' : sourceOf(observation),
    costNano: cost?.total ?? null,
    priceId: price?.id ?? null,
    priceMultiplier: multiplier,
    facts: costFactsOf(usage, others.each),
  }
}

function sourceOf({ usage, complete, isPartial }: Observation): UsageSource {
  if (usage === undefined) return 'estimated'
  return complete && isPartial !== true ? 'upstream' : 'partial'
}

const noOthers = { total: 0n, each: [] }

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
