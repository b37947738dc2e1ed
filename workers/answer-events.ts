import { setTimeout as sleep } from 'node:timers/promises'
import type { Json } from '../src/canonical/json.ts'
import type { BackgroundForm } from '../src/protocols/protocol-state.ts'

export interface AnswerEventsOptions {
  form: Pick<BackgroundForm, 'numbered' | 'itemIn'>
  /** The number of the first event. */
  first: number
  /** The maximum number of bytes of all the events of one answer. */
  bytesMax: number
  /** Resolves with false if the lease is lost. Rejects while Postgres is down. */
  keep(first: number, events: readonly string[]): Promise<boolean>
  onLost(): void
  /** Called when events can be added again after `full`. */
  onRoom(): void
}

/** When more than this many bytes are waiting to be stored, the upstream is paused. */
const heldBytesMax = 1024 * 1024
/** The pause between pieces. Without it, a stream of single words would cause a transaction for each word. */
const pieceMs = 50
const againMs = 1_000

/** Stores the events of a run in order and in pieces, as they arrive. */
export class AnswerEvents {
  readonly #options: AnswerEventsOptions
  /** The number of the first event that is not stored yet. */
  #first: number
  #pending: string[] = []
  #heldBytes = 0
  #bytes = 0
  #isFull = false
  /** Whether nothing more is to be stored here. */
  #isOver = false
  /** Whether to stop without waiting for the events in progress. */
  #isStopped = false
  #keeping: Promise<void> | undefined
  /** The completed output items. */
  readonly items: Json[] = []

  constructor(options: AnswerEventsOptions) {
    this.#options = options
    this.#first = options.first
  }

  get first(): number {
    return this.#first
  }

  /** The texts that are not stored yet. */
  get pending(): readonly string[] {
    return this.#pending
  }

  get count(): number {
    return this.#first + this.#pending.length
  }

  /** Adds an event. After `full`, none can be added until `onRoom` is called. */
  add(event: Json): 'room' | 'full' | 'too large' {
    const { form } = this.#options
    const text = JSON.stringify(form.numbered(event, this.count))
    this.#bytes += text.length
    if (this.#bytes > this.#options.bytesMax) return 'too large'
    const item = form.itemIn(event)
    if (item !== undefined) this.items.push(item)
    this.#pending.push(text)
    this.#heldBytes += text.length
    this.#keeping ??= this.#keep()
    this.#isFull = this.#heldBytes > heldBytesMax
    return this.#isFull ? 'full' : 'room'
  }

  /**
   * Stops storing events. Those still pending can be stored with the end of the answer. Resolves when nothing
   * is in progress.
   */
  async settled(): Promise<void> {
    this.#isOver = true
    await this.#keeping
  }

  stop(): void {
    this.#isOver = true
    this.#isStopped = true
  }

  async #keep(): Promise<void> {
    /** A piece that Postgres may have received is sent again unchanged. */
    let piece: string[] | undefined
    while (!this.#isStopped && (piece !== undefined || (this.#pending.length > 0 && !this.#isOver))) {
      piece ??= this.#pending.slice()
      const isHeld = await this.#options.keep(this.#first, piece).catch(() => undefined)
      if (isHeld === false) {
        this.#isOver = true
        this.#options.onLost()
        break
      }
      if (isHeld === undefined) {
        await sleep(againMs)
        continue
      }
      this.#first += piece.length
      this.#pending = this.#pending.slice(piece.length)
      piece = undefined
      this.#heldBytes = this.#pending.reduce((sum, text) => sum + text.length, 0)
      if (this.#isFull && this.#heldBytes <= heldBytesMax) {
        this.#isFull = false
        this.#options.onRoom()
      }
      await sleep(pieceMs)
    }
    this.#keeping = undefined
  }
}
