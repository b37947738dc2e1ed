import { and, asc, eq, gt, isNull, lt, sql } from '../../db/drizzle.cjs'
import { identities, recoveryCodes, savedViews, tenants, users } from '../../db/schema.ts'
import type { Queries } from '../../db/transactions.ts'
import type { Role } from '../permissions.ts'

export type UserRow = typeof users.$inferSelect
export type UserChange = Partial<
  Pick<UserRow, 'role' | 'tenantId' | 'passwordHash' | 'disabledAt' | 'totpSecret' | 'totpConfirmedAt'>
>

/** Returns an e-mail address in the form in which it is stored. */
export function storedEmail(email: string): string {
  return email.trim().toLowerCase()
}

/** Users who are not owners do not count: a user created by single sign-on cannot create an owner. */
export async function hasOwner(db: Queries): Promise<boolean> {
  return (await db.select({ id: users.id }).from(users).where(eq(users.role, 'owner')).limit(1)).length > 0
}

export async function readUserByEmail(db: Queries, email: string): Promise<UserRow | undefined> {
  const [row] = await db.select().from(users).where(eq(users.email, email))
  return row
}

export async function readUser(db: Queries, id: string): Promise<UserRow | undefined> {
  const [row] = await db.select().from(users).where(eq(users.id, id))
  return row
}

/** Reads the user and locks the row until the end of the transaction. */
export async function lockUser(db: Queries, id: string): Promise<UserRow | undefined> {
  const [row] = await db.select().from(users).where(eq(users.id, id)).for('update')
  return row
}

/** Lists users by e-mail address, starting after the given one. */
export async function listUsers(db: Queries, limit: number, after: string | undefined): Promise<UserRow[]> {
  return await db
    .select()
    .from(users)
    .where(after === undefined ? undefined : gt(users.email, after))
    .orderBy(asc(users.email))
    .limit(limit)
}

export interface NewUser {
  id: string
  email: string
  role: Role
  tenantId: string | null
  passwordHash: string | null
}

/** Returns false if another user has the e-mail address. */
export async function addUser(db: Queries, user: NewUser): Promise<boolean> {
  const added = await db.insert(users).values(user).onConflictDoNothing().returning({ id: users.id })
  return added.length > 0
}

export async function changeUser(db: Queries, id: string, change: UserChange): Promise<void> {
  await db
    .update(users)
    .set({ ...change, version: sql`${users.version} + 1` })
    .where(eq(users.id, id))
}

export async function deleteUser(db: Queries, id: string): Promise<void> {
  // Otherwise shared views would remain that no one else can delete.
  await db.delete(savedViews).where(eq(savedViews.userId, id))
  await db.delete(users).where(eq(users.id, id))
}

/**
 * Whether this user is the only owner who can sign in. Locks all owners, so that two of them cannot remove
 * each other at the same time.
 */
export async function isLastOwner(db: Queries, id: string): Promise<boolean> {
  const owners = await db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.role, 'owner'), isNull(users.disabledAt)))
    .orderBy(asc(users.id))
    .for('update')
  return owners.length === 1 && owners[0]?.id === id
}

export async function noteSignIn(db: Queries, id: string): Promise<void> {
  await db.update(users).set({ lastSignInAt: sql`now()` }).where(eq(users.id, id))
}

/** Uses the code of this time step. Returns false if it or a later code was used before. */
export async function useTotpStep(db: Queries, id: string, step: number): Promise<boolean> {
  const used = await db
    .update(users)
    .set({ totpStep: step })
    .where(and(eq(users.id, id), lt(users.totpStep, step)))
    .returning({ id: users.id })
  return used.length > 0
}

/** Uses a recovery code. Returns false if there is no such code. */
export async function useRecoveryCode(db: Queries, userId: string, codeHash: Buffer): Promise<boolean> {
  const used = await db
    .delete(recoveryCodes)
    .where(and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.codeHash, codeHash)))
    .returning({ userId: recoveryCodes.userId })
  return used.length > 0
}

/** Replaces all recovery codes of the user. */
export async function putRecoveryCodes(
  db: Queries,
  userId: string,
  hashes: readonly Buffer[],
): Promise<void> {
  await db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId))
  if (hashes.length > 0)
    await db.insert(recoveryCodes).values(hashes.map((codeHash) => ({ userId, codeHash })))
}

/** Reads the user who is linked to this account at an issuer. */
export async function readUserByIdentity(
  db: Queries,
  issuer: string,
  subject: string,
): Promise<UserRow | undefined> {
  const [row] = await db
    .select({ user: users })
    .from(identities)
    .innerJoin(users, eq(users.id, identities.userId))
    .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject)))
    .for('update', { of: users })
  return row?.user
}

export async function addIdentity(
  db: Queries,
  issuer: string,
  subject: string,
  userId: string,
): Promise<void> {
  await db.insert(identities).values({ issuer, subject, userId })
}

export async function hasIdentity(db: Queries, issuer: string, userId: string): Promise<boolean> {
  const rows = await db
    .select({ userId: identities.userId })
    .from(identities)
    .where(and(eq(identities.issuer, issuer), eq(identities.userId, userId)))
    .limit(1)
  return rows.length > 0
}

export async function hasTenant(db: Queries, id: string): Promise<boolean> {
  return (await db.select({ id: tenants.id }).from(tenants).where(eq(tenants.id, id))).length > 0
}

export async function tenantIdOf(db: Queries, name: string): Promise<string | undefined> {
  const [row] = await db.select({ id: tenants.id }).from(tenants).where(eq(tenants.name, name))
  return row?.id
}
