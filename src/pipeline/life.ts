import type { GatewayError } from '../canonical/error.ts'
import type { Group } from '../catalog/snapshot.ts'
import type { LimitLease } from '../limits/limits.ts'
import type { Claim } from './idempotency-claim.ts'

/** Thrown when a request is abandoned because its client has left. The request's exit writes the row. */
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
  /** Its index in `RunningRequests`; -1 when it is not running. */
  place: number
  ended: boolean
  clientGone: boolean
  /** Its id, once its first half is in the journal. */
  inJournal: string | undefined
  /** Set when another process has, or may have, recorded the request as orphaned: it ends with this error. */
  cut: GatewayError | undefined
  shuttingDown: boolean
  /** The current upstream call or wait. */
  running: Running | undefined
  /** What to do with the upstream call when the client leaves; undefined means abort it. */
  whenClientLeaves: Group['clientGone'] | undefined
  /** The request's lease of its limits. */
  lease: LimitLease | undefined
  /** The request's claim on its Idempotency-Key. */
  claim: Claim | undefined
  /** Called at the end, for example to clear timers. */
  readonly releases: (() => void)[]
  /** Called at the end, when nothing can still read the request's bytes, to return memory for reuse. */
  readonly slabs: (() => void)[]
}

export interface Running {
  /** False for an upstream call of which nothing has been sent yet. */
  readonly isSent?: boolean
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
