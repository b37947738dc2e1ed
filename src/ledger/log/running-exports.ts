import { gatewayError } from '../../canonical/error.ts'
import { Bulkhead } from '../../runtime/bulkhead.ts'

/**
 * The exports that run in this process: their number is bounded, so that other reads of the usage log go on
 * beside them.
 */
export class RunningExports {
  readonly #places: Bulkhead

  /** `exportsMax`: of all owners together. One owner may have half of them. */
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
   * Count one more, until the caller calls the function that this returns. Throws `rate_limited` where it is
   * one too many.
   */
  begin(owner: string): () => void {
    this.#places.requireRoom(owner)
    const run = { owner, begin() {} }
    this.#places.add(run)
    return () => void this.#places.end(run)
  }
}
