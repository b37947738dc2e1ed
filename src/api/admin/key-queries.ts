import type { KeyBlock } from '../../access/key-block-queries.ts'
import { followParents, type KeyRow, type NewKey } from '../../access/queries.ts'
import {
  alias,
  and,
  desc,
  eq,
  exists,
  getTableColumns,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  ne,
  not,
  or,
  sql,
} from '../../db/drizzle.cjs'
import { groups, keyBlocks, keyNetworks, keys, keyUses, tenants } from '../../db/schema.ts'
import type { Queries } from '../../db/transactions.ts'
import { readSpend, type Spend, spendBy, spendColumns } from '../../usage/spend-queries.ts'
import { hasText, isCalled, keyset } from './keyset-queries.ts'
import type { PagePosition, SortOrder } from './list.ts'

const parentBlocks = alias(keyBlocks, 'parent_block')
const columns = {
  ...getTableColumns(keys),
  tenant: tenants.name,
  group: groups.name,
  block: keyBlocks,
  parentBlock: parentBlocks,
}

/** A key with the names of its tenant and its group, and its block and that of its parent. */
export type KeyWithNames = KeyRow & {
  tenant: string
  group: string
  block: KeyBlock | null
  parentBlock: KeyBlock | null
}

/** A key with what changes with each request, which is not part of the ETag. */
export interface ListedKey extends KeyWithNames {
  use: typeof keyUses.$inferSelect | null
  /** Undefined if it was not read, or there were no requests. */
  spend: Spend | undefined
}

export interface KeyFilter {
  /** The id of a tenant, in addition to `tenant`. */
  tenantId?: string | undefined
  /** A tenant's id or name. */
  tenant?: string | undefined
  /** A group's id or name. */
  group?: string | undefined
  name?: string | undefined
  search?: string | undefined
  hint?: string | undefined
  managed_by?: 'file' | 'admin' | undefined
  disabled?: boolean | undefined
  revoked?: boolean | undefined
  /** Includes keys that are blocked through their parent. */
  blocked?: boolean | undefined
  /** Exclusive. */
  expires_before?: Date | undefined
  /** In the form returned by `networkOf`. */
  network?: string | undefined
  /** Inclusive. */
  new_network_since?: Date | undefined
  /** Whether to read the spend, and since when. Required by the order by `spend`. */
  spendFrom?: Date | undefined
  order: SortOrder
  after: PagePosition | undefined
  limit: number
}

export async function listKeys(db: Queries, filter: KeyFilter): Promise<ListedKey[]> {
  const { tenantId, tenant, group, name, search, hint, managed_by, disabled, revoked, blocked } = filter
  const { expires_before, network, new_network_since, spendFrom } = filter
  const sorts = {
    name: keys.name,
    expires_at: keys.expiresAt,
    last_used_at: keyUses.lastUsedAt,
    new_network_at: keyUses.newNetworkAt,
    spend: spendColumns.costNano,
  }
  const { orderBy, behind } = keyset(filter.order, { columns: sorts, id: keys.id }, filter.after)
  const isBySpend = filter.order.by === 'spend' && spendFrom !== undefined
  const query = db
    .select({ ...columns, use: keyUses, ...(isBySpend && { spend: spendColumns }) })
    .from(keys)
    .innerJoin(tenants, eq(tenants.id, keys.tenantId))
    .innerJoin(groups, eq(groups.id, keys.groupId))
    .leftJoin(keyBlocks, eq(keyBlocks.keyId, keys.id))
    .leftJoin(parentBlocks, eq(parentBlocks.keyId, keys.parentId))
    .leftJoin(keyUses, eq(keyUses.keyId, keys.id))
    .$dynamic()
  if (isBySpend)
    query.leftJoin(
      spendBy('key', spendFrom, tenantId === undefined ? undefined : { tenantIds: [tenantId] }),
      sql`spend.id = ${keys.id}`,
    )
  const rows = await query
    .where(
      and(
        tenantId === undefined ? undefined : eq(keys.tenantId, tenantId),
        tenant === undefined ? undefined : isCalled(tenants, tenant),
        group === undefined ? undefined : isCalled(groups, group),
        name === undefined ? undefined : eq(keys.name, name),
        hasText(keys.name, search),
        hint === undefined ? undefined : eq(keys.hint, hint),
        managed_by === undefined ? undefined : eq(keys.managedBy, managed_by),
        disabled === undefined ? undefined : (disabled ? isNotNull : isNull)(keys.disabledAt),
        revoked === undefined ? undefined : (revoked ? isNotNull : isNull)(keys.revokedAt),
        blocked === undefined ? undefined : blocked ? isBlocked : not(isBlocked),
        expires_before === undefined ? undefined : lt(keys.expiresAt, expires_before),
        network === undefined ? undefined : wasUsedFrom(db, network),
        new_network_since === undefined ? undefined : gte(keyUses.newNetworkAt, new_network_since),
        behind,
      ),
    )
    .orderBy(...orderBy)
    .limit(filter.limit)
  if (isBySpend || spendFrom === undefined) return rows.map((row) => ({ spend: undefined, ...row }))
  const spends = await readSpend(db, 'key', spendFrom, {
    tenantIds: [...new Set(rows.map((row) => row.tenantId))],
    keyIds: rows.map(({ id }) => id),
  })
  return rows.map((row) => ({ ...row, spend: spends.get(row.id) }))
}

const isBlocked = sql`(${keyBlocks.keyId} IS NOT NULL OR ${parentBlocks.keyId} IS NOT NULL)`

function wasUsedFrom(db: Queries, network: string) {
  const isOf = and(eq(keyNetworks.keyId, keys.id), eq(keyNetworks.network, network))
  return exists(db.select({ id: keyNetworks.keyId }).from(keyNetworks).where(isOf))
}

function namedKeys(db: Queries) {
  return db
    .select(columns)
    .from(keys)
    .innerJoin(tenants, eq(tenants.id, keys.tenantId))
    .innerJoin(groups, eq(groups.id, keys.groupId))
    .leftJoin(keyBlocks, eq(keyBlocks.keyId, keys.id))
    .leftJoin(parentBlocks, eq(parentBlocks.keyId, keys.parentId))
    .$dynamic()
}

export async function findKey(db: Queries, id: string): Promise<KeyWithNames | undefined> {
  const [row] = await namedKeys(db).where(eq(keys.id, id))
  return row
}

/**
 * Finds a key by the hashes of its present or former secret. With `tenantId`, only finds keys of that tenant.
 * A key of another tenant takes as long as none: it reads one row of an index more.
 */
export async function findKeyBySecret(
  db: Queries,
  hashes: Buffer[],
  tenantId: string | undefined,
): Promise<KeyWithNames | undefined> {
  const isPresent = inArray(keys.secretHash, hashes)
  const [found] = await db
    .select({ id: keys.id })
    .from(keys)
    .where(
      and(
        or(isPresent, inArray(keys.formerSecretHash, hashes)),
        tenantId === undefined ? undefined : eq(keys.tenantId, tenantId),
      ),
    )
    .orderBy(desc(isPresent))
    .limit(1)
  return found === undefined ? undefined : await findKey(db, found.id)
}

/** Like `findKey`, locked until the end of the transaction. */
export async function lockKey(tx: Queries, id: string): Promise<KeyWithNames | undefined> {
  await tx.select({ id: keys.id }).from(keys).where(eq(keys.id, id)).for('update')
  return await findKey(tx, id)
}

/** Returns the key of a tenant with this name. */
export async function findNamesake(
  tx: Queries,
  { tenantId, name }: { tenantId: string; name: string },
): Promise<KeyWithNames | undefined> {
  const [row] = await namedKeys(tx).where(and(eq(keys.tenantId, tenantId), eq(keys.name, name)))
  return row
}

/**
 * Returns the keys of a tenant in a group, except `but`, that show what an admin has granted to members. Does
 * not include revoked keys, keys disabled by an admin, or sub-keys, which are limited by their parents.
 */
export function readPeers(
  tx: Queries,
  { tenantId, groupId, but }: { tenantId: string; groupId: string; but: string | undefined },
): Promise<KeyWithNames[]> {
  return namedKeys(tx).where(
    and(isPeer(tenantId), eq(keys.groupId, groupId), but === undefined ? undefined : ne(keys.id, but)),
  )
}

/** Returns the groups of such keys, by name: members may give a key one of these. */
export function readOwnGroups(db: Queries, tenantId: string): Promise<{ id: string; name: string }[]> {
  return db
    .selectDistinct({ id: groups.id, name: groups.name })
    .from(keys)
    .innerJoin(groups, eq(groups.id, keys.groupId))
    .where(isPeer(tenantId))
    .orderBy(groups.name)
}

function isPeer(tenantId: string) {
  return and(
    eq(keys.tenantId, tenantId),
    isNull(keys.revokedAt),
    isNull(keys.parentId),
    or(isNull(keys.disabledAt), keys.disabledByMember),
  )
}

/** Whether a key has the secret with this hash, or had it before its last rotation. */
export async function isSecretTaken(tx: Queries, hash: Buffer): Promise<boolean> {
  const now = await tx.select({ id: keys.id }).from(keys).where(eq(keys.secretHash, hash))
  const former = await tx.select({ id: keys.id }).from(keys).where(eq(keys.formerSecretHash, hash))
  return now.length + former.length > 0
}

export async function changeKey(tx: Queries, id: string, changed: Partial<NewKey>): Promise<KeyWithNames> {
  await tx.update(keys).set(changed).where(eq(keys.id, id))
  await followParents(tx, [id])
  const row = await findKey(tx, id)
  if (row === undefined) throw new Error('a locked key is gone')
  return row
}
