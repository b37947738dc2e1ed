import { isRecord, type Json } from './json.ts'

/** The maximum depth, because a schema may contain itself many times over. */
const depthMax = 16
const valuesMax = 1000

interface Sampling {
  root: unknown
  valuesLeft: number
}

/**
 * Returns a small value that matches a JSON Schema, with the required properties, or with all properties if
 * none are required.
 */
export function sampleOf(schema: unknown): unknown {
  return sample(schema, 0, { root: schema, valuesLeft: valuesMax })
}

function sample(schema: unknown, depth: number, sampling: Sampling): unknown {
  if (!isRecord(schema)) return {}
  if (sampling.valuesLeft-- <= 0 || depth > depthMax) return null
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  const inner = typeof schema.$ref === 'string' ? resolve(schema.$ref, sampling.root) : optionOf(schema)
  if (inner !== undefined) return sample(inner, depth + 1, sampling)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  // Gemini writes types in upper case.
  switch (String(type).toLowerCase()) {
    case 'string':
      return 'demo'
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array':
      return schema.items === undefined ? [] : [sample(schema.items, depth + 1, sampling)]
    default:
      return sampleObject(schema, depth, sampling)
  }
}

/** Chooses null where null is allowed, which terminates most recursive schemas. */
function optionOf({ anyOf, oneOf, allOf }: Json): unknown {
  const options: unknown = anyOf ?? oneOf ?? allOf
  if (!Array.isArray(options)) return undefined
  return options.find((option) => isRecord(option) && option.type === 'null') ?? options[0]
}

function sampleObject({ properties, required }: Json, depth: number, sampling: Sampling): Json {
  const all = isRecord(properties) ? properties : {}
  const names = Array.isArray(required) && required.length > 0 ? required.map(String) : Object.keys(all)
  return Object.fromEntries(names.map((name) => [name, sample(all[name], depth + 1, sampling)]))
}

/** Returns the schema at `#/a/b`. */
function resolve(reference: string, root: unknown): unknown {
  const names = reference.split('/').slice(1)
  return names.reduce((at, name) => (isRecord(at) ? at[name] : undefined), root)
}
