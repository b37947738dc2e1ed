import { modelsFor } from '../access/permitted.ts'
import type { Channel, Model, Offer } from '../catalog/snapshot.ts'
import type { Identified } from './identify.ts'

/** Models that this key may use, and whether they can do something. */
export interface Alternatives {
  /** Those that certainly can. */
  can: string[]
  /** Those that are not known to be unable. */
  may: string[]
}

/** A refusal names no more models. */
const shownMax = 5
/** In a large catalog, a refusal looks at no more models. */
const judgedMax = 200

/**
 * The first models of this key that can, and those that may. `judge`: whether an offer of the key's group
 * can; undefined: not known.
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

/** The channels of a model that a group may use. */
export function channelsOf({ offers }: Model, group: Identified['group']): Channel[] {
  return offers.map(({ channel }) => channel).filter((channel) => isOf(channel, group))
}

function isOf({ name }: Channel, { channels }: Identified['group']): boolean {
  return channels.includes('*') || channels.includes(name)
}
