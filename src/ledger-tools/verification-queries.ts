import { and, eq, sql } from '../db/drizzle.cjs'
import { ledgerVerifications as table } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'
import type { Verification, VerifyProgress } from './verify.ts'

export type StoredVerification = Omit<typeof table.$inferSelect, 'only'> & {
  /**
   * True if it is marked as running but has shown no sign of life for a while, because its process has died.
   */
  isSilent: boolean
}

/** The process updates its row every second. */
const silentSeconds = 15
const isSilent = sql<boolean>`${table.seenAt} < now() - make_interval(secs => ${silentSeconds})`

export async function readVerification(db: Queries): Promise<StoredVerification | undefined> {
  const [found] = await db.select({ row: table, isSilent }).from(table)
  if (found === undefined) return undefined
  const { only: _only, ...row } = found.row
  return { ...row, isSilent: row.state === 'running' && found.isSilent }
}

/** False if another one is running. */
export async function beginVerification(
  db: Queries,
  { id, since, startedBy }: { id: string; since: string | null; startedBy: string },
): Promise<boolean> {
  const fresh = {
    ...{ id, since, startedBy, state: 'running' as const, isUnwanted: false },
    ...{ startedAt: sql`now()`, seenAt: sql`now()`, endedAt: null },
    ...{ stepsDone: 0, steps: 0, doing: null, findings: null, requests: null, orphaned: null, error: null },
  }
  const begun = await db
    .insert(table)
    .values({ only: true, ...fresh })
    .onConflictDoUpdate({
      target: table.only,
      set: fresh,
      setWhere: sql`${table.state} <> 'running' OR ${isSilent}`,
    })
    .returning({ id: table.id })
  return begun.length === 1
}

/** Tells the process that runs the verification to end it. Returns its id; undefined if none is running. */
export async function unwantVerification(db: Queries): Promise<string | undefined> {
  const [asked] = await db
    .update(table)
    .set({ isUnwanted: true })
    .where(eq(table.state, 'running'))
    .returning({ id: table.id })
  return asked?.id
}

/**
 * Records a sign of life. Returns whether the verification is still wanted; also false if another one has
 * replaced it.
 */
export async function renewVerification(
  db: Queries,
  id: string,
  { done, of, doing }: VerifyProgress,
): Promise<boolean> {
  const [row] = await db
    .update(table)
    .set({ seenAt: sql`now()`, stepsDone: done, steps: of, doing })
    .where(ownOf(id))
    .returning({ isUnwanted: table.isUnwanted })
  return row?.isUnwanted === false
}

export type VerificationEnd =
  | ({ state: 'ended' } & Verification)
  | { state: 'cancelled' }
  | { state: 'failed'; error: string }

export async function endVerification(
  db: Queries,
  id: string,
  end: VerificationEnd,
  { done, of }: VerifyProgress,
): Promise<void> {
  await db
    .update(table)
    .set({
      ...end,
      endedAt: sql`now()`,
      seenAt: sql`now()`,
      doing: null,
      stepsDone: end.state === 'ended' ? of : done,
      steps: of,
    })
    .where(ownOf(id))
}

function ownOf(id: string) {
  return and(eq(table.id, id), eq(table.state, 'running'))
}
