import type { Model, Snapshot } from './snapshot.ts'

/** A model as an upstream's own list has it. */
export interface ListedModel {
  name: string
  /** In tokens; undefined: the list does not say. */
  contextLength: number | undefined
  maxOutputTokens: number | undefined
}

/**
 * The upstreams' own lists of models, by channel id, as they were last read. A changed list is another
 * object.
 */
export type ModelLists = ReadonlyMap<string, ReadonlyMap<string, ListedModel>>

/**
 * A model that only upstreams' lists name: the model `*` under that name, on the channels whose lists have
 * it.
 */
export interface ModelOfList extends Model {
  listed: ListedModel
}

export const noLists: ModelLists = new Map()

/**
 * The models of the lists by name, without names that the catalog has itself. Only channels that pass any
 * name through count. The answer is kept for as long as lists and catalog are the same.
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

/** By the model `*` of a snapshot: another snapshot has another one. */
const made = new WeakMap<Model, { lists: ModelLists; models: ReadonlyMap<string, ModelOfList> }>()
