import type { Clock } from '../runtime/clock.ts'

export interface FenceOptions {
  /** A process that was frozen for this time may have been taken for dead. */
  pauseMs: number
  /** The longest wait for the answer of Postgres. */
  waitMs: number
  clock: Clock
  /**
   * Ask Postgres whether this process still counts as living, and call `confirm` with the token when it does.
   */
  ask(token: number): void
  /** Postgres did not answer in time. Requests whose ids are lower than `since` began before the pause. */
  onUnanswered(since: string): void
}

interface Doubt {
  since: string
  token: number
  /** Resolves when Postgres has answered, and when it has not answered in time. */
  settled: PromiseWithResolvers<void>
  late: NodeJS.Timeout
}

/**
 * Ids of requests that begin within this time still count as older: within a millisecond, ids have no order.
 */
const ambiguousMs = 2

/**
 * Notices when this process was frozen, as in a suspended container, for long enough that others may have
 * taken it for dead and adopted its journal. Until Postgres has answered, its requests must send nothing
 * more.
 *
 * A process that runs but does not reach Postgres is in no doubt: it serves on, and learns it with its next
 * heartbeat.
 */
export class Fence {
  readonly #options: FenceOptions
  readonly #timer: NodeJS.Timeout
  /** A suspended machine stops the monotonic clock, a container that is frozen does not. */
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

  /** Undefined: this process is live. Else wait for it, and look again. */
  doubt(): Promise<void> | undefined {
    this.#look()
    return this.#doubt?.settled.promise
  }

  /** As `doubt`, for a request: one that began after the pause is in no doubt. */
  doubtOf(id: string): Promise<void> | undefined {
    this.#look()
    const doubt = this.#doubt
    return doubt === undefined || id > doubt.since ? undefined : doubt.settled.promise
  }

  /** Postgres has answered `ask`: this process is live. */
  confirm(token: number): void {
    if (this.#doubt?.token === token) this.end()
  }

  /** Others may have adopted the journal. Returns `since`. */
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

  /** What may be sent is known. */
  end(): void {
    clearTimeout(this.#doubt?.late)
    this.#doubt?.settled.resolve()
    this.#doubt = undefined
  }

  stop(): void {
    clearInterval(this.#timer)
    this.end()
  }

  /**
   * The event loop may read from upstreams before it runs timers. So everyone who wants to send calls this.
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

/** The beginning of the uuidv7s of that millisecond. */
function idOf(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}`
}
