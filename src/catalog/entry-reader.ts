import { z } from 'zod'
import { pricesEntry, revision } from './gateway-file.ts'
import type { Path, YamlProblem, YamlSource } from './yaml-source.ts'

/** A valid entry of a list, and its path in the file. */
export interface Entry<T> {
  entry: T
  path: Path
}

export type Sections = Record<'models' | 'channels' | 'groups' | 'tenants', unknown[]> & {
  revision?: number | undefined
  prices?: z.output<typeof pricesEntry> | undefined
}

/** Checks the parts of the file one by one and collects problems, at most one per path. */
export class EntryReader {
  readonly problems: YamlProblem[]
  readonly source: YamlSource
  readonly #places: Set<string>

  constructor(source: YamlSource) {
    this.source = source
    this.problems = [...source.problems]
    this.#places = new Set(this.problems.map(({ path }) => JSON.stringify(path)))
  }

  report(path: Path, message: string) {
    // One problem is enough: for example, a value with an unset variable would also be too short or not a
    // URL.
    const place = JSON.stringify(path)
    if (this.#places.has(place)) return
    this.#places.add(place)
    this.problems.push({ path, line: this.source.lineOf(path), message })
  }

  sections(): Sections {
    const none: Sections = { models: [], channels: [], groups: [], tenants: [] }
    if (this.problems.some((problem) => problem.path.length === 0)) return none
    // An empty file would disable all rows of an earlier one.
    if (this.source.data === null) this.report([], 'the file is empty')
    return this.#check([], this.source.data, sectionsSchema) ?? none
  }

  /** `first` is the index of the first item in its section. */
  entries<S extends z.ZodType>(
    section: string,
    items: unknown[],
    schema: S,
    first = 0,
  ): Entry<z.output<S>>[] {
    return items.flatMap((item, index) => {
      const path = [section, first + index]
      const entry = this.#check(path, item, schema)
      return entry === undefined ? [] : [{ entry, path }]
    })
  }

  #check<S extends z.ZodType>(path: Path, value: unknown, schema: S): z.output<S> | undefined {
    const result = schema.safeParse(value, { error: explain })
    if (result.success) return result.data
    for (const issue of result.error.issues) {
      const place = [...path, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))]
      if (issue.code === 'unrecognized_keys') {
        for (const key of issue.keys) this.report([...place, key], 'is not a known setting')
      } else if (issue.code === 'invalid_key') {
        this.report(place, issue.issues[0]?.message ?? issue.message)
      } else this.report(place, issue.message)
    }
    return undefined
  }
}

const section = z
  .array(z.unknown())
  .nullish()
  .transform((list) => list ?? [])
const sectionsSchema = z.strictObject({
  revision: revision.optional(),
  prices: pricesEntry.optional(),
  models: section,
  channels: section,
  groups: section,
  tenants: section,
})

/** Returns our message for a zod issue, or undefined to use the schema's own message. */
const explain: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing'
      return `must be ${typeWords[issue.expected] ?? issue.expected}`
    case 'too_small':
      return issue.origin === 'array' ? 'must not be an empty list' : `must be ${issue.minimum} or more`
    case 'too_big':
      return `must be ${issue.maximum}${issue.origin === 'string' ? ' characters or fewer' : ' or less'}`
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`
    default:
      return undefined
  }
}

const typeWords: Record<string, string> = {
  string: 'text, quoted if it looks like another type',
  number: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
}
