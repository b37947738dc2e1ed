import type { HrTime, Link, SpanContext } from '@opentelemetry/api'
import { SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import { TraceState } from '@opentelemetry/core'
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import type { Span, TraceContext } from './span.ts'

/** Serialises spans into an OTLP request. `attributes` are the resource attributes of the process. */
export function spanEncoder(attributes: Readonly<Record<string, string | number>>, version: string) {
  const resource = resourceFromAttributes(attributes)
  const instrumentationScope = { name: 'tollgate', version }
  return (spans: readonly Span[]): Uint8Array =>
    ProtobufTraceSerializer.serializeRequest(
      spans.map((span) => readable(span, { resource, instrumentationScope })),
    ) ?? nothing
}

const nothing = new Uint8Array()

/** Returns how many spans were rejected according to the collector's response. */
export function rejectedIn(answer: Uint8Array): number {
  if (answer.length === 0) return 0
  const rejected = Number(
    ProtobufTraceSerializer.deserializeResponse(answer).partialSuccess?.rejectedSpans ?? 0,
  )
  return Number.isFinite(rejected) ? rejected : 0
}

function readable(
  { trace, id, name, kind, startedAt, endedAt, attributes, events = [], isError }: Span,
  from: { resource: Resource; instrumentationScope: ReadableSpan['instrumentationScope'] },
): ReadableSpan {
  const isRoot = id === trace.root.id
  const parent = isRoot
    ? trace.parent
    : { traceId: trace.id, spanId: trace.root.id, isSampled: true, state: '' }
  const own = contextOf({ traceId: trace.id, spanId: id, isSampled: true, state: trace.parent?.state ?? '' })
  const endTime = timeOf(endedAt ?? startedAt)
  return {
    name,
    kind,
    spanContext: () => own,
    ...(parent !== undefined && { parentSpanContext: contextOf(parent, isRoot) }),
    startTime: timeOf(startedAt),
    endTime,
    duration: timeOf((endedAt ?? startedAt) - startedAt),
    status: { code: isError ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes,
    links: isRoot && trace.link !== undefined ? [linkTo(trace.link)] : [],
    events: events.map(({ name, at, attributes = {} }) => ({ name, time: timeOf(at), attributes })),
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
    ...from,
  }
}

function linkTo(context: TraceContext): Link {
  return { context: contextOf(context, true) }
}

function contextOf({ traceId, spanId, isSampled, state }: TraceContext, isRemote = false): SpanContext {
  return {
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote,
    ...(state !== '' && { traceState: new TraceState(state) }),
  }
}

/** Converts to seconds and nanoseconds. */
function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000)
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)]
}
