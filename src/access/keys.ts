import { LRUCache } from 'lru-cache'
import { gatewayError } from '../canonical/error.ts'
import type { KeyRing } from '../canonical/key-ring.ts'
import type { Connections } from '../db/connections.ts'
import type { Database } from '../db/database.ts'
import type { Identity } from './identity.ts'
import { hashKeySecret } from './key-secret.ts'
import { KnownHashes } from './known-hashes.ts'
import { readKeyByHash } from './queries.ts'

/**
 * Finds keys by their secret, in memory where possible. A key stays in memory until `evict` reports that it
 * has changed (revision.ts). A secret whose hash matches no key is refused without a Postgres query. While
 * the set of hashes is not known to be current, unknown secrets have their own cache and their own limit, so
 * that a flood of guesses neither displaces real keys nor delays their look-ups.
 */
export class Keys {
  /** The hashes of all keys. */
  readonly hashes: KnownHashes
  readonly #options: KeysOptions
  readonly #known: LRUCache<string, Identity>
  readonly #unknown: LRUCache<string, true>
  /** One read per secret, shared by all concurrent misses. */
  readonly #reads = new Map<string, Promise<Identity | undefined>>()
  readonly #unsettled = { keys: 0, guesses: 0 }
  /**
   * Increased by every eviction. A read that began before one may return an outdated key, so its result is
   * not cached.
   */
  #generation = 0

  constructor(options: KeysOptions) {
    this.#options = options
    this.hashes = new KnownHashes(options.knownKeysMax ?? Number.POSITIVE_INFINITY)
    this.#known = new LRUCache({ max: options.cacheMax })
    this.#unknown = new LRUCache({ max: Math.min(options.cacheMax, unknownMax), ttl: options.negativeMs })
  }

  /**
   * Returns the key with this secret, or undefined if there is none. Returns without a promise if the result
   * is in memory. Otherwise rejects with GatewayError `unavailable` if Postgres does not answer in time.
   */
  lookup(secret: string): Identity | undefined | Promise<Identity | undefined> {
    const known = this.#known.get(secret)
    if (known !== undefined) return known
    if (secret.length < secretCharactersMin || secret.length > secretCharactersMax) return undefined
    if (this.#unknown.get(secret) === true) return undefined
    const reading = this.#reads.get(secret)
    if (reading !== undefined) return reading
    const possible = this.hashesOf(secret)
      .map((hash) => ({ hash, state: this.hashes.find(hash) }))
      .filter(({ state }) => state !== 'none')
    if (possible.length === 0) return undefined
    const isGuess = possible.every(({ state }) => state === 'doubtful')
    return this.#read(
      secret,
      possible.map(({ hash }) => hash),
      isGuess ? 'guesses' : 'keys',
    )
  }

  /** The hash that is stored instead of a new secret. */
  hashOf(secret: string): Buffer {
    return hashKeySecret(secret, this.#options.peppers.current)
  }

  /**
   * All hashes with which a key of this secret can be stored, the current one first: a key created under a
   * former master key has a hash that uses that key's pepper.
   */
  hashesOf(secret: string): Buffer[] {
    const { former } = this.#options.peppers
    return [this.hashOf(secret), ...former.map(({ key }) => hashKeySecret(secret, key))]
  }

  /**
   * Forgets the keys with these ids, their sub-keys, and all unknown secrets, one of which may now belong to
   * a new key.
   */
  evict(keyIds: ReadonlySet<string>): void {
    this.#generation++
    this.#unknown.clear()
    for (const [secret, identity] of this.#known.entries()) {
      const { keyId, parent } = identity
      if (keyIds.has(keyId) || (parent !== undefined && keyIds.has(parent.keyId))) this.#known.delete(secret)
    }
  }

  clear(): void {
    this.#generation++
    this.#unknown.clear()
    this.#known.clear()
  }

  #read(secret: string, hashes: Buffer[], kind: keyof typeof unsettledMax): Promise<Identity | undefined> {
    if (this.#unsettled[kind] >= unsettledMax[kind])
      return Promise.reject(gatewayError('key_checks_full', {}, { retryAfterSeconds: 1 }))
    const { pool, read: readKey } = this.#options
    const generation = this.#generation
    this.#unsettled[kind]++
    const read = pool
      .ask((connections) => firstOf(hashes, (hash) => readKey(connections, hash)), away)
      .then((identity) => {
        if (generation === this.#generation) {
          if (identity === undefined) this.#unknown.set(secret, true)
          else this.#known.set(secret, identity)
        }
        return identity
      })
      .finally(() => {
        this.#unsettled[kind]--
        if (this.#reads.get(secret) === read) this.#reads.delete(secret)
      })
    this.#reads.set(secret, read)
    return read
  }
}

export interface KeysOptions {
  pool: Database['keys']
  /** Reads the key whose secret has this hash. */
  read(connections: Connections, secretHash: Buffer): Promise<Identity | undefined>
  /** The current pepper and former ones, with which the hashes are computed. */
  peppers: KeyRing
  cacheMax: number
  negativeMs: number
  /** With more keys than this, every unknown secret is looked up. If absent, there is no limit. */
  knownKeysMax?: number
}

/** The keys in a database. */
export function keysOf(
  database: Pick<Database, 'keys'>,
  options: { peppers: KeyRing; keyCacheMax: number; keyCacheNegativeMs: number; knownKeysMax: number },
): Keys {
  return new Keys({
    pool: database.keys,
    read: ({ db }, secretHash) => readKeyByHash(db, secretHash),
    peppers: options.peppers,
    cacheMax: options.keyCacheMax,
    negativeMs: options.keyCacheNegativeMs,
    knownKeysMax: options.knownKeysMax,
  })
}

/** Returns the key of the first hash that has one. Looks up the hashes one after the other. */
async function firstOf(
  hashes: readonly Buffer[],
  read: (hash: Buffer) => Promise<Identity | undefined>,
): Promise<Identity | undefined> {
  for (const hash of hashes) {
    const identity = await read(hash)
    if (identity !== undefined) return identity
  }
  return undefined
}

/** The shortest and longest possible key. Other secrets are neither looked up nor remembered. */
const secretCharactersMin = 16
const secretCharactersMax = 512

const unknownMax = 10_000
/**
 * The maximum number of look-ups that wait for Postgres; further callers are refused at once. `guesses`:
 * secrets that matched no key when the hashes were last read.
 */
const unsettledMax = { keys: 1000, guesses: 100 }

const away = {
  unavailable: 'The gateway cannot check API keys at the moment. Try again shortly.',
  retryAfterSeconds: 1,
}
