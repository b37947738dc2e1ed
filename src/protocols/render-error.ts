import type { GatewayError } from '../canonical/error.ts'
import { kinds } from '../canonical/reasons/kinds.ts'

/** The HTTP status of an error. Only the Messages format uses a different one, for overload. */
export function statusOf({ kind }: GatewayError): number {
  return kinds[kind].status
}

/**
 * The headers of an error in all formats: its reason, and whether and when the vendors' SDKs should retry.
 * Without `x-should-retry`, some retry an invalid key ten times.
 */
export function errorHeaders({ reason, kind, retryAfterSeconds }: GatewayError): Record<string, string> {
  return {
    'x-tollgate-reason': reason,
    ...(kind === 'unauthenticated' || kind === 'insufficient_credit' ? { 'x-should-retry': 'false' } : {}),
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  }
}
