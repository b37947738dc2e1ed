import { z } from 'zod'
import { checked } from '../../canonical/checked.ts'
import { isRecord, type Json } from '../../canonical/json.ts'

/**
 * Builds the schema of the body of a call that creates or changes a resource, from the schema of its entry in
 * gateway.yaml. Every member can be absent or null. Only checks the names of the members; the values are
 * checked by `merged`.
 */
export function settingBody<const Required extends string = never>(
  settings: z.ZodObject,
  {
    id,
    leaveOut = [],
    required = [],
  }: { id: string; leaveOut?: readonly string[]; required?: readonly Required[] },
): z.ZodType<Settings> {
  const members = Object.entries(settings.shape).filter(([name]) => !leaveOut.includes(name))
  return z
    .strictObject(
      Object.fromEntries(
        members.map(([name, member]) => {
          const form = formOf(member)
          return [name, required.some((one) => one === name) ? form : form.nullish()]
        }),
      ),
    )
    .meta({ id })
}

/** Settings in the format of gateway.yaml, as sent by a client or as stored in a row. */
export type Settings = Record<string, unknown>

/**
 * Returns the settings of a row after a change, checked with the schema of its entry in gateway.yaml. Absent
 * settings stay unchanged, null restores the default, and objects are merged.
 * https://www.rfc-editor.org/rfc/rfc7396
 */
export function merged<Schema extends z.ZodType>(
  schema: Schema,
  before: Settings,
  change: Settings,
): z.output<Schema> {
  return checked(schema, mergePatch(mergePatch({}, before), change))
}

function mergePatch(before: Json, change: Json): Json {
  const result: Json = { ...before }
  for (const [name, value] of Object.entries(change)) {
    const earlier = result[name]
    if (value === undefined) continue
    if (value === null) delete result[name]
    else if (isRecord(value)) result[name] = mergePatch(isRecord(earlier) ? earlier : {}, value)
    else result[name] = value
  }
  return withoutEmpty(result)
}

/** If every member of a map is back at its default, the map is too. */
function withoutEmpty(settings: Json): Json {
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => !(isRecord(value) && Object.keys(value).length === 0)),
  )
}

function formOf(schema: unknown): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)
    return formOf(schema.unwrap())
  if (schema instanceof z.ZodPipe) return formOf(schema.in)
  if (schema instanceof z.ZodObject)
    return z.strictObject(
      Object.fromEntries(
        Object.entries(schema.shape).map(([name, member]) => [name, formOf(member).nullish()]),
      ),
    )
  if (!(schema instanceof z.ZodType)) return z.unknown()
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return z.unknown().meta(json)
}
