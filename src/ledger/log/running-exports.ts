import { GatewayError } from '../../canonical/error.ts'

/** The exports that run in this process: their number is bounded, so that other reads of the usage log go on beside them. */
export class RunningExports {
  readonly #most: number
  readonly #running = new Set<{ owner: string }>()

  /** `exportsMax`: of all owners together. One owner may have half of them. */
  constructor({ exportsMax }: { exportsMax: number }) {
    this.#most = exportsMax
  }

  /** Count one more, until the caller calls the function that this returns. Throws `rate_limited` where it is one too many. */
  begin(owner: string): () => void {
    if (this.#running.size >= this.#most) throw tooMany(`${this.#most} exports run in this gateway process`)
    const most = Math.ceil(this.#most / 2)
    const own = [...this.#running].filter((each) => each.owner === owner)
    if (own.length >= most) throw tooMany(`${most} of your exports run in this gateway process`)
    const run = { owner }
    this.#running.add(run)
    return () => void this.#running.delete(run)
  }
}

function tooMany(running: string): GatewayError {
  return new GatewayError('rate_limited', `${running}, as many as may. Wait until one of them ends.`, {
    retryAfterSeconds: 5,
  })
}
