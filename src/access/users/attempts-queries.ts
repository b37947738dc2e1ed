import { createHash } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { eq, inArray, lt, sql } from '../../db/drizzle.cjs'
import { signInAttempts } from '../../db/schema.ts'
import type { Queries } from '../../db/transactions.ts'

/** A counter of attempts, and the number of attempts that it allows until it starts again. */
export interface Counted {
  subject: Buffer
  most: number
}

export function accountSubject(email: string): Buffer {
  return createHash('sha256').update(`account ${email}`).digest()
}

/** A /64 of IPv6 counts as one address, because one customer has the whole block. */
export function addressSubject(address: string): Buffer {
  const ip = ipaddr.isValid(address) ? ipaddr.process(address) : undefined
  const counted = ip instanceof ipaddr.IPv6 ? ip.parts.slice(0, 4).join(':') : address
  return createHash('sha256').update(`address ${counted}`).digest()
}

/** Count an attempt before it is made. Undefined: it is allowed. Else: seconds until the next attempt. All processes share the counts. */
export async function takeAttempt(
  db: Queries,
  counted: readonly Counted[],
  windowMs: number,
): Promise<number | undefined> {
  // In one order, so that two processes do not block each other.
  const inOrder = counted.toSorted((one, other) => Buffer.compare(one.subject, other.subject))
  const isOver = sql`${signInAttempts.resetsAt} <= now()`
  const rows = await db
    .insert(signInAttempts)
    .values(
      inOrder.map(({ subject }) => ({
        subject,
        attempts: 1,
        resetsAt: sql`now() + ${windowMs} * interval '1 millisecond'`,
      })),
    )
    .onConflictDoUpdate({
      target: signInAttempts.subject,
      set: {
        // It stays far below the greatest integer.
        attempts: sql`CASE WHEN ${isOver} THEN 1 ELSE least(${signInAttempts.attempts} + 1, 1000000) END`,
        resetsAt: sql`CASE WHEN ${isOver} THEN excluded.resets_at ELSE ${signInAttempts.resetsAt} END`,
      },
    })
    .returning({
      subject: signInAttempts.subject,
      attempts: signInAttempts.attempts,
      waitSeconds: sql<number>`ceil(extract(epoch FROM ${signInAttempts.resetsAt} - now()))::int`,
    })
  const waits = rows.flatMap(({ subject, attempts, waitSeconds }) => {
    const most = counted.find((each) => each.subject.equals(subject))?.most ?? 0
    return attempts > most ? [Math.max(1, waitSeconds)] : []
  })
  return waits.length === 0 ? undefined : Math.max(...waits)
}

/** A successful attempt does not count: the count of the account starts again, that of the address goes down by one. */
export async function forgiveAttempt(db: Queries, account: Buffer, address: Buffer): Promise<void> {
  await db.delete(signInAttempts).where(eq(signInAttempts.subject, account))
  await giveBackAttempt(db, [address])
}

/** The attempt was not decided, so it does not count. */
export async function giveBackAttempt(db: Queries, subjects: Buffer[]): Promise<void> {
  await db
    .update(signInAttempts)
    .set({ attempts: sql`greatest(0, ${signInAttempts.attempts} - 1)` })
    .where(inArray(signInAttempts.subject, subjects))
}

/** Write the count of an account again, as it is. */
export async function touchAttempts(db: Queries, account: Buffer): Promise<void> {
  await db
    .update(signInAttempts)
    .set({ attempts: sql`${signInAttempts.attempts}` })
    .where(eq(signInAttempts.subject, account))
}

/** Delete a few counts that have ended. */
export async function forgetOldAttempts(db: Queries): Promise<void> {
  const old = db
    .select({ subject: signInAttempts.subject })
    .from(signInAttempts)
    .where(lt(signInAttempts.resetsAt, sql`now()`))
    .limit(100)
    .for('update', { skipLocked: true })
  await db.delete(signInAttempts).where(inArray(signInAttempts.subject, old))
}
