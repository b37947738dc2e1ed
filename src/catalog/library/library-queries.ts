import type { TypedQueries } from '../../db/connections.ts'
import { eq, notInArray, sql } from '../../db/drizzle.cjs'
import { channels, libraryPrices, priceLibrary, prices } from '../../db/schema.ts'
import type { readLibraryRows, Transaction } from '../queries.ts'

export type LibraryRow = Awaited<ReturnType<typeof readLibraryRows>>[number]
export type NewLibraryRow = typeof libraryPrices.$inferInsert

/** Returns undefined if the library's prices are not used. */
export async function readPriceLibrary(db: TypedQueries | Transaction) {
  const [row] = await db.select().from(priceLibrary)
  return row
}

/**
 * Returns the address to fetch from if a renewal is due, otherwise undefined. A single statement, so that
 * only one process receives it.
 */
export async function claimRenewal(db: TypedQueries): Promise<string | undefined> {
  const [row] = await db
    .update(priceLibrary)
    .set({ triedAt: sql`now()` })
    .where(
      sql`renew_url is not null
        and (renewed_at is null or renewed_at < now() - interval '1 day')
        and (tried_at is null or tried_at < now() - interval '1 hour')`,
    )
    .returning({ url: priceLibrary.renewUrl })
  return row?.url ?? undefined
}

/** Returns the providers of all enabled channels. */
export async function providersInUse(tx: Transaction): Promise<Set<string>> {
  const rows = await tx
    .select({ names: channels.libraryProviders })
    .from(channels)
    .where(sql`disabled_at is null`)
  return new Set(rows.flatMap(({ names }) => names ?? []))
}

export async function putPriceLibrary(tx: Transaction, row: typeof priceLibrary.$inferInsert) {
  await tx.insert(priceLibrary).values(row).onConflictDoUpdate({ target: priceLibrary.id, set: row })
}

export async function dropPriceLibrary(tx: Transaction) {
  await tx.delete(libraryPrices)
  await tx.delete(priceLibrary)
}

export async function setLibraryProviders(tx: Transaction, channelId: string, providers: string[] | null) {
  await tx.update(channels).set({ libraryProviders: providers }).where(eq(channels.id, channelId))
}

export async function keepOnlyProviders(tx: Transaction, providers: readonly string[]) {
  if (providers.length === 0) await tx.delete(libraryPrices)
  else await tx.delete(libraryPrices).where(notInArray(libraryPrices.provider, [...providers]))
}

export async function replaceLibraryRows(tx: Transaction, provider: string, rows: NewLibraryRow[]) {
  await tx.delete(libraryPrices).where(eq(libraryPrices.provider, provider))
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    await tx.insert(libraryPrices).values(rows.slice(at, at + rowsAtOnce))
  }
}

export async function addPrices(tx: Transaction, rows: (typeof prices.$inferInsert)[]) {
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    await tx.insert(prices).values(rows.slice(at, at + rowsAtOnce))
  }
}

/** A Postgres statement can have at most 65,535 parameters. */
const rowsAtOnce = 1000
