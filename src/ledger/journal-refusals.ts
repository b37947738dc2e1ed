import { GatewayError } from '../canonical/error.ts'

/** The journal has reached its bound. */
export function boundReached(): GatewayError {
  return new GatewayError(
    'unavailable',
    'The gateway cannot record more requests: its journal has reached its bound while the database is away. Try again later.',
    { retryAfterSeconds: 5 },
  )
}

/** The disk does not take what it should. */
export function cannotRecord(cause?: unknown): GatewayError {
  return new GatewayError(
    'unavailable',
    'The gateway cannot record requests: its disk is full or fails. Try again later.',
    { cause, retryAfterSeconds: 5 },
  )
}
