import { randomUUIDv7 } from 'node:crypto'
import type { Transaction } from '../catalog/queries.ts'
import { arrayText } from '../db/array-types.ts'
import type { TypedQueries } from '../db/connections.ts'
import { alias, desc, eq, getTableColumns, gt, inArray, or, sql } from '../db/drizzle.cjs'
import { accounts, entries, keyBlocks, keys, revision, tenants } from '../db/schema.ts'
import { isBudgeted, ownLimitsFrom } from '../db/settings/bounds.ts'
import { settingsOfParents } from '../db/settings/key-settings.ts'
import { columnsOf, fromRow } from '../db/settings/setting.ts'
import type { Queries } from '../db/transactions.ts'
import type { Identity } from './identity.ts'
import type { HashPage } from './known-hashes.ts'

export type KeyRow = typeof keys.$inferSelect
export type NewKey = typeof keys.$inferInsert
type Id = string

export async function readKeyByHash(db: TypedQueries, secretHash: Buffer): Promise<Identity | undefined> {
  const lookup = lookups.get(db) ?? prepareLookup(db)
  lookups.set(db, lookup)
  const [found] = await lookup.execute({ secretHash })
  if (found === undefined) return undefined
  const { keys: row, parent, key_blocks: block } = found
  const isFormer = !row.secretHash.equals(secretHash)
  return identityOf(row, parent ?? undefined, {
    until: isFormer ? row.formerSecretUntil : null,
    blocked: block !== null,
  })
}

/**
 * Prepared once per database, because building the statement takes longer than Postgres takes to execute it,
 * and after a start every key is looked up.
 */
const lookups = new WeakMap<TypedQueries, ReturnType<typeof prepareLookup>>()

function prepareLookup(db: TypedQueries) {
  const secretHash = sql.placeholder('secretHash')
  return (
    db
      .select()
      .from(keys)
      .leftJoin(parents, eq(parents.id, keys.parentId))
      .leftJoin(keyBlocks, or(eq(keyBlocks.keyId, keys.id), eq(keyBlocks.keyId, keys.parentId)))
      .where(or(eq(keys.secretHash, secretHash), eq(keys.formerSecretHash, secretHash)))
      // A key with this as its present secret takes precedence over a key with it as a former secret.
      .orderBy(desc(eq(keys.secretHash, secretHash)))
      .limit(1)
      .prepare('key_by_hash')
  )
}

const parents = alias(keys, 'parent')

/**
 * Returns the identity of a key. A sub-key can never do more than its parent currently can. `until` is the
 * time at which the secret that was sent expires.
 */
function identityOf(
  row: KeyRow,
  parent: KeyRow | undefined,
  { until, blocked }: { until: Date | null; blocked: boolean },
): Identity {
  return {
    keyId: row.id,
    keyName: row.name,
    tenantId: row.tenantId,
    // A sub-key always uses its parent's current values of these.
    groupId: (parent ?? row).groupId,
    ...fromRow(settingsOfParents, parent ?? row),
    usageScope: row.usageScope,
    allowedModels: modelsOfBoth(row.allowedModels, parent?.allowedModels ?? null),
    allowedCidrs: row.allowedCidrs ?? undefined,
    expiresAt: earliest(row.expiresAt, parent?.expiresAt ?? null, until),
    blocked,
    disabled: row.disabledAt !== null || (parent !== undefined && parent.disabledAt !== null),
    limits: ownLimitsFrom(row),
    budgeted: isBudgeted(row) || (parent !== undefined && isBudgeted(parent)),
    parent:
      parent === undefined
        ? undefined
        : {
            keyId: parent.id,
            limits: ownLimitsFrom(parent),
            allowedCidrs: parent.allowedCidrs ?? undefined,
          },
    subKeysMax: parent === undefined ? (row.subKeysMax ?? 0) : 0,
  }
}

function modelsOfBoth(own: string[] | null, parents: string[] | null): ReadonlySet<string> | undefined {
  if (own === null || parents === null) return asSet(own ?? parents)
  return new Set(own.filter((name) => parents.includes(name)))
}

function asSet(names: string[] | null): ReadonlySet<string> | undefined {
  return names === null ? undefined : new Set(names)
}

function earliest(...dates: (Date | null)[]): number | undefined {
  const moments = dates.flatMap((date) => date?.getTime() ?? [])
  return moments.length === 0 ? undefined : Math.min(...moments)
}

/**
 * Reads the revisions of the catalog, the keys and the master keys, and the keys changed after `keysSeen`
 * with their hashes, in one statement.
 */
export async function readRevision(db: TypedQueries, keysSeen: number) {
  const isChanged = gt(keys.revision, keysSeen)
  const changed = db.select({ id: keys.id }).from(keys).where(isChanged)
  const hashes = sql`SELECT ${startOf(sql`t.hash`)} FROM ${keys}, ${bothHashes} WHERE ${isChanged} AND t.hash IS NOT NULL`
  const [row] = await db
    .select({
      catalog: revision.catalog,
      keys: revision.keys,
      masters: revision.masters,
      changed: sql<string[]>`array(${changed})`,
      hashes: sql<string[]>`array(${hashes})`,
    })
    .from(revision)
  if (row === undefined) throw new Error('the table "revision" has no row')
  return { ...row, changed: new Set(row.changed), hashes: row.hashes.map(fromHex) }
}

/** Returns a page of hashes, in the order of the keys' ids, after the given id. */
export async function readHashes(db: TypedQueries, after: string | undefined): Promise<HashPage> {
  const rows = await db
    .select({
      id: keys.id,
      start: startOf(keys.secretHash),
      former: formerStart,
    })
    .from(keys)
    .where(after === undefined ? undefined : gt(keys.id, after))
    .orderBy(keys.id)
    .limit(hashesAtOnce)
  return {
    hashes: rows.flatMap(({ start, former }) =>
      former === null ? [fromHex(start)] : [fromHex(start), fromHex(former)],
    ),
    next: rows.length < hashesAtOnce ? undefined : rows.at(-1)?.id,
  }
}

const hashesAtOnce = 10_000
/** `KnownHashes` does not need more bytes. */
const startOf = (hash: unknown) => sql<string>`encode(substring(${hash} from 1 for 8), 'hex')`
const formerStart = sql<string | null>`${startOf(keys.formerSecretHash)}`
const bothHashes = sql`unnest(ARRAY[${keys.secretHash}, ${keys.formerSecretHash}]) AS t (hash)`

function fromHex(text: string): Buffer {
  return Buffer.from(text, 'hex')
}

/** Reads all keys of the file, all keys of these tenants, and all keys with one of these secrets. */
export function readKeys(tx: Transaction, tenantIds: Id[], secretHashes: Buffer[]) {
  // Arrays, because a statement can have at most 65,535 parameters.
  const ids = arrayText(tenantIds)
  const hashes = arrayText(secretHashes.map((hash) => hash.toString('hex')))
  return tx
    .select()
    .from(keys)
    .where(
      or(
        eq(keys.managedBy, 'file'),
        sql`${keys.tenantId} = ANY (${ids}::uuid[])`,
        sql`${keys.secretHash} IN (SELECT decode(text, 'hex') FROM unnest(${hashes}::text[]) AS t (text))`,
      ),
    )
}

/** A tenant to create. If there is a balance, even 0, its account is limited. */
export interface NewTenant {
  row: typeof tenants.$inferInsert
  balance: bigint | undefined
}

/** Creates tenants with their accounts and opening balances. */
export async function addTenants(tx: Transaction, added: readonly NewTenant[]) {
  const createdAt = new Date()
  for (const some of slices(added)) {
    await tx.insert(tenants).values(some.map(({ row }) => row))
    await tx.insert(accounts).values(
      some.map(({ row: { id }, balance }) => ({
        id,
        limited: balance !== undefined,
        balance: balance ?? 0n,
      })),
    )
    const opened = some.flatMap(({ row: { id }, balance }) => (balance === undefined ? [] : { id, balance }))
    if (opened.length === 0) continue
    await tx.insert(entries).values(
      opened.map(({ id, balance }) => ({
        id,
        accountId: id,
        createdAt,
        kind: 'opening' as const,
        amount: balance,
      })),
    )
  }
}

/** Updates the columns of tenants. */
export async function changeTenants(tx: Transaction, changed: readonly (typeof tenants.$inferInsert)[]) {
  for (const some of slices(changed)) {
    await tx.insert(tenants).values(some).onConflictDoUpdate({ target: tenants.id, set: newTenantColumns })
  }
}

export async function disableTenants(tx: Transaction, ids: Id[]) {
  await tx.update(tenants).set({ disabledAt: new Date() }).where(inArray(tenants.id, ids))
}

export async function setLimited(tx: Transaction, accountId: Id, limited: boolean) {
  await tx.update(accounts).set({ limited }).where(eq(accounts.id, accountId))
}

/**
 * Records the opening balance of an account, once, as an entry with the account's id. An adjustment first
 * clears what was recorded while the account was not limited, so that the tenant can spend the whole balance.
 */
export async function openBalance(tx: Transaction, accountId: Id, amount: bigint) {
  const [account] = await tx.select().from(accounts).where(eq(accounts.id, accountId)).for('update')
  const [opening] = await tx.select().from(entries).where(eq(entries.id, accountId))
  if (account === undefined || opening !== undefined) return
  const createdAt = new Date()
  if (account.balance !== 0n) {
    const id = randomUUIDv7()
    await tx
      .insert(entries)
      .values({ id, accountId, createdAt, kind: 'adjustment', amount: -account.balance })
  }
  await tx.insert(entries).values({ id: accountId, accountId, createdAt, kind: 'opening', amount })
  await tx.update(accounts).set({ balance: amount }).where(eq(accounts.id, accountId))
}

export async function addKeys(tx: Transaction, added: readonly NewKey[]) {
  for (const some of slices(added)) await tx.insert(keys).values(some)
}

/** Updates the columns of keys, except the tenant and the name. */
export async function changeKeys(tx: Transaction, changed: readonly KeyRow[]) {
  for (const some of slices(changed)) {
    await tx.insert(keys).values(some).onConflictDoUpdate({ target: keys.id, set: newKeyColumns })
    await followParents(
      tx,
      some.map(({ id }) => id),
    )
  }
}

/** Copies the settings that these keys share with their sub-keys into the sub-keys' rows. */
export async function followParents(tx: Queries, ids: Id[]): Promise<void> {
  const ofParents = columnsOf(settingsOfParents)
  const shared = Object.entries(getTableColumns(keys))
    .filter(([own]) => own === 'groupId' || own in ofParents)
    .map(([, { name }]) => sql.identifier(name))
  const columns = sql.join(shared, sql`, `)
  const parentColumns = sql.join(
    shared.map((column) => sql`p.${column}`),
    sql`, `,
  )
  const ownColumns = sql.join(
    shared.map((column) => sql`k.${column}`),
    sql`, `,
  )
  await tx.execute(sql`
    UPDATE ${keys} k SET (${columns}) = ROW(${parentColumns}) FROM ${keys} p
    WHERE k.parent_id = p.id AND p.id = ANY (${arrayText(ids)}::uuid[])
      AND (${ownColumns}) IS DISTINCT FROM (${parentColumns})`)
}

/** For an upsert: the columns of the existing row, set to the values that could not be inserted. */
function columnsOfInsert(columns: Record<string, { name: string }>) {
  return Object.fromEntries(
    Object.entries(columns).map(([key, { name }]) => [key, sql`excluded.${sql.identifier(name)}`]),
  )
}

const {
  id: _keyId,
  tenantId: _tenantId,
  name: _keyName,
  createdAt: _made,
  revision: _revision,
  ...keyColumns
} = getTableColumns(keys)
const newKeyColumns = columnsOfInsert(keyColumns)
const { id: _id, name: _name, createdAt: _createdAt, ...tenantColumns } = getTableColumns(tenants)
const newTenantColumns = columnsOfInsert(tenantColumns)

/** A row has up to 27 columns, and a statement can have at most 65,535 parameters. */
const rowsAtOnce = 1_000

function* slices<T>(rows: readonly T[]): Generator<T[]> {
  for (let from = 0; from < rows.length; from += rowsAtOnce) yield rows.slice(from, from + rowsAtOnce)
}

export async function disableKeys(tx: Transaction, ids: Id[]) {
  await tx.update(keys).set({ disabledAt: new Date() }).where(inArray(keys.id, ids))
}

export async function hasTenants(tx: Transaction): Promise<boolean> {
  const rows = await tx.select({ id: tenants.id }).from(tenants).limit(1)
  return rows.length > 0
}
