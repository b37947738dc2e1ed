import type { SpanKind } from '@opentelemetry/api'
import { kinds, now, Span, type TraceContext } from './span.ts'

/** What a trace needs from the process. */
export interface Tracer {
  newSpanId(): string
  /** Receives the spans of a finished trace. `isAsked` is that of the trace. */
  take(spans: readonly Span[], isAsked: boolean): void
  /** Called when a trace is finished. */
  forget(trace: Trace): void
}

export interface TraceParts {
  id: string
  requestId: string
  isSampled: boolean
  /** Whether it is recorded only because the client requests it. */
  isAsked: boolean
  name: string
  kind: SpanKind
  parent: TraceContext | undefined
  /** A context that the client sent and that is not continued here. */
  link: TraceContext | undefined
}

/** More spans than any request should have. Further spans are left out. */
const spansMax = 128

/**
 * The trace of one request in this process. It keeps its spans until the request ends, then hands them over
 * together. A trace that is not sampled has an id for upstreams, but no spans.
 */
export class Trace {
  readonly id: string
  readonly requestId: string
  readonly isSampled: boolean
  readonly isAsked: boolean
  readonly parent: TraceContext | undefined
  readonly link: TraceContext | undefined
  /** The span of the whole request. */
  readonly root: Span
  readonly #tracer: Tracer
  readonly #spans: Span[] = []
  #step: Span | undefined
  #isOver = false

  constructor({ id, requestId, isSampled, isAsked, name, kind, parent, link }: TraceParts, tracer: Tracer) {
    this.id = id
    this.requestId = requestId
    this.isSampled = isSampled
    this.isAsked = isAsked
    this.parent = parent
    this.link = link
    this.#tracer = tracer
    this.root = new Span(this, tracer.newSpanId(), name, kind)
    if (isSampled) this.#spans.push(this.root)
  }

  /** Starts a step of the request and ends the previous one. `undefined` only ends the previous step. */
  step(name: string | undefined): void {
    if (!this.isSampled) return
    const at = now()
    this.#step?.end(at)
    this.#step = name === undefined ? undefined : this.begin(name, kinds.internal, at)
  }

  /** Starts a span. Undefined if it is not recorded. */
  begin(name: string, kind: SpanKind, at?: number): Span | undefined {
    if (!this.isSampled || this.#isOver || this.#spans.length >= spansMax) return undefined
    const span = new Span(this, this.#tracer.newSpanId(), name, kind, at)
    this.#spans.push(span)
    return span
  }

  /** Returns the header that names a span as the parent of the receiver's work. */
  parentHeader(span: Span = this.root): string {
    return `00-${this.id}-${span.id}-${this.isSampled ? '01' : '00'}`
  }

  /** Alternating header names and values for a call to a receiver that may continue this trace. */
  headers(span?: Span): string[] {
    const state = this.parent?.state ?? ''
    const parent = ['traceparent', this.parentHeader(span)]
    return state === '' ? parent : [...parent, 'tracestate', state]
  }

  /**
   * Ends the request. Calling it a second time has no effect. `isStranger` means that the caller has no valid
   * key. Only our own sampling decides whether such a request is exported, because anyone can send any number
   * of them. `secrets` are exact values that must not be exported. Some are known only at the end.
   */
  end({
    isStranger = false,
    secrets = [],
  }: {
    isStranger?: boolean
    secrets?: readonly string[]
  } = {}): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#tracer.forget(this)
    if (!this.isSampled || (this.isAsked && isStranger)) return
    const at = now()
    for (const span of this.#spans) {
      span.end(at)
      span.redact(secrets)
    }
    this.#tracer.take(this.#spans, this.isAsked)
  }
}
