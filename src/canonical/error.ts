import type { Json } from './json.ts'
import { type FactsOf, type NoFacts, type Reason, reasons, sentenceOf } from './reasons/catalogue.ts'
import { type ErrorKind, type Fault, kinds } from './reasons/kinds.ts'

/** An option that is undefined counts as absent. */
export interface GatewayErrorOptions {
  cause?: unknown
  /** Path of the bad field in the client's body, such as `messages[2].content`. */
  field?: string | undefined
  /** Whole seconds after which the same request may succeed; sent as `retry-after`. */
  retryAfterSeconds?: number | undefined
  /** The side that has to act. The default is the reason's, or else its kind's. */
  fault?: Fault | undefined
  /** The upstream's HTTP status, if it answered. */
  upstreamStatus?: number | undefined
  /**
   * A code that the client's software acts on, such as `context_length_exceeded`. The default is the
   * reason's.
   */
  code?: string | undefined
  /**
   * More facts for the client's software, for formats whose errors have a place for them. They hold no
   * secret.
   */
  details?: Json | undefined
}

/** The only error that a client may see. `message` is public: it says what to change and holds no secret. */
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

  /** For a message that the catalogue does not make: `gatewayError` makes all others. */
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

  /** The same refusal with another message or other options; what `changes` leaves out stays. */
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

/** The error for a reason of the catalogue. `facts` are what its message names. */
export function gatewayError<R extends Reason>(
  reason: R,
  ...[facts, options]: NoFacts extends FactsOf<R>
    ? [facts?: NoFacts, options?: GatewayErrorOptions]
    : [facts: FactsOf<R>, options?: GatewayErrorOptions]
): GatewayError {
  return new GatewayError(reason, sentenceOf(reason, facts ?? {}), options)
}

/** The error for logs: the cause of the one that clients see. */
export function causeOf(error: unknown): unknown {
  return error instanceof GatewayError && error.cause !== undefined ? error.cause : error
}
