import type { ErrorKind, GatewayError } from '../canonical/error.ts'

/** The HTTP status of each kind of error. Only Anthropic has another one for overload. */
export const statusOf: Readonly<Record<ErrorKind, number>> = {
  invalid_request: 400,
  unsupported_parameter: 400,
  unauthenticated: 401,
  permission_denied: 403,
  insufficient_credit: 402,
  unknown_path: 404,
  model_not_found: 404,
  endpoint_not_supported: 400,
  request_too_large: 413,
  request_in_progress: 409,
  idempotency_mismatch: 422,
  rate_limited: 429,
  upstream_error: 502,
  upstream_overloaded: 503,
  upstream_timeout: 504,
  content_filtered: 400,
  unavailable: 503,
  internal: 500,
}

/**
 * Headers that tell the vendors' SDKs whether and when to retry. Without `x-should-retry` some retry a bad key ten
 * times.
 */
export function retryHeaders({ kind, retryAfterSeconds }: GatewayError): Record<string, string> {
  return {
    ...(kind === 'unauthenticated' || kind === 'insufficient_credit' ? { 'x-should-retry': 'false' } : {}),
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  }
}
