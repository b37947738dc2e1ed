import { and, desc, eq, gt, inArray, isNull, lt, ne, sql } from '../../db/drizzle.cjs'
import { userSessions, users } from '../../db/schema.ts'
import type { Queries } from '../../db/transactions.ts'

export type SessionRow = typeof userSessions.$inferSelect

export interface NewSession {
  id: string
  userId: string
  tokenHash: Buffer
  method: SessionRow['method']
  address: string
  userAgent: string
  /** The session ends at this age, whether used or not. */
  lifeMs: number
}

/** Reads the session with this secret and its user, unless it has ended or the user is disabled. */
export async function readSession(db: Queries, tokenHash: Buffer, idleMs: number) {
  const [row] = await db
    .select({
      id: userSessions.id,
      method: userSessions.method,
      usedAt: userSessions.usedAt,
      expiresAt: userSessions.expiresAt,
      userId: users.id,
      email: users.email,
      role: users.role,
      tenantId: users.tenantId,
    })
    .from(userSessions)
    .innerJoin(users, eq(users.id, userSessions.userId))
    .where(and(eq(userSessions.tokenHash, tokenHash), isNull(users.disabledAt), isOpen(idleMs)))
  return row
}

/** Records the use of a session, at most once a minute. */
export async function noteSessionUse(db: Queries, id: string): Promise<void> {
  await db
    .update(userSessions)
    .set({ usedAt: sql`now()` })
    .where(and(eq(userSessions.id, id), lt(userSessions.usedAt, sql`now() - interval '1 minute'`)))
}

export async function addSession(db: Queries, { lifeMs, ...session }: NewSession): Promise<void> {
  const now = sql`now()`
  await db.insert(userSessions).values({
    ...session,
    createdAt: now,
    usedAt: now,
    expiresAt: sql`now() + ${lifeMs} * interval '1 millisecond'`,
  })
}

/** Lists the newest sessions of a user. */
export async function listSessions(db: Queries, userId: string, idleMs: number) {
  return await db
    .select({
      id: userSessions.id,
      method: userSessions.method,
      address: userSessions.address,
      userAgent: userSessions.userAgent,
      createdAt: userSessions.createdAt,
      usedAt: userSessions.usedAt,
      expiresAt: userSessions.expiresAt,
    })
    .from(userSessions)
    .where(and(eq(userSessions.userId, userId), isOpen(idleMs)))
    .orderBy(desc(userSessions.createdAt))
    .limit(200)
}

/** Returns false if there was no such session. */
export async function endSession(db: Queries, id: string, userId: string): Promise<boolean> {
  const ended = await db
    .delete(userSessions)
    .where(and(eq(userSessions.id, id), eq(userSessions.userId, userId)))
    .returning({ id: userSessions.id })
  return ended.length > 0
}

/** Ends the session that a browser had before a new sign-in. */
export async function endSessionOf(db: Queries, tokenHash: Buffer): Promise<void> {
  await db.delete(userSessions).where(eq(userSessions.tokenHash, tokenHash))
}

/** Ends all sessions of a user, except the given one. */
export async function endUserSessions(db: Queries, userId: string, except?: string): Promise<void> {
  const isOther = except === undefined ? undefined : ne(userSessions.id, except)
  await db.delete(userSessions).where(and(eq(userSessions.userId, userId), isOther))
}

/** Deletes a batch of sessions that have ended. */
export async function forgetOldSessions(db: Queries): Promise<void> {
  const old = db
    .select({ id: userSessions.id })
    .from(userSessions)
    .where(lt(userSessions.expiresAt, sql`now()`))
    .limit(100)
    .for('update', { skipLocked: true })
  await db.delete(userSessions).where(inArray(userSessions.id, old))
}

function isOpen(idleMs: number) {
  return and(
    gt(userSessions.expiresAt, sql`now()`),
    gt(userSessions.usedAt, sql`now() - ${idleMs} * interval '1 millisecond'`),
  )
}
