import type postgres from 'postgres'
import type { TypedQueries } from '../db/connections.ts'
import { and, eq, isNotNull, lt, notExists, sql } from '../db/drizzle.cjs'
import { adminAnswers, idempotencyKeys, jobs } from '../db/schema.ts'

/** A request with an Idempotency-Key header. */
export interface KeyedRequest {
  /** The id of the API key. The same header value with another API key is a different key. */
  keyId: string
  tenantId: string
  /** The SHA-256 of the header's value. */
  keyHash: Buffer
  /** The SHA-256 of the path and the body. */
  fingerprint: Buffer
  requestId: string
}

/** The process that claims keys. */
export interface Claimant {
  /** The process's id in the table `instances`. */
  instanceId: string
  /** A process with an older heartbeat is considered dead. */
  instanceDeadMs: number
  /** Keys older than this no longer count. */
  idempotencyHours: number
}

/** The key's state after the claim. */
export interface ClaimRow {
  state: 'claimed' | 'running' | 'different' | 'lost' | 'answered' | 'job' | 'full'
  request_id: string
  status: number | null
  headers: string | null
  answer: Buffer | null
}

export async function isKeyTaken(
  db: TypedQueries,
  { keyId, keyHash }: Pick<KeyedRequest, 'keyId' | 'keyHash'>,
): Promise<boolean> {
  const rows = await db
    .select({ id: idempotencyKeys.requestId })
    .from(idempotencyKeys)
    .where(and(eq(idempotencyKeys.keyId, keyId), eq(idempotencyKeys.keyHash, keyHash)))
  return rows.length > 0
}

/**
 * Claims the key, or reads why it is taken. Returns undefined if another statement committed or deleted the
 * row in the meantime.
 *
 * Written in SQL, because drizzle cannot express an INSERT and a SELECT in one statement that share their
 * conditions.
 */
export async function claimKey(
  sql: postgres.Sql,
  claimant: Claimant,
  { keyId, tenantId, keyHash, fingerprint, requestId }: KeyedRequest,
): Promise<ClaimRow | undefined> {
  const { instanceId, idempotencyHours } = claimant
  const isDead = isProcessDead(sql, claimant)
  const isJob = sql`EXISTS (SELECT FROM jobs j WHERE j.id = k.request_id)`
  // Repeating a failed request runs it again.
  const isFailedJob = sql`EXISTS (
    SELECT FROM jobs j WHERE j.id = k.request_id AND j.state IN ('failed', 'cancelled'))`
  // Valid for dead processes: once a process has been adopted or closed, the usage log contains all its
  // requests.
  const hasSucceeded = sql`EXISTS (
    SELECT FROM requests r
    WHERE r.id = k.request_id AND r.created_at = uuid_moment(k.request_id) AND r.outcome = 'succeeded')`
  // Of two concurrent claims, the second waits for the first to commit, and then finds the key claimed by a
  // live process.
  const [row] = await sql<ClaimRow[]>`
    WITH full_one AS (
      SELECT FROM tenant_storage s, storage_quota q WHERE s.tenant_id = ${tenantId} AND s.bytes >= q.bytes_max
    ), claimed AS (
      INSERT INTO idempotency_keys AS k (key_id, key_hash, fingerprint, request_id, instance_id, created_at)
      SELECT ${keyId}::uuid, ${keyHash}::bytea, ${fingerprint}::bytea, ${requestId}::uuid, ${instanceId}::uuid, now()
      WHERE NOT EXISTS (SELECT FROM full_one)
      ON CONFLICT (key_id, key_hash) DO UPDATE
      SET fingerprint = excluded.fingerprint, request_id = excluded.request_id, instance_id = excluded.instance_id,
        status = NULL, headers = NULL, answer = NULL, bytes = 0, created_at = excluded.created_at
      WHERE k.created_at < now() - make_interval(hours => ${idempotencyHours})
        OR ${isFailedJob}
        OR (${isDead} AND NOT ${isJob} AND NOT ${hasSucceeded})
      RETURNING request_id
    )
    SELECT 'claimed' AS state, request_id, NULL::smallint AS status, NULL AS headers, NULL::bytea AS answer FROM claimed
    UNION ALL
    SELECT
      CASE
        WHEN k.fingerprint <> ${fingerprint} THEN 'different'
        WHEN k.status IS NOT NULL THEN 'answered'
        WHEN k.instance_id IS NULL OR ${isJob} THEN 'job'
        WHEN ${isDead} AND ${hasSucceeded} THEN 'lost'
        ELSE 'running'
      END, k.request_id, k.status, k.headers, CASE WHEN k.fingerprint = ${fingerprint} THEN k.answer END
    FROM idempotency_keys k
    WHERE k.key_id = ${keyId} AND k.key_hash = ${keyHash} AND NOT EXISTS (SELECT FROM claimed)
    UNION ALL
    SELECT 'full', ${requestId}::uuid, NULL, NULL, NULL FROM full_one
    WHERE NOT EXISTS (SELECT FROM idempotency_keys k WHERE k.key_id = ${keyId} AND k.key_hash = ${keyHash})`
  return row
}

/**
 * True if the process that runs the request is dead. A process without a row may still write one, and a
 * process with an old heartbeat may be alive if Postgres was down, so both have `instanceDeadMs` from the
 * start of Postgres.
 */
function isProcessDead(sql: postgres.Sql, { instanceId, instanceDeadMs }: Claimant) {
  const since = sql`now() - make_interval(secs => ${instanceDeadMs / 1000})`
  return sql`(
    k.instance_id <> ${instanceId} AND coalesce(
      (SELECT i.state <> 'live' OR greatest(i.heartbeat_at, pg_postmaster_start_time()) < ${since}
       FROM instances i WHERE i.id = k.instance_id),
      greatest(k.created_at, pg_postmaster_start_time()) < ${since}))`
}

/** Stores the response of a request, unless another process has taken over its key. */
export async function storeAnswer(
  db: TypedQueries,
  request: KeyedRequest,
  answer: { status: number; headers: string; answer: Buffer },
): Promise<void> {
  await db
    .update(idempotencyKeys)
    .set({ ...answer, instanceId: null, tenantId: request.tenantId, bytes: answer.answer.length })
    .where(ownKey(request))
}

/** Makes the image job with the request's id the response, even if this process dies. */
export async function leaveToJob(db: TypedQueries, request: KeyedRequest): Promise<void> {
  await db.update(idempotencyKeys).set({ instanceId: null }).where(ownKey(request))
}

/** Gives up a claim. If there is a job, it stays the response. */
export async function releaseKey(db: TypedQueries, request: KeyedRequest): Promise<void> {
  const job = db.select({ id: jobs.id }).from(jobs).where(eq(jobs.id, idempotencyKeys.requestId))
  await db.delete(idempotencyKeys).where(and(ownKey(request), notExists(job)))
}

/** Deletes old keys of requests and of admin API calls. */
export async function deleteKeysOlderThan(db: TypedQueries, hours: number): Promise<void> {
  const before = sql`now() - make_interval(hours => ${hours})`
  await db.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, before))
  await db.delete(adminAnswers).where(lt(adminAnswers.createdAt, before))
}

/**
 * Matches the key while this request still holds the claim. A request that takes the key over writes its own
 * id. The id of the process is not reliable, because it changes when others consider the process dead.
 */
function ownKey({ keyId, keyHash, requestId }: KeyedRequest) {
  return and(
    eq(idempotencyKeys.keyId, keyId),
    eq(idempotencyKeys.keyHash, keyHash),
    eq(idempotencyKeys.requestId, requestId),
    isNotNull(idempotencyKeys.instanceId),
  )
}
