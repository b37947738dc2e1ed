import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../runtime/clock.ts'

export interface SharedRunsOptions {
  /** The minimum time between the starts of two runs; 0 means one run per turn of the event loop. */
  apartMs: number
  /** `since` is when the first of its callers joined, a time of `Clock.elapsed`. */
  run(since: number): Promise<boolean>
  clock: Clock
  /** Default: a timer. */
  pause?(ms: number): Promise<unknown>
}

/**
 * One run for all callers that join before it starts. Later callers may have written more, so they share the
 * next run, which starts `apartMs` after this one, however many callers there are.
 */
export class SharedRuns {
  readonly #options: SharedRunsOptions
  /** The run that has not started yet. */
  #next: Promise<boolean> | undefined
  /** Resolves when the next run can start. */
  #gap: Promise<unknown> | undefined

  constructor(options: SharedRunsOptions) {
    this.#options = options
  }

  join(): Promise<boolean> {
    this.#next ??= this.#begin()
    return this.#next
  }

  async #begin(): Promise<boolean> {
    const { apartMs, run, clock, pause = unheldSleep } = this.#options
    const since = clock.elapsed()
    await this.#gap
    // The journal writes the frames of a turn when the turn ends.
    await turn()
    this.#next = undefined
    this.#gap = apartMs === 0 ? undefined : pause(apartMs)
    return await run(since)
  }
}

/** A sleep that does not keep the process alive. */
function unheldSleep(ms: number): Promise<void> {
  return sleep(ms, undefined, { ref: false })
}
