import type { Clock } from '../runtime/clock.ts'

export interface FenceOptions {
  /** A process that was frozen for this long may have been taken for dead. */
  pauseMs: number
  /** The maximum wait for an answer from Postgres. */
  waitMs: number
  clock: Clock
  /**
   * Queries Postgres whether this process still counts as live, and calls `confirm` with the token if it
   * does.
   */
  ask(token: number): void
  /**
   * Called when Postgres did not answer in time, or before this process stopped. Requests with ids lower than
   * `since` began before the pause.
   */
  onUnanswered(since: string): void
}

interface Doubt {
  since: string
  token: number
  /** Resolves when Postgres has answered or the time is up. */
  settled: PromiseWithResolvers<void>
  late: NodeJS.Timeout
}

/**
 * Ids of requests that begin within this time still count as older, because ids have no order within a
 * millisecond.
 */
const ambiguousMs = 2

/**
 * Detects that this process was frozen, for example in a suspended container, for long enough that other
 * processes may have taken it for dead and adopted its journal. Until Postgres has answered, its requests
 * must not send anything.
 * A process that runs but cannot reach Postgres is not in doubt: it keeps serving, and learns its state with
 * its next heartbeat.
 */
export class Fence {
  readonly #options: FenceOptions
  readonly #timer: NodeJS.Timeout
  /**
   * Both clocks are compared, because suspending a machine stops the monotonic clock but freezing a container
   * does not.
   */
  #seenElapsed: number
  #seenNow: number
  #doubt: Doubt | undefined
  #nextToken = 1

  constructor(options: FenceOptions) {
    this.#options = options
    this.#seenElapsed = options.clock.elapsed()
    this.#seenNow = options.clock.now()
    this.#timer = setInterval(() => this.#look(), options.pauseMs / 4).unref()
  }

  /**
   * Undefined if this process is live. Otherwise the caller must wait for the promise and call this again.
   */
  doubt(): Promise<void> | undefined {
    this.#look()
    return this.#doubt?.settled.promise
  }

  /** Like `doubt`, but for one request. A request that began after the pause is not in doubt. */
  doubtOf(id: string): Promise<void> | undefined {
    this.#look()
    const doubt = this.#doubt
    return doubt === undefined || id > doubt.since ? undefined : doubt.settled.promise
  }

  /** Must be called when Postgres has answered that this process is live. */
  confirm(token: number): void {
    if (this.#doubt?.token === token) this.end()
  }

  /** Must be called when other processes may have adopted the journal. Returns `since`. */
  raise(): string {
    const since = idOf(this.#options.clock.now() + ambiguousMs)
    const settled = this.#doubt?.settled ?? Promise.withResolvers<void>()
    clearTimeout(this.#doubt?.late)
    const late = setTimeout(() => {
      this.#options.onUnanswered(since)
      this.end()
    }, this.#options.waitMs).unref()
    this.#doubt = { since, token: this.#nextToken++, settled, late }
    return since
  }

  /** Must be called once it is known what may be sent. */
  end(): void {
    clearTimeout(this.#doubt?.late)
    this.#doubt?.settled.resolve()
    this.#doubt = undefined
  }

  stop(): void {
    clearInterval(this.#timer)
    if (this.#doubt !== undefined) this.#options.onUnanswered(this.#doubt.since)
    this.end()
  }

  /**
   * The event loop can read from upstreams before it runs timers, so this is called before anything is sent.
   */
  #look(): void {
    const { clock } = this.#options
    const elapsed = clock.elapsed()
    const now = clock.now()
    const stoodMs = Math.max(elapsed - this.#seenElapsed, now - this.#seenNow)
    this.#seenElapsed = elapsed
    this.#seenNow = now
    if (stoodMs < this.#options.pauseMs) return
    this.raise()
    if (this.#doubt !== undefined) this.#options.ask(this.#doubt.token)
  }
}

/** The prefix of the uuidv7s of that millisecond. */
function idOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
