import { addUsage, type ModelUsage } from '../canonical/usage.ts'
import type { Price } from '../catalog/snapshot.ts'
import { boundedUsage } from './bounded-usage.ts'
import { priceRequest } from './price.ts'

/** The usage and cost of another model that worked on an answer. */
export interface PricedModel extends ModelUsage {
  /** Nano-USD; undefined if unknown. */
  cost: bigint | undefined
  priceId: string | undefined
}

/** How other models are priced. */
export interface OthersPricing {
  multiplier: string
  /** In ms since the epoch. */
  at: number
  /** Returns the price of a model, by the upstream's name for it. */
  priceOf(model: string): Price | undefined
}

/**
 * Prices each call of another model at that model's price, and adds up the calls per model. The total is
 * undefined if any cost is unknown: an unknown cost is never 0.
 */
export function priceOthers(
  calls: readonly ModelUsage[],
  { multiplier, at, priceOf }: OthersPricing,
): { total: bigint | undefined; each: PricedModel[] } {
  const byModel = new Map<string, PricedModel>()
  let total: bigint | undefined = 0n
  for (const { model, usage } of calls) {
    const price = priceOf(model)
    const cost = price === undefined ? undefined : priceRequest(usage, price, multiplier, { at })?.total
    const known = byModel.get(model)
    byModel.set(model, {
      model,
      usage: boundedUsage(known === undefined ? usage : addUsage(known.usage, usage)),
      cost: known === undefined ? cost : sum(known.cost, cost),
      priceId: price?.id,
    })
    total = sum(total, cost)
  }
  return { total, each: [...byModel.values()] }
}

function sum(one: bigint | undefined, other: bigint | undefined): bigint | undefined {
  return one === undefined || other === undefined ? undefined : one + other
}
