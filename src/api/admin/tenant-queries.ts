import { and, eq, getTableColumns, isNotNull, isNull, sql } from '../../db/drizzle.cjs'
import { accounts, tenants } from '../../db/schema.ts'
import type { Queries } from '../../db/transactions.ts'
import { readSpend, type Spend, spendBy, spendColumns } from '../../usage/spend-queries.ts'
import { hasText, idFirst, isCalled, keyset } from './keyset-queries.ts'
import type { PagePosition, SortOrder } from './list.ts'

const columns = { ...getTableColumns(tenants), limited: accounts.limited }

export type TenantRow = typeof tenants.$inferSelect & { limited: boolean }

/** A tenant with what changes with each request, which is not part of the ETag. */
export interface ListedTenant extends TenantRow {
  /** In nano-USD; null if the tenant is not limited. */
  balance: string | null
  /** Undefined if it was not read, or there were no requests. */
  spend: Spend | undefined
}

export interface TenantFilter {
  id?: string | undefined
  name?: string | undefined
  search?: string | undefined
  managed_by?: 'file' | 'admin' | undefined
  disabled?: boolean | undefined
  limited?: boolean | undefined
  /** Whether to read the spend, and since when. Required by the order by `spend`. */
  spendFrom?: Date | undefined
  order: SortOrder
  after: PagePosition | undefined
  limit: number
}

export async function listTenants(db: Queries, filter: TenantFilter): Promise<ListedTenant[]> {
  const { id, name, search, managed_by, disabled, limited, spendFrom, order, after, limit } = filter
  const sorts = { name: tenants.name, balance, spend: spendColumns.costNano }
  const { orderBy, behind } = keyset(order, { columns: sorts, id: tenants.id }, after)
  const isBySpend = order.by === 'spend' && spendFrom !== undefined
  const selected = { ...columns, balance, ...(isBySpend && { spend: spendColumns }) }
  const query = db.select(selected).from(tenants).innerJoin(accounts, eq(accounts.id, tenants.id)).$dynamic()
  if (isBySpend)
    query.leftJoin(
      spendBy('tenant', spendFrom, id === undefined ? undefined : { tenantIds: [id] }),
      sql`spend.id = ${tenants.id}`,
    )
  const rows = await query
    .where(
      and(
        id === undefined ? undefined : eq(tenants.id, id),
        name === undefined ? undefined : eq(tenants.name, name),
        hasText(tenants.name, search),
        managed_by === undefined ? undefined : eq(tenants.managedBy, managed_by),
        disabled === undefined ? undefined : (disabled ? isNotNull : isNull)(tenants.disabledAt),
        limited === undefined ? undefined : eq(accounts.limited, limited),
        behind,
      ),
    )
    .orderBy(...orderBy)
    .limit(limit)
  if (isBySpend || spendFrom === undefined) return rows.map((row) => ({ spend: undefined, ...row }))
  const spends = await readSpend(db, 'tenant', spendFrom, { tenantIds: rows.map((row) => row.id) })
  return rows.map((row) => ({ ...row, spend: spends.get(row.id) }))
}

const balance = sql<string | null>`CASE WHEN ${accounts.limited} THEN ${accounts.balance}::numeric END`

/** Returns a tenant by its id or name. */
export async function findTenant(db: Queries, called: string): Promise<TenantRow | undefined> {
  const [row] = await db
    .select(columns)
    .from(tenants)
    .innerJoin(accounts, eq(accounts.id, tenants.id))
    .where(isCalled(tenants, called))
    .orderBy(idFirst(tenants.id, called))
    .limit(1)
  return row
}

/** Like `findTenant`, locked until the end of the transaction. The account is not locked. */
export async function lockTenant(tx: Queries, called: string): Promise<TenantRow | undefined> {
  const found = await findTenant(tx, called)
  if (found === undefined) return undefined
  await tx.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, found.id)).for('update')
  return await findTenant(tx, found.id)
}

export async function changeTenant(
  tx: Queries,
  id: string,
  changed: Partial<typeof tenants.$inferInsert>,
): Promise<void> {
  await tx.update(tenants).set(changed).where(eq(tenants.id, id))
}
