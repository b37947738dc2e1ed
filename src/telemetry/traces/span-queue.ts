import { Backoff } from '../../runtime/backoff.ts'
import type { Span } from './span.ts'

/** What a collector said about a batch. `later`: it may take the same batch after a pause. */
export type Sent =
  | { kind: 'taken'; rejected: number }
  | { kind: 'refused' | 'later'; why: string; afterMs?: number }

export interface SpanQueueOptions {
  spansMax: number
  batchMax: number
  /** Time that spans wait for more. */
  delayMs: number
  send(spans: readonly Span[]): Promise<Sent>
  /** Called once at the first failure, and once when the collector takes spans again. */
  onState(failure: string | undefined): void
}

/** Spans that were exported, and those that are lost, by reason. */
export interface SpanCounts {
  exported: number
  /** The queue was full. */
  dropped: number
  /** The collector refused them, or did not take them in time. */
  failed: number
}

/** Tries of one batch. */
const triesMax = 5
const pausesMs = { least: 1_000, most: 15_000 }

/**
 * Spans on their way to the collector. It holds at most `spansMax`: those of a trace for which there is no
 * room are dropped, and counted. One batch is sent at a time, and nothing waits for it.
 */
export class SpanQueue {
  readonly counts: SpanCounts = { exported: 0, dropped: 0, failed: 0 }
  readonly #options: SpanQueueOptions
  #waiting: Span[] = []
  /** Spans of the batch that is being sent. They count against the bound too. */
  #sending = 0
  #timer: NodeJS.Timeout | undefined
  #pause: { timer: NodeJS.Timeout; end(): void } | undefined
  #running: Promise<void> | undefined
  #isEnding = false
  #failure: string | undefined

  constructor(options: SpanQueueOptions) {
    this.#options = options
  }

  /** Spans that wait or are being sent. */
  get size(): number {
    return this.#waiting.length + this.#sending
  }

  /**
   * All of them or, where they have no room, none: half of a trace misleads. `isAsked`: only a client asks
   * for them. They get half of the room, so that a client that asks for all of its traces leaves some for
   * those that we chose.
   */
  add(spans: readonly Span[], isAsked = false): void {
    const { spansMax, batchMax, delayMs } = this.#options
    const most = isAsked ? spansMax / 2 : spansMax
    if (this.#isEnding || this.size + spans.length > most) {
      this.counts.dropped += spans.length
      return
    }
    for (const span of spans) this.#waiting.push(span)
    if (this.#running !== undefined) return
    if (this.#waiting.length >= batchMax) this.#start()
    else this.#timer ??= setTimeout(() => this.#start(), delayMs).unref()
  }

  /** Send what is left, for at most `withinMs`. What is left then is counted as failed. */
  async end(withinMs: number): Promise<void> {
    this.#isEnding = true
    this.#pause?.end()
    if (this.#running === undefined && this.#waiting.length > 0) this.#start()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs)
    })
    await Promise.race([this.#running, late])
    clearTimeout(timer)
    this.counts.failed += this.size
    this.#waiting = []
    this.#sending = 0
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#running = this.#run().finally(() => {
      this.#running = undefined
      if (this.#waiting.length > 0 && !this.#isEnding)
        this.#timer = setTimeout(() => this.#start(), this.#options.delayMs).unref()
    })
  }

  async #run(): Promise<void> {
    const { batchMax } = this.#options
    do {
      const batch = this.#waiting.splice(0, batchMax)
      this.#sending = batch.length
      await this.#sendBatch(batch)
      this.#sending = 0
    } while (this.#waiting.length >= batchMax || (this.#isEnding && this.#waiting.length > 0))
  }

  async #sendBatch(batch: readonly Span[]): Promise<void> {
    const pauses = new Backoff(pausesMs)
    for (let tries = 1; ; tries++) {
      const sent = await this.#try(batch)
      // `end` has counted it.
      if (this.#sending === 0) return
      if (sent.kind === 'taken') {
        // A collector may say any number.
        const rejected = Math.min(batch.length, Math.max(0, sent.rejected))
        this.counts.exported += batch.length - rejected
        this.counts.failed += rejected
        this.#note(undefined)
        return
      }
      this.#note(sent.why)
      if (sent.kind === 'refused' || tries === triesMax || this.#isEnding) {
        this.counts.failed += batch.length
        return
      }
      await this.#wait(pauses.next(sent.afterMs))
    }
  }

  /** Never rejects: spans that cannot be encoded must not end the process. */
  async #try(batch: readonly Span[]): Promise<Sent> {
    try {
      return await this.#options.send(batch)
    } catch (error) {
      return { kind: 'refused', why: `a batch cannot be sent: ${String(error)}` }
    }
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(this.#pause?.timer)
        this.#pause = undefined
        resolve()
      }
      this.#pause = { timer: setTimeout(end, ms).unref(), end }
    })
  }

  #note(failure: string | undefined): void {
    const wasFailing = this.#failure !== undefined
    this.#failure = failure
    if (wasFailing !== (failure !== undefined)) this.#options.onState(failure)
  }
}
