import { causeOf } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import { type Log, requestLog } from '../telemetry/log.ts'
import {
  type Claimant,
  type ClaimRow,
  claimKey,
  deleteKeysOlderThan,
  type KeyedRequest,
  keepAnswer,
  leaveToJob,
  releaseKey,
} from './idempotency-queries.ts'
import { InsistentWrites } from './insistent-writes.ts'

export type { KeyedRequest }

/** An answer as the client got it. */
export interface KeptAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** What is known of a request's key. `requestId` is that of the first request with the key. */
export type Found =
  /** The key was free. The request may run, and has the key until `keep` or `release`. */
  | { state: 'claimed' }
  /** The first request has not ended. */
  | { state: 'running' }
  /** The first request was another one. */
  | { state: 'different' }
  /** The first request succeeded, and its answer is lost. */
  | { state: 'lost'; requestId: string }
  | { state: 'answered'; requestId: string; answer: KeptAnswer }
  /** The answer is the image job of this id. */
  | { state: 'job'; requestId: string }

export interface IdempotencyKeysOptions extends Claimant {
  database: Pick<Database, 'answers' | 'upkeep'>
  answers: {
    encrypt(answer: Buffer, requestId: string): Buffer
    /** Throws an Error when it cannot decrypt. */
    decrypt(encrypted: Buffer, requestId: string): Buffer
  }
  log: Log
}

/**
 * Idempotency keys, in Postgres: the request that claims a key first runs, in whichever process. A write that ends a
 * claim is tried until Postgres takes it, so a claim outlives its request only while Postgres is away; nobody can claim
 * then anyway.
 */
export class IdempotencyKeys {
  readonly #options: IdempotencyKeysOptions
  readonly #writes: InsistentWrites
  #ended = false
  #timer: NodeJS.Timeout | undefined

  /** From now on old keys are deleted as well, hourly. */
  static start(options: IdempotencyKeysOptions): IdempotencyKeys {
    const keys = new IdempotencyKeys(options)
    void keys.#deleteOld()
    return keys
  }

  private constructor(options: IdempotencyKeysOptions) {
    this.#options = options
    this.#writes = new InsistentWrites((error) =>
      options.log.warn(
        {},
        `idempotency keys stay claimed until Postgres takes what became of them: ${error}`,
      ),
    )
  }

  /**
   * Claim a request's key, durably. The key of a process that died is taken over, unless the usage log says that its
   * request succeeded. Rejects with GatewayError `unavailable` when Postgres does not answer in time; the claim is then
   * given back.
   */
  async claim(request: KeyedRequest): Promise<Found> {
    const { database, answers } = this.#options
    let claiming: Promise<ClaimRow | undefined> | undefined
    let row: ClaimRow | undefined
    try {
      row = await database.answers.ask(({ sql }) => {
        claiming = claimKey(sql, this.#options, request)
        return claiming
      })
    } catch (cause) {
      // Postgres may have carried it out all the same, or may still do so.
      void claiming?.catch(() => {}).then(() => this.release(request))
      throw cause
    }
    if (row === undefined) return { state: 'running' }
    if (row.state !== 'answered') return { state: row.state, requestId: row.request_id }
    try {
      return { state: 'answered', requestId: row.request_id, answer: readAnswer(row, answers.decrypt) }
    } catch (error) {
      requestLog(this.#options.log, row.request_id).warn(
        {},
        `the answer kept for a repeat of request ${row.request_id} cannot be read: ${error}`,
      )
      return { state: 'lost', requestId: row.request_id }
    }
  }

  /** Answer repeats with this. Resolves when Postgres has it, or has been asked once. */
  keep(request: KeyedRequest, { status, headers, body }: KeptAnswer): Promise<void> {
    const { database, instanceId, answers } = this.#options
    const kept = {
      status,
      headers: JSON.stringify(headers),
      answer: answers.encrypt(body, request.requestId),
    }
    return this.#writes.add(
      () => database.answers.ask(({ db }) => keepAnswer(db, instanceId, request, kept)),
      kept.answer.length,
    )
  }

  /** Make the image job with the request's id the answer, whatever becomes of this process. Resolves as `keep` does. */
  keepAsJob(request: KeyedRequest): Promise<void> {
    const { database, instanceId } = this.#options
    return this.#writes.add(() => database.answers.ask(({ db }) => leaveToJob(db, instanceId, request)))
  }

  /** Let the next request with the key run. Where there is a job, it stays the answer. Resolves as `keep` does. */
  release(request: KeyedRequest): Promise<void> {
    const { database, instanceId } = this.#options
    return this.#writes.add(() => database.answers.ask(({ db }) => releaseKey(db, instanceId, request)))
  }

  /** Wait for running writes, and try once more what Postgres did not take. At most `deadlineMs`. */
  async end(deadlineMs: number): Promise<void> {
    clearTimeout(this.#timer)
    this.#ended = true
    await this.#writes.end(deadlineMs)
  }

  async #deleteOld(): Promise<void> {
    const { database, idempotencyHours, log } = this.#options
    let nextMs = hourMs
    try {
      await database.upkeep.ask(({ db }) => deleteKeysOlderThan(db, idempotencyHours))
    } catch (error) {
      if (!this.#ended) log.warn({}, `old idempotency keys cannot be deleted: ${causeOf(error)}`)
      nextMs = minuteMs
    }
    if (this.#ended) return
    this.#timer = setTimeout(() => void this.#deleteOld(), nextMs).unref()
  }
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs

function readAnswer(
  { request_id: requestId, status, headers, answer }: ClaimRow,
  decrypt: IdempotencyKeysOptions['answers']['decrypt'],
): KeptAnswer {
  if (status === null || headers === null || answer === null) throw new Error('a part of it is missing')
  return { status, headers: JSON.parse(headers), body: decrypt(answer, requestId) }
}
