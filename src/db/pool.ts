import { setTimeout as sleep } from 'node:timers/promises'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { Bulkhead, type BulkheadEntry } from '../runtime/bulkhead.ts'
import { LateError } from '../runtime/in-time.ts'
import type { Connections } from './connections.ts'
import { asStorageFull, isAnswer, isPassing, reasonOf } from './failures.ts'

/**
 * One statement, or a few that belong together. It runs when a connection is free for it, at most once.
 * `Terms.signal` ends it on the server if it returns the statement itself.
 */
export type PoolQuery<T> = (connections: Connections) => PromiseLike<T>

export interface Terms {
  /** How long the caller waits, for a free connection and for the answer together. Default: the pool's. */
  withinMs?: number
  /** The error message for the client when there is no answer. It must say to try again. */
  unavailable?: string
  /** Default 2. */
  retryAfterSeconds?: number
  /** The tenant that asks, where `PoolOptions.perOwner` bounds the queries of each. */
  owner?: string
  /**
   * The caller has left. A waiting query is never sent; a running one ends on the server. `ask` rejects with
   * its reason.
   */
  signal?: AbortSignal
}

export interface PoolOptions {
  open(): Connections
  /** The most queries that run at once. The others wait, in the order of arrival. */
  atOnce: number
  /** Default of `Terms.withinMs`. */
  withinMs: number
  /**
   * The server ends a statement after this time. Until then, a late answer does not mean that the connection
   * is dead.
   */
  statementMs?: number
  /**
   * Bounds the queries of each owner. Beyond `waitingMax` that wait for their turn, a query is
   * `rate_limited`.
   */
  perOwner?: { atOnce: number; waitingMax: number }
  /** Postgres answered, if only with an error. */
  onAnswer?(): void
  /** Postgres did not answer a query that began at `begunAt`, a time of performance.now(). */
  onSilence?(begunAt: number, late: boolean): void
}

/** Asks Postgres for one purpose, on connections that no other purpose can take. */
export class Pool {
  readonly #options: PoolOptions
  readonly #turns: Bulkhead<PendingQuestion>
  /** The generations whose connections have not ended. */
  readonly #generations = new Set<Generation>()
  #current: Generation
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    const { atOnce, perOwner = unbounded } = options
    this.#turns = new Bulkhead({
      running: atOnce,
      perOwner: { running: perOwner.atOnce, waiting: perOwner.waitingMax },
      order: 'arrival',
      refuse: () => gatewayError('tenant_queries_full', perOwner, { retryAfterSeconds: 1 }),
    })
    this.#current = this.#open()
  }

  /**
   * Ask, and wait no longer than the terms allow. A query that still waits for its turn then is never
   * sent. Postgres may still run one that was sent. After a connection that does not answer, later queries
   * get new connections.
   *
   * Rejects with GatewayError `unavailable` when Postgres does not answer, or cannot do so now, and
   * `rate_limited` when too many queries of the owner wait, or the storage of the tenant is full. Rejects
   * with the error of Postgres when the statement itself is wrong, which is a bug of ours.
   */
  ask<T>(query: PoolQuery<T>, terms: Terms = {}): Promise<T> {
    const { withinMs = this.#options.withinMs, owner, signal } = terms
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    return new Promise((resolve, reject) => {
      this.#turns.requireRoom(owner)
      const abandon = () => this.#abandon(pending, signal?.reason)
      const pending: PendingQuestion = {
        owner,
        begin: () => void this.#run(pending),
        // A signal may outlive many queries.
        forget: () => signal?.removeEventListener('abort', abandon),
        run: async (connections) => {
          const asked = query(connections)
          pending.statement = asked
          resolve(await asked)
        },
        statement: undefined,
        cancelling: undefined,
        refuse: (cause, reason = 'database_away') =>
          reject(isPassing(cause) ? unavailable(reason, cause, terms) : (asStorageFull(cause) ?? cause)),
        begun: undefined,
        // Timers run before sockets are read: one more turn lets an answer that waits there come first.
        timer: setTimeout(() => setImmediate(() => this.#endWait(pending, withinMs)), withinMs),
      }
      signal?.addEventListener('abort', abandon, { once: true })
      this.#turns.add(pending)
    })
  }

  /** The caller has left. A running query keeps its place until the server has ended it. */
  #abandon(pending: PendingQuestion, reason: unknown): void {
    pending.refuse(reason)
    if (this.#turns.withdraw(pending)) clearTimeout(pending.timer)
    else if (this.#turns.running.has(pending))
      pending.cancelling = cancelStatement(pending.statement, () => pending.statement !== undefined)
  }

  /**
   * Give later queries new connections, at most once a second. Statements on the old connections may end:
   * we do not cut off a statement that is only slow.
   */
  renew(): void {
    if (this.#current.used) this.#renew(this.#current)
  }

  /** Refuse all queries with `cause`, and renew the connections of those that run. */
  refuseAll(cause: unknown): void {
    this.#refuseWaiting(cause)
    for (const pending of this.#turns.running) {
      pending.refuse(cause)
      this.#giveUp(pending)
    }
  }

  /** Waits two seconds for running queries, then ends them. Refuses the waiting ones. */
  async close(): Promise<void> {
    this.#closed = true
    const ended = [...this.#generations].map(({ connections }) => connections.end())
    this.#refuseWaiting(new LateError('the process ends'))
    await Promise.all(ended)
  }

  #refuseWaiting(cause: unknown): void {
    for (const pending of this.#turns.withdrawAll()) {
      clearTimeout(pending.timer)
      pending.forget()
      pending.refuse(cause)
    }
  }

  async #run(pending: PendingQuestion): Promise<void> {
    const { onAnswer, onSilence } = this.#options
    const generation = this.#current
    const begunAt = performance.now()
    generation.used = true
    generation.running.add(pending)
    pending.begun = { at: begunAt, generation }
    try {
      await pending.run(generation.connections)
      onAnswer?.()
    } catch (error) {
      const cause = reasonOf(error)
      if (isAnswer(cause)) onAnswer?.()
      // For a query that was given up, onSilence has been called already.
      else if (isPassing(cause) && this.#turns.running.has(pending)) onSilence?.(begunAt, false)
      pending.refuse(cause)
    }
    pending.statement = undefined
    if (pending.cancelling !== undefined) await pending.cancelling
    this.#leave(pending)
  }

  /** The caller has waited long enough. */
  #endWait(pending: PendingQuestion, waitedMs: number): void {
    const { statementMs } = this.#options
    const late = new LateError(`the database did not answer within ${waitedMs} ms`)
    // It waited for other queries: that says nothing about Postgres.
    if (this.#turns.withdraw(pending) || pending.begun === undefined) {
      pending.refuse(late, 'database_pool_full')
      pending.forget()
      return
    }
    pending.refuse(late)
    const graceMs =
      statementMs === undefined ? 0 : pending.begun.at + statementMs + lateMs - performance.now()
    if (graceMs <= 0) this.#giveUp(pending)
    else pending.timer = setTimeout(() => this.#giveUp(pending), graceMs).unref()
  }

  /** Stop waiting for a query in flight: its connection may be dead. */
  #giveUp(pending: PendingQuestion): void {
    const { begun } = pending
    if (begun === undefined || !this.#leave(pending)) return
    this.#renew(begun.generation)
    this.#options.onSilence?.(begun.at, true)
  }

  /** Returns false if it had left before. */
  #leave(pending: PendingQuestion): boolean {
    clearTimeout(pending.timer)
    pending.forget()
    if (!this.#turns.running.has(pending)) return false
    const generation = pending.begun?.generation
    generation?.running.delete(pending)
    if (generation?.retired === true && generation.running.size === 0) this.#end(generation)
    return this.#turns.end(pending)
  }

  #open(): Generation {
    const generation: Generation = {
      connections: this.#options.open(),
      openedAt: performance.now(),
      running: new Set(),
      used: false,
      renewing: false,
      retired: false,
    }
    this.#generations.add(generation)
    return generation
  }

  #renew(generation: Generation): void {
    if (generation.renewing || generation.retired) return
    const restMs = generation.openedAt + renewMs - performance.now()
    if (restMs > 0) {
      generation.renewing = true
      setTimeout(() => this.#replace(generation), restMs).unref()
    } else this.#replace(generation)
  }

  #replace(generation: Generation): void {
    if (this.#closed) return
    generation.retired = true
    this.#current = this.#open()
    if (generation.running.size === 0) this.#end(generation)
  }

  #end(generation: Generation): void {
    void generation.connections.end().then(() => this.#generations.delete(generation))
  }
}

const unbounded = { atOnce: Number.POSITIVE_INFINITY, waitingMax: Number.POSITIVE_INFINITY }
const renewMs = 1_000
/** The server may report the end of a statement this much after `statementMs`. */
const lateMs = 1_000

/** Why there is no answer: Postgres gave none, or no connection was free for the query. */
type Away = 'database_away' | 'database_pool_full'

/** A query, and the promise of its caller. */
interface PendingQuestion extends BulkheadEntry {
  run(connections: Connections): Promise<void>
  refuse(cause: unknown, reason?: Away): void
  /** The caller's signal no longer matters. */
  forget(): void
  /**
   * What the query returned, a statement of postgres.js or a promise; undefined when it has not begun, or
   * has ended.
   */
  statement: unknown
  /** Set when the caller has left: resolves when the server has been asked to end the statement. */
  cancelling: Promise<void> | undefined
  /** Undefined while it waits for its turn. */
  begun: { at: number; generation: Generation } | undefined
  timer: NodeJS.Timeout
}

/** Connections that were opened together. */
interface Generation {
  connections: Connections
  openedAt: number
  running: Set<PendingQuestion>
  used: boolean
  renewing: boolean
  /** They get no more queries. */
  retired: boolean
}

function unavailable(
  reason: Away,
  cause: unknown,
  {
    unavailable: message = 'The database does not answer at the moment. Try again shortly.',
    retryAfterSeconds = 2,
  }: Terms,
): GatewayError {
  return gatewayError(reason, { message }, { cause, retryAfterSeconds })
}

/**
 * End a statement of postgres.js on the server, if it is one. Calls `isRunning` until Postgres has the
 * statement: a statement that postgres.js still keeps cannot be taken back without losing its connection.
 * Resolves when the server has the order, so that it cannot hit the next statement of the connection; never
 * rejects.
 *
 * We do not call `Query.cancel()`: it drops a promise that rejects when the server cannot be reached, which
 * would end the process.
 */
async function cancelStatement(statement: unknown, isRunning: () => boolean): Promise<void> {
  if (typeof statement !== 'object' || statement === null) return
  const cancel: unknown = Reflect.get(statement, 'canceller')
  if (typeof cancel !== 'function') return
  while (Reflect.get(statement, 'active') !== true) {
    await sleep(retryMs, undefined, { ref: false })
    if (!isRunning()) return
  }
  await Promise.race([
    Promise.resolve(Reflect.apply(cancel, undefined, [statement])).catch(() => {}),
    sleep(cancelMs, undefined, { ref: false }),
  ])
}

const retryMs = 20
const cancelMs = 3_000
