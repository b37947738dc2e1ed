import { LRUCache } from 'lru-cache'
import { GatewayError } from '../canonical/error.ts'
import type { Connections } from '../db/connections.ts'
import type { Database } from '../db/database.ts'
import type { Identity } from './identity.ts'
import { hashKeySecret } from './key-secret.ts'
import { readKeyByHash } from './queries.ts'

/**
 * Finds keys by their secret, in memory where possible. A key stays in memory until `evict` says that it changed
 * (revision.ts). Unknown secrets have a cache of their own and expire, so that a flood of guesses pushes no real key
 * out.
 */
export class Keys {
  readonly #options: KeysOptions
  readonly #known: LRUCache<string, Identity>
  readonly #unknown: LRUCache<string, true>
  /** One read for all concurrent misses of a secret. */
  readonly #reads = new Map<string, Promise<Identity | undefined>>()
  #unsettledReads = 0
  /** Every eviction raises it: a read that began before may return an old key, which we do not keep. */
  #generation = 0

  constructor(options: KeysOptions) {
    this.#options = options
    this.#known = new LRUCache({ max: options.cacheMax })
    this.#unknown = new LRUCache({ max: Math.min(options.cacheMax, unknownMax), ttl: options.negativeMs })
  }

  /**
   * The key with this secret; undefined: there is none. Answers at once, without a promise, when the answer is in
   * memory. Otherwise it rejects with GatewayError `unavailable` when Postgres does not answer in time.
   */
  lookup(secret: string): Identity | undefined | Promise<Identity | undefined> {
    const known = this.#known.get(secret)
    if (known !== undefined) return known
    if (secret.length < secretCharactersMin || secret.length > secretCharactersMax) return undefined
    if (this.#unknown.get(secret) === true) return undefined
    return this.#reads.get(secret) ?? this.#read(secret)
  }

  /** Forget the keys with these ids, and all unknown secrets: one of them may belong to a new key now. */
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
    if (this.#unsettledReads >= unsettledReadsMax) return Promise.reject(tooMany())
    const { pool, read: readKey, pepper } = this.#options
    const generation = this.#generation
    this.#unsettledReads++
    const read = pool
      .ask((connections) => readKey(connections, hashKeySecret(secret, pepper)), away)
      .then((identity) => {
        if (generation === this.#generation) {
          if (identity === undefined) this.#unknown.set(secret, true)
          else this.#known.set(secret, identity)
        }
        return identity
      })
      .finally(() => {
        this.#unsettledReads--
        if (this.#reads.get(secret) === read) this.#reads.delete(secret)
      })
    this.#reads.set(secret, read)
    return read
  }
}

export interface KeysOptions {
  pool: Database['keys']
  /** The key whose secret has this hash. */
  read(connections: Connections, secretHash: Buffer): Promise<Identity | undefined>
  pepper: Buffer
  cacheMax: number
  negativeMs: number
}

/** The keys of a database. */
export function keysOf(
  database: Pick<Database, 'keys'>,
  options: { pepper: Buffer; keyCacheMax: number; keyCacheNegativeMs: number },
): Keys {
  return new Keys({
    pool: database.keys,
    read: ({ db }, secretHash) => readKeyByHash(db, secretHash),
    pepper: options.pepper,
    cacheMax: options.keyCacheMax,
    negativeMs: options.keyCacheNegativeMs,
  })
}

/** The bounds on the length of a key. We neither look up nor remember other secrets. */
const secretCharactersMin = 16
const secretCharactersMax = 512

const unknownMax = 10_000
/** Look-ups that wait for Postgres. Further callers are refused at once. */
const unsettledReadsMax = 1000

const away = {
  unavailable: 'The gateway cannot check API keys at the moment. Try again shortly.',
  retryAfterSeconds: 1,
}

function tooMany(): GatewayError {
  const { unavailable, retryAfterSeconds } = away
  return new GatewayError('unavailable', unavailable, { retryAfterSeconds })
}
