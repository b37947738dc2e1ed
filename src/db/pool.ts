import { GatewayError } from '../canonical/error.ts'
import { LateError } from '../in-time.ts'
import type { Connections } from './connections.ts'
import { isAnswer, isPassing, reasonOf } from './failures.ts'

/** One statement, or a few that belong together. It runs when a connection is free for it, at most once. */
export type Question<T> = (connections: Connections) => PromiseLike<T>

export interface Terms {
  /** How long the caller waits, for a free connection and for the answer together. Default: the pool's. */
  withinMs?: number
  /** What the client is told when there is no answer. It says to try again. */
  unavailable?: string
  /** Default 2. */
  retryAfterSeconds?: number
}

export interface PoolOptions {
  open(): Connections
  /** Questions that run at once; the others wait for their turn, in the order of arrival. */
  atOnce: number
  /** Default of `Terms.withinMs`. */
  withinMs: number
  /** The server ends a statement after so long. Until then a late answer is no sign of a dead connection. */
  statementMs?: number
  /** Postgres answered something, be it an error. */
  onAnswer?(): void
  /** It did not answer a question that was begun at this moment of performance.now(). */
  onSilence?(begunAt: number, late: boolean): void
}

/** Asks Postgres for one purpose, on connections that no other purpose can take. */
export class Pool {
  readonly #options: PoolOptions
  readonly #waiting = new Set<Asked>()
  readonly #running = new Set<Asked>()
  /** Those whose connections have not ended. */
  readonly #generations = new Set<Generation>()
  #current: Generation
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#current = this.#open()
  }

  /**
   * Ask, and wait no longer than the terms say. A question whose turn has not come by then is never sent; one that was
   * sent may still be carried out. When no answer comes on a connection, later questions get new ones.
   *
   * Rejects with GatewayError `unavailable` when Postgres does not answer, or cannot just now. Rejects with the error
   * itself when Postgres refused the statement for what it says: that is a bug of ours.
   */
  ask<T>(question: Question<T>, terms: Terms = {}): Promise<T> {
    const { withinMs = this.#options.withinMs } = terms
    return new Promise((resolve, reject) => {
      const asked: Asked = {
        run: async (connections) => resolve(await question(connections)),
        refuse: (cause) => reject(isPassing(cause) ? unavailable(cause, terms) : cause),
        begun: undefined,
        // Timers run before sockets are read: one more turn lets an answer that waits there come first.
        timer: setTimeout(() => setImmediate(() => this.#endWait(asked, withinMs)), withinMs),
      }
      this.#waiting.add(asked)
      this.#beginNext()
    })
  }

  /**
   * Give later questions new connections, at most once a second. What runs on the old ones may end there: a statement
   * that is only slow is not cut off.
   */
  renew(): void {
    if (this.#current.used) this.#renew(this.#current)
  }

  /** Tell all who wait that Postgres does not answer, and renew. */
  refuseAll(cause: unknown): void {
    for (const asked of this.#waiting) {
      this.#waiting.delete(asked)
      clearTimeout(asked.timer)
      asked.refuse(cause)
    }
    for (const asked of this.#running) {
      asked.refuse(cause)
      this.#giveUp(asked)
    }
  }

  /** Waits two seconds for what runs, then ends it. What waits is refused. */
  async close(): Promise<void> {
    this.#closed = true
    const ended = [...this.#generations].map(({ connections }) => connections.end())
    for (const asked of this.#waiting) {
      clearTimeout(asked.timer)
      asked.refuse(new LateError('the process ends'))
    }
    this.#waiting.clear()
    await Promise.all(ended)
  }

  #beginNext(): void {
    for (const asked of this.#waiting) {
      if (this.#running.size >= this.#options.atOnce) return
      this.#waiting.delete(asked)
      void this.#run(asked)
    }
  }

  async #run(asked: Asked): Promise<void> {
    const { onAnswer, onSilence } = this.#options
    const generation = this.#current
    const begunAt = performance.now()
    generation.used = true
    generation.running.add(asked)
    asked.begun = { at: begunAt, generation }
    this.#running.add(asked)
    try {
      await asked.run(generation.connections)
      onAnswer?.()
    } catch (error) {
      const cause = reasonOf(error)
      if (isAnswer(cause)) onAnswer?.()
      // One that was given up has been told of already.
      else if (isPassing(cause) && this.#running.has(asked)) onSilence?.(begunAt, false)
      asked.refuse(cause)
    }
    this.#leave(asked)
  }

  /** The caller has waited long enough. */
  #endWait(asked: Asked, waitedMs: number): void {
    const { statementMs } = this.#options
    asked.refuse(new LateError(`the database did not answer within ${waitedMs} ms`))
    // Others kept it from being asked: that says nothing about Postgres.
    if (this.#waiting.delete(asked) || asked.begun === undefined) return
    const graceMs = statementMs === undefined ? 0 : asked.begun.at + statementMs + lateMs - performance.now()
    if (graceMs <= 0) this.#giveUp(asked)
    else asked.timer = setTimeout(() => this.#giveUp(asked), graceMs).unref()
  }

  /** Its connection may be dead: nobody counts on it any more. */
  #giveUp(asked: Asked): void {
    const { begun } = asked
    if (begun === undefined || !this.#leave(asked)) return
    this.#renew(begun.generation)
    this.#options.onSilence?.(begun.at, true)
  }

  /** False: it had left before. */
  #leave(asked: Asked): boolean {
    clearTimeout(asked.timer)
    if (!this.#running.delete(asked)) return false
    const generation = asked.begun?.generation
    generation?.running.delete(asked)
    if (generation?.retired === true && generation.running.size === 0) this.#end(generation)
    this.#beginNext()
    return true
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

const renewMs = 1_000
/** How much later than its time the end of a statement may be told. */
const lateMs = 1_000

interface Asked {
  run(connections: Connections): Promise<void>
  refuse(cause: unknown): void
  /** Undefined while it waits for its turn. */
  begun: { at: number; generation: Generation } | undefined
  timer: NodeJS.Timeout
}

/** Connections that were opened together. */
interface Generation {
  connections: Connections
  openedAt: number
  running: Set<Asked>
  used: boolean
  renewing: boolean
  /** Nothing is asked on them any more. */
  retired: boolean
}

function unavailable(
  cause: unknown,
  { unavailable: message = 'The database does not answer just now. Try again shortly.', ...terms }: Terms,
): GatewayError {
  const { retryAfterSeconds = 2 } = terms
  return new GatewayError('unavailable', message, { cause, retryAfterSeconds })
}
