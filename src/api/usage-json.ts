import { z } from 'zod'
import type { Usage } from '../canonical/usage.ts'
import { type CostParts, priceRequest } from '../ledger/price.ts'
import type { RequestDetail, RequestRow, SummaryRow } from '../ledger/queries.ts'
import { translationNote } from './translation-note.ts'
import type { usageDetail, usageRow } from './usage-row.ts'

/** One row of the usage log as clients see it. Unknown is null, never 0; money is nano-USD in decimal digits. */
export function requestJson(row: RequestRow): z.output<typeof usageRow> {
  return {
    id: row.id,
    created_at: row.created_at.toISOString(),
    endpoint: row.endpoint,
    client_protocol: row.client_protocol,
    upstream_protocol: row.upstream_protocol,
    requested_model: row.requested_model,
    served_model: row.served_model,
    channel: row.channel,
    stream: row.stream,
    status: row.status,
    outcome: row.outcome,
    error:
      row.error_kind === null
        ? null
        : { kind: row.error_kind, message: row.error_message, upstream_status: row.error_upstream_status },
    finish_reason: row.finish_reason,
    tokens: tokensJson(usageOf(row)),
    images: row.images,
    usage_source: row.usage_source,
    stream_end: row.stream_end,
    cost_nano_usd: row.cost_nano,
    latency_ms: { queue: row.queue_ms, first_token: row.first_token_ms, total: row.total_ms },
    attempts: row.attempt_count,
    notes: notesOf(row.notes),
    upstream_request_id: row.upstream_request_id,
    folded: row.folded,
  }
}

/** A row with all that is kept of it. `attempts`, a number in the list, is here what each of them came to. */
export function detailJson(row: RequestDetail): z.output<typeof usageDetail> {
  return {
    ...requestJson(row),
    key_id: row.key_id,
    client_address: row.client_address,
    user_agent: row.user_agent,
    idempotency_key: row.idempotency_key,
    price_multiplier: row.price_multiplier,
    cost_parts_nano_usd: costPartsJson(row),
    attempts: row.attempt_rows.map((attempt) => ({
      channel: attempt.channel,
      upstream_protocol: attempt.upstream_protocol,
      upstream_model: attempt.upstream_model,
      reason: attempt.reason,
      passed_over: attempt.passed_over,
      status: attempt.status,
      error:
        attempt.error_kind === null ? null : { kind: attempt.error_kind, message: attempt.error_message },
      latency_ms: { first_byte: attempt.first_byte_ms, total: attempt.total_ms },
      upstream_request_id: attempt.upstream_request_id,
    })),
    capture: row.payload?.capture ?? null,
    body: row.payload?.body ?? null,
  }
}

export function summaryJson(row: SummaryRow) {
  return {
    day: row.day,
    model: row.model,
    requests: Number(row.requests),
    succeeded: Number(row.succeeded),
    failed: Number(row.failed),
    tokens: {
      input: Number(row.input_tokens),
      cache_read: Number(row.cache_read_tokens),
      cache_write: Number(row.cache_write_tokens),
      output: Number(row.output_tokens),
      reasoning: Number(row.reasoning_tokens),
    },
    images: Number(row.images),
    /** Of the priced ones alone. */
    cost_nano_usd: row.cost_nano,
    unpriced_requests: Number(row.unpriced_requests),
  }
}

function usageOf(row: RequestRow): Usage | null {
  if (row.input_tokens === null || row.output_tokens === null) return null
  return {
    input: row.input_tokens,
    cacheRead: row.cache_read_tokens ?? 0,
    cacheWrite: row.cache_write_tokens ?? 0,
    output: row.output_tokens,
    reasoning: row.reasoning_tokens ?? 0,
  }
}

function tokensJson(usage: Usage | null) {
  if (usage === null) return null
  const { input, cacheRead, cacheWrite, output, reasoning } = usage
  return { input, cache_read: cacheRead, cache_write: cacheWrite, output, reasoning }
}

/** Worked out anew from tokens, price and multiplier; null when that is not what the row was charged. */
function costPartsJson(row: RequestDetail) {
  const usage = usageOf(row)
  if (row.price === null || row.price_multiplier === null || row.cost_nano === null) return null
  const parts = usage === null ? undefined : priceRequest(usage, row.price, row.price_multiplier)
  if (parts !== undefined && String(parts.total) === row.cost_nano) return partsJson(parts, 0n)
  // Images that have a price of their own cost nothing else.
  return row.images === null ? null : partsJson(noTokens, BigInt(row.cost_nano))
}

const noTokens = { input: 0n, cacheRead: 0n, cacheWrite: 0n, output: 0n, reasoning: 0n }

function partsJson(parts: Omit<CostParts, 'total'>, image: bigint) {
  return {
    input: String(parts.input),
    cache_read: String(parts.cacheRead),
    cache_write: String(parts.cacheWrite),
    output: String(parts.output),
    reasoning: String(parts.reasoning),
    image: String(image),
  }
}

const keptNotes = z.array(translationNote)

/** None where the row keeps something else. */
function notesOf(text: string | null): z.output<typeof keptNotes> {
  try {
    return keptNotes.parse(JSON.parse(text ?? '[]'))
  } catch {
    return []
  }
}
