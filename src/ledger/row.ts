import {
  bool,
  type Column,
  columnsFrom,
  int2,
  int4,
  longName,
  message,
  moment,
  money,
  name,
  notes,
  orNull,
  type RowOf,
  tagList,
  trusted,
  uuid,
  word,
} from './column.ts'
import { type CloseRecord, callsIn, chargeOf, type OpenRecord } from './record.ts'
import { momentOf } from './tuple.ts'

const opened = columnsFrom<OpenRecord, 'open'>('open')
const closed = columnsFrom<CloseRecord, 'close'>('close')

/**
 * The only list of the columns of `requests`, the usage log. COPY and its tuples, the JSON of image jobs'
 * rows, the SELECT, the API's JSON and the table in docs/reference/usage-log.md follow it. A new column needs
 * an entry here, one in db/schema.ts, and the migration that `npm run db:generate` then writes. It must say
 * whether it holds content, which an erasure removes.
 *
 * `opened` columns are known before anything is sent upstream, `closed` columns once the request has ended.
 * The first two columns are the head of every row.
 */
// biome-ignore format: a table, in which each column has two lines.
export const requestColumns = [
  opened('id', uuid, ({ id }) => id, 'list', 'facts',
    "The request's id, which its response has as `x-request-id`."),
  opened('created_at', moment, ({ id }) => momentOf(id), 'list', 'facts',
    'The moment inside the id, to the millisecond.'),
  opened('tenant_id', orNull(uuid), (open) => open.tenantId, 'nowhere', 'facts',
    'The tenant; null for a caller that is not known.'),
  opened('key_id', orNull(uuid), (open) => open.keyId, 'detail', 'facts',
    'The key that the request came with.'),
  opened('group_id', orNull(uuid), (open) => open.groupId, 'nowhere', 'facts',
    "The key's group."),
  opened('endpoint', name, (open) => open.endpoint, 'list', 'facts',
    'The path that was called.'),
  opened('client_protocol', orNull(word), (open) => open.clientProtocol, 'list', 'facts',
    'The format that the client speaks.'),
  closed('upstream_protocol', orNull(word), (close) => close.upstreamProtocol, 'list', 'facts',
    'The format in which the upstream was asked.'),
  opened('requested_model', orNull(name), (open) => open.requestedModel, 'list', 'facts',
    'The model that the client asked for.'),
  closed('served_model', orNull(longName), (close) => close.servedModel, 'list', 'facts',
    "The model that answered, in the upstream's words."),
  closed('channel', orNull(trusted(name, 'operators choose it, and find rows by it')), (close) => close.channel, 'list', 'facts',
    'The channel that answered, or was asked last.'),
  opened('stream', bool, (open) => open.stream, 'list', 'facts',
    'Whether the client asked for a stream.'),
  opened('end_user', orNull(name), (open) => open.endUser, 'list', 'content',
    'The user that the client asks for: `user`, `safety_identifier` or `metadata.user_id`.'),
  opened('session', orNull(name), (open) => open.session, 'list', 'content',
    "The conversation, or an agent's run, that the request belongs to."),
  opened('tags', orNull(tagList, []), (open) => open.tags, 'list', 'content',
    "The client's labels, from `x-tollgate-tags` and `metadata`."),
  closed('status', int2, (close) => close.status, 'list', 'facts',
    'The HTTP status of the answer; 499 where the client left before it.'),
  closed('outcome', word, (close) => close.outcome, 'list', 'facts',
    '`succeeded`, `refused`, `failed`, `cancelled` or `orphaned`.'),
  closed('error_kind', orNull(word), ({ error }) => error?.kind, 'list', 'facts',
    'The kind of the error; without an error, `error` is null.', 'error.kind'),
  closed('error_reason', orNull(word), ({ error }) => error?.reason, 'list', 'facts',
    'Which refusal or failure it was: a stable word of [the list](reasons.md).', 'error.reason'),
  closed('error_message', orNull(message), ({ error }) => error?.message, 'list', 'content',
    'The message that the client got.', 'error.message'),
  closed('error_upstream_status', orNull(int2), ({ error }) => error?.upstreamStatus, 'list', 'facts',
    'The status that the upstream gave.', 'error.upstream_status'),
  closed('finish_reason', orNull(name), (close) => close.finishReason, 'list', 'facts',
    "Why the answer ended, in the upstream's words."),
  closed('input_tokens', orNull(int4), ({ usage }) => usage?.input, 'list', 'facts',
    'Input tokens at the full rate; where the usage is not known, `tokens` is null.', 'tokens.input'),
  closed('cache_read_tokens', orNull(int4, 0), ({ usage }) => usage?.cacheRead, 'list', 'facts',
    'Input tokens that the vendor read from its cache.', 'tokens.cache_read'),
  closed('cache_write_tokens', orNull(int4, 0), ({ usage }) => usage?.cacheWrite, 'list', 'facts',
    'Input tokens that the vendor wrote to its cache.', 'tokens.cache_write'),
  closed('output_tokens', orNull(int4), ({ usage }) => usage?.output, 'list', 'facts',
    'Output tokens, without reasoning.', 'tokens.output'),
  closed('reasoning_tokens', orNull(int4, 0), ({ usage }) => usage?.reasoning, 'list', 'facts',
    'Output tokens of reasoning.', 'tokens.reasoning'),
  closed('images', orNull(int2), (close) => close.images, 'list', 'facts',
    'Images delivered, or only previewed by a job without result; else null.'),
  closed('usage_source', word, (close) => close.usageSource, 'list', 'facts',
    'Where the tokens come from: `upstream`, `partial`, `estimated` or `none`; `implausible`: more than the request can have used.'),
  closed('stream_end', orNull(word), (close) => close.streamEnd, 'list', 'facts',
    '`complete`, `client_gone`, `upstream_cut`, `timeout` or `shutdown`.'),
  closed('cost_nano', orNull(money), (close) => close.costNano, 'list', 'facts',
    'What the counts cost, in nano-USD as decimal digits; null where that is not known.', 'cost_nano_usd'),
  closed('charged_nano', orNull(money), chargeOf, 'list', 'facts',
    'What was charged: the cost, but where money is limited at most what was held.', 'charged_nano_usd'),
  closed('queue_ms', orNull(int4), (close) => close.queueMs, 'list', 'facts',
    'From arrival to the first call upstream.', 'latency_ms.queue'),
  closed('first_token_ms', orNull(int4), (close) => close.firstTokenMs, 'list', 'facts',
    'From arrival to the first content of the answer.', 'latency_ms.first_token'),
  closed('total_ms', orNull(int4), (close) => close.totalMs, 'list', 'facts',
    'From arrival to the end of the answer.', 'latency_ms.total'),
  closed('attempt_count', int2, (close) => callsIn(close.attempts), 'list', 'facts',
    'Calls upstream; in the detail, the list of them.', 'attempts'),
  closed('notes', orNull(notes, []), (close) => close.notes, 'list', 'content',
    'What translation changed: a list of `{ path, action, reason }`.'),
  closed('upstream_request_id', orNull(name), (close) => close.upstreamRequestId, 'list', 'content',
    "The upstream's id of the last call."),
  closed('folded', int4, (close) => close.folded, 'list', 'facts',
    'How many requests the row represents; more than 1 in a flood of refusals.'),
  opened('client_address', orNull(name), (open) => open.clientAddress, 'detail', 'content',
    "The client's address."),
  opened('user_agent', orNull(name), (open) => open.userAgent, 'detail', 'content',
    "The client's `user-agent`."),
  opened('idempotency_key', orNull(name), (open) => open.idempotencyKey, 'detail', 'content',
    "The request's `idempotency-key`."),
  closed('price_id', orNull(uuid), (close) => close.priceId, 'nowhere', 'facts',
    'The price that the cost was worked out with.'),
  closed('price_multiplier', orNull(word), (close) => close.priceMultiplier, 'detail', 'facts',
    'The multiplier of that price.'),
  closed('cost_facts', orNull(notes, []), (close) => close.costFacts, 'detail', 'facts',
    'Facts beside the tokens that the cost depends on: a list of `{ part, count }`, `{ part, name }` and models.'),
] as const

type RequestColumn = (typeof requestColumns)[number]

/** The value of a column. Rows from before charges were noted were charged their cost. */
export function valueIn(row: Readonly<Record<string, unknown>>, name: string): unknown {
  return row[name] ?? (name === 'charged_nano' ? (row.cost_nano ?? null) : row[name])
}

/** A row in a list. */
export type ListRow = RowOf<Extract<RequestColumn, { shown: 'list' }>>
/** A row in full. */
export type DetailRow = RowOf<Extract<RequestColumn, { shown: 'list' | 'detail' }>>

/** Known before anything is sent upstream. */
export const openColumns: readonly Column<OpenRecord>[] = requestColumns.filter(
  (column) => column.half === 'open',
)
/** Known once the request has ended. */
export const closeColumns: readonly Column<CloseRecord>[] = requestColumns.filter(
  (column) => column.half === 'close',
)
