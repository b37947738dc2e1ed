import { invalid } from '../../canonical/field-error.ts'
import { maySummarize } from '../../catalog/references.ts'
import type { readNames } from './group-queries.ts'

type Names = Awaited<ReturnType<typeof readNames>>

/** The names without those of other models and their aliases. */
export function onlyModels({ channels, models, modelOf }: Names, ids: ReadonlySet<string>): Names {
  return {
    channels,
    models: new Set([...models].filter((id) => ids.has(id))),
    modelOf: new Map([...modelOf].filter(([, id]) => ids.has(id))),
  }
}

/** Throws `invalid_request` for an unknown model. Names in `before` have already been checked. */
export function requireModels(names: Names, { field, wanted, before }: NamesChange): void {
  requireKnown(names.models, { field, wanted, before }, (name) => noModel(names, name))
}

/** Throws `invalid_request` for an unknown channel. Names in `before` have already been checked. */
export function requireChannels({ channels }: Names, change: NamesChange): void {
  requireKnown(channels, change, (name) => `there is no channel "${name}"`)
}

/**
 * Throws `invalid_request` for a compaction model that does not exist or that the group is not allowed to
 * use.
 */
export function requireSummaries(names: Names, models: readonly string[], compactModel: string): void {
  const field = 'responses.compact_model'
  if (compactModel === '*' || !names.models.has(compactModel))
    throw invalid(field, noModel(names, compactModel))
  if (!maySummarize({ models }, compactModel))
    throw invalid(field, `"${compactModel}" is not in the models of this group`)
}

function noModel({ modelOf }: Names, name: string): string {
  const id = modelOf.get(name)
  return id === undefined
    ? `there is no model "${name}"`
    : `"${name}" is an alias; use the model id "${id}" instead`
}

interface NamesChange {
  field: string
  wanted: readonly string[]
  before: readonly string[]
}

function requireKnown(
  known: ReadonlySet<string>,
  { field, wanted, before }: NamesChange,
  problemOf: (name: string) => string,
): void {
  const index = wanted.findIndex((name) => name !== '*' && !known.has(name) && !before.includes(name))
  const name = wanted[index]
  if (name !== undefined) throw invalid(`${field}[${index}]`, problemOf(name))
}
