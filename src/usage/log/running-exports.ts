import { gatewayError } from '../../canonical/error.ts'
import { Bulkhead } from '../../runtime/bulkhead.ts'

/**
 * The exports running in this process. Their number is limited, so that other reads of the usage log are not
 * blocked.
 */
export class RunningExports {
  readonly #places: Bulkhead

  /** `exportsMax` is the limit for all owners together. One owner can use half of it. */
  constructor({ exportsMax }: { exportsMax: number }) {
    const most = Math.ceil(exportsMax / 2)
    this.#places = new Bulkhead({
      running: exportsMax,
      waiting: 0,
      perOwner: { running: most },
      refuse: ({ all }) =>
        all
          ? gatewayError('exports_full', { most: exportsMax }, { retryAfterSeconds: 5 })
          : gatewayError('own_exports_full', { most }, { retryAfterSeconds: 5 }),
    })
  }

  /**
   * Counts one more export until the returned function is called. Throws `rate_limited` if the limit is
   * exceeded.
   */
  begin(owner: string): () => void {
    this.#places.requireRoom(owner)
    const run = { owner, begin() {} }
    this.#places.add(run)
    return () => void this.#places.end(run)
  }
}
