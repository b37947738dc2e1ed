import type { Rates } from '../canonical/price-parts.ts'
import type { Price, PriceCondition } from '../catalog/snapshot.ts'

/** The facts about a request that decide which tier of a price applies. */
export interface RateFacts {
  /**
   * All input tokens, including cached ones: @pydantic/genai-prices 0.1.8 selects a vendor's tier by them.
   */
  inputTokens: number
  /** As named by the vendor. */
  serviceTier: string | undefined
  /** In ms since the epoch. */
  at: number
}

/**
 * The rates of a request: those of the last tier whose conditions it meets, otherwise those of the price
 * itself. A service tier without its own rates costs the same as all others.
 */
export function ratesOf(price: Price, facts: RateFacts): Rates {
  let rates: Rates = price
  for (const tier of price.tiers ?? []) if (isMet(tier.when, facts)) rates = tier.rates
  return rates
}

/** All rates that can apply to a request with at most `inputTokensMax` input tokens. */
export function possibleRates(price: Price, inputTokensMax: number, at: number): Rates[] {
  let possible: Rates[] = [price]
  for (const { when, rates } of price.tiers ?? []) {
    const { aboveInputTokens = -1, serviceTier, since = 0, daily } = when
    if (aboveInputTokens >= inputTokensMax || since > at) continue
    const isSure = aboveInputTokens < 0 && serviceTier === undefined && daily === undefined
    possible = isSure ? [rates] : [...possible, rates]
  }
  return possible
}

function isMet({ aboveInputTokens, serviceTier, since, daily }: PriceCondition, facts: RateFacts): boolean {
  if (aboveInputTokens !== undefined && facts.inputTokens <= aboveInputTokens) return false
  if (serviceTier !== undefined && facts.serviceTier?.toLowerCase() !== serviceTier) return false
  if (since !== undefined && facts.at < since) return false
  return daily === undefined || isWithin(daily, secondOfDay(facts.at))
}

function isWithin({ from, to }: { from: number; to: number }, second: number): boolean {
  return from <= to ? from <= second && second < to : from <= second || second < to
}

function secondOfDay(at: number): number {
  return Math.floor(at / 1000) % 86_400
}
