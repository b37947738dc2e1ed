import type { Attributes, SpanKind } from '@opentelemetry/api'

export type { Attributes } from '@opentelemetry/api'

/** The kinds of OpenTelemetry: https://opentelemetry.io/docs/specs/otel/trace/api/#spankind */
export const kinds = { internal: 0, server: 1, client: 2, consumer: 4 } as const satisfies Record<
  string,
  SpanKind
>

/** The place in a trace that a caller names: https://www.w3.org/TR/trace-context/ */
export interface TraceContext {
  traceId: string
  spanId: string
  isSampled: boolean
  /** As `tracestate` has it. Empty: absent. */
  state: string
}

/** What a span needs to know of its trace. */
export interface TraceOfSpan {
  readonly id: string
  readonly parent: TraceContext | undefined
  readonly link: TraceContext | undefined
  readonly root: { readonly id: string }
}

export interface SpanEvent {
  name: string
  /** As `now`. */
  at: number
  attributes?: Attributes
}

/** One piece of the work on a request. It is only numbers and texts until it is exported. */
export class Span {
  readonly trace: TraceOfSpan
  readonly id: string
  readonly name: string
  readonly kind: SpanKind
  readonly startedAt: number
  endedAt: number | undefined
  attributes: Attributes = {}
  events: SpanEvent[] | undefined
  isError = false

  constructor(trace: TraceOfSpan, id: string, name: string, kind: SpanKind, startedAt: number = now()) {
    this.trace = trace
    this.id = id
    this.name = name
    this.kind = kind
    this.startedAt = startedAt
  }

  /**
   * Note what happened at a moment. One before the start counts as the start: some of our clocks have
   * milliseconds only.
   */
  event(name: string, at: number = now(), attributes?: Attributes): void {
    const event = { name, at: Math.max(at, this.startedAt), ...(attributes !== undefined && { attributes }) }
    if (this.events === undefined) this.events = [event]
    else this.events.push(event)
  }

  /** A second end changes nothing. */
  end(at: number = now()): void {
    this.endedAt ??= Math.max(at, this.startedAt)
  }
}

/** Milliseconds since the epoch, with their fractions. The clock does not jump. */
export function now(): number {
  return performance.timeOrigin + performance.now()
}
