import type { GatewayError } from '../canonical/error.ts'
import type { StreamEnd } from '../canonical/usage.ts'
import type { Observation } from '../protocols/protocol.ts'
import type { UpstreamRefusal } from '../stages/refuse.ts'

/**
 * How a call ended. `unanswered`: the client has seen nothing of it, so we may try another target. Its observation is
 * `nothingSent` where it cost nothing.
 */
export type RelayResult =
  | { kind: 'answered' }
  | {
      kind: 'unanswered'
      error: GatewayError
      refusal: UpstreamRefusal | undefined
      observation: Observation
    }

/** The facts about an answer that has ended, but whose last bytes the client does not have yet. */
export interface RelayedAnswer {
  status: number
  observation: Observation
  streamEnd: StreamEnd
  error: GatewayError | null
}
