import { createHash } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { and, eq, gt, gte, inArray, lt, or, sql } from '../../db/drizzle.cjs'
import { signInAttempts } from '../../db/schema.ts'
import type { Queries } from '../../db/transactions.ts'

/** A counter of attempts, and the number of attempts that it allows before it is reset. */
export interface AttemptCounter {
  subject: Buffer
  most: number
  /** True if attempts on other accounts count too. */
  isShared?: boolean
}

/** An IPv6 /64 counts as one network, because one customer usually has the whole block. */
export function countedNetwork(address: string): string {
  const ip = ipaddr.isValid(address) ? ipaddr.process(address) : undefined
  return ip instanceof ipaddr.IPv6 ? `${ip.parts.slice(0, 4).join(':')}::/64` : address
}

/** The subject of a counter: its kind and the thing that it counts. */
export function counterSubject(...names: readonly string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(names)).digest()
}

/**
 * Counts an attempt before it is made, in each of the counters. Returns undefined if all of them allow it,
 * otherwise the seconds until the next attempt. Writes nothing if a counter is already full; if one becomes
 * full in the meantime, the caller must roll back. All processes share the counters.
 */
export async function takeAttempt(
  db: Queries,
  counted: readonly AttemptCounter[],
  windowMs: number,
): Promise<number | undefined> {
  const waitSeconds = await waitOf(db, counted)
  if (waitSeconds !== undefined) return waitSeconds
  const isOver = sql`${signInAttempts.resetsAt} <= now()`
  for (const { subject, most } of counted) {
    const taken = await db
      .insert(signInAttempts)
      .values({ subject, attempts: 1, resetsAt: sql`now() + ${windowMs} * interval '1 millisecond'` })
      .onConflictDoUpdate({
        target: signInAttempts.subject,
        set: {
          attempts: sql`CASE WHEN ${isOver} THEN 1 ELSE ${signInAttempts.attempts} + 1 END`,
          resetsAt: sql`CASE WHEN ${isOver} THEN excluded.resets_at ELSE ${signInAttempts.resetsAt} END`,
        },
        setWhere: sql`${isOver} OR ${signInAttempts.attempts} < ${most}`,
      })
      .returning({ subject: signInAttempts.subject })
    if (taken.length === 0) return (await waitOf(db, counted)) ?? 1
  }
  return undefined
}

/**
 * Returns the whole seconds, at least 1, until all counters allow an attempt; undefined if they already do.
 */
async function waitOf(db: Queries, counted: readonly AttemptCounter[]): Promise<number | undefined> {
  // Without counters the condition would be empty and match every row.
  if (counted.length === 0) return undefined
  const { subject, attempts, resetsAt } = signInAttempts
  const isFull = or(...counted.map((each) => and(eq(subject, each.subject), gte(attempts, each.most))))
  const [row] = await db
    .select({ seconds: sql<number | null>`max(ceil(extract(epoch FROM ${resetsAt} - now())))::int` })
    .from(signInAttempts)
    .where(and(isFull, gt(resetsAt, sql`now()`)))
  return row === undefined || row.seconds === null ? undefined : Math.max(1, row.seconds)
}

/**
 * Takes back an attempt whose outcome was not determined. Uses the order of `takeAttempt`, so that the two
 * never deadlock.
 */
export async function giveBackAttempt(db: Queries, counted: readonly AttemptCounter[]): Promise<void> {
  for (const { subject } of counted) {
    await db
      .update(signInAttempts)
      .set({ attempts: sql`greatest(0, ${signInAttempts.attempts} - 1)` })
      .where(eq(signInAttempts.subject, subject))
  }
}

/** Removes a successful attempt. Resets its counters, except shared ones, which go down by one. */
export async function forgiveAttempt(db: Queries, counted: readonly AttemptCounter[]): Promise<void> {
  for (const each of counted) {
    if (each.isShared === true) await giveBackAttempt(db, [each])
    else await db.delete(signInAttempts).where(eq(signInAttempts.subject, each.subject))
  }
}

/**
 * Deletes counters whose window has ended, unless a transaction has locked them. Returns their number, at
 * most `sweptMax`.
 */
export async function sweepAttempts(db: Queries): Promise<number> {
  const ended = db
    .select({ subject: signInAttempts.subject })
    .from(signInAttempts)
    .where(lt(signInAttempts.resetsAt, sql`now()`))
    .limit(sweptMax)
    .for('update', { skipLocked: true })
  const swept = await db
    .delete(signInAttempts)
    .where(inArray(signInAttempts.subject, ended))
    .returning({ subject: signInAttempts.subject })
  return swept.length
}

/** The number of counters that one sweep deletes. */
export const sweptMax = 10_000
