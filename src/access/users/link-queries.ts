import { randomUUIDv7 } from 'node:crypto'
import { and, desc, eq, gt, inArray, isNull, lt, ne, sql } from '../../db/drizzle.cjs'
import { userLinks, users } from '../../db/schema.ts'
import type { Queries } from '../../db/transactions.ts'
import type { Role } from '../permissions.ts'
import { hashSecret, makeUserSecret, prefixes } from './secrets.ts'

export type LinkRow = typeof userLinks.$inferSelect

export type NewLink = { madeBy: string; lifeMs: number } & (
  | { purpose: 'setup' }
  | { purpose: 'invitation'; email: string; role: Role; tenantId: string | null }
  | { purpose: 'reset'; userId: string }
)

/** Creates a link and returns its secret, which cannot be read later. */
export async function addLink(db: Queries, { lifeMs, ...link }: NewLink) {
  const secret = makeUserSecret(prefixes.link)
  const id = randomUUIDv7()
  const [row] = await db
    .insert(userLinks)
    .values({
      id,
      ...link,
      tokenHash: hashSecret(secret),
      createdAt: sql`now()`,
      expiresAt: sql`now() + ${lifeMs} * interval '1 millisecond'`,
    })
    .returning()
  if (row === undefined) throw new Error('a link was not stored')
  return { row, secret }
}

/** Reads a link that is still valid. */
export async function readLink(db: Queries, secret: string): Promise<LinkRow | undefined> {
  const [row] = await db.select().from(userLinks).where(works(secret))
  return row
}

/** Uses a link. Returns undefined if it does not exist, has been used before or has expired. */
export async function useLink(db: Queries, secret: string): Promise<LinkRow | undefined> {
  const [row] = await db.update(userLinks).set({ usedAt: sql`now()` }).where(works(secret)).returning()
  return row
}

/** Uses the open invitation for this address, for a person who arrives through single sign-on. */
export async function useInvitation(db: Queries, email: string): Promise<LinkRow | undefined> {
  const [row] = await db
    .update(userLinks)
    .set({ usedAt: sql`now()` })
    .where(
      and(
        eq(userLinks.purpose, 'invitation'),
        eq(userLinks.email, email),
        isNull(userLinks.usedAt),
        gt(userLinks.expiresAt, sql`now()`),
      ),
    )
    .returning()
  return row
}

/** Invalidates earlier links of this kind for the same person. */
export async function endLinks(
  db: Queries,
  of: { purpose: 'invitation'; email: string } | { purpose: 'reset'; userId: string },
): Promise<void> {
  const isTheirs =
    of.purpose === 'invitation' ? eq(userLinks.email, of.email) : eq(userLinks.userId, of.userId)
  await db.delete(userLinks).where(and(eq(userLinks.purpose, of.purpose), isTheirs, isNull(userLinks.usedAt)))
}

/** Lists valid invitations and reset links, newest first. */
export async function listLinks(db: Queries): Promise<LinkRow[]> {
  return await db
    .select()
    .from(userLinks)
    .where(and(ne(userLinks.purpose, 'setup'), isNull(userLinks.usedAt), gt(userLinks.expiresAt, sql`now()`)))
    .orderBy(desc(userLinks.createdAt))
    .limit(500)
}

export async function deleteLink(db: Queries, id: string): Promise<LinkRow | undefined> {
  const [row] = await db
    .delete(userLinks)
    .where(and(eq(userLinks.id, id), ne(userLinks.purpose, 'setup'), isNull(userLinks.usedAt)))
    .returning()
  return row
}

/** Deletes a batch of links that expired long ago. */
export async function forgetOldLinks(db: Queries): Promise<void> {
  const old = db
    .select({ id: userLinks.id })
    .from(userLinks)
    .where(lt(userLinks.expiresAt, sql`now() - interval '30 days'`))
    .limit(100)
    .for('update', { skipLocked: true })
  await db.delete(userLinks).where(inArray(userLinks.id, old))
}

/**
 * Creates a link for the first owner, in one statement, unless there is an owner. Each start without an owner
 * creates another link. Once one of them is used, all the others become invalid, because an owner exists.
 */
export async function addSetupLink(db: Queries, lifeMs: number): Promise<string | undefined> {
  const secret = makeUserSecret(prefixes.link)
  const made = await db
    .insert(userLinks)
    .select(
      sql`SELECT ${randomUUIDv7()}::uuid, 'setup', ${hashSecret(secret)}::bytea, NULL, NULL, NULL::uuid, NULL::uuid,
            'the start', now(), now() + ${lifeMs} * interval '1 millisecond', NULL::timestamptz
          WHERE NOT EXISTS (SELECT FROM ${users} WHERE ${users.role} = 'owner')`,
    )
    .returning({ id: userLinks.id })
  return made.length > 0 ? secret : undefined
}

/** Makes sure that only one transaction at a time creates the first owner. */
export async function lockSetup(db: Queries): Promise<void> {
  await db.execute(sql`SELECT pg_advisory_xact_lock(${setupLock})`)
}

/** An arbitrary number that no other lock uses; see src/db/functions/README.md. */
const setupLock = 7_023_919

function works(secret: string) {
  return and(
    eq(userLinks.tokenHash, hashSecret(secret)),
    isNull(userLinks.usedAt),
    gt(userLinks.expiresAt, sql`now()`),
  )
}
