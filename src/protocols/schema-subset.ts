import { isRecord, type Json } from '../canonical/json.ts'
import type { SchemaSubset } from '../canonical/traits.ts'
import { resolveReference, SchemaMerger } from './schema-merge.ts'
import {
  inferTypes,
  isPrimitive,
  keywordsFor,
  nullable,
  type RemovedPart,
  typeOfValue,
  union,
  withKeywords,
} from './schema-parts.ts'
import { SchemaPlace } from './schema-place.ts'
import {
  adviceKeywords,
  type SchemaRules,
  schemaRules,
  silentKeywords,
  typeOfKeyword,
} from './schema-rules.ts'

export interface RewrittenSchema {
  schema: Json
  /**
   * The parts that the vendor refuses. They are mentioned in the description of the schema that contained
   * them, for the model.
   */
  removed: RemovedPart[]
  /**
   * False if the subset cannot express a part, such as arbitrary keys of an object. The rewritten schema then
   * rejects values that the original accepts, and an answer that follows it may be useless. In that case it
   * is better to send no schema, or one that is not enforced.
   */
  fits: boolean
}

/**
 * Rewrites a JSON Schema to the subset that a vendor supports. The result accepts every value that the
 * original accepts, except that objects with listed properties are closed if the vendor requires it. With
 * `openai-strict`, `null` stands for an absent property. Never throws and does not change `schema`.
 */
export function rewriteSchema(schema: Json, subset: SchemaSubset): RewrittenSchema {
  const rules = schemaRules[subset]
  if (rules === undefined) return { schema, removed: [], fits: subset === 'any' }
  return new SchemaRewriter(schema, rules).rewrite()
}

/** A sentence for a note that lists the first removed parts. Empty if nothing was removed. */
export function removedText(removed: readonly RemovedPart[]): string {
  if (removed.length === 0) return ''
  const first = removed.slice(0, 5).map(({ path, what }) => (path === '' ? what : `${what} (${path})`))
  const more = removed.length > first.length ? `, and ${removed.length - first.length} more` : ''
  return `moved to the description, because the vendor's schemas do not support it: ${first.join(', ')}${more}`
}

const depthMax = 100
const placesMax = 10_000

class SchemaRewriter {
  readonly #root: Json
  readonly #rules: SchemaRules
  readonly #merger: SchemaMerger
  readonly #removed: RemovedPart[] = []
  readonly #definitions = new Map<string, { name: string; schema: Json; isDone: boolean }>()
  readonly #names = new Set<string>()
  #fits = true
  #places = 0
  /** The number of references to unfinished definitions within the current one. */
  #cycles = 0

  constructor(root: Json, rules: SchemaRules) {
    this.#root = root
    this.#rules = rules
    this.#merger = new SchemaMerger(root)
  }

  rewrite(): RewrittenSchema {
    const whole = this.#place(this.#merger.resolved(this.#root) ?? this.#root, '', 0)
    const schema = this.#rules.rootIsObject ? this.#asObject(whole) : whole
    const definitions = [...this.#definitions.values()].map((one) => [one.name, one.schema] as const)
    return {
      schema: definitions.length === 0 ? schema : { ...schema, $defs: Object.fromEntries(definitions) },
      removed: this.#removed,
      fits: this.#fits,
    }
  }

  #asObject(schema: Json): Json {
    if (schema.type === 'object') return schema
    this.#fits = false
    this.#removed.push({ path: '', what: 'a value that is not an object' })
    return { type: 'object', properties: {}, required: [], additionalProperties: false }
  }

  #place(value: unknown, path: string, depth: number): Json {
    this.#places += 1
    if (!isRecord(value) || depth > depthMax || this.#places > placesMax) return this.#anyValue()
    if (typeof value.$ref === 'string') return this.#reference(value.$ref, value, path, depth)
    const place = new SchemaPlace(this.#merger.withoutAllOf(value), path)
    const built = this.#build(place, depth)
    return this.#finish(built, place)
  }

  #build(place: SchemaPlace, depth: number): Json {
    const isNullable = place.take('nullable') === true
    const built = this.#literals(place) ?? this.#branches(place, depth) ?? this.#typed(place, depth)
    return isNullable ? nullable(built, this.#rules.literals !== 'texts-and-numbers') : built
  }

  /** Moves the remaining keywords to the description. */
  #finish(built: Json, place: SchemaPlace): Json {
    const { title, description, path } = place
    const left = Object.entries(place.rest()).filter(
      ([keyword]) => !silentKeywords.has(keyword) && !keyword.startsWith('x-'),
    )
    for (const [keyword, value] of left) {
      if (!adviceKeywords.has(keyword)) this.#remove(path, `${keyword}: ${JSON.stringify(value)}`)
    }
    const named = title === undefined ? built : { title, ...built }
    return withKeywords(named, description, left)
  }

  #remove(path: string, what: string): void {
    this.#removed.push({ path, what: what.length > 200 ? `${what.slice(0, 200)}...` : what })
  }

  /** A schema for any value. A closed subset cannot express arbitrary objects and arrays. */
  #anyValue(): Json {
    if (!this.#rules.closed) return {}
    this.#fits = false
    return { anyOf: ['string', 'number', 'boolean', 'null'].map((type) => ({ type })) }
  }

  #reference(reference: string, source: Json, path: string, depth: number): Json {
    const place = new SchemaPlace(source, path)
    place.take('$ref')
    const name = this.#define(reference, depth)
    if (name === undefined) {
      this.#remove(path, `$ref: ${JSON.stringify(reference)}`)
      return this.#finish(this.#anyValue(), place)
    }
    const bare: Json = { $ref: `#/$defs/${name}` }
    // Vendors do not support other keywords next to a reference.
    const dressed = this.#finish({}, place)
    return Object.keys(dressed).length === 0 ? bare : { ...dressed, anyOf: [bare] }
  }

  /** The name of the definition to which a reference points; undefined if there cannot be one. */
  #define(reference: string, depth: number): string | undefined {
    const known = this.#definitions.get(reference)
    if (known !== undefined) {
      if (!known.isDone) this.#cycles += 1
      return known.isDone || this.#rules.recursion !== 'no' ? known.name : undefined
    }
    const target = resolveReference(this.#root, reference)
    if (target === undefined) {
      this.#fits = false
      return undefined
    }
    const definition = { name: this.#nameFor(reference), schema: {}, isDone: false }
    this.#definitions.set(reference, definition)
    const cyclesBefore = this.#cycles
    definition.schema = this.#place(target, `$defs.${definition.name}`, depth + 1)
    definition.isDone = true
    this.#cycles = cyclesBefore
    return definition.name
  }

  #nameFor(reference: string): string {
    const last = reference.slice(reference.lastIndexOf('/') + 1)
    const legal = last.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 60) || 'definition'
    let name = legal
    for (let number = this.#names.size; this.#names.has(name); number += 1) name = `${legal}_${number}`
    this.#names.add(name)
    return name
  }

  #literals(place: SchemaPlace): Json | undefined {
    const literal = place.peek('const')
    const values = place.has('const') ? [literal] : place.peek('enum')
    if (!Array.isArray(values) || values.length === 0 || !values.every(isPrimitive)) return undefined
    const { literals } = this.#rules
    const types = [...new Set(values.map(typeOfValue))]
    if (literals === 'texts-and-numbers') {
      const taken = values.filter((value) => typeof value === 'string' || typeof value === 'number')
      if (types.includes('boolean')) {
        // The values stay in the description.
        place.take('type')
        return { type: types.length === 1 ? types[0] : types }
      }
      takeLiterals(place)
      if (taken.length === 0) return { type: 'null' }
      const listed = { type: typeOfValue(taken[0]), enum: taken }
      return types.includes('null') ? { anyOf: [listed, { type: 'null' }] } : listed
    }
    const listed = place.has('const') ? { const: literal } : { enum: values }
    takeLiterals(place)
    return literals === 'untyped' ? listed : { type: types.length === 1 ? types[0] : types, ...listed }
  }

  #branches(place: SchemaPlace, depth: number): Json | undefined {
    const keyword = Array.isArray(place.peek('anyOf')) ? 'anyOf' : 'oneOf'
    const branches = place.peek(keyword)
    if (!Array.isArray(branches) || branches.length === 0) return undefined
    const around = Object.fromEntries(
      Object.entries(place.rest()).filter(([name]) => name === 'type' || Object.hasOwn(typeOfKeyword, name)),
    )
    const whole = this.#distribute(around, branches)
    if (whole === undefined || whole.length === 0) return undefined
    place.take(keyword)
    for (const name of Object.keys(around)) place.take(name)
    return union(
      whole.map((branch, index) => this.#place(branch, place.below(`${keyword}[${index}]`), depth + 1)),
    )
  }

  /**
   * The branches of a union, each combined with the keywords around the union; undefined if that is not
   * possible.
   */
  #distribute(around: Json, branches: readonly unknown[]): unknown[] | undefined {
    const open = branches.filter((branch) => branch !== false)
    const keywords = Object.keys(around)
    if (keywords.length === 0) return open
    const isTypeOnly = keywords.every((keyword) => keyword === 'type')
    if (!this.#merger.canCopy(around, open.length)) return undefined
    const whole: unknown[] = []
    for (const branch of open) {
      if (!isRecord(branch)) return undefined
      if (isTypeOnly && typeof branch.$ref === 'string') {
        whole.push(branch)
        continue
      }
      const own = this.#merger.resolved(branch)
      if (own === undefined || 'anyOf' in own || 'oneOf' in own) return undefined
      whole.push({ allOf: [around, own] })
    }
    return whole
  }

  #typed(place: SchemaPlace, depth: number): Json {
    const types = inferTypes(place.rest())
    place.take('type')
    if (types.length === 0) return this.#anyValue()
    const plain = types.filter((type) => type !== 'object' && type !== 'array')
    const schemas: Json[] = []
    if (types.includes('object')) schemas.push(this.#object(place, depth))
    if (types.includes('array')) schemas.push(this.#array(place, depth))
    if (plain.length > 0) schemas.push(this.#plain(place, plain))
    return schemas.length === 1 ? { ...schemas[0] } : union(schemas)
  }

  #plain(place: SchemaPlace, types: readonly string[]): Json {
    const kept: Json = { type: types.length === 1 ? types[0] : types }
    for (const type of types) Object.assign(kept, keywordsFor(type, place, this.#rules))
    return kept
  }

  #object(place: SchemaPlace, depth: number): Json {
    const { closed } = this.#rules
    const listed = place.peek('properties')
    const required = new Set<unknown>(listOf(place.take('required')))
    const entries: [string, Json][] = []
    for (const [name, schema] of Object.entries(isRecord(listed) ? listed : {})) {
      if (schema === false) continue
      const path = place.below(`properties.${name}`)
      const cyclesBefore = this.#cycles
      entries.push([name, this.#place(schema, path, depth + 1)])
      if (this.#cycles > cyclesBefore && this.#rules.recursion === 'optional' && required.delete(name)) {
        this.#remove(path, 'required')
      }
    }
    if (isRecord(listed)) place.take('properties')
    const additional = place.peek('additionalProperties')
    if (closed) this.#close(place, additional, isRecord(listed))
    const named = this.#rules.allRequired ? this.#requireAll(entries, required, place) : entries
    const names = named.map(([name]) => name)
    const isKept = (name: unknown) => typeof name === 'string' && (!closed || names.includes(name))
    const demanded = this.#rules.allRequired ? names : [...required].filter(isKept)
    if (closed && [...required].some((name) => !isKept(name))) this.#fits = false
    return {
      type: 'object',
      ...(closed || isRecord(listed) ? { properties: Object.fromEntries(named) } : {}),
      ...(demanded.length > 0 || this.#rules.allRequired ? { required: demanded } : {}),
      ...this.#additional(place, additional, depth),
    }
  }

  #additional(place: SchemaPlace, additional: unknown, depth: number): Json {
    if (this.#rules.closed) return { additionalProperties: false }
    if (additional === undefined) return {}
    place.take('additionalProperties')
    if (typeof additional === 'boolean') return { additionalProperties: additional }
    return { additionalProperties: this.#place(additional, place.below('additionalProperties'), depth + 1) }
  }

  #close(place: SchemaPlace, additional: unknown, isListed: boolean): void {
    if (additional === false) place.take('additionalProperties')
    else if (additional !== undefined || !isListed) this.#fits = false
    if (place.has('patternProperties')) this.#fits = false
    if (additional === undefined && !isListed) this.#remove(place.path, 'arbitrary keys')
  }

  /** Makes all properties required. `null` stands for an absent property. */
  #requireAll(
    entries: readonly [string, Json][],
    required: ReadonlySet<unknown>,
    place: SchemaPlace,
  ): [string, Json][] {
    return entries.map(([name, schema]) => {
      if (required.has(name)) return [name, schema]
      this.#remove(place.below(`properties.${name}`), 'optional')
      return [name, withKeywords(nullable(schema, true), undefined, [['optional', 'null if absent']])]
    })
  }

  #array(place: SchemaPlace, depth: number): Json {
    const kept: Json = { type: 'array', ...keywordsFor('array', place, this.#rules) }
    const items = place.peek('items')
    const prefix = place.peek('prefixItems') ?? (Array.isArray(items) ? items : undefined)
    if (Array.isArray(prefix) && prefix.length > 0) {
      return { ...kept, ...this.#tuple(place, prefix, items, depth) }
    }
    if (items === undefined) return this.#rules.allRequired ? { ...kept, items: this.#anyValue() } : kept
    place.take('items')
    return { ...kept, items: this.#place(items, place.below('items'), depth + 1) }
  }

  /**
   * A list with a schema for each position. Vendors without support for such lists receive a union of them
   * for all positions.
   */
  #tuple(place: SchemaPlace, prefix: readonly unknown[], items: unknown, depth: number): Json {
    const rest = Array.isArray(items) ? place.peek('additionalItems') : items
    const schemas = prefix.map((schema, index) =>
      this.#place(schema, place.below(`prefixItems[${index}]`), depth + 1),
    )
    const others = isRecord(rest) ? [this.#place(rest, place.below('items'), depth + 1)] : []
    if (this.#rules.prefixItems) {
      for (const keyword of ['prefixItems', 'items', 'additionalItems']) place.take(keyword)
      return { prefixItems: schemas, ...(others[0] === undefined ? {} : { items: others[0] }) }
    }
    const isBounded = rest === false || place.peek('maxItems') === prefix.length
    if (others.length === 0 && !isBounded) this.#fits = false
    if (isRecord(items)) place.take('items')
    return { items: union([...schemas, ...others]) }
  }
}

function takeLiterals(place: SchemaPlace): void {
  place.take(place.has('const') ? 'const' : 'enum')
  place.take('type')
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
