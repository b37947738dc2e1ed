import { GatewayError } from '../canonical/error.ts'

/** The errors of answers that came over a good connection. */

export function endedEarly(): GatewayError {
  return new GatewayError('upstream_error', 'The upstream ended its stream before the answer was complete.')
}

export function notWhole(): GatewayError {
  return new GatewayError(
    'upstream_error',
    'The upstream answered with something that is not a whole JSON document.',
  )
}

export function tooLong(bytesMax: number): GatewayError {
  // Our own bound: no fault of the upstream.
  return new GatewayError('upstream_error', `The upstream answered with more than ${bytesMax} bytes.`, {
    fault: 'gateway',
  })
}

export function notUpgraded(status: number): GatewayError {
  return new GatewayError(
    'upstream_error',
    `The upstream answered the upgrade to a WebSocket with status ${status}.`,
  )
}

export function isRedirect(status: number): boolean {
  return status >= 300 && status <= 399
}

/** It omits the target of the redirect: that may hold a secret, or lure us to another server. */
export function redirected(status: number): GatewayError {
  return new GatewayError(
    'upstream_error',
    `The upstream answered with a redirect (status ${status}), which is never followed: the base URL of the channel has to name the place itself.`,
    { upstreamStatus: status },
  )
}
