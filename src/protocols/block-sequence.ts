import type { ChatEvent } from '../canonical/event.ts'

/**
 * Arranges the blocks of an answer one after another, for formats whose items do not overlap. If several
 * blocks are open, the first is passed on immediately. The events of the others wait until all blocks before
 * them have ended. Their size is bounded by a translation's `answerSizeMax`, like that of the whole answer.
 */
export class BlockSequence {
  /** The block that is being passed on. */
  #current: number | undefined
  /** Events of later blocks, in the order in which the blocks started. */
  readonly #waiting = new Map<number, ChatEvent[]>()

  /** Calls `pass` with each event that does not have to wait any longer. */
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

  /** Passes on the waiting blocks, up to the first one that has not ended. */
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
