import type { TypedQueries } from '../db/connections.ts'
import { and, eq } from '../db/drizzle.cjs'
import { keys, tenants } from '../db/schema.ts'
import type { Identity } from './identity.ts'
import { readKeyByHash } from './queries.ts'

/** Identifies a key without its secret. */
export type NamedKey = { id: string } | { name: string; tenant: string }

/**
 * Returns the caller as if it had sent the key's secret, or undefined if there is no such key. With
 * `tenantId`, only finds keys of that tenant.
 */
export async function readNamedKey(
  db: TypedQueries,
  named: NamedKey,
  tenantId: string | undefined,
): Promise<Identity | undefined> {
  const [row] = await db
    .select({ hash: keys.secretHash })
    .from(keys)
    .innerJoin(tenants, eq(tenants.id, keys.tenantId))
    .where(
      and(
        ...('id' in named
          ? [eq(keys.id, named.id)]
          : [eq(keys.name, named.name), eq(tenants.name, named.tenant)]),
        tenantId === undefined ? undefined : eq(keys.tenantId, tenantId),
      ),
    )
    .limit(1)
  return row === undefined ? undefined : await readKeyByHash(db, row.hash)
}
