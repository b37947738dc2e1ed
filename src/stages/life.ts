import type { GatewayError } from '../canonical/error.ts'
import type { Group } from '../catalog/snapshot.ts'
import type { Lease } from '../limits/limits.ts'
import type { Claim } from './idempotency-claim.ts'

/** What happens to a request while it runs. */
export interface Life {
  /** Among the requests that run now; -1: it is none of them. */
  place: number
  ended: boolean
  clientGone: boolean
  shuttingDown: boolean
  /** The upstream call, or the wait, that runs now. */
  running: Running | undefined
  /** What becomes of the upstream call when the client leaves; undefined: it is hung up on. */
  whenClientLeaves: Group['clientGone'] | undefined
  /** What it holds of its limits. */
  lease: Lease | undefined
  /** What it holds of its Idempotency-Key. */
  claim: Claim | undefined
  /** Run at the end: timers to clear. */
  readonly releases: (() => void)[]
  /** Run at the end, once nothing can still read the request's bytes: memory to use again. */
  readonly slabs: (() => void)[]
}

export interface Running {
  resume(): void
  abort(reason: GatewayError): void
}

export function newLife(): Life {
  return {
    place: -1,
    ended: false,
    clientGone: false,
    shuttingDown: false,
    running: undefined,
    whenClientLeaves: undefined,
    lease: undefined,
    claim: undefined,
    releases: [],
    slabs: [],
  }
}
