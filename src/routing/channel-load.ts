import { counted } from '../canonical/counted.ts'
import type { Channel } from '../catalog/snapshot.ts'
import { RunningCounts } from '../runtime/running-counts.ts'

/**
 * The calls that this process runs on each channel, and the bound on them. Without it, a channel that hangs
 * would take the places of all requests, and those of healthy channels would be refused.
 */
export class ChannelLoad {
  readonly #running = new RunningCounts()
  readonly #concurrency: number

  /** `concurrency`: for channels that name none. */
  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  /** Why the channel takes no call now; undefined: it does. */
  whyFull({ id, concurrency = this.#concurrency }: Pick<Channel, 'id' | 'concurrency'>): string | undefined {
    if (this.#running.of(id) < concurrency) return undefined
    return `it is running ${counted(concurrency, 'request')} of this process, which is its limit`
  }

  /** The calls that this process runs on it, and the most that it may run. */
  of({ id, concurrency = this.#concurrency }: Pick<Channel, 'id' | 'concurrency'>) {
    return { running: this.#running.of(id), most: concurrency }
  }

  /** A call begins. Call the function that it returns once, at its end. */
  begin({ id }: Pick<Channel, 'id'>): () => void {
    return this.#running.begin(id)
  }
}
