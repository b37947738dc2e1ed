import type { Json } from './json.ts'

/** The kind of an error tells the client what to do about it. Each protocol renders each kind in its vendor's envelope. */
export const errorKinds = [
  'invalid_request',
  'unsupported_parameter',
  'unauthenticated',
  'permission_denied',
  'insufficient_credit',
  'unknown_path',
  'model_not_found',
  'endpoint_not_supported',
  'request_too_large',
  'request_in_progress',
  'idempotency_mismatch',
  'rate_limited',
  'upstream_error',
  'upstream_overloaded',
  'upstream_timeout',
  'content_filtered',
  'unavailable',
  'internal',
] as const

export type ErrorKind = (typeof errorKinds)[number]

/** An option that is undefined counts as absent. */
export interface GatewayErrorOptions {
  cause?: unknown
  /** Path of the bad field in the client's body, such as `messages[2].content`. */
  field?: string | undefined
  /** Whole seconds after which the same request may succeed; sent as `retry-after`. */
  retryAfterSeconds?: number | undefined
  /** The side that has to act. It decides the log level. The default follows from the kind. */
  fault?: 'client' | 'upstream' | 'gateway'
  /** The upstream's HTTP status, if it answered. */
  upstreamStatus?: number | undefined
  /** A code that the client's software acts on, such as `context_length_exceeded`. It is finer than the kind. */
  code?: string | undefined
  /** More facts for the client's software, for formats whose errors have a place for them. They hold no secret. */
  details?: Json | undefined
}

const clientKinds: ReadonlySet<ErrorKind> = new Set([
  'invalid_request',
  'unsupported_parameter',
  'unauthenticated',
  'permission_denied',
  'insufficient_credit',
  'unknown_path',
  'model_not_found',
  'endpoint_not_supported',
  'request_too_large',
  'request_in_progress',
  'idempotency_mismatch',
  'rate_limited',
  'content_filtered',
])

/** The only error that a client may see. `message` is public: it says what to change and holds no secret. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly kind: ErrorKind
  readonly field: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly fault: 'client' | 'upstream' | 'gateway'
  readonly upstreamStatus: number | undefined
  readonly code: string | undefined
  readonly details: Json | undefined

  constructor(kind: ErrorKind, publicMessage: string, options: GatewayErrorOptions = {}) {
    super(publicMessage, 'cause' in options ? { cause: options.cause } : undefined)
    this.kind = kind
    this.field = options.field
    this.retryAfterSeconds = options.retryAfterSeconds
    this.fault =
      options.fault ??
      (clientKinds.has(kind) ? 'client' : kind.startsWith('upstream_') ? 'upstream' : 'gateway')
    this.upstreamStatus = options.upstreamStatus
    this.code = options.code
    this.details = options.details
  }
}

/** The error for logs: the cause of the one that clients see. */
export function causeOf(error: unknown): unknown {
  return error instanceof GatewayError && error.cause !== undefined ? error.cause : error
}
