import type { Clock } from '../runtime/clock.ts'
import { inTime } from '../runtime/in-time.ts'

/** What a source of tokens hands out. */
export interface Token {
  /** In milliseconds since the epoch. Undefined: it does not expire. */
  expiresAt: number | undefined
}

/** A waiting call. Its signal ends only its own wait. */
interface Waiting {
  readonly signal: AbortSignal
}

/** How long before its end a token is renewed, while it is still used. */
const earlyMs = 5 * 60_000
/** A token is not used during its last seconds, because a request takes time to arrive. */
const lastMs = 10_000
/** How often a renewal is tried while the token can still be used. */
const renewalsMs = 30_000
/** For how long a failure counts for those who ask next, so that a source that refuses is not flooded. */
const failureMs = 1_000
const fetchMs = 10_000

/**
 * Keeps one token in memory. It is fetched once for all who wait, and renewed before it ends. A renewal that
 * fails is tried again while the old token can be used.
 */
export class KeptToken<T extends Token> {
  readonly #clock: Clock
  readonly #fetch: () => Promise<T>
  #token: T | undefined
  #fetching: Promise<T> | undefined
  #renewAt = 0
  #failed: { error: unknown; until: number } | undefined

  /** `fetch` rejects with an Error that tells the operator why. It must not depend on who asks. */
  constructor(fetch: () => Promise<T>, clock: Clock) {
    this.#fetch = fetch
    this.#clock = clock
  }

  /** Returns the token, or a promise if it has to be fetched first. */
  get(call: Waiting): T | Promise<T> {
    const token = this.#token
    const now = this.#clock.now()
    if (token?.expiresAt === undefined || now < token.expiresAt - lastMs) {
      // A failed renewal matters only when the token has ended.
      if (token?.expiresAt !== undefined && now >= this.#renewAt) this.#renew().catch(() => {})
      if (token !== undefined) return token
    }
    if (this.#failed !== undefined && this.#clock.elapsed() < this.#failed.until) throw this.#failed.error
    return whileWanted(this.#renew(), call.signal)
  }

  #renew(): Promise<T> {
    this.#fetching ??= this.#renewed()
    return this.#fetching
  }

  async #renewed(): Promise<T> {
    const { now, elapsed } = this.#clock
    try {
      const token = await inTime(this.#fetch(), fetchMs, 'the source of the token')
      this.#token = token
      this.#failed = undefined
      return token
    } catch (error) {
      this.#failed = { error, until: elapsed() + failureMs }
      throw error
    } finally {
      this.#renewAt = Math.max(now() + renewalsMs, (this.#token?.expiresAt ?? 0) - earlyMs)
      this.#fetching = undefined
    }
  }
}

function whileWanted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave))
  })
}
