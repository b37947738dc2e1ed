import { isDeepStrictEqual } from 'node:util'
import { isRecord, type Json } from '../../src/canonical/json.ts'
import type { SchemaSubset } from '../../src/canonical/traits.ts'

/**
 * The vendors' rules for JSON Schemas, written out a second time, from the same pages as the code. Returns what breaks
 * them.
 */
export function brokenRules(schema: Json, subset: SchemaSubset): string[] {
  const broken: string[] = []
  const definitions = isRecord(schema.$defs) ? schema.$defs : {}
  const { $defs: _, ...root } = schema
  if (subset === 'openai-strict' && root.type !== 'object') broken.push('root is not an object')
  for (const [place, value] of [['', root], ...Object.entries(definitions)] as [string, unknown][]) {
    walk(value, place, (one, path) => broken.push(...brokenAt(one, path, subset, definitions)))
  }
  if (subset === 'anthropic' && isRecursive(definitions)) broken.push('recursive')
  return broken
}

const allowed: Partial<Record<SchemaSubset, readonly string[]>> = {
  anthropic: [
    'type anyOf enum const properties required additionalProperties items minItems format $ref',
    'title description',
  ],
  'openai-strict': [
    'type anyOf enum const properties required additionalProperties items minItems maxItems format pattern $ref',
    'title description minimum maximum exclusiveMinimum exclusiveMaximum multipleOf',
  ],
  gemini: [
    'type anyOf enum properties required additionalProperties items prefixItems minItems maxItems format $ref',
    'title description minimum maximum',
  ],
}

const formats: Partial<Record<SchemaSubset, string>> = {
  anthropic: 'date-time time date duration email hostname uri ipv4 ipv6 uuid',
  'openai-strict': 'date-time time date duration email hostname ipv4 ipv6 uuid',
  gemini: 'date-time date time',
}

function brokenAt(schema: Json, path: string, subset: SchemaSubset, definitions: Json): string[] {
  const names = (allowed[subset] ?? []).join(' ').split(' ')
  const broken = Object.keys(schema)
    .filter((keyword) => !names.includes(keyword))
    .map((keyword) => `${path}: ${keyword}`)
  const claim = (isTrue: boolean, what: string) => {
    if (!isTrue) broken.push(`${path}: ${what}`)
  }
  const { type, format, minItems, enum: values, properties, required } = schema
  const types = Array.isArray(type) ? type : [type]
  const keys = Object.keys(isRecord(properties) ? properties : {})
  if (format !== undefined) claim((formats[subset] ?? '').split(' ').includes(String(format)), 'format')
  if (schema.$ref !== undefined) {
    claim(Object.keys(schema).length === 1, 'keywords beside $ref')
    claim(Object.hasOwn(definitions, String(schema.$ref).replace('#/$defs/', '')), 'dangling $ref')
  } else if (subset !== 'gemini') {
    const isTyped = type !== undefined || schema.anyOf !== undefined
    claim(isTyped || (subset === 'anthropic' && ('enum' in schema || 'const' in schema)), 'no type')
  }
  if (subset !== 'gemini' && types.includes('object')) {
    claim(schema.additionalProperties === false, 'open object')
    claim(isRecord(properties), 'no properties')
  }
  if (subset === 'openai-strict' && type === 'object') {
    claim(isDeepStrictEqual(required, keys), 'not all required')
  }
  if (subset === 'openai-strict' && types.includes('array')) claim(schema.items !== undefined, 'no items')
  if (subset !== 'gemini')
    claim(
      (Array.isArray(required) ? required : []).every((name) => keys.includes(name)),
      'required',
    )
  if (subset === 'anthropic') claim(minItems === undefined || minItems === 0 || minItems === 1, 'minItems')
  if (Array.isArray(values)) {
    claim(
      values.every((value) => value === null || typeof value !== 'object'),
      'complex enum',
    )
    if (subset === 'gemini')
      claim(
        values.every((value) => ['string', 'number'].includes(typeof value)),
        'enum',
      )
  }
  return broken
}

function walk(value: unknown, path: string, visit: (schema: Json, path: string) => void): void {
  if (!isRecord(value)) return
  visit(value, path)
  for (const [name, one] of Object.entries(isRecord(value.properties) ? value.properties : {})) {
    walk(one, `${path}.${name}`, visit)
  }
  for (const keyword of ['anyOf', 'prefixItems']) {
    const list = value[keyword]
    if (Array.isArray(list))
      for (const [index, one] of list.entries()) walk(one, `${path}.${keyword}[${index}]`, visit)
  }
  for (const keyword of ['items', 'additionalProperties']) walk(value[keyword], `${path}.${keyword}`, visit)
}

function isRecursive(definitions: Json): boolean {
  const reaches = (name: string, seen: readonly string[]): boolean => {
    if (seen.includes(name)) return true
    const found = [...JSON.stringify(definitions[name] ?? {}).matchAll(/"\$ref":"#\/\$defs\/([^"]*)"/g)]
    return found.some(([, other = '']) => reaches(other, [...seen, name]))
  }
  return Object.keys(definitions).some((name) => reaches(name, []))
}

/** A small validator of JSON Schema, for the keywords that the tests use. */
export function accepts(root: Json, schema: unknown, value: unknown, depth = 0): boolean {
  if (typeof schema === 'boolean') return schema
  if (!isRecord(schema) || depth > 50) return true
  const again = (other: unknown, part: unknown) => accepts(root, other, part, depth + 1)
  if (typeof schema.$ref === 'string' && !again(target(root, schema.$ref), value)) return false
  const { type, enum: values, anyOf, oneOf, allOf } = schema
  if (type !== undefined) {
    const types = Array.isArray(type) ? type : [type]
    if (!types.some((one) => isOf(one, value)) && !(schema.nullable === true && value === null)) return false
  }
  if (Array.isArray(values) && !values.some((one) => isDeepStrictEqual(one, value))) return false
  if ('const' in schema && !isDeepStrictEqual(schema.const, value)) return false
  if (Array.isArray(anyOf) && !anyOf.some((one) => again(one, value))) return false
  if (Array.isArray(oneOf) && oneOf.filter((one) => again(one, value)).length !== 1) return false
  if (Array.isArray(allOf) && !allOf.every((one) => again(one, value))) return false
  if (typeof value === 'number' && !inBounds(schema, value)) return false
  if (typeof value === 'string' && typeof schema.minLength === 'number' && value.length < schema.minLength)
    return false
  if (Array.isArray(value)) return acceptsList(schema, value, again)
  return !isRecord(value) || acceptsObject(schema, value, again)
}

function inBounds(schema: Json, value: number): boolean {
  const { minimum, maximum } = schema
  if (typeof minimum === 'number' && value < minimum) return false
  return typeof maximum !== 'number' || value <= maximum
}

type Again = (schema: unknown, value: unknown) => boolean

function acceptsList(schema: Json, value: unknown[], again: Again): boolean {
  if (typeof schema.minItems === 'number' && value.length < schema.minItems) return false
  if (typeof schema.maxItems === 'number' && value.length > schema.maxItems) return false
  const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
  return value.every((one, index) =>
    index < prefix.length ? again(prefix[index], one) : again(schema.items, one),
  )
}

function acceptsObject(schema: Json, value: Json, again: Again): boolean {
  const listed = isRecord(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : []
  if (!required.every((name) => Object.hasOwn(value, name))) return false
  return Object.entries(value).every(([name, one]) =>
    Object.hasOwn(listed, name) ? again(listed[name], one) : again(schema.additionalProperties, one),
  )
}

function target(root: Json, reference: string): unknown {
  return reference
    .split('/')
    .slice(1)
    .reduce<unknown>((found, name) => (isRecord(found) ? found[name] : undefined), root)
}

function isOf(type: unknown, value: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}
