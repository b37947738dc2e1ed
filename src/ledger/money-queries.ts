import type { TypedQueries } from '../db/connections.ts'
import { and, desc, eq, inArray, sql } from '../db/drizzle.cjs'
import { accounts, budgetPeriods, budgets, tenants } from '../db/schema.ts'
import type { BudgetState } from './budgets.ts'
import type { Balance } from './entries.ts'

const balanceColumns = {
  limited: accounts.limited,
  balanceNano: accounts.balance,
  heldNano: accounts.reserved,
}

/** Undefined when there is no tenant of this name. */
export async function findAccount(
  db: TypedQueries,
  tenantName: string,
): Promise<(Balance & { id: string }) | undefined> {
  const [row] = await db
    .select({ id: accounts.id, ...balanceColumns })
    .from(tenants)
    .innerJoin(accounts, eq(accounts.id, tenants.id))
    .where(eq(tenants.name, tenantName))
  return row
}

/** Undefined when there is no such account. */
export async function readBalance(db: TypedQueries, accountId: string): Promise<Balance | undefined> {
  const [row] = await db.select(balanceColumns).from(accounts).where(eq(accounts.id, accountId))
  return row
}

/** The budgets of a key, of the key that made it, and of its group, in the period around a moment. */
export function readBudgets(
  db: TypedQueries,
  { keyId, parentId, groupId }: { keyId: string; parentId?: string | undefined; groupId: string },
  moment: Date,
): Promise<BudgetState[]> {
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
    .where(inArray(budgets.ownerId, parentId === undefined ? [keyId, groupId] : [keyId, parentId, groupId]))
    .orderBy(desc(budgets.owner), sql`array_position(ARRAY['day', 'month', 'total'], ${budgets.period})`)
}
