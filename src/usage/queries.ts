import type postgres from 'postgres'
import { priceParts } from '../canonical/price-parts.ts'
import { priceFromRow, rateColumns, type StoredPrice } from '../catalog/price-from-row.ts'
import type { Price } from '../catalog/snapshot.ts'
import { type AttemptRow, attemptColumns } from '../journal/attempt-row.ts'
import type { ColumnDescription, Shown } from '../journal/column.ts'
import { type DetailRow, type ListRow, requestColumns } from '../journal/row.ts'
import { momentOf } from '../journal/tuple.ts'
import { conditionsOf, joined } from './log/conditions.ts'
import { type Condition, inScope, type LogColumn, type LogFilter, type RowScope } from './log/row-tests.ts'

/** Selects rows of a period. */
export interface TimedFilter extends LogFilter {
  /** Inclusive. */
  readonly from?: Date | undefined
  /** Exclusive. */
  readonly to?: Date | undefined
}

/** The last row of the previous page. */
export interface Position {
  createdAt: Date
  id: string
}

/** A request with its price, its body and its attempts. */
export interface RequestDetail extends DetailRow {
  price: Price | null
  payload: { capture: string; body: string } | null
  /** What the client received, if its key or group enables capturing answers. */
  answer: { capture: string; truncated: boolean; answer: string } | null
  attempt_rows: AttemptRow[]
}

/** Counts and sums are strings of decimal digits. */
export interface SummaryRow {
  /** YYYY-MM-DD, UTC. */
  day: string
  model: string | null
  requests: string
  succeeded: string
  failed: string
  input_tokens: string
  cache_read_tokens: string
  cache_write_tokens: string
  output_tokens: string
  reasoning_tokens: string
  images: string
  cost_nano: string
  charged_nano: string
  unpriced_requests: string
}

/**
 * A page of the usage log, newest first, without bodies. Each filter has an index in this order, so a page
 * with one filter costs the same at any depth, even if few rows match. Returns the statement itself, which
 * can be cancelled.
 */
export function listRequests(
  sql: postgres.Sql,
  scope: RowScope,
  filter: TimedFilter,
  after: Position | undefined,
  limit: number,
): Promise<ListRow[]> {
  // A literal instead of a parameter, because the planner must know how few rows are wanted.
  const most = sql`limit ${sql.unsafe(String(Math.trunc(limit)))}`
  const columns = sql.unsafe(listColumns)
  const [tag] = tagsOf(filter)
  if (tag !== undefined) return taggedRequests(sql, scope, filter, tag, after, { columns, most })
  const order = sql`order by created_at desc, id desc ${most}`
  const rows = (conditions: readonly Condition[], more: Piece) => {
    const where = joined(sql, rowsIn(sql, { ...filter, ...inScope({ conditions }, scope) }, after), sql`and`)
    return sql<ListRow[]>`select ${columns} from requests where ${where} ${more} ${order}`
  }
  const { conditions } = filter
  const model = conditions.find(isByModel)
  if (model === undefined) return rows(conditions, sql``)
  const rest = conditions.filter((condition) => condition !== model)
  const requested: Condition = { ...model, columns: ['requested_model'] }
  const served: Condition = { ...model, columns: ['served_model'] }
  const differs = sql`and served_model <> requested_model`
  // Two arms, each in the order of its own index, because a single OR would read every row of the tenant.
  return sql<ListRow[]>`
    select * from (${rows([...rest, requested], sql``)}) as requested
    union all
    select * from (${rows([...rest, served, { ...requested, not: true }], differs)}) as served
    ${order}`
}

type Piece = postgres.Fragment

/** Whether a condition selects by the requested or served model. */
export function isByModel(condition: Condition): condition is Condition & { test: 'is' } {
  return condition.test === 'is' && !condition.not && condition.columns.length === 2
}

/** The tags that a row must have. */
export function tagsOf({ conditions }: LogFilter): string[] {
  return conditions.flatMap((condition) =>
    condition.test === 'tagged' && !condition.not ? condition.tags.filter((tag) => tag !== null) : [],
  )
}

/** The ids to which a filter is restricted; undefined if it is not. */
export function idsOf({ conditions }: LogFilter): string[] | undefined {
  for (const condition of conditions)
    if (condition.test === 'is' && !condition.not && condition.columns[0] === 'id')
      return condition.values.filter((id) => typeof id === 'string')
  return undefined
}

/**
 * `request_tags` contains the requests with a tag in list order, and the query looks them up one by one. The
 * limit in the look-up keeps the planner from reading all of `requests` instead.
 */
function taggedRequests(
  sql: postgres.Sql,
  scope: RowScope,
  { from, to, conditions }: TimedFilter,
  tag: string,
  after: Position | undefined,
  { columns, most }: { columns: Piece; most: Piece },
): Promise<ListRow[]> {
  const parts = [sql`tenant_id = ${scope.tenantId} and tag = ${tag}`]
  if (from !== undefined) parts.push(sql`created_at >= ${from}`)
  if (to !== undefined) parts.push(sql`created_at < ${to}`)
  if (after !== undefined) parts.push(sql`(created_at, request_id) < (${after.createdAt}, ${after.id})`)
  return sql<ListRow[]>`
    select r.* from (
      select created_at, request_id from request_tags where ${joined(sql, parts, sql`and`)}
    ) as t cross join lateral (
      select ${columns} from requests
      where id = t.request_id and created_at = t.created_at
        and ${joined(sql, rowsIn(sql, inScope({ conditions }, scope)), sql`and`)}
      limit 1
    ) as r
    order by t.created_at desc, t.request_id desc ${most}`
}

/**
 * One request with its body and attempts; undefined if there is none in this scope. `all` means any tenant.
 */
export async function findRequest(
  sql: postgres.Sql,
  scope: RowScope | 'all',
  id: string,
): Promise<RequestDetail | undefined> {
  const any: LogFilter = { conditions: [{ not: false, test: 'is', columns: ['id'], values: [id] }] }
  const where = rowsIn(sql, scope === 'all' ? any : inScope(any, scope))
  const [row] = await sql<(DetailRow & { price_id: string | null })[]>`
    select ${sql.unsafe(detailColumns)}, price_id from requests where ${joined(sql, where, sql`and`)}`
  if (row === undefined) return undefined
  const { price_id: priceId, ...rest } = row
  return { ...rest, ...(await findBeside(sql, id, priceId)) }
}

/** What Postgres contains about a request besides its row. */
export async function findBeside(
  sql: postgres.Sql,
  id: string,
  priceId: string | null,
): Promise<Pick<RequestDetail, 'price' | 'payload' | 'answer' | 'attempt_rows'>> {
  const createdAt = new Date(momentOf(id))
  const [payloads, answers, attempts, price] = await Promise.all([
    sql<{ capture: string; body: string }[]>`
      select capture, body from request_payloads where request_id = ${id} and created_at = ${createdAt}`,
    sql<{ capture: string; truncated: boolean; answer: string }[]>`
      select capture, truncated, answer from request_answers where request_id = ${id} and created_at = ${createdAt}`,
    sql<AttemptRow[]>`
      select ${sql.unsafe(namesOf(attemptColumns, ['list']))}
      from attempts where request_id = ${id} and created_at = ${createdAt} order by ordinal`,
    priceId === null ? null : findPrice(sql, priceId),
  ])
  return {
    price,
    payload: payloads[0] ?? null,
    answer: answers[0] ?? null,
    attempt_rows: attempts,
  }
}

/** The price with which a row was charged; null if there is none or it no longer exists. */
async function findPrice(sql: postgres.Sql, id: string): Promise<Price | null> {
  const [row] = await sql<StoredPrice[]>`select ${sql.unsafe(priceColumns)} from prices where id = ${id}`
  return (row && priceFromRow(row)) ?? null
}

const priceColumns = priceParts
  .flatMap(({ name, word }) =>
    rateColumns.some((column) => column === name) ? `${word}_nano as "${name}"` : [],
  )
  .concat('id', 'rates', 'image_nano as image', 'image_rates as "imageRates"', 'tiers', 'source')
  .join(', ')

/**
 * Totals by day (UTC) and requested model, newest day first. A row counts as `folded` requests. Reads every
 * row between `from` and `to`, at about 4 us per row. Returns the statement itself, which can be cancelled.
 */
export function summariseRequests(
  sql: postgres.Sql,
  scope: RowScope,
  filter: TimedFilter,
): Promise<SummaryRow[]> {
  const where = rowsIn(sql, { ...filter, ...inScope(filter, scope) })
  return sql<SummaryRow[]>`
    select
      to_char(day, 'YYYY-MM-DD') as day, model, requests, coalesce(succeeded, 0) as succeeded,
      requests - coalesce(succeeded, 0) as failed, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens,
      reasoning_tokens, images, cost_nano, charged_nano, coalesce(unpriced_requests, 0) as unpriced_requests
    from (
      select
        (created_at at time zone 'UTC')::date as day,
        requested_model as model,
        sum(folded) as requests,
        sum(folded) filter (where outcome = 'succeeded') as succeeded,
        coalesce(sum(input_tokens), 0) as input_tokens,
        coalesce(sum(cache_read_tokens), 0) as cache_read_tokens,
        coalesce(sum(cache_write_tokens), 0) as cache_write_tokens,
        coalesce(sum(output_tokens), 0) as output_tokens,
        coalesce(sum(reasoning_tokens), 0) as reasoning_tokens,
        coalesce(sum(images), 0) as images,
        coalesce(sum(cost_nano), 0) as cost_nano,
        coalesce(sum(coalesce(charged_nano, cost_nano)), 0) as charged_nano,
        sum(folded) filter (where cost_nano is null) as unpriced_requests
      from requests where ${joined(sql, where, sql`and`)}
      group by 1, 2
    ) as days
    order by day desc, model`
}

function namesOf(columns: readonly ColumnDescription[], shown: readonly Shown[]): string {
  return columns.flatMap((column) => (shown.includes(column.shown) ? [column.name] : [])).join(', ')
}

const listColumns = namesOf(requestColumns, ['list'])
const detailColumns = namesOf(requestColumns, ['list', 'detail'])

function rowsIn(sql: postgres.Sql, filter: TimedFilter, after?: Position): Piece[] {
  const { from, to, conditions } = filter
  const parts = [...conditionsOf(sql, filter), ...conditions.flatMap((each) => impliedBy(sql, each))]
  const ids = idsOf(filter)
  if (ids !== undefined) parts.push(sql`created_at in ${sql(ids.map((id) => new Date(momentOf(id))))}`)
  if (from !== undefined) parts.push(sql`created_at >= ${from}`)
  if (to !== undefined) parts.push(sql`created_at < ${to}`)
  if (after !== undefined) parts.push(sql`(created_at, id) < (${after.createdAt}, ${after.id})`)
  return parts
}

/**
 * The predicates of partial indexes that hold for all rows with this condition. They are literal, because
 * with a parameter the planner would not use the index.
 */
function impliedBy(sql: postgres.Sql, condition: Condition): Piece[] {
  if (condition.not) return []
  if (condition.test === 'between' && condition.column === 'status') {
    const has200 = condition.ranges.some(
      (range) => range !== null && (range.least ?? 0n) <= 200n && (range.most ?? 200n) >= 200n,
    )
    return has200 ? [] : [sql`status <> 200`]
  }
  if (condition.test !== 'is') return []
  const is = (column: LogColumn, value: string) =>
    condition.columns[0] === column && !condition.values.includes(value)
  if (is('outcome', 'succeeded')) return [sql`outcome <> 'succeeded'`]
  return is('endpoint', '/v1/chat/completions') ? [sql`endpoint <> '/v1/chat/completions'`] : []
}
