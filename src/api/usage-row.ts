import { z } from 'zod'
import { attemptColumns } from '../ledger/attempt-row.ts'
import { requestColumns } from '../ledger/row.ts'
import { rowSchema } from './row-schema.ts'

const nano = z.string().describe('Nano-USD in decimal digits.')
const count = z.int()
const word = z.string().nullable()

/** A row of the usage log as clients see it. */
const usageRow = rowSchema(requestColumns, ['list']).meta({ id: 'UsageRow' })

/** A row with all that is kept of it. */
export const usageDetail = rowSchema(requestColumns, ['list', 'detail'])
  .extend({
    cost_parts_nano_usd: z
      .object({
        input: nano,
        cache_read: nano,
        cache_write: nano,
        output: nano,
        reasoning: nano,
        image: nano,
        fees: nano.describe('Nano-USD of web searches, and the fee of the request.'),
        others: nano.describe('Nano-USD of other models that worked on the answer.'),
      })
      .nullable()
      .describe('Null where they are not what the row was charged.'),
    price_source: word.describe(
      'Where the price comes from: `catalog`, which the operator keeps, or a library. Null without a price.',
    ),
    attempts: z
      .array(rowSchema(attemptColumns, ['list']))
      .describe('Calls upstream, and candidates that were passed over.'),
    capture: word.describe('What is kept of the body: `none`, `shape` or `content`.'),
    body: word.describe('The redacted body.'),
    answer: z
      .object({
        capture: z.string().describe('`content`.'),
        truncated: z.boolean().describe('True: a part of what the client got is missing.'),
        body: z
          .string()
          .describe('The redacted answer, as JSON: `choices`, each with its `content` and its `end`.'),
      })
      .nullable()
      .describe('What the client got. Null where it is not kept, and until it is.'),
  })
  .meta({ id: 'UsageDetail' })

/** Totals of a day and a model. */
const usageTotal = z.object({
  day: z.iso.date().describe('In UTC.'),
  model: word.describe('As requested.'),
  requests: count,
  succeeded: count,
  failed: count,
  tokens: z.object({ input: count, cache_read: count, cache_write: count, output: count, reasoning: count }),
  images: count,
  cost_nano_usd: nano.describe('Of the requests whose cost is known.'),
  charged_nano_usd: nano.describe('What was charged for them.'),
  unpriced_requests: count.describe('Requests whose cost is not known.'),
})

export const usagePage = z
  .object({ data: z.array(usageRow), next_cursor: word.describe('Null on the last page.') })
  .meta({ id: 'UsagePage' })

export const usageSummary = z
  .object({ from: z.iso.datetime(), to: z.iso.datetime(), data: z.array(usageTotal) })
  .meta({ id: 'UsageSummary' })
