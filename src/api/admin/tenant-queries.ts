import { and, eq, getTableColumns, isNotNull, isNull } from '../../db/drizzle.cjs'
import { accounts, tenants } from '../../db/schema.ts'
import type { Queries } from '../../db/transactions.ts'
import { hasText, idFirst, isCalled, keyset } from './keyset-queries.ts'
import type { PagePosition, SortOrder } from './list.ts'

const columns = { ...getTableColumns(tenants), limited: accounts.limited }

export type TenantRow = typeof tenants.$inferSelect & { limited: boolean }

export interface TenantFilter {
  id?: string | undefined
  name?: string | undefined
  search?: string | undefined
  managed_by?: 'file' | 'admin' | undefined
  disabled?: boolean | undefined
  limited?: boolean | undefined
  order: SortOrder
  after: PagePosition | undefined
  limit: number
}

export function listTenants(db: Queries, filter: TenantFilter): Promise<TenantRow[]> {
  const { id, name, search, managed_by, disabled, limited, order, after, limit } = filter
  const { orderBy, behind } = keyset(order, { columns: { name: tenants.name }, id: tenants.id }, after)
  return db
    .select(columns)
    .from(tenants)
    .innerJoin(accounts, eq(accounts.id, tenants.id))
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
}

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
