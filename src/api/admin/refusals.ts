import { GatewayError } from '../../canonical/error.ts'

// Refusals that only the admin API has. Their code decides the status.

/** 409: the present state does not allow the change. The message says what to do first. */
export function conflict(message: string, field?: string): GatewayError {
  return new GatewayError('invalid_request', message, { code: 'conflict', field })
}

/** 412: the resource is not the one that the client has read. */
export function preconditionFailed(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'The resource has changed since it was read. Read it again, and send its new ETag as if-match.',
    { code: 'precondition_failed' },
  )
}

/** 404. */
export function notFound(what: string): GatewayError {
  return new GatewayError('unknown_path', `There is no ${what}.`)
}

/** 403. */
export function notAllowed(message: string): GatewayError {
  return new GatewayError('permission_denied', message)
}
