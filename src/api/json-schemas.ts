import { z } from 'zod'
import type { Json } from '../canonical/json.ts'

/** `input`: what a client sends; `output`: what it gets. */
type Direction = 'input' | 'output'

/**
 * The JSON Schemas of all zod schemas that have an id, by id. They refer to each other within the OpenAPI
 * document.
 */
export function namedSchemas(direction: Direction): Record<string, Json> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { ...optionsOf(direction), uri: refTo })
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, withoutHead(schema)]))
}

/** Throws where the schema has no id. */
export function referenceTo(schema: z.ZodType): Json {
  return { $ref: refTo(idOf(schema)) }
}

/** Throws where the schema has no id. */
export function idOf(schema: z.ZodType): string {
  const id = z.globalRegistry.get(schema)?.id
  if (id === undefined) throw new Error('a schema of the API has no id: add .meta({ id })')
  return id
}

/** Each member of an object as clients send it. */
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
      // What we answer may have more members in a later release.
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      // A format says as much as zod's pattern for it, and an integer needs no bounds of its own.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      // zod leaves the default out where it is not of the type that a client sends.
      const { def } = zodSchema._zod
      if (def.type === 'default') jsonSchema.default = def.defaultValue
    },
  } as const satisfies z.core.ToJSONSchemaParams
}
