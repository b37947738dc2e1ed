import type { GroupSelect } from './slice.ts'
import { type AskLog, type Walk, walkGroups } from './walk.ts'

/** What the matching rows can be summed by. A row with several tags is part of the sums of each. */
export const logSumParts = [
  'day',
  'tenant_id',
  'key_id',
  'group_id',
  'model',
  'channel',
  'end_user',
  'session',
  'tag',
] as const

export type LogSumPart = (typeof logSumParts)[number]

const summed = [
  'requests',
  ...(['succeeded', 'refused', 'failed', 'cancelled', 'orphaned'] as const),
  ...(['input_tokens', 'cache_read_tokens', 'cache_write_tokens'] as const),
  ...(['output_tokens', 'reasoning_tokens', 'images'] as const),
  ...(['cost_nano', 'unpriced', 'uncharged_nano'] as const),
] as const

/** The values of the parts, null where a row has none, and the sums as decimal digits. */
export type LogSum = Record<LogSumPart, string | null> & Record<(typeof summed)[number], string>

/** There are more groups than the caller can take. */
export class TooManyGroups extends Error {
  override readonly name = 'TooManyGroups'
}

/**
 * The sums of all matching rows, the highest cost first. They are read in slices and added up here, so that
 * no statement runs for long, however long the period is. `parts` is not empty. Throws TooManyGroups.
 */
export async function sumLog(
  ask: AskLog,
  walk: Omit<Walk, 'rowsMax' | 'order' | 'endAt'>,
  { parts, groupsMax }: { parts: readonly LogSumPart[]; groupsMax: number },
): Promise<LogSum[]> {
  const groups = new Map<string, LogSum>()
  for await (const { rows } of walkGroups<LogSum>(ask, walk, sumSelect(parts))) {
    for (const row of rows) {
      const name = JSON.stringify(parts.map((part) => row[part]))
      const before = groups.get(name)
      groups.set(name, before === undefined ? row : added(before, row))
    }
    if (groups.size > groupsMax) throw new TooManyGroups()
  }
  return [...groups.values()].sort(
    (one, other) => compare(other, one, 'cost_nano') || compare(other, one, 'requests'),
  )
}

function added(one: LogSum, other: LogSum): LogSum {
  const sum = { ...one }
  for (const name of summed) sum[name] = String(BigInt(one[name]) + BigInt(other[name]))
  return sum
}

function compare(one: LogSum, other: LogSum, name: 'cost_nano' | 'requests'): number {
  const difference = BigInt(one[name]) - BigInt(other[name])
  return difference === 0n ? 0 : difference > 0n ? 1 : -1
}

/** Selects a LogSum for each group of a slice. */
function sumSelect(parts: readonly LogSumPart[]): GroupSelect {
  const names = parts.join(', ')
  const outcomes = summed
    .slice(1, 6)
    .map((name) => sum(`CASE WHEN outcome = '${name}' THEN folded END`, name))
  const tokens = summed.slice(6, 12).map((name) => sum(name, name))
  return (table) => ({
    before: `SELECT ${names}, ${[
      sum('folded', 'requests'),
      ...outcomes,
      ...tokens,
      sum('cost_nano', 'cost_nano'),
      sum('CASE WHEN cost_nano IS NULL THEN folded END', 'unpriced'),
      sum('cost_nano - charged_nano', 'uncharged_nano'),
    ].join(', ')}
      FROM (
        SELECT ${parts.map((part) => `${expressionOf[part](table === 'archive')} AS ${part}`).join(', ')},
          outcome, folded, ${summed.slice(6, 12).join(', ')}, cost_nano, charged_nano
        FROM ${table} WHERE`,
    after: `) AS found GROUP BY ${names}`,
  })
}

function sum(what: string, name: string): string {
  return `CAST(coalesce(sum(${what}), 0) AS varchar) AS ${name}`
}

/** The value of a part in Postgres and in DuckDB. */
const expressionOf: Readonly<Record<LogSumPart, (isDuck: boolean) => string>> = {
  day: (isDuck) =>
    isDuck
      ? "strftime(make_timestamp(epoch_us(created_at)), '%Y-%m-%d')"
      : "to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
  tenant_id: () => 'CAST(tenant_id AS varchar)',
  key_id: () => 'CAST(key_id AS varchar)',
  group_id: () => 'CAST(group_id AS varchar)',
  // Clients can ask for any number of models that do not exist.
  model: () => "CASE WHEN error_kind = 'model_not_found' THEN NULL ELSE requested_model END",
  channel: () => 'channel',
  end_user: () => 'end_user',
  session: () => 'session',
  tag: (isDuck) =>
    isDuck
      ? 'unnest(CASE WHEN len(tags) > 0 THEN tags ELSE [CAST(NULL AS varchar)] END)'
      : 'unnest(CASE WHEN cardinality(tags) > 0 THEN tags ELSE ARRAY[CAST(NULL AS text)] END)',
}
