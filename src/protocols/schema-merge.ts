import { isDeepStrictEqual } from 'node:util'
import { isRecord, type Json } from '../canonical/json.ts'

/** The schema or boolean in `root` to which a local reference such as `#/$defs/Node` points. */
export function resolveReference(root: Json, reference: string): Json | boolean | undefined {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  let found: unknown = root
  for (const step of reference.slice(2).split('/')) {
    const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = Reflect.get(found, name)
  }
  return isRecord(found) || typeof found === 'boolean' ? found : undefined
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/**
 * Merges the branches of `allOf`, following references where necessary. The amount of copying is limited,
 * because a few references to each other can describe an endless schema.
 */
export class SchemaMerger {
  readonly #root: Json
  /** Counted in characters copied and members compared. */
  #workLeft = workMax
  #stepsLeft = stepsMax
  readonly #sizes = new Map<Json, number>()

  constructor(root: Json) {
    this.#root = root
  }

  /**
   * Returns the schema without `allOf`. What cannot be merged stays in `allOf`, so that the result accepts no
   * fewer values than the original if the caller removes `allOf`.
   */
  withoutAllOf(schema: Json, seen: readonly string[] = []): Json {
    const { allOf, ...rest } = schema
    if (!Array.isArray(allOf)) return schema
    const conflicts: unknown[] = []
    let merged: Json = rest
    for (const branch of allOf) {
      if (branch === true) continue
      const whole = isRecord(branch) ? this.resolved(branch, seen) : undefined
      if (whole === undefined || !this.#take(partsOf(merged) + partsOf(whole))) conflicts.push(branch)
      else merged = mergeSchemas(merged, whole, conflicts)
    }
    return conflicts.length === 0 ? merged : { ...merged, allOf: conflicts }
  }

  /**
   * Returns the schema with its own reference followed and its `allOf` merged; undefined if it refers to
   * itself or is too large.
   */
  resolved(schema: Json, seen: readonly string[] = []): Json | undefined {
    this.#stepsLeft -= 1
    if (this.#stepsLeft < 0 || seen.length > referencesMax) return undefined
    const { $ref: reference, ...siblings } = schema
    if (typeof reference !== 'string') return this.withoutAllOf(schema, seen)
    if (seen.includes(reference)) return undefined
    const target = resolveReference(this.#root, reference)
    if (!isRecord(target) || !this.canCopy(target)) return undefined
    const whole = this.resolved(target, [...seen, reference])
    return whole === undefined ? undefined : mergeSchemas(siblings, whole, [])
  }

  /** Whether this number of copies of the schema is within the limit. If so, they are counted. */
  canCopy(schema: Json, copies = 1): boolean {
    const size = this.#sizes.get(schema) ?? JSON.stringify(schema).length
    this.#sizes.set(schema, size)
    return this.#take(size * copies)
  }

  #take(work: number): boolean {
    if (work > this.#workLeft) return false
    this.#workLeft -= work
    return true
  }
}

const workMax = 1_000_000
const stepsMax = 10_000
const referencesMax = 50

/** The number of members of a schema and of its lists, which approximates the work of a merge. */
function partsOf(schema: Json): number {
  let parts = 0
  for (const value of Object.values(schema)) {
    parts += 1
    if (Array.isArray(value)) parts += value.length
    else if (isRecord(value)) parts += Object.keys(value).length
  }
  return parts
}

/**
 * Combines both schemas into one, as far as a single schema can express it. What it cannot express is added
 * to `conflicts`.
 */
export function mergeSchemas(one: Json, other: Json, conflicts: unknown[]): Json {
  const merged: [string, unknown][] = Object.entries(one)
  for (const [keyword, value] of Object.entries(other)) {
    const at = merged.findIndex(([known]) => known === keyword)
    const known = merged[at]?.[1]
    if (at === -1) merged.push([keyword, value])
    else if (!isDeepStrictEqual(known, value)) {
      const both = mergeKeyword(keyword, known, value, conflicts)
      if (both === undefined) conflicts.push({ [keyword]: value })
      else merged[at] = [keyword, both]
    }
  }
  return Object.fromEntries(merged)
}

function mergeKeyword(keyword: string, one: unknown, other: unknown, conflicts: unknown[]): unknown {
  switch (keyword) {
    case 'description':
      return `${String(one)}\n\n${String(other)}`.slice(0, descriptionCharactersMax)
    case 'required':
      return Array.isArray(one) && Array.isArray(other) ? [...new Set([...one, ...other])] : undefined
    case 'enum':
      return Array.isArray(one) && Array.isArray(other) ? bothOf(one, other) : undefined
    case 'type':
      return mergeTypes(one, other)
    case 'additionalProperties':
      if (one === false || other === false) return false
      return one === true ? other : one
    case 'properties':
      return isRecord(one) && isRecord(other) ? mergeProperties(one, other, conflicts) : undefined
    case 'items':
      return isRecord(one) && isRecord(other) ? mergeInPlace(one, other) : undefined
    case 'title':
    case 'default':
    case 'examples':
    case '$defs':
    case 'definitions':
    case '$schema':
    case '$id':
      return one
    default:
      return undefined
  }
}

function mergeProperties(one: Json, other: Json, conflicts: unknown[]): Json {
  const merged = new Map(Object.entries(one))
  for (const [name, schema] of Object.entries(other)) {
    const known = merged.get(name)
    if (known === undefined || known === true) merged.set(name, schema)
    else if (isRecord(known) && isRecord(schema)) merged.set(name, mergeInPlace(known, schema))
    else if (schema !== true) conflicts.push({ properties: { [name]: schema } })
  }
  return Object.fromEntries(merged)
}

/** References and unions cannot be merged keyword by keyword, so both become an `allOf` for a later step. */
function mergeInPlace(one: Json, other: Json): Json {
  return isDeepStrictEqual(one, other) ? one : { allOf: [one, other] }
}

function bothOf(one: readonly unknown[], other: readonly unknown[]): unknown[] | undefined {
  const others = new Set(other.map((value) => JSON.stringify(value)))
  const both = one.filter((value) => others.has(JSON.stringify(value)))
  return both.length === 0 ? undefined : both
}

const descriptionCharactersMax = 20_000

function mergeTypes(one: unknown, other: unknown): unknown {
  const others = listOf(other)
  const both = listOf(one).flatMap((type) => {
    if (others.includes(type)) return [type]
    if (type === 'number' && others.includes('integer')) return ['integer']
    return type === 'integer' && others.includes('number') ? ['integer'] : []
  })
  return both.length > 1 ? both : both[0]
}

function listOf(type: unknown): unknown[] {
  return Array.isArray(type) ? type : [type]
}
