import type { Database } from '../db/database.ts'
import { inTime } from '../db/in-time.ts'
import { type Log, requestLog } from '../telemetry/log.ts'
import { InsistentWrites } from './insistent-writes.ts'

/** A request that came with an Idempotency-Key. */
export interface KeyedRequest {
  /** Id of the API key: the same header of another one is another key. */
  keyId: string
  /** SHA-256 of the header's value. */
  keyHash: Buffer
  /** SHA-256 of path and body. */
  fingerprint: Buffer
  requestId: string
}

/** An answer as it went out. */
export interface KeptAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** What is known of a request's key. `requestId`: of the first request that had it. */
export type Found =
  /** Nothing: the request may run, and its key is its own until it is kept or released. */
  | { state: 'claimed' }
  /** The first one has not ended. */
  | { state: 'running' }
  /** The first one was another request. */
  | { state: 'different' }
  /** The first one succeeded, and what it answered cannot be told any more. */
  | { state: 'lost'; requestId: string }
  | { state: 'answered'; requestId: string; answer: KeptAnswer }
  /** The answer is the image job of this id. */
  | { state: 'job'; requestId: string }

export interface IdempotencyKeysOptions {
  database: Pick<Database, 'sql' | 'renew'>
  /** Of this process, as the table `instances` knows it. */
  instanceId: string
  instanceDeadMs: number
  idempotencyHours: number
  /** How long a statement may take. */
  waitMs: number
  answers: {
    seal(answer: Buffer, requestId: string): Buffer
    /** Throws when it cannot be opened. */
    open(sealed: Buffer, requestId: string): Buffer
  }
  log: Log
}

/**
 * Idempotency keys, in Postgres: whoever claims a key first runs its request, in whichever process. What ends a claim
 * is tried until Postgres takes it, so that a claim outlives its request only while Postgres is away; nobody can claim
 * then anyway.
 */
export class IdempotencyKeys {
  readonly #options: IdempotencyKeysOptions
  readonly #writes: InsistentWrites
  #ended = false
  #timer: NodeJS.Timeout | undefined

  /** From now on keys are forgotten in time as well, hourly. */
  static start(options: IdempotencyKeysOptions): IdempotencyKeys {
    const keys = new IdempotencyKeys(options)
    void keys.#forget()
    return keys
  }

  private constructor(options: IdempotencyKeysOptions) {
    this.#options = options
    this.#writes = new InsistentWrites(options.waitMs, (error) =>
      options.log.warn(
        {},
        `idempotency keys stay claimed until Postgres takes what became of them: ${error}`,
      ),
    )
  }

  /**
   * Claim a request's key, durably. The key of a process that died is taken over, unless the usage log says that its
   * request succeeded. Rejects with an Error when Postgres does not tell in time; the claim is then given back.
   */
  async claim(request: KeyedRequest): Promise<Found> {
    const asked = this.#ask(request)
    let isAnswered = false
    const answered = asked
      .catch(() => {})
      .then(() => {
        isAnswered = true
      })
    try {
      return await inTime(asked, this.#options.waitMs)
    } catch (cause) {
      if (!isAnswered) this.#options.database.renew()
      // It may have been claimed all the same.
      void answered.then(() => this.release(request))
      throw cause
    }
  }

  /** Answer repeats with this. Resolves when it is kept, or has been tried once. */
  keep(request: KeyedRequest, { status, headers, body }: KeptAnswer): Promise<void> {
    const sealed = this.#options.answers.seal(body, request.requestId)
    const text = JSON.stringify(headers)
    return this.#writes.add(
      () => this.#options.database.sql`
        UPDATE idempotency_keys SET status = ${status}, headers = ${text}, answer = ${sealed}, instance_id = NULL
        WHERE ${this.#own(request)}`,
      sealed.length,
    )
  }

  /** Let the image job with the request's id be the answer, whatever becomes of this process. As `keep`. */
  keepAsJob(request: KeyedRequest): Promise<void> {
    return this.#writes.add(
      () => this.#options.database.sql`
        UPDATE idempotency_keys SET instance_id = NULL WHERE ${this.#own(request)}`,
    )
  }

  /** Let the next request with the key run. Where there is a job, it stays the answer all the same. As `keep`. */
  release(request: KeyedRequest): Promise<void> {
    return this.#writes.add(
      () => this.#options.database.sql`
        DELETE FROM idempotency_keys k WHERE ${this.#own(request)} AND NOT ${this.#isJob()}`,
    )
  }

  /** Wait for what is being written, and try once more what was not taken. At most `deadlineMs`. */
  async end(deadlineMs: number): Promise<void> {
    clearTimeout(this.#timer)
    this.#ended = true
    await this.#writes.end(deadlineMs)
  }

  async #ask(request: KeyedRequest): Promise<Found> {
    const { database, instanceId, idempotencyHours, answers } = this.#options
    const { keyId, keyHash, fingerprint, requestId } = request
    const { sql } = database
    // Of two at once the second waits for the first's commit, and finds a key that is claimed by a living process.
    const [row] = await sql<FoundRow[]>`
      WITH claimed AS (
        INSERT INTO idempotency_keys AS k (key_id, key_hash, fingerprint, request_id, instance_id, created_at)
        VALUES (${keyId}, ${keyHash}, ${fingerprint}, ${requestId}, ${instanceId}, now())
        ON CONFLICT (key_id, key_hash) DO UPDATE
        SET fingerprint = excluded.fingerprint, request_id = excluded.request_id, instance_id = excluded.instance_id,
          status = NULL, headers = NULL, answer = NULL, created_at = excluded.created_at
        WHERE k.created_at < now() - make_interval(hours => ${idempotencyHours})
          OR ${this.#isFailedJob()}
          OR (${this.#isDead()} AND NOT ${this.#isJob()} AND NOT ${this.#hasSucceeded()})
        RETURNING request_id
      )
      SELECT 'claimed' AS state, request_id, NULL::smallint AS status, NULL AS headers, NULL::bytea AS answer FROM claimed
      UNION ALL
      SELECT
        CASE
          WHEN k.fingerprint <> ${fingerprint} THEN 'different'
          WHEN k.status IS NOT NULL THEN 'answered'
          WHEN k.instance_id IS NULL OR ${this.#isJob()} THEN 'job'
          WHEN ${this.#isDead()} AND ${this.#hasSucceeded()} THEN 'lost'
          ELSE 'running'
        END, k.request_id, k.status, k.headers, CASE WHEN k.fingerprint = ${fingerprint} THEN k.answer END
      FROM idempotency_keys k
      WHERE k.key_id = ${keyId} AND k.key_hash = ${keyHash} AND NOT EXISTS (SELECT FROM claimed)`
    // Its row was committed, or deleted, while this statement ran.
    if (row === undefined) return { state: 'running' }
    if (row.state !== 'answered') return { state: row.state, requestId: row.request_id }
    try {
      return { state: 'answered', requestId: row.request_id, answer: readAnswer(row, answers.open) }
    } catch (error) {
      requestLog(this.#options.log, row.request_id).warn(
        {},
        `the answer kept for a repeat of request ${row.request_id} cannot be read: ${error}`,
      )
      return { state: 'lost', requestId: row.request_id }
    }
  }

  /**
   * Whoever runs it is no more. A process without a row may be about to make one, and one whose heartbeat is old may
   * only have had no Postgres to tell.
   */
  #isDead() {
    const { database, instanceId, instanceDeadMs } = this.#options
    const { sql } = database
    const since = sql`now() - make_interval(secs => ${instanceDeadMs / 1000})`
    return sql`(
      k.instance_id <> ${instanceId} AND coalesce(
        (SELECT i.state <> 'live' OR greatest(i.heartbeat_at, pg_postmaster_start_time()) < ${since}
         FROM instances i WHERE i.id = k.instance_id),
        greatest(k.created_at, pg_postmaster_start_time()) < ${since}))`
  }

  #isJob() {
    return this.#options.database.sql`EXISTS (SELECT FROM image_jobs j WHERE j.id = k.request_id)`
  }

  /** As with any request that failed, a repeat runs anew. */
  #isFailedJob() {
    return this.#options.database.sql`EXISTS (
      SELECT FROM image_jobs j WHERE j.id = k.request_id AND j.state IN ('failed', 'cancelled'))`
  }

  /** Of a process that was adopted or has closed, the log has all. */
  #hasSucceeded() {
    return this.#options.database.sql`EXISTS (
      SELECT FROM requests r
      WHERE r.id = k.request_id AND r.created_at = uuid_moment(k.request_id) AND r.outcome = 'succeeded')`
  }

  /** Whoever took the key over since is not disturbed. */
  #own({ keyId, keyHash, requestId }: KeyedRequest) {
    return this.#options.database.sql`
      key_id = ${keyId} AND key_hash = ${keyHash} AND request_id = ${requestId}
      AND instance_id = ${this.#options.instanceId}`
  }

  async #forget(): Promise<void> {
    const { database, idempotencyHours, log } = this.#options
    let nextMs = hourMs
    try {
      await database.sql`
        DELETE FROM idempotency_keys WHERE created_at < now() - make_interval(hours => ${idempotencyHours})`
    } catch (error) {
      if (!this.#ended) log.warn({}, `old idempotency keys cannot be deleted: ${error}`)
      nextMs = minuteMs
    }
    if (this.#ended) return
    this.#timer = setTimeout(() => void this.#forget(), nextMs).unref()
  }
}

interface FoundRow {
  state: 'claimed' | 'running' | 'different' | 'lost' | 'answered' | 'job'
  request_id: string
  status: number | null
  headers: string | null
  answer: Buffer | null
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

function readAnswer(
  { request_id: requestId, status, headers, answer }: FoundRow,
  open: IdempotencyKeysOptions['answers']['open'],
): KeptAnswer {
  if (status === null || headers === null || answer === null) throw new Error('a part of it is missing')
  return { status, headers: JSON.parse(headers), body: open(answer, requestId) }
}
