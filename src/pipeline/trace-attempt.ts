import type { AttemptRecord } from '../journal/record.ts'
import type { Candidate } from '../routing/candidates.ts'
import { named, own } from '../telemetry/traces/conventions.ts'
import { kinds, now, type Span } from '../telemetry/traces/span.ts'
import type { Trace } from '../telemetry/traces/trace.ts'
import type { Gateway } from './gateway.ts'
import { operationOf, providerOf, set } from './trace-request.ts'

type AttemptTarget = Pick<Candidate, 'channel' | 'protocol' | 'baseUrl'>

/** The span of one upstream call, and the headers that are sent to the upstream for it. */
export interface TracedAttempt {
  headers: readonly string[]
  /**
   * Ends the span when the call is over and its record is complete. A second call does nothing.
   * `firstTokenAt` is in milliseconds since the epoch.
   */
  end(firstTokenAt?: number | null): Span | undefined
}

/**
 * Begins the span of an upstream call. `path` is the endpoint that the client called. `before` is the number
 * of calls that the same request has already made. Returns undefined when the request has no trace.
 */
export function traceAttempt(
  { traces }: Pick<Gateway, 'traces'>,
  trace: Trace | undefined,
  {
    record,
    target,
    path,
    before,
  }: { record: AttemptRecord; target: AttemptTarget; path: string; before: number },
): TracedAttempt | undefined {
  if (trace === undefined || traces === undefined) return undefined
  const operation = operationOf(path)
  const span = trace.begin(`${operation} ${record.upstreamModel ?? target.channel.name}`, kinds.client)
  const headers = traces.isGivenTo(target.channel.name) ? trace.headers(span) : noHeaders
  const beganAt = now()
  return {
    headers,
    end(firstTokenAt) {
      if (span === undefined || span.endedAt !== undefined) return undefined
      const { attributes } = span
      const { hostname, port } = placeOf(target.baseUrl)
      set(attributes, named.operation, operation)
      set(attributes, named.provider, providerOf(target.protocol))
      set(attributes, named.requestModel, record.upstreamModel)
      set(attributes, named.serverAddress, hostname)
      set(attributes, named.serverPort, port)
      set(attributes, named.status, record.status)
      set(attributes, named.errorType, record.error?.kind)
      if (before > 0) set(attributes, named.resends, before)
      set(attributes, own.channel, record.channel)
      set(attributes, own.upstreamProtocol, record.upstreamProtocol)
      set(attributes, own.reason, record.reason)
      set(attributes, own.upstreamRequestId, record.upstreamRequestId)
      if (record.firstByteMs !== null) {
        span.event('first byte', beganAt + record.firstByteMs)
        set(attributes, named.firstChunkSeconds, record.firstByteMs / 1_000)
      }
      if (typeof firstTokenAt === 'number') span.event('first token', firstTokenAt)
      span.isError = record.error !== null
      span.end()
      return span
    },
  }
}

const noHeaders: readonly string[] = []

interface Place {
  hostname: string
  port: number
}

/** Base URLs come from the catalog, so there are few of them. */
const places = new Map<string, Place>()
const placesMax = 1_000

function placeOf(baseUrl: string): Place {
  const known = places.get(baseUrl)
  if (known !== undefined) return known
  const { hostname, port, protocol } = new URL(baseUrl)
  const place = { hostname, port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port) }
  if (places.size >= placesMax) places.clear()
  places.set(baseUrl, place)
  return place
}
