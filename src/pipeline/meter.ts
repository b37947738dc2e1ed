import { type Counts, refined } from '../canonical/price-parts.ts'
import { estimateTokens } from '../canonical/tokens.ts'
import type { Usage, UsageSource } from '../canonical/usage.ts'
import type { Price } from '../catalog/snapshot.ts'
import { boundedUsage } from '../money/bounded-usage.ts'
import { type CostFact, costFactsOf } from '../money/cost-facts.ts'
import { costsNoTokens, noTokens, priceRequest } from '../money/price.ts'
import { priceOthers } from '../money/price-others.ts'
import { nothingObserved } from '../protocols/observe.ts'
import type { Observation } from '../protocols/protocol.ts'

/** The usage and cost of a request. `usageSource` says how reliable they are. */
export interface Metered {
  usage: Usage | null
  usageSource: UsageSource
  /** In nano-USD; null when unknown. */
  costNano: bigint | null
  priceId: string | null
  priceMultiplier: string | null
  /** The facts, other than the counts, that determined the cost. Absent if there are none. */
  facts?: readonly CostFact[] | undefined
  /** The tokens of the body by its size, for limits. Present where nobody reports those of the answer. */
  bodyTokens?: number
}

/** The facts that price an answer. */
export interface Pricing {
  /** Undefined when not known. */
  price: Price | undefined
  /** The multiplier of the caller's group. */
  multiplier: string
  /** The time of the request, in milliseconds since the epoch. */
  at: number
  /** Returns the price of another model that worked on the answer, by the upstream's name for it. */
  priceOf(model: string): Price | undefined
  /** Returns false when the request cannot have used this much, whatever its upstream reports. */
  isPlausible(usage: Usage): boolean
  /** True when the charge is at most what was held, so an implausible cost does no harm. */
  isHeld: boolean
  /**
   * What the gateway counted in the request. Present if its answer is not text, so that the answer's size
   * says nothing about tokens.
   */
  counts?: Counts | undefined
  /** True if the observation contains the most that the answer can be, rather than what was seen of it. */
  isMost?: boolean
}

/** No upstream was paid. */
export const nothingMetered: Metered = {
  usage: null,
  usageSource: 'none',
  costNano: 0n,
  priceId: null,
  priceMultiplier: null,
}

/** An upstream may have been paid an unknown amount. */
export const unknownMetered: Metered = { ...nothingMetered, costNano: null }

/** The observation when the upstream received no request or refused it, and therefore charges nothing. */
export const nothingSent: Observation = { ...nothingObserved }

/** The observation of an answer that was not decoded: its tokens are estimated from its size. */
export function observeSize(bytes: number): Observation {
  return { ...nothingObserved, outputTokensEstimate: estimateTokens(bytes) }
}

/**
 * The one place that turns an answer into tokens and money, for every protocol. It uses the usage that the
 * upstream reported. Without that, it estimates usage from the delivered bytes, and the row says so. Usage
 * and cost are unknown when the upstream continues to work after its answer has ended (`goesOn`). They are
 * also unknown when the upstream reports more than the request can have used, unless held money bounds the
 * charge, in which case the row shows what the upstream reported. Without a report, the tokens of an answer
 * that is not text are unknown, and its cost is known only if its price is not one for tokens.
 */
export function meter(observation: Observation, bodyBytes: number, pricing: Pricing): Metered {
  if (observation === nothingSent) return nothingMetered
  const { price, multiplier, at, counts } = pricing
  const costsCounts = costsNoTokens(price, counts, at)
  const unbounded =
    observation.usage ?? (observation.goesOn === true ? undefined : estimate(observation, bodyBytes, pricing))
  if (unbounded === undefined) return unknownMetered
  const isImplausible = observation.usage !== undefined && !pricing.isPlausible(observation.usage)
  const isRefused = isImplausible && !pricing.isHeld
  if (isRefused && !costsCounts) return { ...unknownMetered, usageSource: 'implausible' }
  const isUnknown = observation.usage === undefined && (costsCounts || pricing.isMost !== true)
  const isUnread = counts !== undefined && (isRefused || isUnknown)
  const usage = boundedUsage({ ...(isUnread ? noTokens : unbounded), ...counts })
  const others = usage.others === undefined ? noOthers : priceOthers(usage.others, pricing)
  const cost =
    price === undefined || (isUnread && !costsCounts)
      ? undefined
      : priceRequest(usage, price, multiplier, { at, others: others.total })
  return {
    usage: isUnread ? null : usage,
    usageSource: isImplausible ? 'implausible' : isUnread ? 'none' : sourceOf(observation),
    costNano: cost?.total ?? null,
    priceId: price?.id ?? null,
    priceMultiplier: multiplier,
    facts: costFactsOf(usage, others.each),
    ...(isUnread && { bodyTokens: estimateTokens(bodyBytes) }),
  }
}

function sourceOf({ usage, complete, isPartial }: Observation): UsageSource {
  if (usage === undefined) return 'estimated'
  return complete && isPartial !== true ? 'upstream' : 'partial'
}

const noOthers = { total: 0n, each: [] }

function estimate(observation: Observation, bodyBytes: number, { counts }: Pricing): Usage | undefined {
  // No answer arrived, so it is unknown whether the upstream charges for the input.
  if (observation.outputTokensEstimate === 0 && !observation.complete) return undefined
  return {
    input: estimateTokens(bodyBytes),
    cacheRead: 0,
    cacheWrite: 0,
    output: observation.outputTokensEstimate,
    reasoning: 0,
    // All output of an answer that is not text is audio.
    ...(counts === undefined ? {} : refined({ audioOutput: observation.outputTokensEstimate })),
  }
}
