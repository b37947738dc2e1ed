import { type AttemptRecord, type CloseRecord, callsIn, type OpenRecord } from './record.ts'
import { momentOf } from './tuple.ts'

/**
 * A row of `requests` as JSON by column, for a row that is written in the transaction that ends a job instead of by
 * way of the journal. Takes part in nothing but `jsonb_populate_record`.
 */
export function requestRowJson(open: OpenRecord, close: CloseRecord, images: number | null): string {
  const { usage, error } = close
  return jsonText({
    id: open.id,
    created_at: new Date(momentOf(open.id)),
    tenant_id: open.tenantId,
    key_id: open.keyId,
    group_id: open.groupId,
    endpoint: open.endpoint,
    client_protocol: open.clientProtocol,
    upstream_protocol: close.upstreamProtocol,
    requested_model: open.requestedModel,
    served_model: close.servedModel?.slice(0, servedModelCharactersMax) ?? null,
    channel: close.channel,
    stream: open.stream,
    status: int2(close.status),
    outcome: close.outcome,
    error_kind: error?.kind ?? null,
    error_message: error?.message ?? null,
    error_upstream_status: int2(error?.upstreamStatus),
    finish_reason: close.finishReason,
    input_tokens: int4(usage?.input),
    cache_read_tokens: int4(usage?.cacheRead),
    cache_write_tokens: int4(usage?.cacheWrite),
    output_tokens: int4(usage?.output),
    reasoning_tokens: int4(usage?.reasoning),
    usage_source: close.usageSource,
    stream_end: close.streamEnd,
    cost_nano: close.costNano === null ? null : String(close.costNano),
    price_id: close.priceId,
    price_multiplier: close.priceMultiplier,
    queue_ms: int4(close.queueMs),
    first_token_ms: int4(close.firstTokenMs),
    total_ms: int4(close.totalMs),
    attempt_count: int2(callsIn(close.attempts)),
    notes: close.notes,
    client_address: open.clientAddress,
    user_agent: open.userAgent,
    upstream_request_id: close.upstreamRequestId,
    idempotency_key: open.idempotencyKey,
    folded: close.folded,
    images,
  })
}

/** The rows of `attempts` of one request, as requestRowJson writes its own. */
export function attemptRowsJson(id: string, attempts: readonly AttemptRecord[]): string {
  return jsonText(
    attempts.map((attempt, ordinal) => ({
      request_id: id,
      created_at: new Date(momentOf(id)),
      ordinal,
      channel: attempt.channel,
      upstream_protocol: attempt.upstreamProtocol,
      upstream_model: attempt.upstreamModel,
      reason: attempt.reason,
      // Absent in jobs that were begun by an older release.
      passed_over: attempt.passedOver ?? false,
      status: int2(attempt.status),
      error_kind: attempt.error?.kind ?? null,
      error_message: attempt.error?.message ?? null,
      first_byte_ms: int4(attempt.firstByteMs),
      total_ms: int4(attempt.totalMs),
      upstream_request_id: attempt.upstreamRequestId,
    })),
  )
}

/** What an upstream says may be longer than an index takes. */
const servedModelCharactersMax = 512

/** Upstreams tell anything: a count too large for its column must not cost the row, nor the end of the job. */
function int2(count: number | null | undefined): number | null {
  return count == null ? null : Math.min(count, 32_767)
}

/** A clock that was set back makes no time negative. */
function int4(count: number | null | undefined): number | null {
  return count == null ? null : Math.min(Math.max(count, 0), 2_147_483_647)
}

/** JSON that Postgres takes as jsonb, which refuses NUL and lone surrogates: they are left out and replaced. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'string' ? member.toWellFormed().replaceAll('\0', '') : member,
  )
}
