import { z } from 'zod'
import type { Column, Shown } from '../ledger/column.ts'
import { translationNote } from './translation-note.ts'

/** Groups of members that are null as a whole where one of these columns is null. */
export const nullableGroups: Readonly<Record<string, readonly string[]>> = {
  error: ['error_kind'],
  tokens: ['input_tokens', 'output_tokens'],
}

/**
 * The schema of a row as the API shows it, made from the list of its columns: each at its path, with what it
 * means.
 */
export function rowSchema(columns: readonly Column<never>[], shown: readonly Shown[]): z.ZodObject {
  const members: Record<string, z.ZodType> = {}
  const groups: Record<string, Record<string, z.ZodType>> = {}
  for (const column of columns) {
    if (!shown.includes(column.shown)) continue
    const [member = '', inner] = column.member.split('.')
    if (inner === undefined) members[member] = schemaOf(column, false)
    else {
      const isWhole = nullableGroups[member]?.includes(column.name) === true
      groups[member] = { ...groups[member], [inner]: schemaOf(column, isWhole) }
      members[member] = groupSchema(member, groups[member])
    }
  }
  return z.object(members)
}

function groupSchema(name: string, members: Record<string, z.ZodType>): z.ZodType {
  const group = z.object(members)
  return nullableGroups[name] === undefined ? group : group.nullable()
}

/** `isWhole`: its whole group is null where it is. */
function schemaOf(column: Column<never>, isWhole: boolean): z.ZodType {
  const { kind, nullable, shownNull, description } = column
  const schema = column.name === 'cost_facts' ? z.array(costFact) : kinds[kind]
  return (nullable && shownNull === null && !isWhole ? schema.nullable() : schema).describe(description)
}

/** Words are open: another release may have written the row. */
const kinds: Readonly<Record<Column<never>['kind'], z.ZodType>> = {
  uuid: z.uuid(),
  moment: z.iso.datetime(),
  bool: z.boolean(),
  int2: z.int(),
  int4: z.int(),
  money: z.string(),
  text: z.string(),
  texts: z.array(z.string()),
  array: z.array(translationNote),
}

const count = z.int()

/** A line of `cost_facts` in a row. Parts are open: another release may have written the row. */
const costFact = z
  .looseObject({
    part: z
      .string()
      .describe(
        '`cache_write_1h`, `audio_input`, `audio_output`, `web_searches`, `service_tier` or `model`.',
      ),
    count: count.optional().describe('Tokens, or searches. Tokens are a part of those in `tokens`.'),
    name: z.string().optional().describe("Of a service tier or a model, in the upstream's words."),
    tokens: z
      .object({ input: count, cache_read: count, cache_write: count, output: count, reasoning: count })
      .optional()
      .describe('What another model used on the same answer. `tokens` of the row excludes them.'),
    cost_nano_usd: z.string().nullish().describe('What that model cost; null where its price is not known.'),
    price_id: z.uuid().nullish().describe('The price of that model.'),
  })
  .meta({ id: 'CostFact' })
