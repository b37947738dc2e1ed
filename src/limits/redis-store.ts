import { Redis } from 'ioredis'
import type { Levels } from './buckets.ts'
import type { LimitName, LimitScope } from './limits.ts'
import { limitsCommands } from './redis-scripts.ts'

/**
 * The limits in Redis, over one connection. While the connection is down, calls reject at once; it is
 * re-established automatically. A call waits for its answer without a time limit, so that even a caller that
 * has given up learns what Redis did. It rejects if Redis refuses or if the connection is lost before the
 * answer.
 */
export class RedisStore {
  readonly #redis: Redis
  readonly #time: (() => number) | undefined
  #trouble = 'it does not answer'

  /**
   * `time` returns whole milliseconds, or undefined to use the time of Redis. `ready` is called after each
   * connect and `lost` after each loss.
   */
  constructor(
    url: string,
    { time, ready, lost }: { time: (() => number) | undefined; ready(): void; lost(): void },
  ) {
    this.#time = time
    this.#redis = new Redis(url, {
      connectionName: 'tollgate-limits',
      connectTimeout: connectMs,
      socketTimeout: silentMs,
      retryStrategy: (times) => Math.min(50 * times, 1_000),
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      // Auto-pipelining holds commands back while others are in progress, so a command waiting in this
      // process would make Redis look slow. There is no commandTimeout because it would hide what Redis does
      // afterwards.
      enableAutoPipelining: false,
      // ioredis sends the text of a script the first time it is called on a connection, and only its SHA
      // after that.
      scripts: limitsCommands,
    })
    this.#redis.on('error', (error: NodeJS.ErrnoException) => {
      this.#trouble = error.code ?? error.message
    })
    this.#redis.on('ready', ready)
    this.#redis.on('close', lost)
  }

  /** The last error of the connection, for operators. */
  get trouble(): string {
    return this.#trouble
  }

  get isReady(): boolean {
    return this.#redis.status === 'ready'
  }

  /** `held`: the tokens to charge to each scope. */
  async take(
    scopes: readonly LimitScope[],
    held: readonly number[],
    requestId: string,
    leaseMs: number,
  ): Promise<Taken> {
    const args = scopes.flatMap(({ limits }, index) => [
      ...perMinute({ limits }),
      limits.concurrency ?? noLimit,
      held[index] ?? 0,
    ])
    const answer = await this.#run('tollgateTake', scopes.flatMap(keysOf), [requestId, leaseMs, ...args])
    return takenFrom(answer, scopes)
  }

  /**
   * Holds `more` tokens for a request that `take` has granted and that already holds `held`; both are listed
   * per scope.
   */
  async hold(
    scopes: readonly LimitScope[],
    more: readonly number[],
    held: readonly number[],
    requestId: string,
  ): Promise<Taken> {
    const args = scopes.flatMap((scope, index) => [...perMinute(scope), more[index] ?? 0, held[index] ?? 0])
    return takenFrom(await this.#run('tollgateHold', scopes.flatMap(keysOf), [requestId, ...args]), scopes)
  }

  /**
   * Ends a request: frees its concurrency slots and charges requests and tokens. A negative charge returns
   * them.
   */
  async settle(
    scopes: readonly LimitScope[],
    requestId: string,
    charged: { requests: number; tokens: readonly number[] },
  ): Promise<void> {
    const args = scopes.flatMap((scope, index) => [...perMinute(scope), charged.tokens[index] ?? 0])
    await this.#run('tollgateSettle', scopes.flatMap(keysOf), [requestId, charged.requests, ...args])
  }

  /**
   * Extends the leases of running requests. All renewals are sent in this turn of the event loop, because one
   * that reached Redis after the end of its request would keep the slot occupied.
   */
  async renew(places: readonly ConcurrencyPlace[], leaseMs: number): Promise<void> {
    const sent: Promise<unknown>[] = []
    for (let start = 0; start < places.length; start += renewedAtOnce) {
      const batch = places.slice(start, start + renewedAtOnce)
      const keys = batch.map(({ scope }) => keysOf(scope)[1])
      sent.push(this.#run('tollgateRenew', keys, [leaseMs, ...batch.map(({ requestId }) => requestId)]))
    }
    await Promise.all(sent)
  }

  /** Reports that this process is alive. Resolves with the number of live processes. */
  async beat(processId: string, countsMs: number): Promise<number> {
    const [processes = 1] = await this.#run('tollgateBeat', [processesKey], [processId, countsMs])
    return Math.max(1, processes)
  }

  async leave(processId: string): Promise<void> {
    await this.#run('tollgateLeave', [processesKey], [processId])
  }

  close(): void {
    this.#redis.disconnect()
  }

  async #run(
    command: keyof typeof limitsCommands,
    keys: readonly string[],
    rest: readonly (string | number)[],
  ): Promise<number[]> {
    return numbersOf(await this.#redis[command](keys.length, ...keys, this.#time?.() ?? '', ...rest))
  }
}

/** The result of a decision: the levels of each scope after it, and the limit that refused. */
export interface Taken {
  levels: Levels[]
  refused: { index: number; limit: LimitName; retryAfterMs: number } | undefined
}

/** The concurrency slot of a running request in a scope that limits concurrency. */
export interface ConcurrencyPlace {
  scope: LimitScope
  requestId: string
}

/** The maximum time for a connection attempt to succeed or fail. */
export const connectMs = 1_000
/**
 * A connection that is silent for this long is re-established, because the other side may be gone without
 * closing it.
 */
const silentMs = 30_000
const renewedAtOnce = 500
/** In the order of their numbers in the script. */
const limitNames: readonly LimitName[] = ['requests', 'tokens', 'concurrency']
const noLimit = -1
/** The braces put all keys into one slot of a cluster, because a script can only use keys of one slot. */
const prefix = '{tollgate:limits}'
const processesKey = `${prefix}:processes`

function keysOf({ kind, id }: LimitScope): [hash: string, running: string] {
  const key = `${prefix}:${kind}:${id}`
  return [key, `${key}:running`]
}

function perMinute({ limits }: Pick<LimitScope, 'limits'>): [requests: number, tokens: number] {
  return [limits.requestsPerMinute ?? noLimit, limits.tokensPerMinute ?? noLimit]
}

function takenFrom(answer: readonly number[], scopes: readonly LimitScope[]): Taken {
  const [refusedBy = 0, limit = 0, retryAfterMs = 0, ...numbers] = answer
  const levels = scopes.map((_, index) => ({
    requests: numbers[index * 2] ?? 0,
    tokens: numbers[index * 2 + 1] ?? 0,
  }))
  const name = limitNames[limit - 1]
  if (refusedBy === 0 || name === undefined) return { levels, refused: undefined }
  return { levels, refused: { index: refusedBy - 1, limit: name, retryAfterMs } }
}

function numbersOf(answer: unknown): number[] {
  if (!Array.isArray(answer))
    throw new Error('unexpected answer from Redis to a limits command: expected a list')
  return answer.map(Number)
}
