import type { FilePlace } from '../catalog/gateway-source.ts'
import type { Transaction } from '../catalog/queries.ts'
import { eq, sql } from '../db/drizzle.cjs'
import { gatewayFile, revision } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'

/** The gateway.yaml that was applied last, with the process that applied it and the time. */
export interface FileInForce extends FilePlace {
  hash: Buffer
  revision: number | undefined
  appliedAt: Date
  /** Whether the catalog or the keys have changed since, for example through SQL. */
  isOverwritten: boolean
}

export async function readFileInForce(db: Queries): Promise<FileInForce | undefined> {
  const [row] = await db
    .select({
      file: gatewayFile,
      isOverwritten: sql<boolean>`(${revision.catalog}, ${revision.keys})
        <> (${gatewayFile.catalogRevision}, ${gatewayFile.keysRevision})`,
    })
    .from(gatewayFile)
    .innerJoin(revision, eq(revision.id, gatewayFile.id))
  if (row === undefined) return undefined
  const { hash, revision: number, path, host, pid, appliedAt } = row.file
  return { hash, revision: number ?? undefined, path, host, pid, appliedAt, isOverwritten: row.isOverwritten }
}

/** Records that this file is now in force. Call it after all rows are written. */
export async function noteFileInForce(
  tx: Transaction,
  { hash, revision: number, path, host, pid }: Omit<FileInForce, 'appliedAt' | 'isOverwritten'>,
): Promise<void> {
  const [seen] = await tx.select().from(revision)
  const row = {
    id: 1,
    hash,
    revision: number ?? null,
    path,
    host,
    pid,
    appliedAt: new Date(),
    catalogRevision: seen?.catalog ?? 0,
    keysRevision: seen?.keys ?? 0,
  }
  await tx.insert(gatewayFile).values(row).onConflictDoUpdate({ target: gatewayFile.id, set: row })
}
