import { isRecord, type Json } from '../../../src/canonical/json.ts'

/** A small value that satisfies a simple JSON Schema; an empty object without a schema. It ignores patterns. */
export function sampleOf(schema: unknown): unknown {
  return sample(schema, schema, 0)
}

/** Deeper than this, a sample has only required properties. This ends recursive schemas. */
const optionalDepthMax = 4
const depthMax = 24

function sample(schema: unknown, root: unknown, depth: number): unknown {
  if (!isRecord(schema)) return {}
  if (depth > depthMax) return null
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0]
  if ('default' in schema) return schema.default
  if (typeof schema.$ref === 'string') return sample(resolve(schema.$ref, root), root, depth + 1)
  const options = schema.anyOf ?? schema.oneOf
  if (Array.isArray(options) && options.length > 0) {
    // Deep inside a recursive schema, the option null usually ends the recursion.
    const way =
      depth > optionalDepthMax
        ? options.find((option) => isRecord(option) && option.type === 'null')
        : undefined
    return sample(way ?? options[0], root, depth + 1)
  }
  if (Array.isArray(schema.allOf)) return sample(merge(schema, schema.allOf, root), root, depth + 1)

  switch (typeOf(schema)) {
    case 'object':
      return sampleObject(schema, root, depth)
    case 'array': {
      const least = typeof schema.minItems === 'number' ? Math.min(schema.minItems, 100) : 0
      const length = Math.max(least, depth > optionalDepthMax || schema.maxItems === 0 ? 0 : 1)
      return Array.from({ length }, () => sample(schema.items ?? { type: 'string' }, root, depth + 1))
    }
    case 'integer':
    case 'number':
      return sampleNumber(schema)
    case 'boolean':
      return true
    case 'null':
      return null
    case 'string':
      return sampleString(schema)
    default:
      return {}
  }
}

function typeOf(schema: Json): unknown {
  const type = Array.isArray(schema.type) ? schema.type.find((name) => name !== 'null') : schema.type
  return type ?? (isRecord(schema.properties) ? 'object' : schema.items ? 'array' : undefined)
}

function sampleObject(schema: Json, root: unknown, depth: number): Json {
  const properties = isRecord(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  const made: Json = {}
  for (const [name, property] of Object.entries(properties)) {
    if (depth <= optionalDepthMax || required.includes(name)) made[name] = sample(property, root, depth + 1)
  }
  return made
}

function sampleNumber(schema: Json): number {
  const step = typeof schema.multipleOf === 'number' && schema.multipleOf > 0 ? schema.multipleOf : 1
  let value = 1
  if (typeof schema.minimum === 'number') value = Math.max(value, schema.minimum)
  if (typeof schema.exclusiveMinimum === 'number') value = Math.max(value, schema.exclusiveMinimum + step)
  if (typeof schema.maximum === 'number') value = Math.min(value, schema.maximum)
  if (typeof schema.exclusiveMaximum === 'number') value = Math.min(value, schema.exclusiveMaximum - step)
  return step === 1 && typeOf(schema) !== 'integer' ? value : Math.ceil(value / step) * step
}

function sampleString(schema: Json): string {
  const formats: Record<string, string> = {
    date: '2026-01-01',
    time: '12:00:00Z',
    'date-time': '2026-01-01T12:00:00Z',
    email: 'demo@example.com',
    uri: 'https://example.com/',
    uuid: '00000000-0000-4000-8000-000000000000',
  }
  const text = (typeof schema.format === 'string' ? formats[schema.format] : undefined) ?? 'demo'
  const least = typeof schema.minLength === 'number' ? Math.min(schema.minLength, 1000) : 0
  const most = typeof schema.maxLength === 'number' ? schema.maxLength : Number.POSITIVE_INFINITY
  return text.padEnd(least, '.').slice(0, most)
}

/** The schema at `#/a/b`; an empty schema for any other reference. */
function resolve(reference: string, root: unknown): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return {}
  let at = root
  for (const part of reference.split('/').slice(1)) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    at = isRecord(at) ? at[name] : undefined
  }
  return at
}

function merge(schema: Json, parts: unknown[], root: unknown): Json {
  const { allOf: _, ...merged } = schema
  let properties = isRecord(schema.properties) ? schema.properties : {}
  let required = Array.isArray(schema.required) ? schema.required : []
  for (const part of parts) {
    const whole = isRecord(part) && typeof part.$ref === 'string' ? resolve(part.$ref, root) : part
    if (!isRecord(whole)) continue
    if (isRecord(whole.properties)) properties = { ...properties, ...whole.properties }
    if (Array.isArray(whole.required)) required = [...required, ...whole.required]
    Object.assign(merged, whole)
  }
  return { ...merged, properties, required, ...(merged.type ? {} : { type: 'object' }) }
}
