import { setTimeout as sleep } from 'node:timers/promises'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { Bulkhead, type BulkheadEntry } from '../runtime/bulkhead.ts'
import { LateError } from '../runtime/in-time.ts'
import type { Connections } from './connections.ts'
import { asStorageFull, isAnswer, isPassing, reasonOf } from './failures.ts'

/**
 * One statement, or a few that belong together. It runs at most once, when a connection is free.
 * `Terms.signal` can cancel it on the server if the function returns the statement itself, or passes each of
 * its statements to `running`.
 */
export type PoolQuery<T> = (connections: Connections, running: Cancellable) => PromiseLike<T>

/** Returns the statement, which can be cancelled from now on. Throws if the caller has left. */
export type Cancellable = <Statement>(statement: Statement) => Statement

export interface Terms {
  /**
   * The maximum time that the caller waits for a free connection and the answer together. Default: the
   * pool's.
   */
  withinMs?: number
  /** The error message for the client if there is no answer. It must tell the client to try again. */
  unavailable?: string
  /** Default 2. */
  retryAfterSeconds?: number
  /** The tenant making the query, if `PoolOptions.perOwner` limits queries per owner. */
  owner?: string
  /**
   * Aborts when the caller has left. A waiting query is then never sent, a running one is cancelled on the
   * server, and `ask` rejects with the signal's reason.
   */
  signal?: AbortSignal
}

export interface PoolOptions {
  open(): Connections
  /** The maximum number of concurrent queries. Further ones wait in order of arrival. */
  atOnce: number
  /** The default of `Terms.withinMs`. */
  withinMs: number
  /**
   * The server cancels a statement after this time. Until then, a late answer does not mean that the
   * connection is dead.
   */
  statementMs?: number
  /**
   * Limits the queries of each owner. If `waitingMax` queries already wait, further ones are `rate_limited`.
   */
  perOwner?: { atOnce: number; waitingMax: number }
  /** Called when Postgres has answered, even with an error. */
  onAnswer?(): void
  /** Called when Postgres has not answered a query that began at `begunAt`, a time from performance.now(). */
  onSilence?(begunAt: number, late: boolean): void
}

/** Runs queries for one purpose, on connections that no other purpose can use. */
export class Pool {
  readonly #options: PoolOptions
  readonly #turns: Bulkhead<PendingQuestion>
  /** The generations whose connections have not been closed. */
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
   * Runs a query and waits no longer than the terms allow. If the query is still waiting for its turn by
   * then, it is never sent; if it was sent, Postgres may still run it. Once a connection has not answered,
   * later queries get new connections.
   * Rejects with GatewayError `unavailable` if Postgres does not answer or is temporarily unable to, and with
   * `rate_limited` if too many queries of the owner are waiting or the tenant's storage is full. Rejects with
   * the Postgres error if the statement itself is wrong, which is a bug of ours.
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
        // A signal can outlive many queries.
        forget: () => signal?.removeEventListener('abort', abandon),
        run: async (connections) => {
          let isNoted = false
          const asked = query(connections, (statement) => {
            signal?.throwIfAborted()
            isNoted = true
            pending.statement = statement
            return statement
          })
          if (!isNoted) pending.statement = asked
          resolve(await asked)
        },
        statement: undefined,
        cancelling: undefined,
        refuse: (cause, reason = 'database_away') =>
          reject(isPassing(cause) ? unavailable(reason, cause, terms) : (asStorageFull(cause) ?? cause)),
        begun: undefined,
        // Timers run before sockets are read, so one more turn lets an answer that has already arrived win.
        timer: setTimeout(() => setImmediate(() => this.#endWait(pending, withinMs)), withinMs),
      }
      signal?.addEventListener('abort', abandon, { once: true })
      this.#turns.add(pending)
    })
  }

  /** Called when the caller has left. A running query keeps its slot until the server has cancelled it. */
  #abandon(pending: PendingQuestion, reason: unknown): void {
    pending.refuse(reason)
    if (this.#turns.withdraw(pending)) clearTimeout(pending.timer)
    else if (this.#turns.running.has(pending))
      pending.cancelling = cancelStatement(pending.statement, () => pending.statement !== undefined)
  }

  /**
   * Gives later queries new connections, at most once per second. Statements on the old connections can still
   * finish, because a statement that is merely slow must not be cut off.
   */
  renew(): void {
    if (this.#current.used) this.#renew(this.#current)
  }

  /** Rejects all queries with `cause` and renews the connections of the running ones. */
  refuseAll(cause: unknown): void {
    this.#refuseWaiting(cause)
    for (const pending of this.#turns.running) {
      pending.refuse(cause)
      this.#giveUp(pending)
    }
  }

  /** Waits two seconds for running queries, then cancels them. Rejects the waiting ones. */
  async close(): Promise<void> {
    this.#closed = true
    const ended = [...this.#generations].map(({ connections }) => connections.end())
    this.#refuseWaiting(new LateError('the process is shutting down'))
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
      // If the caller gave up on the query, onSilence has already been called.
      else if (isPassing(cause) && this.#turns.running.has(pending)) onSilence?.(begunAt, false)
      pending.refuse(cause)
    }
    pending.statement = undefined
    if (pending.cancelling !== undefined) await pending.cancelling
    this.#leave(pending)
  }

  /** Called when the caller has waited long enough. */
  #endWait(pending: PendingQuestion, waitedMs: number): void {
    const { statementMs } = this.#options
    const late = new LateError(`the database did not answer within ${waitedMs} ms`)
    // The query was waiting for other queries, which says nothing about Postgres.
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

  /** Stops waiting for a running query, because its connection may be dead. */
  #giveUp(pending: PendingQuestion): void {
    const { begun } = pending
    if (begun === undefined || !this.#leave(pending)) return
    this.#renew(begun.generation)
    this.#options.onSilence?.(begun.at, true)
  }

  /** Returns false if the query had already left. */
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
/** How long after `statementMs` the server may take to report the end of a statement. */
const lateMs = 1_000

/** Why there was no answer: Postgres did not respond, or no connection was free for the query. */
type Away = 'database_away' | 'database_pool_full'

/** A query and its caller's promise. */
interface PendingQuestion extends BulkheadEntry {
  run(connections: Connections): Promise<void>
  refuse(cause: unknown, reason?: Away): void
  /** Stops listening to the caller's signal. */
  forget(): void
  /**
   * The postgres.js statement that runs, or the promise that the query returned. Undefined before it begins
   * and after it has ended.
   */
  statement: unknown
  /** Set once the caller has left. Resolves when the server has been told to cancel the statement. */
  cancelling: Promise<void> | undefined
  /** Undefined while the query waits for its turn. */
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
  /** True if no more queries are sent on these connections. */
  retired: boolean
}

function unavailable(
  reason: Away,
  cause: unknown,
  {
    unavailable: message = 'The database is not responding at the moment. Try again shortly.',
    retryAfterSeconds = 2,
  }: Terms,
): GatewayError {
  return gatewayError(reason, { message }, { cause, retryAfterSeconds })
}

/**
 * Cancels a postgres.js statement on the server; does nothing for anything else. While postgres.js still
 * queues the statement, it cannot be withdrawn without losing its connection, so this waits until Postgres
 * has it, as long as `isRunning` returns true. Resolves when the server has received the request, so that it
 * cannot hit the connection's next statement; never rejects.
 * `Query.cancel()` is not used, because it drops a promise that rejects if the server is unreachable, which
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
