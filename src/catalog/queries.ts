import type { Database } from '../db/database.ts'
import { asc, desc, eq, inArray, isNull, sql } from '../db/drizzle.cjs'
import {
  accounts,
  channelCredentials,
  channels,
  groups,
  type ImageRateRow,
  keys,
  models,
  offers,
  prices,
  revision,
  tenants,
} from '../db/schema.ts'

export type Transaction = Parameters<Parameters<Database['db']['transaction']>[0]>[0]
export type CatalogRows = Awaited<ReturnType<typeof readCatalogRows>>
export type ChannelRow = typeof channels.$inferSelect
export type NewPrice = typeof prices.$inferInsert
export type { ImageRateRow }

type Id = string

const readsMax = 20

/**
 * All rows of one moment, with which revision that is. Disabled models and channels are left out.
 * Read again when the revision rose meanwhile, instead of in a transaction, which would pin a connection.
 */
export async function readCatalogRows(database: Database) {
  for (let read = 1; ; read++) {
    const before = await readCatalogRevision(database)
    const rows = await readRows(database)
    if ((await readCatalogRevision(database)) === before) return { revision: before, ...rows }
    if (read === readsMax) throw new Error('the catalog changes faster than it can be read')
  }
}

async function readCatalogRevision({ db }: Database): Promise<number> {
  const [row] = await db.select({ catalog: revision.catalog }).from(revision)
  return row?.catalog ?? 0
}

async function readRows({ db }: Database) {
  return {
    models: await db.select().from(models).where(isNull(models.disabledAt)),
    prices: await newestPrices(db),
    channels: await db.select().from(channels).where(isNull(channels.disabledAt)),
    credentials: await db.select().from(channelCredentials).orderBy(asc(channelCredentials.ordinal)),
    offers: await db.select().from(offers),
    groups: await db.select().from(groups),
    tenants: await db
      .select({
        id: tenants.id,
        name: tenants.name,
        disabledAt: tenants.disabledAt,
        requestsPerMinute: tenants.requestsPerMinute,
        tokensPerMinute: tenants.tokensPerMinute,
        concurrency: tenants.concurrency,
        limited: accounts.limited,
      })
      .from(tenants)
      .innerJoin(accounts, eq(accounts.id, tenants.id)),
  }
}

/**
 * Change catalog and access rows in one transaction, alone: whoever else changes such a row must raise the
 * revision, and waits. What is read inside is therefore still true when it is written.
 */
export function changeRows<T>(database: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return database.db.transaction(async (tx) => {
    await tx.select().from(revision).for('update')
    return work(tx)
  })
}

/**
 * Keep everybody from charging until the end of the transaction. A budget that is new does so at the end, to count what
 * was spent: what locks accounts as well must do it before that, or it deadlocks with those that charge.
 */
export async function holdCharges(tx: Transaction): Promise<void> {
  await tx.execute(sql`SELECT hold_charges()`)
}

/** The price in force of every model that ever had one. */
function newestPrices(tx: Pick<Transaction, 'selectDistinctOn'>) {
  return tx
    .selectDistinctOn([prices.modelId])
    .from(prices)
    .orderBy(prices.modelId, desc(prices.createdAt), desc(prices.id))
}

/** Every row, disabled ones included, for comparison with what a file wants. */
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

// Statement triggers raise the revision even where no row changes: call these only with a change to make.

export async function putModel(tx: Transaction, row: typeof models.$inferInsert) {
  await tx.insert(models).values(row).onConflictDoUpdate({ target: models.id, set: row })
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

/** Offers and credentials go: what is no longer used need not be kept, least of all a secret. */
export async function disableChannels(tx: Transaction, ids: Id[]) {
  await tx.update(channels).set({ disabledAt: new Date() }).where(inArray(channels.id, ids))
  await tx.delete(offers).where(inArray(offers.channelId, ids))
  await tx.delete(channelCredentials).where(inArray(channelCredentials.channelId, ids))
}

/** Those of these groups that some key, disabled or not, refers to. */
export async function groupsInUse(tx: Transaction, ids: Id[]): Promise<Set<Id>> {
  const rows = await tx.selectDistinct({ id: keys.groupId }).from(keys).where(inArray(keys.groupId, ids))
  return new Set(rows.map((row) => row.id))
}

export async function deleteGroups(tx: Transaction, ids: Id[]) {
  await tx.delete(groups).where(inArray(groups.id, ids))
}
