import { randomUUID } from 'node:crypto'
import type postgres from 'postgres'
import { inject, onTestFinished } from 'vitest'
import { type Summary, type SummaryQuestion, summarise } from '../../src/usage/rollup-queries.ts'
import { foldRollups } from '../../src/usage/rollups.ts'
import { countedRows, partColumns } from '../../src/usage/summary-pieces.ts'
import type { Part } from '../../src/usage/summary-range.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { Random } from '../support/random.ts'

/** The same numbers in every run; TEST_SEED chooses others. */
export const random = new Random(16 + inject('seed'))

export const hoursDays = 400
export const tenants = [1, 2, 3].map(() => randomUUID())
const keys = tenants.flatMap((tenant_id) =>
  [1, 2].map(() => ({ tenant_id, key_id: randomUUID(), group_id: randomUUID() })),
)

/** A database of its own. */
export async function startedDatabase() {
  const { url, drop } = await freshDatabase()
  const database = openDatabase(url, { max: 8 })
  return {
    url,
    database,
    async end() {
      await database.close()
      await drop()
    },
  }
}

/** The same for one test. */
export async function startRollupsBed() {
  const { url, database, end } = await startedDatabase()
  onTestFinished(end)
  return { url, database, ...workOf(database) }
}

/** What tests do with the sums. */
export function workOf({ sql }: Database) {
  return {
    /** Rows as a shipment writes them: in one statement. */
    async insert(rows: readonly Row[], tx: postgres.Sql | postgres.TransactionSql = sql): Promise<void> {
      for (let at = 0; at < rows.length; at += 1_000)
        await tx`INSERT INTO requests ${tx(rows.slice(at, at + 1_000))}`
    },
    fold: () => foldRollups(sql, { rollupHoursDays: hoursDays }),
    async leftOver(): Promise<number> {
      const [row] = await sql<{ n: number }[]>`SELECT count(*)::integer AS n FROM rollup_deltas`
      return row?.n ?? 0
    },
    ask: (question: Partial<SummaryQuestion> & { from: number; to: number }, nowMs = Date.now()) =>
      summarise(
        sql,
        {
          parts: [],
          step: undefined,
          filter: {},
          sort: 'requests',
          descending: true,
          limit: 100_000,
          skip: 0,
          ...question,
        },
        { nowMs, hoursDays },
      ),
    /** The same by plain SQL over the usage log. */
    async truth({
      parts = [],
      step,
      filter = {},
      from,
      to,
    }: Partial<SummaryQuestion> & { from: number; to: number }) {
      const names = parts.map((part) => partColumns[part])
      const at = step === undefined ? [] : [`date_bin('1 ${step}', minute, 'epoch') AS at`]
      const where = Object.entries(filter).map(
        ([part, value]) => `AND ${partColumns[isPart(part) ? part : 'tenant']} = '${value}'`,
      )
      const groups = [...at, ...names].map((_, index) => String(index + 1)).join(', ')
      return await sql.unsafe(
        `SELECT ${[...at, ...names].map((name) => `${name}, `).join('')} sum(requests)::text AS requests,
          sum(requests) FILTER (WHERE outcome = 'succeeded') AS succeeded, sum(cost_nano)::text AS cost_nano,
          sum(uncharged_nano)::text AS uncharged_nano,
          sum(unpriced)::text AS unpriced, sum(input_tokens)::text AS input_tokens, sum(total_latency)::text AS total_latency
        FROM (${countedRows} WHERE created_at >= '${iso(from)}' AND created_at < '${iso(to)}') AS r
        WHERE true ${where.join(' ')} ${groups === '' ? '' : `GROUP BY ${groups}`}`,
      )
    },
  }
}

function isPart(name: string): name is Part {
  return name in partColumns
}

const iso = (ms: number) => new Date(ms).toISOString()

/** Groups in a form in which two answers can be compared. */
export function comparable(groups: readonly object[]): string[] {
  const shown = [
    'at',
    ...Object.values(partColumns),
    'requests',
    'cost_nano',
    'uncharged_nano',
    'unpriced',
    'input_tokens',
    'total_latency',
  ]
  return groups
    .map((group) => {
      const values: Record<string, unknown> = { ...group }
      return shown
        .map((name) =>
          values[name] instanceof Date ? values[name].toISOString() : String(values[name] ?? ''),
        )
        .join(' ')
    })
    .sort()
}

export function totalOf({ total }: Summary): { requests: number; cost: bigint } {
  return { requests: Number(total.requests), cost: BigInt(total.cost_nano) }
}

export type Row = ReturnType<typeof aRow>

/** A row of the usage log at a random moment of a span. */
export function aRow(from: number, to: number, changes: { outcome?: string; folded?: number } = {}) {
  const at = Math.floor(from + random.next() * (to - from))
  const outcome =
    changes.outcome ?? pick(['succeeded', 'succeeded', 'succeeded', 'failed', 'refused', 'cancelled'])
  const isKnown = outcome === 'succeeded'
  const cost = isKnown && random.next() < 0.9 ? Math.floor(random.next() * 1e9) : null
  return {
    ...pick([...keys, { tenant_id: null, key_id: null, group_id: null }]),
    id:
      at
        .toString(16)
        .padStart(12, '0')
        .replace(/^(.{8})/, '$1-') + randomUUID().slice(13),
    created_at: new Date(at),
    endpoint: '/v1/chat/completions',
    requested_model: pick(['gpt-main', 'claude-main', null]),
    error_kind: outcome === 'refused' ? pick(['model_not_found', 'rate_limited']) : null,
    channel: outcome === 'refused' ? null : pick(['eu', 'us']),
    stream: false,
    status: isKnown ? 200 : 500,
    outcome,
    usage_source: 'none',
    attempt_count: 0,
    input_tokens: isKnown ? Math.floor(random.next() * 1_000) : null,
    output_tokens: isKnown ? 5 : null,
    cost_nano: cost === null ? null : String(cost),
    // Null: the row of an older release.
    charged_nano: cost === null || random.next() < 0.3 ? null : String(Math.floor(random.next() * cost)),
    images: random.next() < 0.1 ? 2 : null,
    folded: changes.folded ?? (outcome === 'refused' ? 1 + Math.floor(random.next() * 40) : 1),
    total_ms: outcome === 'cancelled' ? null : Math.floor(random.next() ** 4 * 60_000),
    first_token_ms: isKnown ? Math.floor(random.next() * 900) : null,
  }
}

export const pick = <Item>(items: readonly Item[]): Item => random.pick(items)
