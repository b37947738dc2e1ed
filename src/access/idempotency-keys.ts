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

/** The answer that the client got. */
export interface KeptAnswer {
  status: number
  headers: Record<string, string>
  body: Buffer
}

/** The state of a request's key. `requestId`: the first request with the key. */
export type KeyState =
  /** The key was free. The request may run, and has the key until `keep` or `release`. */
  | { state: 'claimed' }
  /** The first request has not ended. */
  | { state: 'running' }
  /** The first request had another path or body. */
  | { state: 'different' }
  /** The first request succeeded, and its answer is lost. */
  | { state: 'lost'; requestId: string }
  | { state: 'answered'; requestId: string; answer: KeptAnswer }
  /** The answer is the image job of this id. */
  | { state: 'job'; requestId: string }
  /** The storage of the tenant has no room for the answer. */
  | { state: 'full' }

/** Keeps answers unreadable without SECRET_KEY, each bound to its request. */
export interface AnswerCipher {
  encrypt(answer: Buffer, requestId: string): Buffer
  /** Throws an Error when it cannot decrypt. */
  decrypt(encrypted: Buffer, requestId: string): Buffer
}

export interface IdempotencyKeysOptions extends Omit<Claimant, 'instanceId'> {
  /** This process in the table `instances`. */
  instance: { readonly id: string }
  database: Pick<Database, 'answers' | 'upkeep'>
  answers: AnswerCipher
  log: Log
}

/**
 * Idempotency keys, in Postgres. Of all processes' requests with a key, the first one to claim it runs. We
 * try the write that ends a claim until Postgres takes it. So a claim outlives its request only while
 * Postgres is down, when no request can claim a key anyway.
 */
export class IdempotencyKeys {
  readonly #options: IdempotencyKeysOptions
  readonly #writes: InsistentWrites
  #ended = false
  #timer: NodeJS.Timeout | undefined

  /** Also deletes expired keys: once now, then hourly. */
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
   * Claim a request's key, durably. It takes over the key of a dead process, unless the usage log says that
   * the request succeeded. Rejects with GatewayError `unavailable` when Postgres does not answer in time, and
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
        `the answer kept for a repeat of request ${row.request_id} cannot be read: ${error}`,
      )
      return { state: 'lost', requestId: row.request_id }
    }
  }

  /**
   * Whether a request has claimed this key. It may have ended without an answer since, or be too old to
   * count.
   */
  isTaken(key: Pick<KeyedRequest, 'keyId' | 'keyHash'>): Promise<boolean> {
    return this.#options.database.answers.ask(({ db }) => isKeyTaken(db, key))
  }

  /**
   * Keep an answer for repeats. Resolves when Postgres has it, or after the first try. Where the storage of
   * the tenant has no room for it, the key is free again.
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
   * Make the image job with the request's id the answer, even if this process dies. Resolves as `keep` does.
   */
  keepAsJob(request: KeyedRequest): Promise<void> {
    const { database } = this.#options
    return this.#writes.add(() => database.answers.ask(({ db }) => leaveToJob(db, request)))
  }

  /**
   * Let the next request with the key run. If there is a job, it stays the answer. Resolves as `keep` does.
   */
  release(request: KeyedRequest): Promise<void> {
    const { database } = this.#options
    return this.#writes.add(() => database.answers.ask(({ db }) => releaseKey(db, request)))
  }

  /** Wait for running writes, and try failed writes once more. At most `deadlineMs`. */
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
