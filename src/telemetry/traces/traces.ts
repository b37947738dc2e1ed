import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { SpanKind } from '@opentelemetry/api'
import { RandomIdGenerator } from '@opentelemetry/sdk-trace'
import packageJson from '../../../package.json' with { type: 'json' }
import type { Log } from '../log.ts'
import { Collector, type CollectorOptions } from './collector.ts'
import { rejectedIn, spanEncoder } from './export-spans.ts'
import { contextIn, type Sample, type SamplerName, samplerOf } from './sampling.ts'
import type { Span, TraceContext } from './span.ts'
import { type SpanCounts, SpanQueue } from './span-queue.ts'
import { Trace, type Tracer } from './trace.ts'

export interface TracesOptions {
  collector: CollectorOptions
  sampler: SamplerName
  ratio: number
  /** How the contexts sent by clients are used. */
  clientContext: 'parent' | 'link' | 'ignore'
  /** Whether spans contain the parts of request bodies that the usage log keeps. */
  content: boolean
  /** The names of the channels whose upstreams get no context; `*` stands for all channels. */
  withheldFrom: ReadonlySet<string>
  queue: { spansMax: number; batchMax: number; delayMs: number }
  /** As created by `resourceOf`. */
  resource: Readonly<Record<string, string | number>>
  log: Log
}

interface Begun {
  requestId: string
  name: string
  kind: SpanKind
}

interface Origin {
  parent?: TraceContext | undefined
  link?: TraceContext | undefined
  /** Whether the parent was sent by a client. */
  isOfClient?: boolean
}

/**
 * The traces of this process. This file, and with it OpenTelemetry, is loaded only by a process that exports
 * traces.
 */
export class Traces implements Tracer {
  readonly content: boolean
  readonly #clientContext: TracesOptions['clientContext']
  readonly #withheldFrom: ReadonlySet<string>
  readonly #sample: Sample
  readonly #ids = new RandomIdGenerator()
  readonly #queue: SpanQueue
  readonly #collector: Collector
  readonly #running = new Map<string, Trace>()

  constructor(options: TracesOptions) {
    const { log, collector, resource } = options
    this.content = options.content
    this.#clientContext = options.clientContext
    this.#withheldFrom = options.withheldFrom
    this.#sample = samplerOf(options.sampler, options.ratio)
    this.#collector = new Collector(collector)
    const encode = spanEncoder(resource, packageJson.version)
    this.#queue = new SpanQueue({
      ...options.queue,
      send: (spans) => this.#collector.send(encode(spans), rejectedIn),
      onState: (failure) => {
        if (failure === undefined) log.info({}, 'the collector accepts traces again')
        else
          log.warn(
            { reason: failure },
            'the collector does not accept traces; they are dropped when too many are waiting',
          )
      },
    })
  }

  /** Starts the trace of a request. `headers` are those of the client's request. */
  begin(begun: Begun, headers: Parameters<typeof contextIn>[0]): Trace {
    const sent =
      headers.traceparent === undefined || this.#clientContext === 'ignore' ? undefined : contextIn(headers)
    if (this.#clientContext !== 'parent') return this.#make(begun, { link: sent })
    return this.#make(begun, { parent: sent, isOfClient: sent !== undefined })
  }

  /** Continues a trace from a stored header, for example in a job. */
  continue(begun: Begun, traceparent: string | undefined): Trace {
    return this.#make(begun, { parent: traceparent === undefined ? undefined : contextIn({ traceparent }) })
  }

  /** Returns the trace id of a request that is running here, or undefined if it is not recorded. */
  idOf(requestId: string): string | undefined {
    return this.#running.get(requestId)?.id
  }

  /** Returns whether our context is sent to the upstream of this channel. */
  isGivenTo(channel: string): boolean {
    return this.#withheldFrom.size === 0 || !(this.#withheldFrom.has('*') || this.#withheldFrom.has(channel))
  }

  get counts(): Readonly<SpanCounts> {
    return this.#queue.counts
  }

  /** The number of spans waiting for the collector. */
  get waiting(): number {
    return this.#queue.size
  }

  async end(withinMs: number): Promise<void> {
    await this.#queue.end(withinMs)
    await this.#collector.close()
  }

  newSpanId(): string {
    return this.#ids.generateSpanId()
  }

  take(spans: readonly Span[], isAsked: boolean): void {
    this.#queue.add(spans, isAsked)
  }

  forget(trace: Trace): void {
    // A job of the request may be running in this process too.
    if (this.#running.get(trace.requestId) === trace) this.#running.delete(trace.requestId)
  }

  #make(begun: Begun, { parent, link, isOfClient = false }: Origin): Trace {
    const id = parent?.traceId ?? this.#ids.generateTraceId()
    const isSampled = this.#sample(id, parent)
    // A client chooses both the flag and the id on which a ratio depends. To find out what we would decide on
    // our own, the sampler is asked about another id.
    const isAsked = isOfClient && isSampled && !this.#sample(this.#ids.generateTraceId(), undefined)
    const trace = new Trace({ ...begun, id, isSampled, isAsked, parent, link }, this)
    if (isSampled) this.#running.set(begun.requestId, trace)
    return trace
  }
}

/** Returns the OpenTelemetry resource attributes of a process. The operator's attributes override ours. */
export function resourceOf({
  role,
  serviceName,
  attributes,
}: {
  role: string
  serviceName: string | undefined
  attributes: Readonly<Record<string, string>> | undefined
}): Record<string, string | number> {
  return {
    'service.name': 'tollgate',
    'service.version': packageJson.version,
    'service.instance.id': randomUUID(),
    'host.name': hostname(),
    'process.pid': process.pid,
    'tollgate.role': role,
    ...attributes,
    ...(serviceName !== undefined && { 'service.name': serviceName }),
  }
}
