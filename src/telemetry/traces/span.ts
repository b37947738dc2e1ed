import type { Attributes, SpanKind } from '@opentelemetry/api'
import { redactText } from '../../redaction/redact.ts'

export type { Attributes } from '@opentelemetry/api'

/** The span kinds of OpenTelemetry: https://opentelemetry.io/docs/specs/otel/trace/api/#spankind */
export const kinds = { internal: 0, server: 1, client: 2, consumer: 4 } as const satisfies Record<
  string,
  SpanKind
>

/** The position in a trace that a caller sends: https://www.w3.org/TR/trace-context/ */
export interface TraceContext {
  traceId: string
  spanId: string
  isSampled: boolean
  /** The value of `tracestate`; empty if absent. */
  state: string
}

/** What a span needs from its trace. */
export interface TraceOfSpan {
  readonly id: string
  readonly parent: TraceContext | undefined
  readonly link: TraceContext | undefined
  readonly root: { readonly id: string }
}

export interface SpanEvent {
  name: string
  /** The time as returned by `now`. */
  at: number
  attributes?: Attributes
}

/** A part of the work on a request. It consists only of numbers and texts until it is exported. */
export class Span {
  readonly trace: TraceOfSpan
  readonly id: string
  name: string
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
   * Records an event. An event before the start of the span is moved to the start, because some clocks have
   * only millisecond precision.
   */
  event(name: string, at: number = now(), attributes?: Attributes): void {
    const event = { name, at: Math.max(at, this.startedAt), ...(attributes !== undefined && { attributes }) }
    if (this.events === undefined) this.events = [event]
    else this.events.push(event)
  }

  /** Calling it a second time has no effect. */
  end(at: number = now()): void {
    this.endedAt ??= Math.max(at, this.startedAt)
  }

  /** Removes exact values from all of its texts. Values shorter than 8 characters are ignored. */
  redact(secrets: readonly string[]): void {
    this.name = withoutSecrets(this.name, secrets)
    redactAttributes(this.attributes, secrets)
    for (const { attributes = {} } of this.events ?? []) redactAttributes(attributes, secrets)
  }
}

function redactAttributes(attributes: Attributes, secrets: readonly string[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'string') attributes[name] = withoutSecrets(value, secrets)
    else if (Array.isArray(value) && value.every((each) => typeof each === 'string'))
      attributes[name] = value.map((each) => withoutSecrets(each, secrets))
  }
}

/** Most texts contain none, and searching for exact values is cheap. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.some((secret) => text.includes(secret)) ? redactText(text, secrets, text.length) : text
}

/** Returns the milliseconds since the epoch, including fractions. The clock is monotonic. */
export function now(): number {
  return performance.timeOrigin + performance.now()
}
