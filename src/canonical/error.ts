import type { Json } from './json.ts'
import { type FactsOf, type NoFacts, type Reason, reasons, sentenceOf } from './reasons/catalogue.ts'
import { type ErrorKind, type Fault, kinds } from './reasons/kinds.ts'

/** An option that is undefined counts as absent. */
export interface GatewayErrorOptions {
  cause?: unknown
  /** Path of the bad field in the client's body, such as `messages[2].content`. */
  field?: string | undefined
  /** Whole seconds after which the same request could succeed; sent as `retry-after`. */
  retryAfterSeconds?: number | undefined
  /** The side that has to act. Defaults to the fault of the reason or, if it has none, of its kind. */
  fault?: Fault | undefined
  /** The upstream's HTTP status, if it answered. */
  upstreamStatus?: number | undefined
  /**
   * A code that client software acts on, such as `context_length_exceeded`. Defaults to the reason's code.
   */
  code?: string | undefined
  /**
   * Additional facts for client software, in formats whose errors have a field for them. Never contains
   * secrets.
   */
  details?: Json | undefined
}

/**
 * The only error shown to clients. `message` is public: it explains what to change and contains no secrets.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly reason: Reason
  readonly kind: ErrorKind
  readonly field: string | undefined
  readonly retryAfterSeconds: number | undefined
  readonly fault: Fault
  readonly upstreamStatus: number | undefined
  readonly code: string | undefined
  readonly details: Json | undefined

  /** For messages that do not come from the catalogue. Use `gatewayError` for all others. */
  constructor(reason: Reason, publicMessage: string, options: GatewayErrorOptions = {}) {
    super(publicMessage, 'cause' in options ? { cause: options.cause } : undefined)
    const { kind, fault, code } = reasons[reason]
    this.reason = reason
    this.kind = kind
    this.field = options.field
    this.retryAfterSeconds = options.retryAfterSeconds
    this.fault = options.fault ?? fault ?? kinds[kind].fault
    this.upstreamStatus = options.upstreamStatus
    this.code = options.code ?? code
    this.details = options.details
  }

  /** The same refusal with a different message or options. Options missing from `changes` are kept. */
  with({ message = this.message, ...changes }: GatewayErrorOptions & { message?: string }): GatewayError {
    const { field, retryAfterSeconds, fault, upstreamStatus, code, details } = this
    const cause = this.cause === undefined ? {} : { cause: this.cause }
    return new GatewayError(this.reason, message, {
      ...{ field, retryAfterSeconds, fault, upstreamStatus, code, details },
      ...cause,
      ...changes,
    })
  }
}

/** Creates the error for a reason of the catalogue. `facts` fill in its message. */
export function gatewayError<R extends Reason>(
  reason: R,
  ...[facts, options]: NoFacts extends FactsOf<R>
    ? [facts?: NoFacts, options?: GatewayErrorOptions]
    : [facts: FactsOf<R>, options?: GatewayErrorOptions]
): GatewayError {
  return new GatewayError(reason, sentenceOf(reason, facts ?? {}), options)
}

/** The error to log: the cause of the error that clients see. */
export function causeOf(error: unknown): unknown {
  return error instanceof GatewayError && error.cause !== undefined ? error.cause : error
}
