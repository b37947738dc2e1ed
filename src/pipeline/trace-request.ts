import type { Usage } from '../canonical/usage.ts'
import { name as nameColumn } from '../journal/column.ts'
import type { CloseRecord, OpenRecord } from '../journal/record.ts'
import { callsIn } from '../journal/record.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { redactText } from '../redaction/redact.ts'
import { named, own, type usageOfCall, usageOfRow } from '../telemetry/traces/conventions.ts'
import type { Attributes } from '../telemetry/traces/span.ts'
import type { Trace } from '../telemetry/traces/trace.ts'
import { modelEndpoints } from './endpoints.ts'

/**
 * Ends the trace of a request that has a row. `secrets` are the exact values that are removed from the row,
 * and from the spans too.
 */
export function traceRow(
  trace: Trace,
  open: OpenRecord,
  close: CloseRecord,
  secrets: readonly string[],
): void {
  if (trace.isSampled) {
    setRow(trace.root.attributes, open, close)
    trace.root.isError = close.outcome === 'failed' || close.status >= 500
  }
  trace.end({ isStranger: open.keyId === null, secrets })
}

/** Ends the trace of a request that has no row, or none yet. `response` has its status. */
export function traceAnswer(
  { id, trace, row, endpoint }: Traced,
  status: number,
  secrets: readonly string[],
): void {
  if (trace === undefined) return
  const { root } = trace
  const { identity, requestedModel } = row
  if (trace.isSampled) {
    set(root.attributes, named.status, status)
    set(root.attributes, own.requestId, id)
    set(root.attributes, own.tenantId, identity?.tenantId)
    set(root.attributes, own.keyId, identity?.keyId)
    if (requestedModel !== null) {
      set(root.attributes, named.operation, operationOf(endpoint.path))
      set(root.attributes, named.requestModel, redactText(requestedModel, [], nameColumn.max))
    }
    root.isError = status >= 500
  }
  trace.end({ isStranger: identity === null, secrets })
}

/** Records what is known about a request when its headers have arrived. */
export function traceArrival(
  { isSampled, root }: Trace,
  { endpoint, exchange }: { endpoint: Named; exchange: { method: string; isEncrypted: boolean } },
) {
  if (!isSampled) return
  set(root.attributes, named.method, exchange.method)
  set(root.attributes, named.scheme, exchange.isEncrypted ? 'https' : 'http')
  set(root.attributes, named.path, endpoint.path)
  if (endpoint.isUnrouted !== true) set(root.attributes, named.route, endpoint.path)
}

/** Returns the trace context that a job stores so that its worker can continue the trace of the request. */
export function traceparentOf({ trace }: Pick<Traced, 'trace'>): { traceparent?: string } {
  return trace === undefined ? {} : { traceparent: trace.parentHeader() }
}

/**
 * Returns the span name of a request. An unknown path is left out, because anyone can make up any number of
 * paths.
 */
export function spanNameOf({ method }: { method: string }, { path, isUnrouted }: Named): string {
  return isUnrouted === true ? method : `${method} ${path}`
}

/** The facts about a request that its trace uses. */
interface Traced {
  id: string
  trace: Trace | undefined
  endpoint: Named
  row: { identity: { tenantId: string; keyId: string } | null; requestedModel: string | null }
}

interface Named {
  path: string
  isUnrouted?: boolean
}

function setRow(attributes: Attributes, open: OpenRecord, close: CloseRecord): void {
  set(attributes, named.status, close.status)
  set(attributes, named.errorType, close.error?.kind)
  set(attributes, own.requestId, open.id)
  set(attributes, own.tenantId, open.tenantId)
  set(attributes, own.keyId, open.keyId)
  set(attributes, own.groupId, open.groupId)
  set(attributes, own.outcome, close.outcome)
  set(attributes, own.protocol, open.clientProtocol)
  set(attributes, own.streamEnd, close.streamEnd)
  if (open.requestedModel === null) return
  set(attributes, named.operation, operationOf(open.endpoint))
  set(attributes, named.requestModel, open.requestedModel)
  set(attributes, named.stream, open.stream)
  set(attributes, named.provider, providerOf(close.upstreamProtocol))
  set(attributes, named.responseModel, close.servedModel)
  if (close.finishReason !== null) attributes[named.finishReasons] = [boundedText(close.finishReason)]
  if (open.clientProtocol === 'openai-images') set(attributes, named.outputType, 'image')
  set(attributes, own.channel, close.channel)
  set(attributes, own.attempts, callsIn(close.attempts))
  if (close.costNano !== null) set(attributes, own.costUsd, Number(close.costNano) / 1e9)
  setUsage(attributes, usageOfRow, close.usage)
}

/** The convention counts cached tokens as input and reasoning as output. */
export function setUsage(
  attributes: Attributes,
  names: typeof usageOfCall | typeof usageOfRow,
  usage: Usage | null | undefined,
): void {
  if (usage === null || usage === undefined) return
  const { input, cacheRead, cacheWrite, output, reasoning } = usage
  set(attributes, names.input, input + cacheRead + cacheWrite)
  set(attributes, names.output, output + reasoning)
  if (cacheRead > 0) set(attributes, names.cacheRead, cacheRead)
  if (cacheWrite > 0) set(attributes, names.cacheWrite, cacheWrite)
  if (reasoning > 0) set(attributes, names.reasoning, reasoning)
}

/** Leaves out null and undefined, and bounds the length of texts. */
export function set(
  attributes: Attributes,
  name: string,
  value: string | number | boolean | null | undefined,
) {
  if (value === null || value === undefined) return
  attributes[name] = typeof value === 'string' ? boundedText(value) : value
}

/** The length of the longest name in a row. */
const charactersMax = 512

/** Upstreams choose some texts, which may be as long as an answer, and thousands of spans wait in memory. */
function boundedText(text: string): string {
  if (text.length <= charactersMax) return text
  // Copied, because V8 keeps the whole string while a part of it is in use.
  return Buffer.from(text.slice(0, charactersMax)).toString('utf8')
}

/** The convention's name for the operation of an endpoint. */
export function operationOf(path: string): string {
  return modelEndpoints.find((endpoint) => endpoint.path === path)?.operation ?? 'chat'
}

/** The convention's name for the upstream's format. Who runs the upstream is not known. */
export function providerOf(protocol: ProtocolName | null): string | undefined {
  if (protocol?.startsWith('openai-') === true) return 'openai'
  if (protocol === 'anthropic-messages') return 'anthropic'
  return protocol === 'gemini' ? 'gcp.gemini' : undefined
}
