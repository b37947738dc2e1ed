import type { TypedQueries } from '../../db/connections.ts'
import { and, asc, desc, eq, getTableColumns, gt, inArray, lt, or, sql } from '../../db/drizzle.cjs'
import { files } from '../../db/schema.ts'
import type { Queries } from '../../db/transactions.ts'
import type { FileScope } from './file.ts'

export type FileRow = typeof files.$inferSelect

// Uses the clock of Postgres, so that all processes agree on when a file has expired.
const exists = sql`${files.state} = 'ready' and ${files.expiresAt} > now()`

export interface FileFilter {
  purpose?: string | undefined
  /** The id of the last file of the previous page. */
  after?: string | undefined
  order: 'asc' | 'desc'
  limit: number
}

export async function listClientFiles(
  db: Queries,
  scope: Partial<FileScope>,
  { purpose, after, order, limit }: FileFilter,
): Promise<FileRow[]> {
  const { tenantId, keyId = null } = scope
  const direction = order === 'asc' ? asc : desc
  const behind = order === 'asc' ? gt : lt
  return await db
    .select(getTableColumns(files))
    .from(files)
    .where(
      and(
        exists,
        tenantId === undefined ? undefined : eq(files.tenantId, tenantId),
        keyId === null ? undefined : eq(files.keyId, keyId),
        purpose === undefined ? undefined : eq(files.purpose, purpose),
        after === undefined ? undefined : behind(files.id, after),
      ),
    )
    .orderBy(direction(files.id))
    .limit(limit)
}

export async function findFiles(
  db: Queries,
  { tenantId, keyId }: FileScope,
  ids: readonly string[],
): Promise<FileRow[]> {
  return await db
    .select(getTableColumns(files))
    .from(files)
    .where(
      and(
        exists,
        eq(files.tenantId, tenantId),
        keyId === null ? undefined : eq(files.keyId, keyId),
        inArray(files.id, [...ids]),
      ),
    )
}

/** Includes the files of all tenants. */
export async function findFile(db: Queries, id: string): Promise<FileRow | undefined> {
  const [row] = await db
    .select(getTableColumns(files))
    .from(files)
    .where(and(exists, eq(files.id, id)))
  return row
}

/** Hides the file from clients. Returns false when it did not exist for them. */
export async function hideFile(db: Queries, id: string): Promise<boolean> {
  const hidden = await db
    .update(files)
    .set({ state: 'deleted' })
    .where(and(eq(files.id, id), eq(files.state, 'ready')))
    .returning({ id: files.id })
  return hidden.length === 1
}

export interface LeftFile {
  id: string
  object: string
}

/**
 * Returns files whose objects may be removed: expired and deleted ones, and those whose upload did not finish
 * within `uploadMs`.
 */
export async function listLeftFiles(db: TypedQueries, uploadMs: number, most: number): Promise<LeftFile[]> {
  const since = sql`now() - ${uploadMs}::double precision * interval '1 ms'`
  return await db
    .select({ id: files.id, object: files.object })
    .from(files)
    .where(
      or(
        lt(files.expiresAt, sql`now()`),
        eq(files.state, 'deleted'),
        and(eq(files.state, 'uploading'), lt(files.createdAt, since)),
      ),
    )
    .limit(most)
}

export async function dropFiles(db: TypedQueries, ids: readonly string[]): Promise<void> {
  await db.delete(files).where(inArray(files.id, [...ids]))
}

/**
 * Returns the creation time of the oldest file that may have an object, or the time of Postgres when there is
 * no file.
 */
export async function oldestFile(db: TypedQueries): Promise<Date> {
  const [row] = await db
    .select({ at: sql<string>`coalesce(min(${files.createdAt}), now())::text` })
    .from(files)
  return new Date(row?.at ?? 0)
}
