import { modelsFor } from '../access/permitted.ts'
import type { Channel, Model, Offer } from '../catalog/snapshot.ts'
import type { Identified } from './identify.ts'

/** Other models that this key may use, by whether they can do something. */
export interface Alternatives {
  /** Models that certainly can. */
  can: string[]
  /** Models that may or may not be able to. */
  may: string[]
}

/** The most models that a refusal names. */
const shownMax = 5
/** The most models that a refusal checks, in a large catalog. */
const judgedMax = 200

/**
 * Returns the first models of this key that can, and those that may. `judge` returns whether an offer of the
 * key's group can, or undefined when that is not known.
 */
export function alternativesTo(
  model: Model,
  { snapshot, identity, group }: Pick<Identified, 'snapshot' | 'identity' | 'group'>,
  judge: (offer: Offer, model: Model) => boolean | undefined,
): Alternatives {
  const found: Alternatives = { can: [], may: [] }
  const models = modelsFor(snapshot, identity).slice(0, judgedMax)
  for (const each of models) {
    if (each.id === model.id || each.id === '*' || found.can.length === shownMax) continue
    const judged = each.offers
      .filter(({ channel }) => isOf(channel, group))
      .map((offer) => judge(offer, each))
    if (judged.includes(true)) found.can.push(each.id)
    else if (judged.includes(undefined)) found.may.push(each.id)
  }
  return { can: found.can, may: found.may.slice(0, shownMax) }
}

/** Returns the channels of a model that a group may use. */
export function channelsOf({ offers }: Model, group: Identified['group']): Channel[] {
  return offers.map(({ channel }) => channel).filter((channel) => isOf(channel, group))
}

function isOf({ name }: Channel, { channels }: Identified['group']): boolean {
  return channels.includes('*') || channels.includes(name)
}
