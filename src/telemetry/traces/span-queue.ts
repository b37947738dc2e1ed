import { Backoff } from '../../runtime/backoff.ts'
import type { Span } from './span.ts'

/** The collector's response to a batch. `later` means that the same batch may be accepted after a pause. */
export type Sent =
  | { kind: 'taken'; rejected: number }
  | { kind: 'refused' | 'later'; why: string; afterMs?: number }

export interface SpanQueueOptions {
  spansMax: number
  batchMax: number
  /** How long spans wait for more spans. */
  delayMs: number
  send(spans: readonly Span[]): Promise<Sent>
  /** Called once on the first failure, and once when the collector accepts spans again. */
  onState(failure: string | undefined): void
}

/** Counts the exported spans, and the lost ones by reason. */
export interface SpanCounts {
  exported: number
  /** The queue was full. */
  dropped: number
  /** The collector rejected them, or did not accept them in time. */
  failed: number
}

/** The maximum number of tries per batch. */
const triesMax = 5
const pausesMs = { least: 1_000, most: 15_000 }

/**
 * Spans on their way to the collector. It holds at most `spansMax` spans; if there is no room for those of a
 * trace, they are dropped and counted. One batch is sent at a time, and nothing waits for it.
 */
export class SpanQueue {
  readonly counts: SpanCounts = { exported: 0, dropped: 0, failed: 0 }
  readonly #options: SpanQueueOptions
  #waiting: Span[] = []
  /** The number of spans in the batch being sent. They count towards the limit too. */
  #sending = 0
  #timer: NodeJS.Timeout | undefined
  #pause: { timer: NodeJS.Timeout; end(): void } | undefined
  #running: Promise<void> | undefined
  #isEnding = false
  #failure: string | undefined

  constructor(options: SpanQueueOptions) {
    this.#options = options
  }

  /** The number of spans that are waiting or being sent. */
  get size(): number {
    return this.#waiting.length + this.#sending
  }

  /**
   * Adds all of the spans, or none if there is not enough room, because half a trace would be misleading.
   * `isAsked` means that they are recorded only at the client's request. Such spans get half of the room, so
   * that a client that requests all of its traces leaves room for those that we sample.
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

  /** Sends the remaining spans, for at most `withinMs`. Any spans left after that are counted as failed. */
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
      // `end` has already counted the batch.
      if (this.#sending === 0) return
      if (sent.kind === 'taken') {
        // A collector may report any number.
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

  /** Never rejects, because spans that cannot be encoded must not end the process. */
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
