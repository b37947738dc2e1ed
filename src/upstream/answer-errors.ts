import { type GatewayError, gatewayError } from '../canonical/error.ts'

/** The errors of answers that came over a good connection. */

export function endedEarly(): GatewayError {
  return gatewayError('upstream_ended_early')
}

export function notWhole(): GatewayError {
  return gatewayError('upstream_not_json')
}

export function tooLong(bytesMax: number): GatewayError {
  return gatewayError('upstream_answer_too_large', { bytesMax })
}

export function isRedirect(status: number): boolean {
  return status >= 300 && status <= 399
}

/** It omits the target of the redirect: that may hold a secret, or lure us to another server. */
export function redirected(status: number): GatewayError {
  return gatewayError('upstream_redirected', { status }, { upstreamStatus: status })
}
