import type { SpanKind } from '@opentelemetry/api'
import { kinds, now, Span, type TraceContext } from './span.ts'

/** What a trace needs of the process. */
export interface Tracer {
  newSpanId(): string
  /** Takes the spans of a trace that is over. `isAsked`: as the trace. */
  take(spans: readonly Span[], isAsked: boolean): void
  /** A trace is over. */
  forget(trace: Trace): void
}

export interface TraceParts {
  id: string
  requestId: string
  isSampled: boolean
  /** It is recorded only because its client asks for that. */
  isAsked: boolean
  name: string
  kind: SpanKind
  parent: TraceContext | undefined
  /** A context that the client sent and that we do not continue. */
  link: TraceContext | undefined
}

/** More spans than a request of any kind should have. Further ones are left out. */
const spansMax = 128

/**
 * The trace of one request in this process. It holds its spans until the end of the request, and gives them
 * away together. One that is not sampled has an id for upstreams, and no spans.
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

  /** The request begins a step, which ends the one before. `undefined`: it is between steps. */
  step(name: string | undefined): void {
    if (!this.isSampled) return
    const at = now()
    this.#step?.end(at)
    this.#step = name === undefined ? undefined : this.begin(name, kinds.internal, at)
  }

  /** Undefined: it is not recorded. */
  begin(name: string, kind: SpanKind, at?: number): Span | undefined {
    if (!this.isSampled || this.#isOver || this.#spans.length >= spansMax) return undefined
    const span = new Span(this, this.#tracer.newSpanId(), name, kind, at)
    this.#spans.push(span)
    return span
  }

  /** The header that names a span as the parent of what the receiver does. */
  parentHeader(span: Span = this.root): string {
    return `00-${this.id}-${span.id}-${this.isSampled ? '01' : '00'}`
  }

  /** Names and values in turn, for a call to somebody who may continue this trace. */
  headers(span?: Span): string[] {
    const state = this.parent?.state ?? ''
    const parent = ['traceparent', this.parentHeader(span)]
    return state === '' ? parent : [...parent, 'tracestate', state]
  }

  /**
   * The request is over. A second end changes nothing. `isStranger`: its caller has no valid key. We
   * alone decide whether that is exported: anyone can send any number of such requests.
   */
  end({ isStranger = false } = {}): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#tracer.forget(this)
    if (!this.isSampled || (this.isAsked && isStranger)) return
    const at = now()
    for (const span of this.#spans) span.end(at)
    this.#tracer.take(this.#spans, this.isAsked)
  }
}
