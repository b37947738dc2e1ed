import type { AnswerBlock, ChatEvent, Delta } from '../canonical/event.ts'

/** Numbers the blocks of an answer and buffers its events until `take`. */
export class EventWriter {
  #events: ChatEvent[] = []
  #blocks = 0

  /** The number of blocks started so far, which is the index of the next one. */
  get blocks(): number {
    return this.#blocks
  }

  push(event: ChatEvent): void {
    this.#events.push(event)
  }

  /** Starts a block and returns its index. */
  start(block: AnswerBlock): number {
    const index = this.#blocks++
    this.#events.push({ type: 'block-start', index, block })
    return index
  }

  delta(index: number, delta: Delta): void {
    this.#events.push({ type: 'block-delta', index, delta })
  }

  text(index: number, text: string): void {
    if (text !== '') this.delta(index, { type: 'text', text })
  }

  end(index: number): void {
    this.#events.push({ type: 'block-end', index })
  }

  /** Returns the events added since the last `take`. */
  take(): ChatEvent[] {
    const events = this.#events
    this.#events = []
    return events
  }
}
