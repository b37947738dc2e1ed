import { z } from 'zod'
import { attemptColumns } from '../ledger/attempt-row.ts'
import type { Column, Shown } from '../ledger/column.ts'
import { requestColumns } from '../ledger/row.ts'
import { translationNote } from './translation-note.ts'

const text = z.string()
const count = z.int()
const word = text.nullable()

const kinds: Readonly<Record<Column<never>['kind'], z.ZodType>> = {
  uuid: z.uuid(),
  moment: z.iso.datetime(),
  bool: z.boolean(),
  int2: count,
  int4: count,
  money: text,
  // Words are open: another release may have written them.
  text,
  texts: z.array(text),
  array: z.array(translationNote),
}

/** Members that are null where the row has nothing of their kind. */
const nullableGroups: ReadonlySet<string> = new Set(['error', 'tokens'])

/** The JSON of columns, each at its path. */
function shapeOf(columns: readonly Column<never>[], shown: readonly Shown[]): Record<string, z.ZodType> {
  const members: Record<string, z.ZodType> = {}
  const groups = new Map<string, Record<string, z.ZodType>>()
  for (const column of columns) {
    if (!shown.includes(column.shown)) continue
    const kind = kinds[column.kind]
    const isNull = column.nullable && column.shownNull === null
    const [member = '', inner] = column.member.split('.')
    const isInGroup =
      inner !== undefined && nullableGroups.has(member) && column.name !== 'error_upstream_status'
    const schema = (isNull && !isInGroup ? kind.nullable() : kind).describe(column.says)
    if (inner === undefined) members[member] = schema
    else groups.set(member, { ...groups.get(member), [inner]: schema })
  }
  for (const [member, inner] of groups) {
    const group = z.object(inner)
    members[member] = nullableGroups.has(member) ? group.nullable() : group
  }
  return members
}

/** A row of the usage log as clients see it, made from the list of its columns. */
export const usageRow = z.object(shapeOf(requestColumns, ['list'])).meta({ id: 'UsageRow' })

const attempt = z.object(shapeOf(attemptColumns, ['list']))

const nano = text.describe('Nano-USD in decimal digits.')

/** A row with all that is kept of it. */
export const usageDetail = z
  .object({
    ...shapeOf(requestColumns, ['list', 'detail']),
    cost_parts_nano_usd: z
      .object({
        input: nano,
        cache_read: nano,
        cache_write: nano,
        output: nano,
        reasoning: nano,
        image: nano,
      })
      .nullable()
      .describe('Null where they are not what the row was charged.'),
    attempts: z.array(attempt).describe('Calls upstream, and candidates that were passed over.'),
    capture: word.describe('What is kept of the body: `none`, `shape` or `content`.'),
    body: word.describe('The redacted body.'),
  })
  .meta({ id: 'UsageDetail' })

const tokens = z.object({
  input: count,
  cache_read: count,
  cache_write: count,
  output: count,
  reasoning: count,
})

/** Totals of a day and a model. */
const usageTotal = z.object({
  day: z.iso.date().describe('In UTC.'),
  model: word.describe('As requested.'),
  requests: count,
  succeeded: count,
  failed: count,
  tokens,
  images: count,
  cost_nano_usd: nano.describe('Of the requests whose cost is known.'),
  unpriced_requests: count.describe('Requests whose cost is not known.'),
})

export const usagePage = z
  .object({ data: z.array(usageRow), next_cursor: word.describe('Null on the last page.') })
  .meta({ id: 'UsagePage' })

export const usageSummary = z
  .object({ from: z.iso.datetime(), to: z.iso.datetime(), data: z.array(usageTotal) })
  .meta({ id: 'UsageSummary' })
