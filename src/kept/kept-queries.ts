import type { Sql } from 'postgres'
import type { TypedQueries } from '../db/connections.ts'
import { and, eq, gt, sql } from '../db/drizzle.cjs'
import { keptAnswers } from '../db/schema.ts'

/** The formats whose answers are kept. */
export type KeptProtocol = (typeof keptAnswers.$inferSelect)['protocol']

/** Who asks. A key with `usage_scope: key` finds only the answers that it got itself. */
export interface KeptScope {
  tenantId: string
  /** Only answers of this format. */
  protocol: KeptProtocol
  /** Undefined: the answers of all keys. */
  keyId: string | undefined
}

export type KeptRow = typeof keptAnswers.$inferSelect

const { tenantId, id, keyId, protocol, expiresAt } = keptAnswers

/** A row without what the statement that inserts it gives. */
export type NewKeptRow = Omit<KeptRow, 'createdAt' | 'expiresAt' | 'claimedBy' | 'claimedFor' | 'isContinued'>

/**
 * Keep an answer, and end the claim on the one before it, in one statement: whatever kills this process, that
 * one is continued once. `claimedFor`: the request that has the claim. `days`: until it expires; no more than
 * its tenant keeps rows, bodies and answers.
 *
 * Two answers of one id come from a channel that repeats its ids. The first one stays, for the conversation
 * that has gone on from it. But it is unknown which of the two a later request means, so none of
 * `anthropic-messages` continues it any more.
 */
export async function addKeptAnswer(
  sql: Sql,
  row: NewKeptRow,
  { days, claimedFor }: { days: number; claimedFor: string | undefined },
): Promise<void> {
  const { tenantId, id, previousId } = row
  await sql`
    WITH added AS (
      ${insertOfAnswer(sql, { row, days }, sql`(SELECT 1) AS one`)}
      ON CONFLICT (tenant_id, id) DO UPDATE SET is_continued = true WHERE k.protocol = 'anthropic-messages')
    UPDATE kept_answers SET claimed_by = NULL, claimed_for = NULL, is_continued = true
    WHERE tenant_id = ${tenantId} AND id = ${previousId} AND id <> ${id} AND claimed_for = ${claimedFor ?? null}::uuid`
}

/** The insertion of an answer, `AS k`, if `held` has a row. `days`: as `addKeptAnswer` has them. */
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

/** False: it does not exist. Answers that continue it can no longer be continued. */
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
  /** Its own bytes, and those of the links after it. */
  total: number
  content: Buffer
}

/**
 * The answer and those that it continues, the oldest first. It has no more than `bytesMax` bytes and one
 * link, nor more than `linksMax` links: where the oldest names another, that one is missing or did not fit.
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

/** A request that would be the only one to continue an answer, and its process. */
export interface TurnClaimant {
  requestId: string
  instanceId: string
  /** A process whose heartbeat is older counts as dead. */
  deadMs: number
}

/**
 * What prevents a claim: a request has continued the answer, one does so now, or there is no such
 * answer.
 */
export type ClaimVerdict = 'claimed' | 'continued' | 'in-flight' | 'none'

/**
 * Claim an answer for the one request that may continue it, unless another has it. The claim of a dead
 * process does not count.
 *
 * A count, not NOT EXISTS: Postgres would make a join of that, and does not look at the joined table again
 * when the row has changed while it waited. Then two requests got the claim.
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

/** End the claim of a request that has not continued the answer. Does nothing where it has. */
export async function endClaim(
  sql: Sql,
  tenantId: string,
  { answerId, requestId }: { answerId: string; requestId: string },
): Promise<void> {
  await sql`
    UPDATE kept_answers SET claimed_by = NULL, claimed_for = NULL
    WHERE tenant_id = ${tenantId} AND id = ${answerId} AND claimed_for = ${requestId}`
}

/** The bytes that a tenant leaves in storage. */
export async function storedBytesOf(sql: Sql, tenantId: string): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    SELECT bytes::float8 AS bytes FROM tenant_storage WHERE tenant_id = ${tenantId}`
  return row?.bytes ?? 0
}

/**
 * Delete answers that have expired, unless another process does so now, or has within `apartMs`. An answer
 * that another one continues stays. Returns how many went.
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
