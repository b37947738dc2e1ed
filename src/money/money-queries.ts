import { arrayText } from '../db/array-types.ts'
import { and, eq, inArray, sql } from '../db/drizzle.cjs'
import { accounts, budgetPeriods, budgets } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'
import type { BudgetState } from './budgets.ts'
import type { Balance } from './entries.ts'

const balanceColumns = {
  limited: accounts.limited,
  balanceNano: accounts.balance,
  heldNano: accounts.reserved,
}

/** Undefined if there is no such account. */
export async function readBalance(db: Queries, accountId: string): Promise<Balance | undefined> {
  const [row] = await db.select(balanceColumns).from(accounts).where(eq(accounts.id, accountId))
  return row
}

/** Those that are absent are left out. */
export interface BudgetOwners {
  keyId?: string
  parentId?: string | undefined
  groupId?: string
  tenantId?: string | undefined
}

/** The budgets of a key, of its parent key, of its group and of its tenant, in the period around a moment. */
export function readBudgets(
  db: Queries,
  { keyId, parentId, groupId, tenantId }: BudgetOwners,
  moment: Date,
): Promise<BudgetState[]> {
  const ids = [keyId, parentId, groupId, tenantId].filter((id) => id !== undefined)
  return db
    .select({
      owner:
        parentId === undefined
          ? budgets.owner
          : sql<
              BudgetState['owner']
            >`CASE ${budgets.ownerId} WHEN ${parentId}::uuid THEN 'parent' ELSE ${budgets.owner} END`,
      period: budgets.period,
      limitNano: budgets.limit,
      spentNano: sql<bigint>`coalesce(${budgetPeriods.spent}, 0)`.mapWith(BigInt),
      heldNano: sql<bigint>`coalesce(${budgetPeriods.reserved}, 0)`.mapWith(BigInt),
    })
    .from(budgets)
    .leftJoin(
      budgetPeriods,
      and(
        eq(budgetPeriods.ownerId, budgets.ownerId),
        eq(budgetPeriods.period, budgets.period),
        eq(budgetPeriods.startsAt, sql`period_start(${budgets.period}, ${moment})`),
      ),
    )
    .where(inArray(budgets.ownerId, ids))
    .orderBy(
      sql`array_position(${arrayText(ids)}::uuid[], ${budgets.ownerId})`,
      sql`array_position(ARRAY['day', 'month', 'total'], ${budgets.period})`,
    )
}
