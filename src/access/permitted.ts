import { blockedFor, findModel, modelIdOf } from '../catalog/catalog.ts'
import { listedModels, type ModelLists, noLists } from '../catalog/listed-models.ts'
import type { Group, Model, Snapshot } from '../catalog/snapshot.ts'
import type { Identity } from './identity.ts'

/**
 * True if the key can use this model: both its own list and its group's list contain it, and a channel of the
 * group serves it, be it a blocked one. Lists contain ids, so an alias counts as its model's id.
 */
export function mayUse(snapshot: Snapshot, identity: Identity, modelName: string): boolean {
  const group = snapshot.groups.get(identity.groupId)
  const model = findModel(snapshot, modelName)
  if (group === undefined || model === undefined) return false
  if (!isNamed(group, identity, modelIdOf(model, modelName))) return false
  return isOffered(model, group) || blockedFor(model, group).length > 0
}

/**
 * Returns the models, except `*`, that the key can use and a channel serves, from the catalog and from the
 * upstreams' lists, sorted by id.
 */
export function modelsFor(
  snapshot: Snapshot,
  identity: Pick<Identity, 'groupId' | 'allowedModels'>,
  lists: ModelLists = noLists,
): Model[] {
  const group = snapshot.groups.get(identity.groupId)
  if (group === undefined) return []
  // A Set, because a model with several names must appear only once.
  return [...new Set([...snapshot.models.values(), ...listedModels(snapshot, lists).values()])]
    .filter(
      (model) => model.offers.length > 0 && isNamed(group, identity, model.id) && isOffered(model, group),
    )
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

function isNamed(group: Group, identity: Pick<Identity, 'allowedModels'>, id: string): boolean {
  if (identity.allowedModels !== undefined && !identity.allowedModels.has(id)) return false
  return group.models.includes('*') || group.models.includes(id)
}

export function isOffered(model: Model, group: Group): boolean {
  return (
    group.channels.includes('*') || model.offers.some((offer) => group.channels.includes(offer.channel.name))
  )
}
