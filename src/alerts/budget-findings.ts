import type { Sql } from 'postgres'
import { nanoFromUsd } from '../canonical/usd.ts'
import { usd } from '../money/price.ts'
import type { ConditionOf } from './condition.ts'
import { type AlertFinding, subjectsMax } from './finding.ts'

type Budget = ConditionOf<'budget'>

/** Returns the budgets or balances for which the condition holds. */
export async function budgetFindings(
  sql: Sql,
  condition: Budget,
  tenantId: string | null,
): Promise<AlertFinding[]> {
  const { of, below_usd: below } = condition
  const balances =
    of === 'tenant' && below !== undefined ? await balanceFindings(sql, condition, tenantId) : []
  return [...balances, ...(await periodFindings(sql, condition, tenantId))].slice(0, subjectsMax)
}

interface PeriodRow {
  owner_id: string
  period: 'day' | 'month' | 'total'
  limit_nano: string
  spent_nano: string
  starts_at: Date
  name: string
  tenant: string | null
}

async function periodFindings(sql: Sql, condition: Budget, tenantId: string | null): Promise<AlertFinding[]> {
  const { of, id, spent_percent: percent = null, below_usd: below } = condition
  const belowNano = below === undefined ? null : String(nanoFromUsd(below) ?? 0n)
  const rows = await sql<PeriodRow[]>`
    SELECT b.owner_id, b.period, b.limit_nano, coalesce(p.spent_nano, 0) AS spent_nano,
      period_start(b.period, now()) AS starts_at, coalesce(k.name, g.name, t.name) AS name, t.name AS tenant
    FROM budgets b
    LEFT JOIN budget_periods p
      ON p.owner_id = b.owner_id AND p.period = b.period AND p.starts_at = period_start(b.period, now())
    LEFT JOIN keys k ON b.owner = 'key' AND k.id = b.owner_id
    LEFT JOIN tenants t ON t.id = coalesce(k.tenant_id, b.owner_id)
    LEFT JOIN key_groups g ON b.owner = 'group' AND g.id = b.owner_id
    WHERE b.owner = ${of} AND (${id}::uuid IS NULL OR b.owner_id = ${id}::uuid)
      AND (${tenantId}::uuid IS NULL OR t.id = ${tenantId}::uuid)
      AND b.limit_nano > 0 AND k.disabled_at IS NULL AND (b.owner <> 'tenant' OR t.disabled_at IS NULL)
      AND coalesce(coalesce(p.spent_nano, 0)::numeric * 100 >= b.limit_nano::numeric * ${percent}::integer,
        b.limit_nano - coalesce(p.spent_nano, 0) < ${belowNano}::bigint)
    ORDER BY b.owner_id, b.period LIMIT ${subjectsMax}`
  return rows.map((row) => {
    const limit = BigInt(row.limit_nano)
    const spent = BigInt(row.spent_nano)
    const name = of === 'key' ? `key ${row.tenant}/${row.name}` : `${of} ${row.name}`
    const share = Number((spent * 1000n) / limit) / 10
    const whole = row.period === 'total' ? 'in total' : `for this ${row.period}`
    const allowed = percent === null ? `the threshold is $${below} left` : `the threshold is ${percent} %`
    return {
      subject: `${row.owner_id} ${row.period} ${row.starts_at.toISOString()}`,
      name: `${name}, budget ${whole}`,
      value:
        percent !== null
          ? `${share} % spent`
          : spent > limit
            ? `$${usd(spent - limit)} over`
            : `$${usd(limit - spent)} left`,
      summary: `${name}: $${usd(spent)} of the budget of $${usd(limit)} ${whole} has been spent (${share} %); ${allowed}.`,
      details: {
        of,
        id: row.owner_id,
        period: row.period,
        period_starts_at: row.starts_at.toISOString(),
        spent_usd: usd(spent),
        limit_usd: usd(limit),
      },
    }
  })
}

async function balanceFindings(
  sql: Sql,
  { id, below_usd: below = '0' }: Budget,
  tenantId: string | null,
): Promise<AlertFinding[]> {
  const rows = await sql<{ id: string; name: string; balance_nano: string }[]>`
    SELECT t.id, t.name, a.balance_nano FROM accounts a JOIN tenants t ON t.id = a.id
    WHERE a.limited AND t.disabled_at IS NULL AND a.balance_nano < ${String(nanoFromUsd(below) ?? 0n)}::bigint
      AND (${id}::uuid IS NULL OR a.id = ${id}::uuid) AND (${tenantId}::uuid IS NULL OR a.id = ${tenantId}::uuid)
    ORDER BY a.id LIMIT ${subjectsMax}`
  return rows.map((row) => {
    const balance = usd(BigInt(row.balance_nano))
    return {
      subject: row.id,
      name: `tenant ${row.name}, balance`,
      value: `$${balance}`,
      summary: `tenant ${row.name}: the balance is $${balance}; the threshold is $${below}.`,
      details: { of: 'tenant', id: row.id, balance_usd: balance },
    }
  })
}
