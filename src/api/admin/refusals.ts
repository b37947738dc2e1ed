import { type GatewayError, gatewayError } from '../../canonical/error.ts'

/** 409: the current state does not allow the change. The message states what to do first. */
export function conflict(
  message: string,
  field?: string,
  reason: 'conflict' | 'name_taken' | 'in_use' | 'managed_elsewhere' | 'last_owner' = 'conflict',
): GatewayError {
  return gatewayError(reason, { message }, { field })
}

/** 404. */
export function notFound(what: string): GatewayError {
  return gatewayError('not_found', { what })
}

/** 403. */
export function notAllowed(
  message: string,
  reason: 'not_allowed' | 'role_insufficient' | 'scope_missing' = 'not_allowed',
): GatewayError {
  return gatewayError(reason, { message })
}
