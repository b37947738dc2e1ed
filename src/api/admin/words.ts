import { z } from 'zod'
import type { Json } from '../../canonical/json.ts'
import { isRecord } from '../../canonical/json.ts'

/** Settings that refer to other files. The API accepts their contents instead. */
const filesOnly: ReadonlySet<string> = new Set(['ca_file', 'cert_file', 'key_file'])

/**
 * Returns the schema of a body in the format of gateway.yaml. Its JSON Schema is derived from the file's
 * schema, so every new setting of the file also exists in the API. The handler checks the values with that
 * schema when it has the related rows. `optional` lists settings that the file requires but that can be
 * absent here.
 */
export function membersSchema(
  schema: z.ZodType,
  id: string,
  { optional = [] }: { optional?: readonly string[] } = {},
) {
  const { required, properties, ...rest } = schemaOf(schema)
  const needed = Array.isArray(required) ? required.filter((name) => !optional.includes(name)) : required
  return z.record(z.string(), z.unknown()).meta({ ...rest, id, properties, required: needed })
}

/** A JSON merge patch of such a body. Null means the default. */
export function patchOf(schema: z.ZodType, id: string) {
  const { required: _, properties, ...rest } = schemaOf(schema)
  const members = Object.entries(properties).map(([name, member]) => [
    name,
    { anyOf: [member, { type: 'null' }] },
  ])
  return z.record(z.string(), z.unknown()).meta({ ...rest, id, properties: Object.fromEntries(members) })
}

function schemaOf(schema: z.ZodType): Json & { properties: Json; required: unknown } {
  const { $schema: _, ...made } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const properties = isRecord(made.properties) ? made.properties : {}
  return {
    ...made,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !filesOnly.has(name))),
    required: made.required,
  }
}
