import { Redis } from 'ioredis'
import type { Levels } from './buckets.ts'
import type { LimitName, Scope } from './limits.ts'
import { limitsCommands } from './redis-scripts.ts'

/**
 * What Redis knows of limits, over one connection that says at once when it is away and comes back by itself. Every answer
 * is waited for, however long it takes: whoever gave up still learns what was done in the end. Rejects where that is not
 * known, and when Redis refuses.
 */
export class RedisStore {
  readonly #redis: Redis
  readonly #clock: (() => number) | undefined
  #trouble = 'it does not answer'

  /** `clock`: milliseconds, whole; undefined: that of Redis. `ready` is called each time that it can be used again. */
  constructor(
    url: string,
    { clock, ready, lost }: { clock: (() => number) | undefined; ready(): void; lost(): void },
  ) {
    this.#clock = clock
    this.#redis = new Redis(url, {
      connectionName: 'tollgate-limits',
      connectTimeout: connectMs,
      socketTimeout: silentMs,
      retryStrategy: (times) => Math.min(50 * times, 1_000),
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      // It holds commands back while others are on their way, and what waits in this process cannot be told from a slow
      // Redis. Nor is there a commandTimeout: it would hide what Redis does too late.
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

  /** What was last wrong, for the operator. */
  get trouble(): string {
    return this.#trouble
  }

  get isReady(): boolean {
    return this.#redis.status === 'ready'
  }

  /** `held`: the tokens that each scope is charged. */
  async take(
    scopes: readonly Scope[],
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
    const [refusedBy = 0, limit = 0, retryAfterMs = 0, ...numbers] = answer
    const levels = scopes.map((_, index) => ({
      requests: numbers[index * 2] ?? 0,
      tokens: numbers[index * 2 + 1] ?? 0,
    }))
    const name = limitNames[limit - 1]
    if (refusedBy === 0 || name === undefined) return { levels, refused: undefined }
    return { levels, refused: { index: refusedBy - 1, limit: name, retryAfterMs } }
  }

  /** End a request: its places are free, and what is charged, which may be below 0, is charged. */
  async settle(
    scopes: readonly Scope[],
    requestId: string,
    charged: { requests: number; tokens: readonly number[] },
  ): Promise<void> {
    const args = scopes.flatMap((scope, index) => [...perMinute(scope), charged.tokens[index] ?? 0])
    await this.#run('tollgateSettle', scopes.flatMap(keysOf), [requestId, charged.requests, ...args])
  }

  /** Sent at once: none of them may come after its own end. */
  async renew(places: readonly Place[], leaseMs: number): Promise<void> {
    const sent: Promise<unknown>[] = []
    for (let start = 0; start < places.length; start += renewedAtOnce) {
      const batch = places.slice(start, start + renewedAtOnce)
      const keys = batch.map(({ scope }) => keysOf(scope)[1])
      sent.push(this.#run('tollgateRenew', keys, [leaseMs, ...batch.map(({ requestId }) => requestId)]))
    }
    await Promise.all(sent)
  }

  /** Count this process among those that are there. Resolves with how many there are. */
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
    return numbersOf(await this.#redis[command](keys.length, ...keys, this.#clock?.() ?? '', ...rest))
  }
}

/** What became of a take: each scope's levels after it, and the limit that refuses. */
export interface Taken {
  levels: Levels[]
  refused: { index: number; limit: LimitName; retryAfterMs: number } | undefined
}

/** Of a running request, in a scope with a bound on them. */
export interface Place {
  scope: Scope
  requestId: string
}

/** To be connected, and to be told no. */
export const connectMs = 1_000
/** A connection that says nothing for so long is made anew: the other side may be gone without a word. */
const silentMs = 30_000
const renewedAtOnce = 500
/** In the order in which the script numbers them. */
const limitNames: readonly LimitName[] = ['requests', 'tokens', 'concurrency']
const noLimit = -1
/** One slot of a cluster: a script can only have keys of one. */
const prefix = '{tollgate:limits}'
const processesKey = `${prefix}:processes`

function keysOf({ kind, id }: Scope): [hash: string, running: string] {
  const key = `${prefix}:${kind}:${id}`
  return [key, `${key}:running`]
}

function perMinute({ limits }: Pick<Scope, 'limits'>): [requests: number, tokens: number] {
  return [limits.requestsPerMinute ?? noLimit, limits.tokensPerMinute ?? noLimit]
}

function numbersOf(answer: unknown): number[] {
  if (!Array.isArray(answer)) throw new Error('Redis answered a script with something that is no list')
  return answer.map(Number)
}
