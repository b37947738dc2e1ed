import type { TypedQueries } from '../db/connections.ts'
import { and, eq, lt, sql } from '../db/drizzle.cjs'
import { heldAnswers } from '../db/schema.ts'

export interface Holder {
  /** The name of the channel. */
  channel: string
  /** A short hash of the credential; null means any credential of the channel. */
  credential: string | null
  /**
   * The key that received the answer; null if it was not recorded, in which case the answer belongs to the
   * whole tenant.
   */
  keyId: string | null
}

export async function addHeldAnswer(
  db: TypedQueries,
  tenantId: string,
  answerId: string,
  holder: Holder,
): Promise<void> {
  const createdAt = sql`now()`
  await db
    .insert(heldAnswers)
    .values({ tenantId, answerId, ...holder, createdAt })
    .onConflictDoNothing()
}

export async function findHolder(
  db: TypedQueries,
  tenantId: string,
  answerId: string,
): Promise<Holder | undefined> {
  const { channel, credential, keyId } = heldAnswers
  const [row] = await db
    .select({ channel, credential, keyId })
    .from(heldAnswers)
    .where(named(tenantId, answerId))
  return row
}

export async function deleteHeldAnswer(db: TypedQueries, tenantId: string, answerId: string): Promise<void> {
  await db.delete(heldAnswers).where(named(tenantId, answerId))
}

/**
 * Deletes entries older than `days`. Does nothing if another process is doing so or has done so within
 * `apartMs`.
 */
export async function deleteHeldAnswers(db: TypedQueries, days: number, apartMs: number): Promise<void> {
  const isOld = lt(heldAnswers.createdAt, sql`now() - make_interval(days => ${days})`)
  // A subquery that does not refer to a column of the table runs once, before any row is read.
  await db
    .delete(heldAnswers)
    .where(and(sql`(SELECT claim_sweep('held_answers', ${apartMs}::integer))`, isOld))
}

function named(tenantId: string, answerId: string) {
  return and(eq(heldAnswers.tenantId, tenantId), eq(heldAnswers.answerId, answerId))
}
