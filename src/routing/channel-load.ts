import { counted } from '../canonical/counted.ts'
import type { Channel } from '../catalog/snapshot.ts'
import { RunningCounts } from '../runtime/running-counts.ts'

/**
 * The calls that this process is running on each channel, and their limit. Without a limit, a channel that
 * hangs would use up all the requests of the process, so that requests for healthy channels would be refused.
 */
export class ChannelLoad {
  readonly #running = new RunningCounts()
  readonly #concurrency: number

  /** `concurrency` applies to channels that set none themselves. */
  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  /** Returns why the channel cannot be called now, or undefined if it can. */
  whyFull({ id, concurrency = this.#concurrency }: Pick<Channel, 'id' | 'concurrency'>): string | undefined {
    if (this.#running.of(id) < concurrency) return undefined
    return `the channel is running ${counted(concurrency, 'request')} of this process, which is its limit`
  }

  /** The number of calls that this process is running on the channel, and the maximum. */
  of({ id, concurrency = this.#concurrency }: Pick<Channel, 'id' | 'concurrency'>) {
    return { running: this.#running.of(id), most: concurrency }
  }

  /** Counts a call from now on. Call the returned function once when the call ends. */
  begin({ id }: Pick<Channel, 'id'>): () => void {
    return this.#running.begin(id)
  }
}
