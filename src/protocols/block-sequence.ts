import type { ChatEvent } from '../canonical/event.ts'

/**
 * Puts the blocks of an answer one after the other, for formats whose items do not overlap. Of several open
 * blocks the first passes at once. The events of the others wait until all blocks before them have ended;
 * `answerSizeMax` of a translation bounds them, as it bounds the whole answer.
 */
export class BlockSequence {
  /** The block that passes now. */
  #current: number | undefined
  /** Events of later blocks, in the order of the blocks' starts. */
  readonly #waiting = new Map<number, ChatEvent[]>()

  /** Calls `pass` with the events whose turn it is. */
  take(event: ChatEvent, pass: (event: ChatEvent) => void): void {
    switch (event.type) {
      case 'block-start':
        if (this.#current === undefined) this.#current = event.index
        else this.#waiting.set(event.index, [])
        break
      case 'start':
      case 'finish':
      case 'error':
        pass(event)
        return
    }
    if (event.index !== this.#current) {
      this.#waiting.get(event.index)?.push(event)
      return
    }
    pass(event)
    if (event.type === 'block-end') this.#passNext(pass)
  }

  /** Pass the waiting blocks, up to the first one that has not ended. */
  #passNext(pass: (event: ChatEvent) => void): void {
    this.#current = undefined
    for (const [index, events] of this.#waiting) {
      this.#waiting.delete(index)
      this.#current = index
      for (const event of events) pass(event)
      if (events.at(-1)?.type !== 'block-end') return
      this.#current = undefined
    }
  }
}
