import { and, desc, eq, gt, isNull, lt, or, sql } from '../../db/drizzle.cjs'
import { apiTokens, users } from '../../db/schema.ts'
import type { Queries } from '../../db/transactions.ts'

export type ApiTokenRow = typeof apiTokens.$inferSelect

/** Reads a valid token, with the current role of its user. */
export async function readApiToken(db: Queries, tokenHash: Buffer) {
  const [row] = await db
    .select({
      id: apiTokens.id,
      name: apiTokens.name,
      role: apiTokens.role,
      tenantId: apiTokens.tenantId,
      scopes: apiTokens.scopes,
      usedAt: apiTokens.usedAt,
      userId: apiTokens.userId,
      userRole: users.role,
      userTenantId: users.tenantId,
    })
    .from(apiTokens)
    .leftJoin(users, eq(users.id, apiTokens.userId))
    .where(
      and(
        eq(apiTokens.tokenHash, tokenHash),
        isNull(apiTokens.revokedAt),
        or(isNull(apiTokens.expiresAt), gt(apiTokens.expiresAt, sql`now()`)),
        // The join finds no user for a token of the operator.
        isNull(users.disabledAt),
      ),
    )
  return row
}

/** Records the use of a token, at most once a minute. */
export async function noteApiTokenUse(db: Queries, id: string): Promise<void> {
  const isOld = or(isNull(apiTokens.usedAt), lt(apiTokens.usedAt, sql`now() - interval '1 minute'`))
  await db
    .update(apiTokens)
    .set({ usedAt: sql`now()` })
    .where(and(eq(apiTokens.id, id), isOld))
}

export async function addApiToken(db: Queries, token: typeof apiTokens.$inferInsert): Promise<void> {
  await db.insert(apiTokens).values(token)
}

export interface TokenFilter {
  /** Only tokens of this user; undefined: all tokens. */
  userId?: string | undefined
  /** Only this token. */
  id?: string | undefined
  /** Only tokens with an id lower than this one. */
  before?: string | undefined
}

/** Lists tokens, newest first. */
export async function listApiTokens(
  db: Queries,
  { userId, id, before }: TokenFilter,
  limit: number,
): Promise<ApiTokenRow[]> {
  return await db
    .select()
    .from(apiTokens)
    .where(
      and(
        userId === undefined ? undefined : eq(apiTokens.userId, userId),
        id === undefined ? undefined : eq(apiTokens.id, id),
        before === undefined ? undefined : lt(apiTokens.id, before),
      ),
    )
    .orderBy(desc(apiTokens.id))
    .limit(limit)
}

/**
 * Revokes a token, only if it belongs to the given user (if any). Returns undefined if it does not exist or
 * is already revoked.
 */
export async function revokeApiToken(
  db: Queries,
  id: string,
  userId: string | undefined,
): Promise<ApiTokenRow | undefined> {
  const [row] = await db
    .update(apiTokens)
    .set({ revokedAt: sql`now()` })
    .where(
      and(
        eq(apiTokens.id, id),
        isNull(apiTokens.revokedAt),
        userId === undefined ? undefined : eq(apiTokens.userId, userId),
      ),
    )
    .returning()
  return row
}
