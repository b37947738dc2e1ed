import { z } from 'zod'
import { attemptColumns } from '../journal/attempt-row.ts'
import { requestColumns } from '../journal/row.ts'
import { rowSchema } from './row-schema.ts'

const nano = z.string().describe('Nano-USD as decimal digits.')
const count = z.int()
const word = z.string().nullable()

/** A row of the usage log as shown to clients. */
const usageRow = rowSchema(requestColumns, ['list']).meta({ id: 'UsageRow' })

/** A row with everything that is stored about it. */
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
        fees: nano.describe('The cost of web searches and the fee of the request, in nano-USD.'),
        others: nano.describe('The cost of other models that worked on the answer, in nano-USD.'),
      })
      .nullable()
      .describe(
        'The parts of the cost. Null if they do not add up to the cost in the row, or if there is no price.',
      ),
    price_source: word.describe(
      'The source of the price: `catalog` if the operator maintains it, or a library. Null if there is no price.',
    ),
    attempts: z
      .array(rowSchema(attemptColumns, ['list']))
      .describe('The upstream calls, and the candidates that were skipped.'),
    capture: word.describe('What is stored of the body: `none`, `shape` or `content`.'),
    body: word.describe('The redacted body.'),
    answer: z
      .object({
        capture: z.string().describe('Always `content`.'),
        truncated: z.boolean().describe('Whether a part of what the client received is missing.'),
        body: z.string().describe('The redacted answer as JSON: `choices`, each with `content` and `end`.'),
      })
      .nullable()
      .describe('What the client received. Null if it is not stored, or not stored yet.'),
  })
  .meta({ id: 'UsageDetail' })

/** The totals of a day and a model. */
const usageTotal = z.object({
  day: z.iso.date().describe('The day in UTC.'),
  model: word.describe('The model, as requested.'),
  requests: count,
  succeeded: count,
  failed: count,
  tokens: z.object({ input: count, cache_read: count, cache_write: count, output: count, reasoning: count }),
  images: count,
  cost_nano_usd: nano.describe('The cost of the requests whose cost is known.'),
  charged_nano_usd: nano.describe('The amount that was charged for them.'),
  unpriced_requests: count.describe('The number of requests whose cost is not known.'),
})

export const usagePage = z
  .object({ data: z.array(usageRow), next_cursor: word.describe('Null on the last page.') })
  .meta({ id: 'UsagePage' })

export const usageSummary = z
  .object({ from: z.iso.datetime(), to: z.iso.datetime(), data: z.array(usageTotal) })
  .meta({ id: 'UsageSummary' })
