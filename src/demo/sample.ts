import { isRecord, type Json } from '../canonical/json.ts'

const depthMax = 16

/** A small value for a JSON Schema, with the properties that the schema requires, or with all where it requires none. */
export function sampleOf(schema: unknown, root = schema, depth = 0): unknown {
  if (!isRecord(schema)) return {}
  if (depth > depthMax) return null
  if ('const' in schema) return schema.const
  if ('default' in schema) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (typeof schema.$ref === 'string') return sampleOf(resolve(schema.$ref, root), root, depth + 1)
  const options = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (Array.isArray(options)) {
    // What may be null is null: so a schema that contains itself ends.
    const best = options.find((option) => isRecord(option) && option.type === 'null') ?? options[0]
    return sampleOf(best, root, depth + 1)
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  // Gemini writes types in capitals.
  switch (String(type).toLowerCase()) {
    case 'string':
      return 'demo'
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'array':
      return schema.items === undefined ? [] : [sampleOf(schema.items, root, depth + 1)]
    case 'null':
      return null
    default:
      return sampleObject(schema, root, depth)
  }
}

function sampleObject({ properties, required }: Json, root: unknown, depth: number): Json {
  const all = isRecord(properties) ? properties : {}
  const names = Array.isArray(required) && required.length > 0 ? required.map(String) : Object.keys(all)
  return Object.fromEntries(names.map((name) => [name, sampleOf(all[name], root, depth + 1)]))
}

/** The schema at `#/a/b`. */
function resolve(reference: string, root: unknown): unknown {
  const names = reference.split('/').slice(1)
  return names.reduce((at, name) => (isRecord(at) ? at[name] : undefined), root)
}
