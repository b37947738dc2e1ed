import type { Sql } from 'postgres'
import type { Finding } from './finding.ts'
import { type Rule, rulesOf } from './verify-rules.ts'
import { checkSums } from './verify-sums.ts'

export interface Verification {
  findings: Finding[]
  /** Number of requests whose process died. Their cost is unknown. */
  orphaned: number
  requests: number
}

const samplesMax = 5

/**
 * Recompute the ledger from its immutable parts. `since`, the first day of a month such as `2026-10-01` (UTC), leaves out
 * earlier requests, charges and checkpoints. Balances are always checked, against the checkpoints of closed months and the
 * entries of open ones.
 *
 * Each rule reads a snapshot of its own, and so does each closed month. So vacuum waits for one statement at a time.
 */
export async function verifyLedger(sql: Sql, since?: string): Promise<Verification> {
  const [scope] = await sql<{ since: string; openFrom: string; bothFrom: string }[]>`
    SELECT m.since::text, m.closed::text AS "openFrom",
      greatest(m.since, m.pruned, coalesce((SELECT min(created_at) FROM requests), now()))::text AS "bothFrom"
    FROM (
      SELECT coalesce(${since ?? null}::text::timestamp AT TIME ZONE 'UTC', '-infinity') AS since,
        coalesce(max(ends_at) FILTER (WHERE closed_at IS NOT NULL), '-infinity') AS closed,
        coalesce(max(ends_at) FILTER (WHERE pruned_at IS NOT NULL), '-infinity') AS pruned
      FROM entry_months
    ) AS m`
  if (scope === undefined) throw new Error('no scope')
  const findings: Finding[] = []
  for (const rule of rulesOf(scope)) findings.push(await check(sql, rule))
  findings.push(...(await checkSums(sql, scope.since)), await checkMonths(sql, scope.since))
  const [counted] = await sql<{ requests: string; orphaned: string }[]>`
    SELECT count(*) AS requests, count(*) FILTER (WHERE outcome = 'orphaned') AS orphaned FROM requests
    WHERE created_at >= ${scope.since}::text::timestamptz`
  return { findings, requests: Number(counted?.requests ?? 0), orphaned: Number(counted?.orphaned ?? 0) }
}

async function check(sql: Sql, { rule, query }: Rule): Promise<Finding> {
  const rows = await sql.unsafe<{ sample: string; differences: string }[]>(
    `WITH broken AS (${query}) SELECT sample, (SELECT count(*) FROM broken) AS differences FROM broken LIMIT ${samplesMax}`,
  )
  return { rule, differences: Number(rows[0]?.differences ?? 0), samples: rows.map((row) => row.sample) }
}

/** Recompute the checkpoints, month by month. A late entry and its part of the checkpoint are committed together. */
async function checkMonths(sql: Sql, since: string): Promise<Finding> {
  const rule = 'every checkpoint of a closed month is the sum of its entries'
  const months = await sql<{ month: string; starts: string; ends: string }[]>`
    SELECT month::text, starts_at::text AS starts, ends_at::text AS ends FROM entry_months
    WHERE closed_at IS NOT NULL AND pruned_at IS NULL AND ends_at > ${since}::text::timestamptz ORDER BY month`
  const total: Finding = { rule, differences: 0, samples: [] }
  for (const { month, starts, ends } of months) {
    const found = await check(sql, { rule, query: checkpointQuery(month, starts, ends) })
    total.differences += found.differences
    total.samples.push(...found.samples.slice(0, samplesMax - total.samples.length))
  }
  return total
}

/** A month that was pruned meanwhile is left out. */
function checkpointQuery(month: string, starts: string, ends: string): string {
  return `SELECT coalesce(c.account_id, e.account_id) || ' in ${month.slice(0, 7)}: checkpoint ' || coalesce(c.nano, 0) || ' of '
      || coalesce(c.entries, 0) || ', entries ' || coalesce(e.nano, 0) || ' of ' || coalesce(e.entries, 0) AS sample
    FROM (
      SELECT account_id, sum(sum_nano) AS nano, sum(entries) AS entries FROM entry_checkpoints WHERE month = '${month}' GROUP BY 1
    ) AS c FULL JOIN (
      SELECT account_id, sum(amount_nano) AS nano, count(*) AS entries FROM entries
      WHERE created_at >= '${starts}' AND created_at < '${ends}' GROUP BY 1
    ) AS e ON e.account_id = c.account_id
    WHERE (c.nano IS DISTINCT FROM e.nano OR c.entries IS DISTINCT FROM e.entries)
      AND EXISTS (SELECT 1 FROM entry_months m WHERE m.month = '${month}' AND m.pruned_at IS NULL)`
}
