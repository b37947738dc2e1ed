import { messageWithoutCause } from '../canonical/unreachable.ts'
import type { Usage } from '../canonical/usage.ts'
import { type AttemptRow, attemptColumns } from '../journal/attempt-row.ts'
import { type Column, type Shown, shownOf } from '../journal/column.ts'
import { type DetailRow, type ListRow, requestColumns, valueIn } from '../journal/row.ts'
import { momentOf } from '../journal/tuple.ts'
import { readCostFacts } from '../money/cost-facts.ts'
import { type CostParts, noTokens, priceRequest } from '../money/price.ts'
import type { RequestDetail, SummaryRow } from '../usage/queries.ts'
import { nullableGroups } from './row-schema.ts'

/** Returns an attempt for a tenant that can see attempts. */
export function attemptOfTenant<Attempt extends { error_message: string | null }>(attempt: Attempt): Attempt {
  const { error_message: message } = attempt
  return { ...attempt, error_message: message === null ? null : messageWithoutCause(message) }
}

/** Returns a row for a tenant that cannot see channels. */
export function withoutChannel<Row extends { channel: string | null }>(row: Row): Row {
  return { ...row, channel: null }
}

/**
 * Returns a row of the usage log as shown to clients. Unknown values are null, never 0; money is nano-USD as
 * decimal digits.
 */
export function requestJson(row: ListRow): Record<string, unknown> {
  return rowJson(row, requestColumns, ['list'])
}

/**
 * Returns a row with everything that is stored about it. `attempts`, a number in the list, is the list of
 * attempts here.
 */
export function detailJson(row: RequestDetail) {
  return {
    ...rowJson(row, requestColumns, ['list', 'detail']),
    cost_parts_nano_usd: costPartsJson(row),
    price_source: row.price === null ? null : (row.price.source ?? 'catalog'),
    attempts: row.attempt_rows.map((attempt) => rowJson(attempt, attemptColumns, ['list'])),
    capture: row.payload?.capture ?? null,
    body: row.payload?.body ?? null,
    answer: answerJson(row.answer),
  }
}

function answerJson(kept: RequestDetail['answer']) {
  return kept === null ? null : { capture: kept.capture, truncated: kept.truncated, body: kept.answer }
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
    /** Only includes requests whose cost is known. */
    cost_nano_usd: row.cost_nano,
    charged_nano_usd: row.charged_nano,
    unpriced_requests: Number(row.unpriced_requests),
  }
}

/** Writes each column at its path. */
function rowJson(
  row: ListRow | DetailRow | AttemptRow,
  columns: readonly Column<never>[],
  shown: readonly Shown[],
): Record<string, unknown> {
  const values: Record<string, unknown> = { ...row }
  const json: Record<string, unknown> = {}
  for (const column of columns) {
    if (!shown.includes(column.shown)) continue
    const value = shownOf(column, valueIn(values, column.name))
    const [member = '', inner] = column.member.split('.')
    if (inner === undefined) json[member] = value
    else json[member] = { ...objectAt(json, member), [inner]: value }
  }
  for (const [group, columns] of Object.entries(nullableGroups)) {
    if (group in json && columns.some((name) => values[name] === null)) json[group] = null
  }
  return json
}

function objectAt(json: Record<string, unknown>, member: string): object {
  const value = json[member]
  return typeof value === 'object' && value !== null ? value : {}
}

function usageOf(row: DetailRow): Usage | null {
  const { refinements } = readCostFacts(parsed(row.cost_facts))
  if (row.input_tokens === null || row.output_tokens === null)
    return Object.keys(refinements).length === 0 ? null : { ...noTokens, ...refinements }
  return {
    input: row.input_tokens,
    cacheRead: row.cache_read_tokens ?? 0,
    cacheWrite: row.cache_write_tokens ?? 0,
    output: row.output_tokens,
    reasoning: row.reasoning_tokens ?? 0,
    ...refinements,
  }
}

/** Returns null if the text is not valid JSON. */
function parsed(json: string | null): unknown {
  try {
    return JSON.parse(json ?? 'null')
  } catch {
    return null
  }
}

/** Calculated again from tokens, price and multiplier. Null if the sum differs from the cost in the row. */
function costPartsJson(row: RequestDetail) {
  const usage = usageOf(row)
  if (row.price === null || row.price_multiplier === null || row.cost_nano === null) return null
  const context = { at: momentOf(row.id), others: readCostFacts(parsed(row.cost_facts)).others }
  const parts = usage === null ? undefined : priceRequest(usage, row.price, row.price_multiplier, context)
  if (parts !== undefined && String(parts.total) === row.cost_nano) return partsJson(parts, 0n)
  if (row.images === null) return null
  // Images that have a price of their own have no other cost than the fee per request.
  const fee = priceRequest(noTokens, row.price, row.price_multiplier, { at: momentOf(row.id) })
  const cost = BigInt(row.cost_nano)
  return fee === undefined || fee.total > cost ? null : partsJson(fee, cost - fee.total)
}

function partsJson(parts: Omit<CostParts, 'total'>, image: bigint) {
  return {
    input: String(parts.input),
    cache_read: String(parts.cacheRead),
    cache_write: String(parts.cacheWrite),
    output: String(parts.output),
    reasoning: String(parts.reasoning),
    image: String(image),
    fees: String(parts.fees ?? 0n),
    others: String(parts.others ?? 0n),
  }
}
