import { invalid } from '../../canonical/field-error.ts'
import type { readNames } from './group-queries.ts'

type Names = Awaited<ReturnType<typeof readNames>>

/** Throws `invalid_request` for a model that is not there. Those of `before` were checked then. */
export function requireModels({ models, modelOf }: Names, { field, wanted, before }: NamesChange): void {
  requireKnown(models, { field, wanted, before }, (name) => {
    const id = modelOf.get(name)
    return id === undefined
      ? `there is no model "${name}"`
      : `"${name}" is an alias: write "${id}", its model`
  })
}

/** Throws `invalid_request` for a channel that is not there. Those of `before` were checked then. */
export function requireChannels({ channels }: Names, change: NamesChange): void {
  requireKnown(channels, change, (name) => `there is no channel "${name}"`)
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
