import { z } from 'zod'
import { translationNote } from './translation-note.ts'

const text = z.string()
const count = z.int()
const ms = z.int().nullable()
const word = text.nullable()

const tokens = z.object({
  input: count.describe('Input tokens at the full rate.'),
  cache_read: count.describe('Input tokens that the vendor read from its cache.'),
  cache_write: count.describe('Input tokens that the vendor wrote to its cache.'),
  output: count.describe('Output tokens, without reasoning.'),
  reasoning: count.describe('Output tokens of reasoning.'),
})

/** A row of the usage log as clients see it. Its words are open: another release may have written it. */
export const usageRow = z
  .object({
    id: z.uuid().describe("The request's id, which its response has as `x-request-id`."),
    created_at: z.iso.datetime(),
    endpoint: text.describe('The path that was called.'),
    client_protocol: word.describe('The format that the client speaks.'),
    upstream_protocol: word.describe('The format in which the upstream was asked.'),
    requested_model: word.describe('The model that the client asked for.'),
    served_model: word.describe("The model that answered, in the upstream's words."),
    channel: word.describe('The channel that answered, or was asked last.'),
    stream: z.boolean().describe('Whether the client asked for a stream.'),
    status: count.describe('The HTTP status of the answer; 499 where the client left before it.'),
    outcome: text.describe('`succeeded`, `refused`, `failed`, `cancelled` or `orphaned`.'),
    error: z
      .object({
        kind: text,
        message: word.describe('The message that the client got.'),
        upstream_status: count.nullable().describe('The status that the upstream gave.'),
      })
      .nullable(),
    finish_reason: word.describe("Why the answer ended, in the upstream's words."),
    tokens: tokens.nullable().describe('Null where the usage is not known.'),
    images: count.nullable().describe('Images that were delivered; null for other requests.'),
    usage_source: text.describe('Where the tokens come from: `upstream`, `partial`, `estimated` or `none`.'),
    stream_end: word.describe('`complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`.'),
    cost_nano_usd: word.describe('Nano-USD in decimal digits; null where the cost is not known.'),
    latency_ms: z.object({
      queue: ms.describe('From arrival to the first call upstream.'),
      first_token: ms.describe('From arrival to the first content of the answer.'),
      total: ms.describe('From arrival to the end of the answer.'),
    }),
    attempts: count.describe('Calls upstream; in the detail, the list of them.'),
    notes: z.array(translationNote).describe('What translation changed.'),
    upstream_request_id: word.describe("The upstream's id of the last call."),
    folded: count.describe('How many requests the row stands for; more than 1 in a flood of refusals.'),
  })
  .meta({ id: 'UsageRow' })

const attempt = z.object({
  channel: text,
  upstream_protocol: word.describe('The format in which it was asked.'),
  upstream_model: word.describe("The upstream's name of the model."),
  reason: text.describe('Why it was chosen, or passed over.'),
  passed_over: z.boolean().describe('True for a candidate that was not called.'),
  status: count.nullable().describe("The upstream's status; null where it gave none."),
  error: z.object({ kind: text, message: word }).nullable(),
  latency_ms: z.object({
    first_byte: ms.describe('From the call to the first byte of its answer.'),
    total: ms.describe('From the call to its end.'),
  }),
  upstream_request_id: word,
})

const nano = text.describe('Nano-USD in decimal digits.')

/** A row with all that is kept of it. */
export const usageDetail = usageRow
  .extend({
    key_id: word.describe('The key that the request came with.'),
    client_address: word,
    user_agent: word,
    idempotency_key: word,
    price_multiplier: word.describe('The multiplier of the price that the cost was worked out with.'),
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
