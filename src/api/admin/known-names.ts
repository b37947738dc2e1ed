import { invalid } from '../../canonical/field-error.ts'
import type { readNames } from './group-queries.ts'

type Names = Awaited<ReturnType<typeof readNames>>

/** Throws `invalid_request` for an unknown model. Names in `before` were checked earlier. */
export function requireModels({ models, modelOf }: Names, { field, wanted, before }: NamesChange): void {
  requireKnown(models, { field, wanted, before }, (name) => {
    const id = modelOf.get(name)
    return id === undefined
      ? `there is no model "${name}"`
      : `"${name}" is an alias: write "${id}", its model`
  })
}

/** Throws `invalid_request` for an unknown channel. Names in `before` were checked earlier. */
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
