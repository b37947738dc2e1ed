/** The side that has to act. It determines the outcome of the row and the log level. */
export type Fault = 'client' | 'upstream' | 'gateway'

/**
 * The kind of an error indicates to the client what to do about it. Each protocol renders each kind in its
 * vendor's error format.
 */
export type ErrorKind =
  | 'invalid_request'
  | 'unsupported_parameter'
  | 'unauthenticated'
  | 'permission_denied'
  | 'insufficient_credit'
  | 'unknown_path'
  | 'model_not_found'
  | 'endpoint_not_supported'
  | 'request_too_large'
  | 'request_in_progress'
  | 'idempotency_mismatch'
  | 'rate_limited'
  | 'upstream_error'
  | 'upstream_overloaded'
  | 'upstream_timeout'
  | 'content_filtered'
  | 'unavailable'
  | 'internal'

/** `status`: the HTTP status. Only the Messages format uses a different one, for overload. */
export const kinds: Readonly<Record<ErrorKind, { status: number; fault: Fault }>> = {
  invalid_request: { status: 400, fault: 'client' },
  unsupported_parameter: { status: 400, fault: 'client' },
  unauthenticated: { status: 401, fault: 'client' },
  permission_denied: { status: 403, fault: 'client' },
  insufficient_credit: { status: 402, fault: 'client' },
  unknown_path: { status: 404, fault: 'client' },
  model_not_found: { status: 404, fault: 'client' },
  endpoint_not_supported: { status: 400, fault: 'client' },
  request_too_large: { status: 413, fault: 'client' },
  request_in_progress: { status: 409, fault: 'client' },
  idempotency_mismatch: { status: 422, fault: 'client' },
  rate_limited: { status: 429, fault: 'client' },
  upstream_error: { status: 502, fault: 'upstream' },
  upstream_overloaded: { status: 503, fault: 'upstream' },
  upstream_timeout: { status: 504, fault: 'upstream' },
  content_filtered: { status: 400, fault: 'client' },
  unavailable: { status: 503, fault: 'gateway' },
  internal: { status: 500, fault: 'gateway' },
}

/** In the order used in the documentation. */
export const errorKinds = Object.keys(kinds).filter((kind): kind is ErrorKind => kind in kinds)
