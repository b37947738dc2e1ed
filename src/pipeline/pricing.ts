import type { Model, Price, Snapshot } from '../catalog/snapshot.ts'
import { momentOf } from '../journal/tuple.ts'
import type { Candidate } from '../routing/candidates.ts'
import type { Pricing } from './meter.ts'
import { isPlausible } from './plausible-usage.ts'
import type { Asked } from './read.ts'

/**
 * The facts that price a target's answer. The moment is taken from the request's id, so that it can be
 * derived from the row alone.
 */
export function pricingOf(asked: Asked, model: Model, target: Candidate): Pricing {
  const { id, snapshot, group, row, facts } = asked
  return {
    price: target.price,
    multiplier: group.priceMultiplier,
    at: momentOf(id),
    priceOf: (name) => priceOfUpstreamModel(snapshot, target, name),
    isPlausible: (usage) => isPlausible(asked, model, usage),
    isHeld: row.heldNano !== null,
    counts: facts.counts,
  }
}

/**
 * The price of another model that a channel's upstream used, by the upstream's name for it: that of the offer
 * with that name on the same channel, otherwise on another channel, otherwise of the model with that id or
 * alias, otherwise the price library's.
 */
export function priceOfUpstreamModel(
  { models }: Snapshot,
  { channel, libraryPrices }: Candidate,
  name: string,
): Price | undefined {
  let elsewhere: Price | undefined
  for (const model of models.values()) {
    for (const offer of model.offers) {
      if (offer.upstreamModel !== name) continue
      const price = model.price ?? offer.libraryPrices?.of(name)
      if (price !== undefined && offer.channel.id === channel.id) return price
      elsewhere ??= price
    }
  }
  return elsewhere ?? models.get(name)?.price ?? libraryPrices?.of(name)
}
