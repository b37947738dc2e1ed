import { z } from 'zod'
import type { Entry, EntryReader, Sections } from './entry-reader.ts'
import type { GatewayFile } from './gateway-file.ts'
import { type Path, renderPath } from './yaml-source.ts'

export function checkNames(reader: EntryReader, sections: Sections) {
  const check = (path: Path, items: unknown[], property: 'id' | 'name') => {
    const seen = new Map<string, number>()
    for (const { name, index } of namesIn(items, property)) {
      const first = seen.get(name)
      if (first === undefined) seen.set(name, index)
      else
        reader.report(
          [...path, index, property],
          `"${name}" is already used by ${renderPath([...path, first])}`,
        )
    }
  }
  check(['models'], sections.models, 'id')
  check(['channels'], sections.channels, 'name')
  check(['groups'], sections.groups, 'name')
  check(['tenants'], sections.tenants, 'name')
  sections.tenants.forEach((tenant, index) => {
    const parsed = z.looseObject({ keys: z.array(z.unknown()) }).safeParse(tenant)
    if (parsed.success) check(['tenants', index, 'keys'], parsed.data.keys, 'name')
  })
}

/** Ids and aliases are both names, and each name belongs to one model. */
export function checkAliases(reader: EntryReader, sections: Sections) {
  const owners = new Map<string, Path>(
    namesIn(sections.models, 'id').map(({ name, index }) => [name, ['models', index]]),
  )
  for (const { alias, id, path } of aliasesIn(sections.models)) {
    const owner = owners.get(alias)
    if (id === '*') reader.report(path.slice(0, -1), notForAny)
    else if (alias === '*') reader.report(path, notAny)
    else if (owner !== undefined) reader.report(path, `"${alias}" is already used by ${renderPath(owner)}`)
    else owners.set(alias, path)
  }
}

const notForAny = 'cannot be set for the model "*", which matches any name'
const notAny = 'must be the name of a single model; "*" matches any model'

interface Entries {
  models: Entry<GatewayFile['models'][number]>[]
  channels: Entry<GatewayFile['channels'][number]>[]
  groups: Entry<GatewayFile['groups'][number]>[]
  tenants: Entry<GatewayFile['tenants'][number]>[]
}

export function checkReferences(reader: EntryReader, sections: Sections, file: Entries) {
  const ids = new Set(namesIn(sections.models, 'id').map(({ name }) => name))
  const models = new Set(['*', ...ids])
  const idOf = new Map(aliasesIn(sections.models).map(({ alias, id }) => [alias, id]))
  const channels = new Set(['*', ...namesIn(sections.channels, 'name').map(({ name }) => name)])
  const groups = new Set(namesIn(sections.groups, 'name').map(({ name }) => name))
  const check = (path: Path, name: string, known: Set<string>, where: string) => {
    if (known.has(name)) return
    const id = where === 'models' ? idOf.get(name) : undefined
    reader.report(
      path,
      id === undefined
        ? `"${name}" is not in ${where}`
        : `"${name}" is an alias; use the model id "${id}" instead`,
    )
  }

  const checkFallbacks = ({ id, fallbacks }: GatewayFile['models'][number], path: Path) => {
    fallbacks.forEach((fallback, index) => {
      const place = [...path, 'fallbacks', index]
      const first = fallbacks.indexOf(fallback)
      if (fallback === '*') reader.report(place, notAny)
      else if (fallback === id) reader.report(place, 'must not be the model itself')
      else if (first < index) reader.report(place, `"${fallback}" is already in fallbacks[${first}]`)
      else check(place, fallback, ids, 'models')
    })
  }

  for (const { entry, path } of file.models) {
    if (entry.id === '*' && entry.fallbacks.length > 0) reader.report([...path, 'fallbacks'], notForAny)
    else checkFallbacks(entry, path)
  }
  for (const { entry, path } of file.channels) {
    entry.offers.forEach(({ model }, index) => {
      const asMap = [...path, 'models', model]
      check(reader.source.has(asMap) ? asMap : [...path, 'models', index], model, models, 'models')
    })
  }
  for (const { entry, path } of file.groups) {
    entry.models.forEach((model, index) => {
      check([...path, 'models', index], model, models, 'models')
    })
    const { compactModel } = entry
    if (compactModel !== undefined) {
      const place = [...path, 'responses', 'compact_model']
      if (compactModel === '*') reader.report(place, notAny)
      else if (ids.has(compactModel) && !maySummarize(entry, compactModel))
        reader.report(place, `"${compactModel}" is not in the models of this group`)
      else check(place, compactModel, ids, 'models')
    }
    entry.channels.forEach((channel, index) => {
      check([...path, 'channels', index], channel, channels, 'channels')
    })
  }
  for (const { entry, path } of file.tenants) {
    entry.keys.forEach((key, index) => {
      const keyPath = [...path, 'keys', index]
      check([...keyPath, 'group'], key.group, groups, 'groups')
      key.allowedModels?.forEach((model, at) => {
        check([...keyPath, 'allowed_models', at], model, models, 'models')
      })
    })
  }
}

/** Whether a group can use the model for summaries, which must be one that the group itself can use. */
export function maySummarize({ models }: { models: readonly string[] }, compactModel: string): boolean {
  return models.includes('*') || models.includes(compactModel)
}

export function checkSecrets(reader: EntryReader, file: Entries) {
  const owners = new Map<string, Path>()
  for (const { entry, path } of file.tenants) {
    entry.keys.forEach(({ secret }, index) => {
      if (secret === undefined) return
      const keyPath = [...path, 'keys', index]
      const owner = owners.get(secret)
      if (owner === undefined) owners.set(secret, keyPath)
      else reader.report([...keyPath, 'secret'], `is the same as the secret of ${renderPath(owner)}`)
    })
  }
}

/** Takes the names from the raw data, because an entry counts even if another part of it is invalid. */
function namesIn(items: unknown[], property: 'id' | 'name'): { name: string; index: number }[] {
  return items.flatMap((item, index) => {
    const named = z.looseObject({ [property]: z.string() }).safeParse(item)
    const name = named.success ? named.data[property] : undefined
    return typeof name === 'string' ? [{ name, index }] : []
  })
}

function aliasesIn(models: unknown[]): { alias: string; id: string; path: Path }[] {
  return models.flatMap((item, index) => {
    const named = z.looseObject({ id: z.string(), aliases: z.array(z.unknown()) }).safeParse(item)
    if (!named.success) return []
    const { id, aliases } = named.data
    return aliases.flatMap((alias, at) =>
      typeof alias === 'string' ? [{ alias, id, path: ['models', index, 'aliases', at] }] : [],
    )
  })
}
