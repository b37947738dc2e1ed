import { z } from 'zod'
import { count, milliseconds } from './bounds.ts'

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

const url = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional()

const protocol = z
  .literal('http/protobuf', { error: 'must be http/protobuf, the only supported protocol' })
  .optional()

/**
 * Percent-encoded `key=value` pairs separated by commas:
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
const pairs = (isName: RegExp) =>
  z
    .string()
    .transform((text, context) => {
      const read: Record<string, string> = {}
      for (const part of text.split(',')) {
        if (part.trim() === '') continue
        const [name, value] = pairIn(part)
        if (!isName.test(name) || value === undefined) {
          context.addIssue({
            code: 'custom',
            message: 'must have the form key=value,other=value, percent-encoded',
          })
          return z.NEVER
        }
        read[name] = value
      }
      return read
    })
    .optional()

function pairIn(part: string): [name: string, value: string | undefined] {
  const at = part.indexOf('=')
  if (at < 1) return ['', undefined]
  try {
    return [decodeURIComponent(part.slice(0, at).trim()), decodeURIComponent(part.slice(at + 1).trim())]
  } catch {
    return ['', undefined]
  }
}

const headers = pairs(/^[\w!#$%&'*+.^`|~-]+$/).refine(
  (read) => Object.values(read ?? {}).every((value) => /^[\t\x20-\x7e]*$/.test(value)),
  'must contain only printable ASCII characters in its values',
)

/**
 * The settings for traces. Those of OpenTelemetry have its names and meanings:
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export const traceSettings = {
  /**
   * The collector's address. Traces are sent to `/v1/traces` below it. If both this and the next setting are
   * absent, there are no traces.
   */
  otelExporterOtlpEndpoint: url,
  /** The complete URL for traces, which overrides the one above. */
  otelExporterOtlpTracesEndpoint: url,
  /** Sent with each export. They may contain a key for the collector. */
  otelExporterOtlpHeaders: headers,
  otelExporterOtlpTracesHeaders: headers,
  otelExporterOtlpProtocol: protocol,
  otelExporterOtlpTracesProtocol: protocol,
  otelExporterOtlpTimeout: milliseconds(10_000),
  otelServiceName: z.string().optional(),
  otelResourceAttributes: pairs(/^[\x20-\x7e]+$/),
  otelTracesSampler: z
    .enum(samplers, { error: `must be one of ${samplers.join(', ')}` })
    .default('parentbased_traceidratio'),
  /** The fraction of traces that is recorded by a sampler with a ratio. */
  otelTracesSamplerArg: z
    .string()
    .refine((text) => /^\d*\.?\d+$/.test(text) && Number(text) <= 1, 'must be a number from 0 to 1')
    .transform(Number)
    .optional(),
  otelTracesExporter: z.enum(['otlp', 'none'], { error: 'must be otlp or none' }).default('otlp'),
  otelSdkDisabled: z.enum(['true', 'false'], { error: 'must be true or false' }).default('false'),
  /** The number of spans that wait for the collector. Any further spans are dropped and counted. */
  otelBspMaxQueueSize: count(4096, 128, 1_000_000),
  otelBspMaxExportBatchSize: count(256, 1, 100_000),
  otelBspScheduleDelay: milliseconds(5_000),
  /**
   * How the `traceparent` of clients is used. `parent` continues it; `link` starts a new trace that links to
   * it.
   */
  traceClientContext: z
    .enum(['parent', 'link', 'ignore'], { error: 'must be one of parent, link, ignore' })
    .default('parent'),
  /** The names of channels whose upstreams get no `traceparent`; `*` stands for all channels. */
  traceContextWithheld: z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    )
    .optional(),
  /** With `captured`, spans contain the parts of the request body that the usage log keeps. */
  traceContent: z.enum(['none', 'captured'], { error: 'must be none or captured' }).default('none'),
}

/** The fraction of traces that is recorded if none is set. */
const ratioDefault = 0.02

type TraceSettings = Readonly<z.output<z.ZodObject<typeof traceSettings>>>

/** Returns the URL to which traces are sent, or undefined if they are off. */
export function collectorUrlOf(settings: TraceSettings): string | undefined {
  const { otelExporterOtlpEndpoint: base, otelExporterOtlpTracesEndpoint: own } = settings
  if (settings.otelSdkDisabled === 'true' || settings.otelTracesExporter === 'none') return undefined
  return own ?? (base === undefined ? undefined : `${base.replace(/\/+$/, '')}/v1/traces`)
}

export function ratioOf({ otelTracesSampler: sampler, otelTracesSamplerArg: ratio }: TraceSettings): number {
  // Without an argument, the other samplers record all traces, as in OpenTelemetry.
  return ratio ?? (sampler === 'parentbased_traceidratio' ? ratioDefault : 1)
}
