import type { Connections, TypedQueries } from '../db/connections.ts'
import { and, asc, desc, eq, getTableColumns, inArray, isNotNull, isNull, sql } from '../db/drizzle.cjs'
import {
  accounts,
  channelCredentials,
  channels,
  groups,
  type ImageRateRow,
  keys,
  libraryPrices,
  models,
  offers,
  prices,
  revision,
  tenants,
  verdicts,
} from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'

/** The transaction of a gateway.yaml or an admin. */
export type Transaction = Queries
export type AllRows = Awaited<ReturnType<typeof readAllRows>>
export type CatalogRows = Awaited<ReturnType<typeof readCatalogRows>>
export type ChannelRow = typeof channels.$inferSelect
export type PriceRow = typeof prices.$inferSelect
export type NewPrice = typeof prices.$inferInsert
export type { ImageRateRow }

type Id = string

const readsMax = 20

/**
 * Reads all rows as of one revision, without disabled models and channels, and the number of the revision. If
 * the revision increases in the meantime, reads again, because a transaction would pin a connection.
 */
export async function readCatalogRows(db: TypedQueries) {
  for (let read = 1; ; read++) {
    const before = await readCatalogRevision(db)
    const rows = await readRows(db)
    if ((await readCatalogRevision(db)) === before) return { revision: before, ...rows }
    if (read === readsMax) throw new Error('the catalog changes faster than it can be read')
  }
}

async function readCatalogRevision(db: TypedQueries): Promise<number> {
  const [row] = await db.select({ catalog: revision.catalog }).from(revision)
  return row?.catalog ?? 0
}

async function readRows(db: TypedQueries) {
  return {
    models: await db.select().from(models).where(isNull(models.disabledAt)),
    prices: await newestPrices(db),
    channels: await db.select().from(channels).where(isNull(channels.disabledAt)),
    credentials: await db.select().from(channelCredentials).orderBy(asc(channelCredentials.ordinal)),
    offers: await db.select().from(offers),
    groups: await db.select().from(groups),
    tenants: await readTenants(db),
    groupTenants: await readGroupTenants(db),
    // Sorted, because of two contradictory verdicts the later one applies.
    verdicts: await db.select().from(verdicts).orderBy(asc(verdicts.decidedAt)),
    libraryPrices: await readLibraryRows(db),
  }
}

/**
 * The first and the last tenant with keys in each group, which differ if there are several. Each requires a
 * single index look-up.
 */
function readGroupTenants(db: TypedQueries) {
  // With the table name, because a bare column name would refer to the key.
  const tenantAt = (order: 'asc' | 'desc') => sql<string | null>`(
    SELECT k.tenant_id FROM ${keys} k WHERE k.group_id = ${groups}.id AND k.revoked_at IS NULL
    ORDER BY k.tenant_id ${sql.raw(order)} LIMIT 1)`
  return db.select({ groupId: groups.id, first: tenantAt('asc'), last: tenantAt('desc') }).from(groups)
}

export function readTenants(db: Queries) {
  return db
    .select({ ...getTableColumns(tenants), limited: accounts.limited })
    .from(tenants)
    .innerJoin(accounts, eq(accounts.id, tenants.id))
}

/**
 * Changes catalog and access rows in one transaction. Locks the revision, which every change of such a row
 * increases. Other changes wait, so what the transaction has read is still true when it writes.
 */
export function changeRows<T>(
  { db }: Pick<Connections, 'db'>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return db.transaction(async (tx) => {
    await lockRows(tx)
    return work(tx)
  })
}

/** Locks catalog and access rows until the end of the transaction. This must be its first lock. */
export async function lockRows(tx: Transaction): Promise<void> {
  await tx.select().from(revision).for('update')
}

/**
 * Blocks all charges until the end of the transaction. A new budget takes this lock at the end of its
 * transaction, to count what has been spent. A transaction that also locks accounts must take this lock
 * first, because charges lock in that order and it could deadlock with them.
 */
export async function holdCharges(tx: Transaction): Promise<void> {
  await tx.execute(sql`SELECT hold_charges()`)
}

/** Returns the current price of every model that has ever had one. */
function newestPrices(tx: Pick<Transaction, 'selectDistinctOn'>) {
  return tx
    .selectDistinctOn([prices.modelId])
    .from(prices)
    .where(isNotNull(prices.modelId))
    .orderBy(prices.modelId, desc(prices.createdAt), desc(prices.id))
}

/**
 * Lists the versions of a model's price. They are ordered by time, and within the same millisecond by `id`.
 */
export function listPrices(
  db: Queries,
  {
    modelId,
    version,
    after,
    descending,
    limit,
  }: {
    modelId: string
    version?: string
    after?: { at: string; id: string } | undefined
    descending: boolean
    limit: number
  },
) {
  const order = descending ? desc : asc
  const compare = sql.raw(descending ? '<' : '>')
  // The cursor only has millisecond precision.
  const at = sql`date_trunc('milliseconds', ${prices.createdAt})`
  return db
    .select({ row: prices })
    .from(prices)
    .where(
      and(
        eq(prices.modelId, modelId),
        version === undefined ? undefined : eq(prices.id, version),
        after === undefined
          ? undefined
          : sql`(${at}, ${prices.id}) ${compare} (${after.at}::timestamptz, ${after.id}::uuid)`,
      ),
    )
    .orderBy(order(at), order(prices.id))
    .limit(limit)
}

/** Returns the current entries in order, each with its price or null. */
export function readLibraryRows(db: Queries) {
  return db
    .select({
      provider: libraryPrices.provider,
      model: libraryPrices.model,
      match: libraryPrices.match,
      price: prices,
    })
    .from(libraryPrices)
    .leftJoin(prices, eq(prices.id, libraryPrices.priceId))
    .orderBy(asc(libraryPrices.provider), asc(libraryPrices.ordinal))
}

/** Reads all rows, including disabled ones, to compare them with a file. */
export async function readAllRows(tx: Transaction) {
  return {
    models: await tx.select().from(models),
    prices: await newestPrices(tx),
    channels: await tx.select().from(channels),
    credentials: await tx.select().from(channelCredentials).orderBy(asc(channelCredentials.ordinal)),
    offers: await tx.select().from(offers),
    groups: await readGroups(tx),
  }
}

export function readGroups(tx: Transaction) {
  return tx.select().from(groups)
}

// Statement triggers increase the revision even if no row changes, so only call these functions to make a
// change.

export async function putModel(tx: Transaction, row: typeof models.$inferInsert) {
  await tx.insert(models).values(row).onConflictDoUpdate({ target: models.id, set: row })
}

/**
 * Ensures that the model `*` exists, which channels with `*` require. If an admin has disabled it, it stays
 * disabled.
 */
export async function ensureAnyModel(tx: Transaction) {
  await tx
    .insert(models)
    .values({ id: '*', managedBy: 'admin' })
    .onConflictDoUpdate({
      target: models.id,
      set: { disabledAt: null, managedBy: 'admin' },
      setWhere: sql`${models.disabledAt} IS NOT NULL AND ${models.managedBy} = 'file'`,
    })
}

export async function addPrice(tx: Transaction, row: NewPrice) {
  await tx.insert(prices).values(row)
}

export async function putChannel(tx: Transaction, row: typeof channels.$inferInsert) {
  await tx.insert(channels).values(row).onConflictDoUpdate({ target: channels.id, set: row })
}

export async function replaceCredentials(
  tx: Transaction,
  channelId: Id,
  rows: (typeof channelCredentials.$inferInsert)[],
) {
  await tx.delete(channelCredentials).where(eq(channelCredentials.channelId, channelId))
  if (rows.length > 0) await tx.insert(channelCredentials).values(rows)
}

export async function replaceOffers(tx: Transaction, channelId: Id, rows: (typeof offers.$inferInsert)[]) {
  await tx.delete(offers).where(eq(offers.channelId, channelId))
  if (rows.length > 0) await tx.insert(offers).values(rows)
}

export async function putGroup(tx: Transaction, row: typeof groups.$inferInsert) {
  await tx.insert(groups).values(row).onConflictDoUpdate({ target: groups.id, set: row })
}

export async function disableModels(tx: Transaction, ids: Id[]) {
  await tx.update(models).set({ disabledAt: new Date() }).where(inArray(models.id, ids))
}

export async function setChannelDisabled(tx: Transaction, id: Id, disabled: boolean) {
  await tx
    .update(channels)
    .set({ disabledAt: disabled ? new Date() : null })
    .where(eq(channels.id, id))
}

/** Blocks a channel in all processes within a second. A channel that is already blocked keeps its block. */
export async function blockChannel(tx: Transaction, id: Id, { reason, by }: { reason: string; by: string }) {
  await tx
    .update(channels)
    .set({ blockedAt: new Date(), blockedBy: by, blockReason: reason })
    .where(and(eq(channels.id, id), isNull(channels.blockedAt)))
}

/** Lifts the block of a channel. */
export async function unblockChannel(tx: Transaction, id: Id) {
  await tx
    .update(channels)
    .set({ blockedAt: null, blockedBy: null, blockReason: null })
    .where(eq(channels.id, id))
}

/** Gives one channel the block of another, which is then not blocked. */
export async function moveBlock(tx: Transaction, from: ChannelRow, to: Id) {
  const { blockedAt, blockedBy, blockReason } = from
  await tx.update(channels).set({ blockedAt, blockedBy, blockReason }).where(eq(channels.id, to))
  await unblockChannel(tx, from.id)
}

export async function setModelDisabled(tx: Transaction, id: Id, disabled: boolean) {
  await tx
    .update(models)
    .set({ disabledAt: disabled ? new Date() : null })
    .where(eq(models.id, id))
}

/**
 * Disables channels and deletes their offers and credentials. Nothing uses them any more, and a secret should
 * not outlive its use.
 */
export async function disableChannels(tx: Transaction, ids: Id[]) {
  await tx
    .update(channels)
    .set({ disabledAt: new Date(), connection: null, connectionKeyId: null, connectionSealed: null })
    .where(inArray(channels.id, ids))
  await tx.delete(offers).where(inArray(offers.channelId, ids))
  await tx.delete(channelCredentials).where(inArray(channelCredentials.channelId, ids))
}

/** Returns those of the groups that a key refers to, even a disabled key. */
export async function groupsInUse(tx: Transaction, ids: Id[]): Promise<Set<Id>> {
  const rows = await tx.selectDistinct({ id: keys.groupId }).from(keys).where(inArray(keys.groupId, ids))
  return new Set(rows.map((row) => row.id))
}

export async function deleteGroups(tx: Transaction, ids: Id[]) {
  await tx.delete(groups).where(inArray(groups.id, ids))
}
