import type { Model, Snapshot } from './snapshot.ts'

/** A model in an upstream's own model list. */
export interface ListedModel {
  name: string
  /** In tokens; undefined if the list does not state it. */
  contextLength: number | undefined
  maxOutputTokens: number | undefined
}

/** The upstreams' own model lists by channel id, as last read. A changed list is a new object. */
export type ModelLists = ReadonlyMap<string, ReadonlyMap<string, ListedModel>>

/**
 * A model that appears only in upstreams' lists: the model `*` under that name, on the channels that list it.
 */
export interface ModelOfList extends Model {
  listed: ListedModel
}

export const noLists: ModelLists = new Map()

/**
 * Returns the models in the lists, except names that are in the catalog. Only considers channels that pass
 * any name through. The result is cached until the lists or the catalog change.
 */
export function listedModels(
  { anyModel, models }: Snapshot,
  lists: ModelLists,
): ReadonlyMap<string, ModelOfList> {
  if (anyModel === undefined || lists.size === 0) return none
  const kept = made.get(anyModel)
  if (kept?.lists === lists) return kept.models
  const found = new Map<string, ModelOfList>()
  const passing = anyModel.offers.filter((offer) => offer.upstreamModel === '*')
  for (const offer of passing) {
    for (const listed of lists.get(offer.channel.id)?.values() ?? []) {
      const { name } = listed
      if (found.has(name) || models.has(name)) continue
      const offers = passing.filter(({ channel }) => lists.get(channel.id)?.has(name))
      found.set(name, { ...anyModel, id: name, offers, listed })
    }
  }
  made.set(anyModel, { lists, models: found })
  return found
}

const none: ReadonlyMap<string, ModelOfList> = new Map()

/** Keyed by the model `*` of a snapshot, because each snapshot has its own. */
const made = new WeakMap<Model, { lists: ModelLists; models: ReadonlyMap<string, ModelOfList> }>()
