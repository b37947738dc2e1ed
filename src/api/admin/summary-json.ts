import { z } from 'zod'
import type { LatencyJson } from '../../usage/latency-histogram.ts'
import type { Sums } from '../../usage/rollup-queries.ts'

const count = z.number().int()

const latency = z
  .object({ count, p50: z.number(), p95: z.number(), p99: z.number() })
  .nullable()
  .describe(
    'Milliseconds, estimated from a histogram with an error of less than 10 %. Null if nothing was measured.',
  )

/** Counts and sums of requests. */
export const sums = {
  requests: count,
  succeeded: count,
  refused: count,
  failed: count,
  cancelled: count,
  orphaned: count,
  errors: count.describe('The number of refused, failed and orphaned requests.'),
  tokens: z.object({ input: count, cache_read: count, cache_write: count, output: count, reasoning: count }),
  images: count,
  cost_nano_usd: z
    .string()
    .describe('The cost of the requests whose cost is known, in nano-USD as decimal digits.'),
  uncharged_nano_usd: z
    .string()
    .describe('The part of the cost that was not charged, because too little was held for these requests.'),
  unpriced_requests: count.describe('The number of requests whose cost is not known.'),
  latency_ms: z.object({ total: latency, first_token: latency }),
}

export const sumsSchema = z.object(sums).meta({ id: 'SummarySums' })

export function sumsJson(found: Sums): z.input<typeof sumsSchema> {
  const { refused, failed, orphaned } = found
  return {
    requests: Number(found.requests),
    succeeded: Number(found.succeeded),
    refused: Number(refused),
    failed: Number(failed),
    cancelled: Number(found.cancelled),
    orphaned: Number(orphaned),
    errors: Number(refused) + Number(failed) + Number(orphaned),
    tokens: {
      input: Number(found.input_tokens),
      cache_read: Number(found.cache_read_tokens),
      cache_write: Number(found.cache_write_tokens),
      output: Number(found.output_tokens),
      reasoning: Number(found.reasoning_tokens),
    },
    images: Number(found.images),
    cost_nano_usd: found.cost_nano,
    uncharged_nano_usd: found.uncharged_nano,
    unpriced_requests: Number(found.unpriced),
    latency_ms: { total: copyOf(found.total), first_token: copyOf(found.firstToken) },
  }
}

function copyOf(latency: LatencyJson | null): LatencyJson | null {
  return latency === null ? null : { ...latency }
}
