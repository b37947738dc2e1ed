import type { Sql } from 'postgres'
import type { RuleFinding } from './rule-finding.ts'
import type { AskOne, RunRule } from './run-rule.ts'
import { type Rule, rulesOf } from './verify-rules.ts'
import { checkSums, daysOfSums, stepsOfSums } from './verify-sums.ts'

export interface Verification {
  findings: RuleFinding[]
  /** The number of requests whose process died. Their cost is unknown. */
  orphaned: number
  requests: number
}

const samplesMax = 5

/** The progress of a verification. A step is one statement; some take minutes. */
export interface VerifyProgress {
  done: number
  of: number
  /** What the next step checks. */
  doing: string
}

/** Verifies the ledger on one connection: see `runVerification`. */
export function verifyLedger(sql: Sql, since?: string): Promise<Verification> {
  return runVerification(async (statement) => await statement(sql), since)
}

/**
 * Recomputes the ledger from its immutable parts. `since`, the first day of a month such as `2026-10-01`
 * (UTC), excludes earlier requests, charges and checkpoints. Balances are always checked, against the
 * checkpoints of closed months and the entries of open ones.
 * Each rule and each closed month is read in its own snapshot, so vacuum only has to wait for one statement
 * at a time. Rejects with the error of `ask`. `tell` is called before each step.
 */
export async function runVerification(
  ask: AskOne,
  since?: string,
  tell: (progress: VerifyProgress) => void = () => {},
): Promise<Verification> {
  const [scope] = await ask(
    (sql) => sql<{ since: string; openFrom: string; bothFrom: string }[]>`
    SELECT m.since::text, m.closed::text AS "openFrom",
      greatest(m.since, m.pruned, coalesce((SELECT min(created_at) FROM requests), now()))::text AS "bothFrom"
    FROM (
      SELECT coalesce(${since ?? null}::text::timestamp AT TIME ZONE 'UTC', '-infinity') AS since,
        coalesce(max(ends_at) FILTER (WHERE closed_at IS NOT NULL), '-infinity') AS closed,
        coalesce(max(ends_at) FILTER (WHERE pruned_at IS NOT NULL), '-infinity') AS pruned
      FROM entry_months
    ) AS m`,
  )
  if (scope === undefined) throw new Error('the query for the scope of the verification returned no row')
  const rules = rulesOf(scope)
  const days = await daysOfSums(ask, scope.since)
  const months = await closedMonths(ask, scope.since)
  const of = rules.length + stepsOfSums(days) + months.length + 1
  let done = 0
  const step: RunRule = (doing, statement) => {
    tell({ done: done++, of, doing })
    return ask(statement)
  }
  const findings: RuleFinding[] = []
  for (const rule of rules) findings.push(await check(step, rule))
  findings.push(...(await checkSums(step, days)), await checkMonths(step, months))
  const [counted] = await step(
    'the number of requests',
    (sql) => sql<{ requests: string; orphaned: string }[]>`
    SELECT count(*) AS requests, count(*) FILTER (WHERE outcome = 'orphaned') AS orphaned FROM requests
    WHERE created_at >= ${scope.since}::text::timestamptz`,
  )
  return { findings, requests: Number(counted?.requests ?? 0), orphaned: Number(counted?.orphaned ?? 0) }
}

async function check(step: RunRule, { rule, query }: Rule): Promise<RuleFinding> {
  const rows = await step(rule, (sql) =>
    sql.unsafe<{ sample: string; differences: string }[]>(
      `WITH broken AS (${query}) SELECT sample, (SELECT count(*) FROM broken) AS differences FROM broken LIMIT ${samplesMax}`,
    ),
  )
  return { rule, differences: Number(rows[0]?.differences ?? 0), samples: rows.map((row) => row.sample) }
}

interface Month {
  month: string
  starts: string
  ends: string
}

async function closedMonths(ask: AskOne, since: string): Promise<readonly Month[]> {
  return await ask(
    (sql) => sql<Month[]>`
    SELECT month::text, starts_at::text AS starts, ends_at::text AS ends FROM entry_months
    WHERE closed_at IS NOT NULL AND pruned_at IS NULL AND ends_at > ${since}::text::timestamptz ORDER BY month`,
  )
}

/**
 * Recomputes the checkpoints, month by month. A late entry and its part of the checkpoint are committed
 * together.
 */
async function checkMonths(step: RunRule, months: readonly Month[]): Promise<RuleFinding> {
  const rule = 'every checkpoint of a closed month is the sum of its entries'
  const total: RuleFinding = { rule, differences: 0, samples: [] }
  for (const { month, starts, ends } of months) {
    const found = await check(step, { rule, query: checkpointQuery(month, starts, ends) })
    total.differences += found.differences
    total.samples.push(...found.samples.slice(0, samplesMax - total.samples.length))
  }
  return total
}

/** A month that is pruned in the meantime is left out. */
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
