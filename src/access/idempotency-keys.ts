import { causeOf, GatewayError } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import { redactText } from '../redaction/redact.ts'
import { type Log, requestLog } from '../telemetry/log.ts'
import {
  type Claimant,
  type ClaimRow,
  claimKey,
  deleteKeysOlderThan,
  isKeyTaken,
  type KeyedRequest,
  leaveToJob,
  releaseKey,
  storeAnswer,
} from './idempotency-queries.ts'
import { InsistentWrites } from './retried-writes.ts'

export type { KeyedRequest }

/** The response that the client received. */
export interface KeptAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** The state of an idempotency key. `requestId` is the first request with the key. */
export type KeyState =
  /** The key was free. The request can run and holds the key until `keep` or `release`. */
  | { state: 'claimed' }
  /** The first request is still running. */
  | { state: 'running' }
  /** The first request had another path or body. */
  | { state: 'different' }
  /** The first request succeeded, but its response is lost. */
  | { state: 'lost'; requestId: string }
  | { state: 'answered'; requestId: string; answer: KeptAnswer }
  /** The response is the image job with this id. */
  | { state: 'job'; requestId: string }
  /** The tenant's storage has no room for the response. */
  | { state: 'full' }

/** Encrypts responses with SECRET_KEY. Each ciphertext is bound to its request. */
export interface AnswerCipher {
  encrypt(answer: Buffer, requestId: string): Buffer
  /** Throws an Error if the response cannot be decrypted. */
  decrypt(encrypted: Buffer, requestId: string): Buffer
}

export interface IdempotencyKeysOptions extends Omit<Claimant, 'instanceId'> {
  /** This process's row in the table `instances`. */
  instance: { readonly id: string }
  database: Pick<Database, 'answers' | 'upkeep'>
  answers: AnswerCipher
  log: Log
}

/**
 * Idempotency keys in Postgres. Of all requests with a key, in any process, the first one to claim it runs.
 * The write that ends a claim is retried until Postgres accepts it, so a claim only outlives its request
 * while Postgres is down, when no request can claim a key anyway.
 */
export class IdempotencyKeys {
  readonly #options: IdempotencyKeysOptions
  readonly #writes: InsistentWrites
  #ended = false
  #timer: NodeJS.Timeout | undefined

  /** Also starts deleting expired keys, now and then hourly. */
  static start(options: IdempotencyKeysOptions): IdempotencyKeys {
    const keys = new IdempotencyKeys(options)
    void keys.#deleteOld()
    return keys
  }

  private constructor(options: IdempotencyKeysOptions) {
    this.#options = options
    this.#writes = new InsistentWrites((error) =>
      options.log.warn({}, `idempotency keys stay claimed until Postgres accepts their outcomes: ${error}`),
    )
  }

  /**
   * Claims a request's key, durably. The key of a dead process is taken over, unless the usage log shows that
   * the request succeeded. If Postgres does not answer in time, rejects with GatewayError `unavailable` and
   * then gives the claim back.
   */
  async claim(request: KeyedRequest): Promise<KeyState> {
    const { database, answers } = this.#options
    let claiming: Promise<ClaimRow | undefined> | undefined
    let row: ClaimRow | undefined
    try {
      row = await database.answers.ask(({ sql }) => {
        claiming = claimKey(sql, { ...this.#options, instanceId: this.#options.instance.id }, request)
        return claiming
      })
    } catch (cause) {
      // Postgres may have made the claim, or may still make it.
      void claiming?.catch(() => {}).then(() => this.release(request))
      throw cause
    }
    if (row === undefined) return { state: 'running' }
    if (row.state === 'full') return { state: 'full' }
    if (row.state !== 'answered') return { state: row.state, requestId: row.request_id }
    try {
      return { state: 'answered', requestId: row.request_id, answer: readAnswer(row, answers.decrypt) }
    } catch (error) {
      requestLog(this.#options.log, row.request_id).warn(
        {},
        `cannot read the stored response of request ${row.request_id}: ${error}`,
      )
      return { state: 'lost', requestId: row.request_id }
    }
  }

  /**
   * Whether a request has claimed this key. That request may have ended without a response, or be too old to
   * count.
   */
  isTaken(key: Pick<KeyedRequest, 'keyId' | 'keyHash'>): Promise<boolean> {
    return this.#options.database.answers.ask(({ db }) => isKeyTaken(db, key))
  }

  /**
   * Stores a response for repeated requests. Resolves when Postgres has it, or after the first attempt fails.
   * If the tenant's storage has no room for it, the key becomes free again.
   */
  keep(request: KeyedRequest, { status, headers, body }: KeptAnswer): Promise<void> {
    const { database, answers } = this.#options
    const kept = {
      status,
      headers: redactText(JSON.stringify(headers)),
      answer: answers.encrypt(body, request.requestId),
    }
    return this.#writes.add(
      () =>
        database.answers
          .ask(({ db }) => storeAnswer(db, request, kept))
          .catch((error: unknown) => {
            if (!(error instanceof GatewayError && error.kind === 'rate_limited')) throw error
            return database.answers.ask(({ db }) => releaseKey(db, request))
          }),
      kept.answer.length,
    )
  }

  /**
   * Makes the image job with the request's id the response, even if this process dies. Resolves as `keep`
   * does.
   */
  keepAsJob(request: KeyedRequest): Promise<void> {
    const { database } = this.#options
    return this.#writes.add(() => database.answers.ask(({ db }) => leaveToJob(db, request)))
  }

  /**
   * Allows the next request with the key to run. If there is a job, it stays the response. Resolves as `keep`
   * does.
   */
  release(request: KeyedRequest): Promise<void> {
    const { database } = this.#options
    return this.#writes.add(() => database.answers.ask(({ db }) => releaseKey(db, request)))
  }

  /** Waits for running writes and retries failed ones once, for at most `deadlineMs`. */
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
      if (!this.#ended) log.warn({}, `cannot delete old idempotency keys: ${causeOf(error)}`)
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
  if (status === null || headers === null || answer === null)
    throw new Error('part of the response is missing')
  return { status, headers: JSON.parse(headers), body: decrypt(answer, requestId) }
}
