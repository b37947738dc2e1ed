import { type GatewayError, gatewayError } from '../canonical/error.ts'

/** Errors in responses that were received over an intact connection. */

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

/** Leaves out the target of the redirect, which may contain a secret or point to a malicious server. */
export function redirected(status: number): GatewayError {
  return gatewayError('upstream_redirected', { status }, { upstreamStatus: status })
}
