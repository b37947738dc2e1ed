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
  /** What becomes of the contexts that clients send. */
  clientContext: 'parent' | 'link' | 'ignore'
  /** Whether spans have what the usage log keeps of the bodies of requests. */
  content: boolean
  /** Names of channels whose upstreams get no context; `*`: none gets it. */
  withheldFrom: ReadonlySet<string>
  queue: { spansMax: number; batchMax: number; delayMs: number }
  /** As `resourceOf` makes it. */
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
  /** The parent is a client's. */
  isOfClient?: boolean
}

/** The traces of this process. Only a process that exports them loads this file, and OpenTelemetry. */
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
        if (failure === undefined) log.info({}, 'the collector takes traces again')
        else
          log.warn(
            { reason: failure },
            'the collector does not take traces: they are dropped when too many wait',
          )
      },
    })
  }

  /** Begin the trace of a request. `headers`: of its client. */
  begin(begun: Begun, headers: Parameters<typeof contextIn>[0]): Trace {
    const sent =
      headers.traceparent === undefined || this.#clientContext === 'ignore' ? undefined : contextIn(headers)
    if (this.#clientContext !== 'parent') return this.#make(begun, { link: sent })
    return this.#make(begun, { parent: sent, isOfClient: sent !== undefined })
  }

  /** Continue the trace whose header we kept, such as in a job. */
  continue(begun: Begun, traceparent: string | undefined): Trace {
    return this.#make(begun, { parent: traceparent === undefined ? undefined : contextIn({ traceparent }) })
  }

  /** The id of the trace of a request that runs here; undefined: it is not recorded. */
  idOf(requestId: string): string | undefined {
    return this.#running.get(requestId)?.id
  }

  /** Whether the upstream of this channel gets our context. */
  isGivenTo(channel: string): boolean {
    return this.#withheldFrom.size === 0 || !(this.#withheldFrom.has('*') || this.#withheldFrom.has(channel))
  }

  get counts(): Readonly<SpanCounts> {
    return this.#queue.counts
  }

  /** Spans that wait for the collector. */
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
    // A job of the request may run in this process too.
    if (this.#running.get(trace.requestId) === trace) this.#running.delete(trace.requestId)
  }

  #make(begun: Begun, { parent, link, isOfClient = false }: Origin): Trace {
    const id = parent?.traceId ?? this.#ids.generateTraceId()
    const isSampled = this.#sample(id, parent)
    // A client chooses the flag, and the id by which a ratio decides. So what we would do is asked of another
    // id.
    const isAsked = isOfClient && isSampled && !this.#sample(this.#ids.generateTraceId(), undefined)
    const trace = new Trace({ ...begun, id, isSampled, isAsked, parent, link }, this)
    if (isSampled) this.#running.set(begun.requestId, trace)
    return trace
  }
}

/** What OpenTelemetry's resources say about a process. The operator's attributes replace ours. */
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
