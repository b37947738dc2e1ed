import { ROOT_CONTEXT, SpanKind, TraceFlags, trace } from '@opentelemetry/api'
import { parseTraceParent, TraceState } from '@opentelemetry/core'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'
import type { TraceContext } from './span.ts'

/**
 * The values of OTEL_TRACES_SAMPLER:
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export type SamplerName =
  | 'always_on'
  | 'always_off'
  | 'traceidratio'
  | 'parentbased_always_on'
  | 'parentbased_always_off'
  | 'parentbased_traceidratio'

/** Decides whether a trace is recorded. `parent` is undefined if the trace begins here. */
export type Sample = (traceId: string, parent: TraceContext | undefined) => boolean

export function samplerOf(name: SamplerName, ratio: number): Sample {
  const sampler = namedSampler(name, ratio)
  return (traceId, parent) => {
    const context =
      parent === undefined
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, {
            traceId,
            spanId: parent.spanId,
            traceFlags: parent.isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
            isRemote: true,
          })
    const { decision } = sampler.shouldSample(context, traceId, '', SpanKind.SERVER, noAttributes, noLinks)
    return decision === SamplingDecision.RECORD_AND_SAMPLED
  }
}

const noAttributes = {}
const noLinks: never[] = []

function namedSampler(name: SamplerName, ratio: number): Sampler {
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler()
    case 'always_off':
      return new AlwaysOffSampler()
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio)
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() })
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() })
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) })
  }
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** Reads the context sent by a caller. Undefined if there is none or if it is malformed. */
export function contextIn({ traceparent, tracestate }: Headers): TraceContext | undefined {
  if (typeof traceparent !== 'string') return undefined
  const parsed = parseTraceParent(traceparent)
  if (parsed === null) return undefined
  const { traceId, spanId, traceFlags } = parsed
  // Malformed entries are left out, and so is everything after 512 characters.
  const state = tracestate === undefined ? '' : new TraceState([tracestate].flat().join(',')).serialize()
  return { traceId, spanId, isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0, state }
}
