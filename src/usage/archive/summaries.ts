import type { SummaryRow } from '../queries.ts'

/**
 * The totals of summariseRequests() in usage/queries.ts, computed over files. `{where}` is the condition.
 */
export const summarySelect = `
  SELECT epoch_ms(created_at) // 86400000 AS day, requested_model AS model,
    sum(folded) AS requests,
    coalesce(sum(folded) FILTER (WHERE outcome = 'succeeded'), 0) AS succeeded,
    coalesce(sum(input_tokens), 0) AS input_tokens,
    coalesce(sum(cache_read_tokens), 0) AS cache_read_tokens,
    coalesce(sum(cache_write_tokens), 0) AS cache_write_tokens,
    coalesce(sum(output_tokens), 0) AS output_tokens,
    coalesce(sum(reasoning_tokens), 0) AS reasoning_tokens,
    coalesce(sum(images), 0) AS images,
    coalesce(sum(cost_nano), 0) AS cost_nano,
    coalesce(sum(coalesce(charged_nano, cost_nano)), 0) AS charged_nano,
    coalesce(sum(folded) FILTER (WHERE cost_nano IS NULL), 0) AS unpriced_requests
  FROM archive WHERE {where} GROUP BY 1, 2`

const summed = [
  'requests',
  'succeeded',
  'failed',
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'images',
  'cost_nano',
  'charged_nano',
  'unpriced_requests',
] as const

/** Converts a row of `summarySelect` to the form of a Postgres row. */
export function archivedSummary(row: Record<string, unknown>): SummaryRow {
  const text = (name: string) => String(row[name])
  return {
    day: new Date(Number(row.day) * dayMs).toISOString().slice(0, 10),
    model: row.model === null ? null : text('model'),
    requests: text('requests'),
    succeeded: text('succeeded'),
    failed: String(BigInt(text('requests')) - BigInt(text('succeeded'))),
    input_tokens: text('input_tokens'),
    cache_read_tokens: text('cache_read_tokens'),
    cache_write_tokens: text('cache_write_tokens'),
    output_tokens: text('output_tokens'),
    reasoning_tokens: text('reasoning_tokens'),
    images: text('images'),
    cost_nano: text('cost_nano'),
    charged_nano: text('charged_nano'),
    unpriced_requests: text('unpriced_requests'),
  }
}

/** Combines the rows into one for each day and model, newest day first. */
export function addSummaries(rows: readonly SummaryRow[]): SummaryRow[] {
  const added = new Map<string, SummaryRow>()
  for (const row of rows) {
    const key = JSON.stringify([row.day, row.model])
    const known = added.get(key)
    added.set(key, known === undefined ? row : sumOf(known, row))
  }
  return [...added.values()].sort((a, b) => compare(b.day, a.day) || compareModels(a.model, b.model))
}

function sumOf(one: SummaryRow, other: SummaryRow): SummaryRow {
  const sum = { ...one }
  for (const name of summed) sum[name] = String(BigInt(one[name]) + BigInt(other[name]))
  return sum
}

function compareModels(one: string | null, other: string | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  return compare(one, other)
}

function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

const dayMs = 86_400_000
