import type { GatewayError } from '../canonical/error.ts'
import type { StreamEnd } from '../canonical/usage.ts'
import type { Observation } from '../protocols/protocol.ts'

export function streamEndOf(observation: Observation): StreamEnd {
  return observation.complete ? 'complete' : 'upstream_cut'
}

export function streamEndAfter(error: GatewayError): StreamEnd {
  return error.kind === 'upstream_timeout' ? 'timeout' : 'upstream_cut'
}
