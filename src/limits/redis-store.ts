import { Redis } from 'ioredis'
import type { Levels } from './buckets.ts'
import type { LimitName, LimitScope } from './limits.ts'
import { limitsCommands } from './redis-scripts.ts'

/**
 * The limits in Redis, over one connection. Calls reject at once while the connection is down; it comes back
 * by itself. A call waits for its answer without a time limit, so that a caller that gave up still learns
 * what Redis did. It rejects when Redis refuses, or when the connection is lost before the answer.
 */
export class RedisStore {
  readonly #redis: Redis
  readonly #time: (() => number) | undefined
  #trouble = 'it does not answer'

  /**
   * `time`: whole milliseconds; undefined: the time of Redis. Calls `ready` after each connect and `lost`
   * after each loss.
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
      // Auto-pipelining holds commands back while others are under way: a command that waits in this process
      // would look like a slow Redis. And there is no commandTimeout: it would hide what Redis does too late.
      enableAutoPipelining: false,
      // ioredis sends the text of a script with its first call on a connection, and its SHA from then on.
      scripts: limitsCommands,
    })
    this.#redis.on('error', (error: NodeJS.ErrnoException) => {
      this.#trouble = error.code ?? error.message
    })
    this.#redis.on('ready', ready)
    this.#redis.on('close', lost)
  }

  /** The last error of the connection, for the operator. */
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
   * Hold `more` tokens for a request that `take` has granted, and that holds `held` already. Both are of each
   * scope.
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

  /** End a request: free its places, and charge requests and tokens. A charge below 0 gives back. */
  async settle(
    scopes: readonly LimitScope[],
    requestId: string,
    charged: { requests: number; tokens: readonly number[] },
  ): Promise<void> {
    const args = scopes.flatMap((scope, index) => [...perMinute(scope), charged.tokens[index] ?? 0])
    await this.#run('tollgateSettle', scopes.flatMap(keysOf), [requestId, charged.requests, ...args])
  }

  /**
   * Extend the leases of running requests. It sends all of them in this turn: a renewal that Redis gets after
   * the end of its request would hold the place.
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

  /** Say that this process is alive. Resolves with the number of living processes. */
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

/** The place of a running request in a scope that limits concurrency. */
export interface ConcurrencyPlace {
  scope: LimitScope
  requestId: string
}

/** Time for a connection to open or to be refused. */
export const connectMs = 1_000
/** We reconnect when a connection is silent for this long: the other side may be gone without closing it. */
const silentMs = 30_000
const renewedAtOnce = 500
/** In the order of their numbers in the script. */
const limitNames: readonly LimitName[] = ['requests', 'tokens', 'concurrency']
const noLimit = -1
/** The braces put all keys into one slot of a cluster: a script may only use keys of one slot. */
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
    throw new Error('Redis answered a command of limits with something that is not a list')
  return answer.map(Number)
}
