import { readAllRows } from '../catalog/queries.ts'
import { asc, eq, getTableColumns } from '../db/drizzle.cjs'
import { accounts, keys, priceLibrary, tenants } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'

export type ExportRows = Awaited<ReturnType<typeof readExportRows>>

/**
 * Everything that a gateway.yaml can contain, including disabled rows. The secrets of keys are not stored.
 */
export async function readExportRows(db: Queries) {
  const { secretHash: _, formerSecretHash: __, ...keyColumns } = getTableColumns(keys)
  return {
    ...(await readAllRows(db)),
    library: (await db.select().from(priceLibrary))[0],
    tenants: await db
      .select({ tenant: tenants, limited: accounts.limited, balance: accounts.balance })
      .from(tenants)
      .innerJoin(accounts, eq(accounts.id, tenants.id))
      .orderBy(asc(tenants.name)),
    keys: await db.select(keyColumns).from(keys).orderBy(asc(keys.name)),
  }
}
