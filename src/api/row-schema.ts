import { z } from 'zod'
import { refinedCounts } from '../canonical/price-parts.ts'
import type { Column, Shown } from '../journal/column.ts'
import { translationNote } from './translation-note.ts'

/** Groups of members that are null as a whole if one of these columns is null. */
export const nullableGroups: Readonly<Record<string, readonly string[]>> = {
  error: ['error_kind'],
  tokens: ['input_tokens', 'output_tokens'],
}

/**
 * Builds the schema of a row as shown by the API from its list of columns, each at its path and with its
 * description.
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

/** `isWhole`: if the column is null, its whole group is null instead. */
function schemaOf(column: Column<never>, isWhole: boolean): z.ZodType {
  const { kind, nullable, shownNull, description } = column
  const schema = column.name === 'cost_facts' ? z.array(costFact) : kinds[kind]
  return (nullable && shownNull === null && !isWhole ? schema.nullable() : schema).describe(description)
}

/** Text values are open, because another release may have written the row. */
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

/** An entry of `cost_facts` in a row. Parts are open, because another release may have written the row. */
const costFact = z
  .looseObject({
    part: z
      .string()
      .describe(
        `${refinedCounts.map(({ word }) => `\`${word}\``).join(', ')}, \`service_tier\` or \`model\`. \`output_at_most\`: nobody reported the output, so \`output\` of \`tokens\` is all that the request allows.`,
      ),
    count: count
      .optional()
      .describe('The number of tokens or searches. Tokens are already included in `tokens`.'),
    name: z
      .string()
      .optional()
      .describe('The name of a service tier or a model, as reported by the upstream.'),
    tokens: z
      .object({ input: count, cache_read: count, cache_write: count, output: count, reasoning: count })
      .optional()
      .describe(
        'The tokens that another model used for the same answer. They are not included in `tokens` of the row.',
      ),
    cost_nano_usd: z.string().nullish().describe('The cost of that model. Null if its price is not known.'),
    price_id: z.uuid().nullish().describe('The id of the price of that model.'),
  })
  .meta({ id: 'CostFact' })
