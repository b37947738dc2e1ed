import { GatewayError } from '../canonical/error.ts'

/** What is wrong with answers that came over a connection with which nothing was wrong. */

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

export function isRedirect(status: number): boolean {
  return status >= 300 && status <= 399
}

/** Where it leads to is not told: it may hold a secret, and whoever wrote it may want us to call something else. */
export function redirected(status: number): GatewayError {
  return new GatewayError(
    'upstream_error',
    `The upstream answered with a redirect (status ${status}), which is never followed: the base URL of the channel has to name the place itself.`,
    { upstreamStatus: status },
  )
}
