import { setTimeout as sleep } from 'node:timers/promises'
import { isRecord, type Json } from '../src/canonical/json.ts'

export interface AnswerEventsOptions {
  /** The number of the first event. */
  first: number
  /** The bytes of one answer's events. */
  bytesMax: number
  /** False: the lease is lost. Rejects while Postgres is down. */
  keep(first: number, events: readonly string[]): Promise<boolean>
  onLost(): void
  /** Called when more may come after `full`. */
  onRoom(): void
}

/** Beyond this number of bytes not kept yet, the upstream waits. */
const heldBytesMax = 1024 * 1024
/** Between two pieces: a stream of single words must not be a transaction each. */
const pieceMs = 50
const againMs = 1_000

/** Keeps the events of a run in their order, in pieces, while they come. */
export class AnswerEvents {
  readonly #options: AnswerEventsOptions
  /** The number of the first event that is not kept yet. */
  #first: number
  #pending: string[] = []
  #heldBytes = 0
  #bytes = 0
  #isFull = false
  /** Nothing more is to be kept here. */
  #isOver = false
  /** Nothing waits for what is under way. */
  #isStopped = false
  #keeping: Promise<void> | undefined
  /** The items of the output that are whole. */
  readonly items: Json[] = []

  constructor(options: AnswerEventsOptions) {
    this.#options = options
    this.#first = options.first
  }

  get first(): number {
    return this.#first
  }

  /** Texts that are not kept yet. */
  get pending(): readonly string[] {
    return this.#pending
  }

  get count(): number {
    return this.#first + this.#pending.length
  }

  /** `full`: no more may come before `onRoom`. */
  add(event: Json): 'room' | 'full' | 'too large' {
    const text = JSON.stringify({ ...event, sequence_number: this.count })
    this.#bytes += text.length
    if (this.#bytes > this.#options.bytesMax) return 'too large'
    if (event.type === 'response.output_item.done' && isRecord(event.item)) this.items.push(event.item)
    this.#pending.push(text)
    this.#heldBytes += text.length
    this.#keeping ??= this.#keep()
    this.#isFull = this.#heldBytes > heldBytesMax
    return this.#isFull ? 'full' : 'room'
  }

  /**
   * Keep no more. Events that are pending can go with the end of the answer. Resolves when nothing is under
   * way.
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
    /** A piece that Postgres may have taken is sent again as it is. */
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
