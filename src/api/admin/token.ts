import { createHash, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { countedNetwork } from '../../access/users/attempts-queries.ts'
import { type GatewayError, gatewayError } from '../../canonical/error.ts'

/**
 * The number of networks whose guesses are counted. Beyond this, those with the least recent guesses are
 * forgotten.
 */
const networksMax = 10_000

interface Guesses {
  wrong: number
  /** A program that repeatedly sends the same former token only counts as one guess. */
  last: Buffer
}

/**
 * ADMIN_TOKEN and the guesses of it. Guesses are counted by network in the memory of the process, with the
 * limits of sign-ins. Beyond the limit, nothing from that network is compared until the window ends. A guess
 * therefore neither queries Postgres nor leaves anything there.
 */
export class AdminToken {
  readonly #digest: Buffer
  readonly #most: number
  readonly #guesses: LRUCache<string, Guesses>

  constructor(token: string, bounds: { signInAddressAttemptsMax: number; signInWindowSeconds: number }) {
    this.#digest = digestOf(token)
    this.#most = bounds.signInAddressAttemptsMax
    this.#guesses = new LRUCache({ max: networksMax, ttl: bounds.signInWindowSeconds * 1000 })
  }

  /**
   * Takes the same time for every guess. Throws `rate_limited` after too many wrong ones from the network of
   * this address.
   */
  accepts(given: string, address: string): boolean {
    const network = countedNetwork(address)
    const guesses = this.#guesses.get(network)
    if (guesses !== undefined && guesses.wrong >= this.#most) throw this.#tooMany(network)
    // All digests have the same length, so the time does not reveal the length of the token.
    const digest = digestOf(given)
    if (timingSafeEqual(digest, this.#digest)) return true
    if (guesses === undefined) this.#guesses.set(network, { wrong: 1, last: digest })
    else if (!timingSafeEqual(digest, guesses.last)) {
      guesses.wrong++
      guesses.last = digest
    }
    return false
  }

  #tooMany(network: string): GatewayError {
    const retryAfterSeconds = Math.max(1, Math.ceil(this.#guesses.getRemainingTTL(network) / 1000))
    return gatewayError('admin_token_guessed', {}, { retryAfterSeconds })
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
