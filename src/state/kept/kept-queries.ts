import type { Sql } from 'postgres'
import type { TypedQueries } from '../../db/connections.ts'
import { and, eq, gt, sql } from '../../db/drizzle.cjs'
import { keptAnswers } from '../../db/schema.ts'
import type { ProtocolName } from '../../protocols/protocol.ts'

/** The caller. A key with `usage_scope: key` finds only the answers that it received itself. */
export interface KeptScope {
  tenantId: string
  /** Only answers of this format. */
  protocol: ProtocolName
  /** Undefined means the answers of all keys. */
  keyId: string | undefined
}

export type KeptRow = typeof keptAnswers.$inferSelect

const { tenantId, id, keyId, protocol, expiresAt } = keptAnswers

/** A row without the columns that are set by the statement that inserts it. */
export type NewKeptRow = Omit<KeptRow, 'createdAt' | 'expiresAt' | 'claimedBy' | 'claimedFor' | 'isContinued'>

/**
 * Keeps an answer and ends the claim on the previous one in one statement, so that the previous answer is
 * continued only once, even if this process is killed. `claimedFor` is the request that has the claim. `days`
 * is the time until the answer expires, limited by the tenant's retention of rows, bodies and answers.
 *
 * Two answers with the same id come from a channel that repeats its ids. The first one stays, for the
 * conversation that continues it. However, it is unknown which of the two a later request means, so with
 * `isOnce`, for formats in which an answer is continued once, neither is continued any more.
 */
export async function addKeptAnswer(
  sql: Sql,
  row: NewKeptRow,
  { days, claimedFor, isOnce }: { days: number; claimedFor: string | undefined; isOnce: boolean },
): Promise<void> {
  const { tenantId, id, previousId } = row
  await sql`
    WITH added AS (
      ${insertOfAnswer(sql, { row, days }, sql`(SELECT 1) AS one`)}
      ON CONFLICT (tenant_id, id) DO UPDATE SET is_continued = true WHERE ${isOnce})
    UPDATE kept_answers SET claimed_by = NULL, claimed_for = NULL, is_continued = true
    WHERE tenant_id = ${tenantId} AND id = ${previousId} AND id <> ${id} AND claimed_for = ${claimedFor ?? null}::uuid`
}

/**
 * The insertion of an answer, as a CTE for `AS k`, which happens only if `held` has a row. For `days`, see
 * `addKeptAnswer`.
 */
export function insertOfAnswer(
  sql: Sql,
  { row, days }: { row: NewKeptRow; days: number },
  held: ReturnType<Sql>,
): ReturnType<Sql> {
  const { tenantId, id, keyId, protocol, previousId, model, endUserHash, bytes, content } = row
  return sql`
    INSERT INTO kept_answers AS k
      (tenant_id, id, key_id, protocol, previous_id, model, end_user_hash, created_at, expires_at, bytes, content)
    SELECT ${tenantId}::uuid, ${id}, ${keyId}::uuid, ${protocol}, ${previousId}, ${model}, ${endUserHash}::bytea, now(),
      now() + make_interval(days => least(${days}::integer,
        (SELECT least(rows_days, bodies_days, answers_days) FROM tenants WHERE id = ${tenantId}::uuid))),
      ${bytes}::integer, ${content}::bytea
    FROM ${held}`
}

export async function readKeptAnswer(
  db: TypedQueries,
  scope: KeptScope,
  answerId: string,
): Promise<KeptRow | undefined> {
  const [row] = await db.select().from(keptAnswers).where(named(scope, answerId))
  return row
}

/** Returns false when the answer does not exist. Answers that continue it can no longer be continued. */
export async function deleteKeptAnswer(
  db: TypedQueries,
  scope: KeptScope,
  answerId: string,
): Promise<boolean> {
  const rows = await db.delete(keptAnswers).where(named(scope, answerId)).returning({ id })
  return rows.length > 0
}

/** One link of a chain. */
export interface KeptLink {
  id: string
  previous_id: string | null
  /** The size of this link and of those after it. */
  total: number
  content: Buffer
}

/**
 * Returns the answer and those that it continues, oldest first. The chain ends at the link that exceeds
 * `bytesMax` bytes, or at `linksMax` links. If the oldest link names a previous one, that one is missing or
 * did not fit.
 */
export async function readChain(
  sql: Sql,
  { tenantId, keyId, protocol }: KeptScope,
  answerId: string,
  { bytesMax, linksMax }: { bytesMax: number; linksMax: number },
): Promise<KeptLink[]> {
  return await sql<KeptLink[]>`
    WITH RECURSIVE chain AS (
      SELECT id, previous_id, bytes::bigint AS total, 1 AS place FROM kept_answers
      WHERE tenant_id = ${tenantId} AND id = ${answerId} AND protocol = ${protocol} AND expires_at > now()
        AND (${keyId ?? null}::uuid IS NULL OR key_id = ${keyId ?? null}::uuid)
      UNION ALL
      SELECT k.id, k.previous_id, c.total + k.bytes, c.place + 1
      FROM chain c JOIN kept_answers k ON k.tenant_id = ${tenantId} AND k.id = c.previous_id
      WHERE c.total <= ${bytesMax} AND c.place < ${linksMax}
    )
    SELECT c.id, c.previous_id, c.total::float8 AS total, k.content
    FROM chain c JOIN kept_answers k ON k.tenant_id = ${tenantId} AND k.id = c.id
    ORDER BY c.place DESC`
}

/** A request that wants to be the only one to continue an answer, and its process. */
export interface TurnClaimant {
  requestId: string
  instanceId: string
  /** A process with an older heartbeat counts as dead. */
  deadMs: number
}

/**
 * Why a claim fails: a request has continued the answer, another request is continuing it, or the answer does
 * not exist.
 */
export type ClaimVerdict = 'claimed' | 'continued' | 'in-flight' | 'none'

/**
 * Claims an answer for the one request that may continue it, unless another request has claimed it. The claim
 * of a dead process does not count.
 *
 * This uses a count, because Postgres would turn NOT EXISTS into a join, and does not look at the joined
 * table again when the row has changed while it waited. Two requests then got the claim.
 */
export async function claimAnswer(
  sql: Sql,
  { tenantId, keyId, protocol }: KeptScope,
  answerId: string,
  { requestId, instanceId, deadMs }: TurnClaimant,
): Promise<ClaimVerdict> {
  const found = sql`tenant_id = ${tenantId} AND id = ${answerId} AND protocol = ${protocol} AND expires_at > now()
    AND (${keyId ?? null}::uuid IS NULL OR key_id = ${keyId ?? null}::uuid)`
  const [row] = await sql<{ claimed: boolean; is_continued: boolean | null }[]>`
    WITH claim AS (
      UPDATE kept_answers k SET claimed_by = ${instanceId}, claimed_for = ${requestId}
      WHERE ${found} AND NOT is_continued AND (
        SELECT count(*) FROM instances i WHERE i.id = k.claimed_by AND k.claimed_for <> ${requestId}
          AND i.state = 'live' AND i.heartbeat_at > now() - make_interval(secs => ${deadMs / 1000})) = 0
      RETURNING id)
    SELECT EXISTS (SELECT FROM claim) AS claimed, (SELECT is_continued FROM kept_answers WHERE ${found}) AS is_continued`
  if (row?.claimed === true) return 'claimed'
  if (row?.is_continued === null || row === undefined) return 'none'
  return row.is_continued ? 'continued' : 'in-flight'
}

/** Ends the claim of a request that has not continued the answer. Does nothing if it has. */
export async function endClaim(
  sql: Sql,
  tenantId: string,
  { answerId, requestId }: { answerId: string; requestId: string },
): Promise<void> {
  await sql`
    UPDATE kept_answers SET claimed_by = NULL, claimed_for = NULL
    WHERE tenant_id = ${tenantId} AND id = ${answerId} AND claimed_for = ${requestId}`
}

/** The number of bytes that a tenant has stored. */
export async function storedBytesOf(sql: Sql, tenantId: string): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    SELECT bytes::float8 AS bytes FROM tenant_storage WHERE tenant_id = ${tenantId}`
  return row?.bytes ?? 0
}

/**
 * Deletes answers that have expired, unless another process is doing so or has done so within `apartMs`. An
 * answer that another one continues stays. Returns the number deleted.
 */
export async function deleteExpiredAnswers(sql: Sql, apartMs: number): Promise<number> {
  const [claim] = await sql<{ mine: boolean }[]>`
    SELECT claim_sweep('kept_answers', ${apartMs}::integer) AS mine`
  if (claim?.mine !== true) return 0
  let deleted = 0
  for (;;) {
    const { count } = await sql`
      DELETE FROM kept_answers WHERE (tenant_id, id) IN (
        SELECT k.tenant_id, k.id FROM kept_answers k
        WHERE k.expires_at <= now() AND NOT EXISTS (
          SELECT FROM kept_answers c WHERE c.tenant_id = k.tenant_id AND c.previous_id = k.id)
        ORDER BY k.expires_at LIMIT ${atOnce})`
    deleted += count
    if (count === 0) return deleted
  }
}

const atOnce = 500

function named(scope: KeptScope, answerId: string) {
  const ofKey = scope.keyId === undefined ? undefined : eq(keyId, scope.keyId)
  const isOf = and(eq(tenantId, scope.tenantId), eq(protocol, scope.protocol), ofKey)
  return and(isOf, eq(id, answerId), gt(expiresAt, sql`now()`))
}
