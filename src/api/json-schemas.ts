import { z } from 'zod'
import type { Json } from '../canonical/json.ts'

/** `input`: what a client sends; `output`: what it receives. */
type Direction = 'input' | 'output'

/**
 * Returns the JSON Schemas of all zod schemas that have an id, keyed by id. They refer to each other within
 * the OpenAPI document.
 */
export function namedSchemas(direction: Direction): Record<string, Json> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { ...optionsOf(direction), uri: refTo })
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutHead(schema)]))
}

/** Throws if the schema has no id. */
export function referenceTo(schema: z.ZodType): Json {
  return { $ref: refTo(idOf(schema)) }
}

/** Throws if the schema has no id. */
export function idOf(schema: z.ZodType): string {
  const id = z.globalRegistry.get(schema)?.id
  if (id === undefined) throw new Error('a schema of the API has no id: add .meta({ id })')
  return id
}

/** Returns the members of an object in the form that clients send. */
export function membersOf(schema: z.ZodObject): { name: string; required: boolean; schema: Json }[] {
  const { required = [] } = z.toJSONSchema(schema, optionsOf('input'))
  return Object.entries(schema.shape).map(([name, member]) => ({
    name,
    required: required.includes(name),
    schema: withoutHead(z.toJSONSchema(member, optionsOf('input'))),
  }))
}

function refTo(id: string): string {
  return `#/components/schemas/${id}`
}

function withoutHead({ $schema: _, $id: __, ...schema }: Json): Json {
  return schema
}

function optionsOf(io: Direction) {
  return {
    io,
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      // Responses may have more members in a later release.
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      // A format says as much as zod's pattern for it, and the safe integer bounds that zod adds say nothing.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      // zod omits the default if its type is not the one that a client sends.
      const { def } = zodSchema._zod
      if (def.type === 'default') jsonSchema.default = def.defaultValue
    },
  } as const satisfies z.core.ToJSONSchemaParams
}
