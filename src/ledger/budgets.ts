import type postgres from 'postgres'

/** What money is taken from: a tenant's balance, or a budget of a key or a group. */
export type Pot = { owner: 'balance' } | { owner: 'key' | 'group'; period: BudgetPeriod }

export type BudgetPeriod = 'day' | 'month' | 'total'

/** As reserve_money names it: `balance`, `key day`, `group total`. Throws for any other. */
export function potOf(name: string): Pot {
  const [owner = '', period = ''] = name.split(' ')
  if (owner === 'balance') return { owner }
  if ((owner === 'key' || owner === 'group') && isPeriod(period)) return { owner, period }
  throw new Error(`no such pot: ${name}`)
}

/** When the period around a moment is over, in UTC; undefined for one that never is. */
export function resetOf(period: BudgetPeriod, moment: Date): Date | undefined {
  switch (period) {
    case 'day':
      return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth(), moment.getUTCDate() + 1))
    case 'month':
      return new Date(Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + 1))
    case 'total':
      return undefined
  }
}

/** What a budget has seen in its present period. Nano-USD. */
export interface BudgetState {
  owner: 'key' | 'group'
  period: BudgetPeriod
  limitNano: bigint
  spentNano: bigint
  /** By running requests. */
  heldNano: bigint
}

/** The budgets of a key and of its group, in the period around a moment. */
export async function readBudgets(
  sql: postgres.Sql,
  { keyId, groupId }: { keyId: string; groupId: string },
  moment: Date,
): Promise<BudgetState[]> {
  const rows = await sql<BudgetRow[]>`
    SELECT b.owner, b.period, b.limit_nano, coalesce(p.spent_nano, 0) AS spent, coalesce(p.reserved_nano, 0) AS held
    FROM budgets b LEFT JOIN budget_periods p
      ON p.owner_id = b.owner_id AND p.period = b.period AND p.starts_at = period_start(b.period, ${moment})
    WHERE b.owner_id IN (${keyId}, ${groupId})
    ORDER BY b.owner DESC, array_position(ARRAY['day', 'month', 'total'], b.period)`
  return rows.map((row) => ({
    owner: row.owner,
    period: row.period,
    limitNano: BigInt(row.limit_nano),
    spentNano: BigInt(row.spent),
    heldNano: BigInt(row.held),
  }))
}

interface BudgetRow {
  owner: 'key' | 'group'
  period: BudgetPeriod
  limit_nano: string
  spent: string
  held: string
}

/** Delete periods that nobody asks for any more. */
export async function forgetBudgetPeriods(sql: postgres.Sql): Promise<void> {
  await sql`SELECT forget_budget_periods()`
}

function isPeriod(text: string): text is BudgetPeriod {
  return text === 'day' || text === 'month' || text === 'total'
}
