import { LRUCache } from 'lru-cache'
import { GatewayError } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import { inTime } from '../db/in-time.ts'
import type { Identity } from './identity.ts'
import { hashKeySecret } from './key-secret.ts'
import { readKeyByHash } from './queries.ts'

/**
 * Keys by secret, from memory where possible. What is cached stays until `evict` is told that it changed
 * (revision.ts); that a secret is unknown is remembered apart and for a limited time, so that a flood of guesses
 * pushes no real key out.
 */
export class Keys {
  readonly #options: KeysOptions
  readonly #known: LRUCache<string, Identity>
  readonly #unknown: LRUCache<string, true>
  /** One read for all concurrent misses of a secret. */
  readonly #reads = new Map<string, Promise<Identity | undefined>>()
  #unsettledReads = 0
  /** Raised by every eviction: what was read before it may be old and is not kept. */
  #generation = 0

  constructor(options: KeysOptions) {
    this.#options = options
    this.#known = new LRUCache({ max: options.cacheMax })
    this.#unknown = new LRUCache({ max: Math.min(options.cacheMax, unknownMax), ttl: options.negativeMs })
  }

  /**
   * Who has this secret; undefined: nobody. Answers at once, without a promise, when the answer is in memory.
   * Rejects with GatewayError `unavailable` when it is not and the database does not answer in time.
   */
  lookup(secret: string): Identity | undefined | Promise<Identity | undefined> {
    const known = this.#known.get(secret)
    if (known !== undefined) return known
    if (secret.length < secretCharactersMin || secret.length > secretCharactersMax) return undefined
    if (this.#unknown.get(secret) === true) return undefined
    return this.#reads.get(secret) ?? this.#read(secret)
  }

  /** Forget the keys with these ids, and that any secret was unknown: it may be one of them. */
  evict(keyIds: ReadonlySet<string>): void {
    this.#generation++
    this.#unknown.clear()
    for (const [secret, identity] of this.#known.entries()) {
      if (keyIds.has(identity.keyId)) this.#known.delete(secret)
    }
  }

  clear(): void {
    this.#generation++
    this.#unknown.clear()
    this.#known.clear()
  }

  #read(secret: string): Promise<Identity | undefined> {
    if (this.#unsettledReads >= unsettledReadsMax) return Promise.reject(unavailable())
    const generation = this.#generation
    this.#unsettledReads++
    const row = this.#options.read(hashKeySecret(secret, this.#options.pepper)).finally(() => {
      this.#unsettledReads--
    })
    const read = inTime(row, this.#options.waitMs)
      .catch((cause) => {
        throw unavailable(cause)
      })
      .then((identity) => {
        if (generation === this.#generation) {
          if (identity === undefined) this.#unknown.set(secret, true)
          else this.#known.set(secret, identity)
        }
        return identity
      })
      .finally(() => {
        if (this.#reads.get(secret) === read) this.#reads.delete(secret)
      })
    this.#reads.set(secret, read)
    return read
  }
}

export interface KeysOptions {
  /** The key whose secret has this hash. */
  read(secretHash: Buffer): Promise<Identity | undefined>
  pepper: Buffer
  cacheMax: number
  negativeMs: number
  /** How long a caller waits for `read`. */
  waitMs: number
}

/** The keys of a database. */
export function keysOf(
  database: Database,
  options: { pepper: Buffer; keyCacheMax: number; keyCacheNegativeMs: number },
): Keys {
  return new Keys({
    read: (secretHash) => readKeyByHash(database, secretHash),
    pepper: options.pepper,
    cacheMax: options.keyCacheMax,
    negativeMs: options.keyCacheNegativeMs,
    waitMs: 2000,
  })
}

/** No key has fewer or more characters, so none is looked up or remembered for such a secret. */
const secretCharactersMin = 16
const secretCharactersMax = 512

const unknownMax = 10_000
/** Reads that the database has not answered; beyond this many, callers are told at once that it is away. */
const unsettledReadsMax = 1000

const unavailable = (cause?: unknown) =>
  new GatewayError('unavailable', 'The gateway cannot check API keys at the moment. Try again shortly.', {
    cause,
    retryAfterSeconds: 1,
  })
