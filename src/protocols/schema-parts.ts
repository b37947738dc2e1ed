import type { Json } from '../canonical/json.ts'
import type { SchemaPlace } from './schema-place.ts'
import { keywordsOfType, type SchemaRules, typeOfKeyword } from './schema-rules.ts'

/** A part of a schema that a vendor does not support. */
export interface RemovedPart {
  /** Its path relative to the schema, such as `properties.age`; empty for the schema itself. */
  path: string
  /** A human-readable form, such as `minimum: 3`. */
  what: string
}

const knownTypes = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

/** The types of a schema, or those implied by its keywords; empty if it accepts any value. */
export function inferTypes(schema: Json): string[] {
  const declared = Array.isArray(schema.type) ? schema.type : [schema.type]
  const types = [...new Set(declared)].filter((type) => typeof type === 'string' && knownTypes.has(type))
  if (types.length > 0) return types
  const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : []
  if (values.length > 0) return [...new Set(values.map(typeOfValue))]
  const keyword = Object.keys(typeOfKeyword).find((name) => Object.hasOwn(schema, name))
  return keyword === undefined ? [] : [typeOfKeyword[keyword] ?? 'object']
}

export function isPrimitive(value: unknown): boolean {
  return value === null || typeof value !== 'object'
}

/** The JSON Schema type of a value. */
export function typeOfValue(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value
}

/** Takes the keywords of a type that the rules keep. */
export function keywordsFor(type: string, place: SchemaPlace, rules: SchemaRules): Json {
  const kept: Json = {}
  for (const keyword of keywordsOfType[type] ?? []) {
    if (rules.keeps.has(keyword) && isTaken(keyword, place.peek(keyword), rules)) {
      kept[keyword] = place.take(keyword)
    }
  }
  const least = place.peek('minItems')
  if (type === 'array' && typeof least === 'number' && least > rules.minItemsMax) {
    // The keyword stays in the description.
    kept.minItems = rules.minItemsMax
  }
  const format = place.peek('format')
  if (type === 'string' && typeof format === 'string' && rules.formats.has(format)) {
    kept.format = place.take('format')
  }
  return kept
}

function isTaken(keyword: string, value: unknown, rules: SchemaRules): boolean {
  if (keyword === 'pattern') return typeof value === 'string' && !/\(\?[=!<]|\\[1-9]/.test(value)
  if (typeof value !== 'number') return false
  return keyword !== 'minItems' || value <= rules.minItemsMax
}

/** A flat union without duplicate types. */
export function union(schemas: readonly Json[]): Json {
  const flat = schemas.flatMap((schema) => (isBareUnion(schema) ? listed(schema.anyOf) : [schema]))
  const once = [...new Map(flat.map((schema) => [bareType(schema) ?? schema, schema])).values()]
  const [first] = once
  return once.length === 1 && first !== undefined ? first : { anyOf: once }
}

function bareType({ type, ...others }: Json): string | undefined {
  return typeof type === 'string' && Object.keys(others).length === 0 ? type : undefined
}

function isBareUnion(schema: Json): boolean {
  return Object.keys(schema).length === 1 && Array.isArray(schema.anyOf)
}

function listed(anyOf: unknown): Json[] {
  return Array.isArray(anyOf) ? anyOf : []
}

/** Returns the schema extended to accept null. `listsNull`: whether an `enum` can contain null. */
export function nullable(schema: Json, listsNull: boolean): Json {
  if (takesNull(schema)) return schema
  if (Array.isArray(schema.anyOf)) return { ...schema, anyOf: [...schema.anyOf, { type: 'null' }] }
  const { type, enum: values } = schema
  const isSingle = type === undefined || type === 'object' || type === 'array' || 'const' in schema
  if (isSingle || (Array.isArray(values) && !listsNull)) {
    return { anyOf: [schema, { type: 'null' }] }
  }
  const types = Array.isArray(type) ? type : [type]
  return {
    ...schema,
    type: [...types, 'null'],
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  }
}

function takesNull({ type, enum: values, const: literal, anyOf }: Json): boolean {
  if (Array.isArray(values)) return values.includes(null)
  if (literal !== undefined) return literal === null
  if (Array.isArray(anyOf)) return listed(anyOf).some(takesNull)
  return type === 'null' || (Array.isArray(type) && type.includes('null'))
}

/** Adds keywords to the description in the form used by the vendor's SDK: `{minimum: 3}`. */
export function withKeywords(
  schema: Json,
  description: string | undefined,
  keywords: readonly (readonly [string, unknown])[],
): Json {
  const said = keywords.map(([keyword, value]) => `${keyword}: ${shown(value)}`).join(', ')
  const before = description ?? (typeof schema.description === 'string' ? schema.description : '')
  const whole = said === '' ? before : `${before === '' ? '' : `${before}\n\n`}{${said}}`
  return whole === '' ? schema : { ...schema, description: whole }
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}...` : text
}

const shownCharactersMax = 2_000
