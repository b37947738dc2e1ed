import type { GatewayError } from '../canonical/error.ts'
import type { Group } from '../catalog/snapshot.ts'
import type { LimitLease } from '../limits/limits.ts'
import type { Claim } from './idempotency-claim.ts'

/** Thrown where a request goes no further because its client has left. Its exit writes the row. */
export class ClientLeft extends Error {
  constructor() {
    super('the client has left')
  }
}

/** Throws ClientLeft. */
export function requireClient({ life }: { life: Pick<Life, 'clientGone'> }): void {
  if (life.clientGone) throw new ClientLeft()
}

/** The state of a running request. */
export interface Life {
  /** Its index in `RunningRequests`; -1: it does not run. */
  place: number
  ended: boolean
  clientGone: boolean
  /** Its id, once its beginning is in the journal. */
  inJournal: string | undefined
  /** Another process has recorded the request as orphaned, or may have: it ends with this error. */
  cut: GatewayError | undefined
  shuttingDown: boolean
  /** The upstream call, or the wait, of this moment. */
  running: Running | undefined
  /** What to do with the upstream call when the client leaves; undefined: abort it. */
  whenClientLeaves: Group['clientGone'] | undefined
  /** Its share of its limits. */
  lease: LimitLease | undefined
  /** Its claim on its Idempotency-Key. */
  claim: Claim | undefined
  /** Run at the end, such as to clear timers. */
  readonly releases: (() => void)[]
  /** Run at the end, when nothing can still read the request's bytes: they return memory for reuse. */
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
    inJournal: undefined,
    cut: undefined,
    shuttingDown: false,
    running: undefined,
    whenClientLeaves: undefined,
    lease: undefined,
    claim: undefined,
    releases: [],
    slabs: [],
  }
}
