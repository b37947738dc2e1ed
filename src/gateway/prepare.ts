import type { TranslationNote } from '../canonical/chat.ts'
import { GatewayError } from '../canonical/error.ts'
import { isRecord, type Json } from '../canonical/json.ts'
import { estimateTokens } from '../canonical/tokens.ts'
import { allocateBody } from '../http/body.ts'
import { envelopeMark, withoutEnvelopes } from '../protocols/envelope.ts'
import { upstreamSide } from '../protocols/index.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { redactText } from '../redaction/redact.ts'
import type { Candidate, Target } from '../routing/candidates.ts'
import type { Call } from '../stages/call.ts'
import type { Gateway } from '../stages/gateway.ts'
import { shown } from '../stages/secrets.ts'
import type { UpstreamRequest } from '../upstream/upstreams.ts'
import { type AnswerReader, readNative } from './answer-reader.ts'
import { readOtherwise, type Translatable, translate } from './translate.ts'

/** What is sent to a target, and how its answer is read. */
export interface Prepared {
  request: UpstreamRequest
  reader: AnswerReader
}

/**
 * A decoded request made ready for one target: the client's own bytes where both speak the same, else translated.
 * Throws GatewayError where it cannot be said in the target's format.
 */
export function prepare(gateway: Gateway, call: Call, target: Target): Prepared {
  // Whatever an earlier attempt said of its translation is no longer true.
  call.notes = null
  delete call.headers['x-tollgate-translation']
  return target.native ? passThrough(gateway, call, target) : translated(gateway, call, target)
}

function passThrough(gateway: Gateway, call: Call, target: Target): Prepared {
  const { native } = upstreamSide(target.protocol)
  if (native === undefined) throw new Error(`no client speaks ${target.protocol}`)
  const { facts, body } = withOwnReasoning(gateway, call, target)
  const bytes = native.patchRequest(body, facts, {
    model: target.upstreamModel,
    allocate: (size) => allocateBody(size, call.slabs),
  })
  const options = {
    dropUsageFrame: facts.stream && !facts.wantsUsageFrame,
    frameBytesMax: gateway.bounds.sseFrameBytesMax,
  }
  const reader: AnswerReader = readNative(native, options, () => {
    const other = readOtherwise(translatable(gateway, call), target, facts.keepsAnswer)
    if (other === undefined) return reader
    noteTranslation(call, target, [...(call.notes ?? []), writtenAnew(facts.stream)])
    return other
  })
  return { request: requestOf(call, target, bytes, forwardedHeaders(gateway, call)), reader }
}

/**
 * The request as it came, unless it repeats reasoning that other channels gave this client in our envelopes: those
 * parts are left out, which is noted.
 */
function withOwnReasoning(gateway: Gateway, call: Call, target: Target) {
  const asItCame = decoded(call)
  if (!asItCame.body.includes(envelopeMark)) return asItCame
  call.json ??= parse(asItCame.body)
  const { json, notes } = withoutForeignReasoning(call.json)
  if (notes.length === 0) return asItCame
  noteTranslation(call, target, notes)
  const body = Buffer.from(JSON.stringify(json))
  return { body, facts: call.endpoint.client.readRequest(body, gateway.bounds) }
}

function writtenAnew(wantsStream: boolean): TranslationNote {
  const reason = wantsStream
    ? 'the upstream answered whole: what of it has an event of the format is streamed'
    : 'the upstream streamed unasked: its events are gathered into an answer'
  return { path: 'stream', action: 'emulated', reason }
}

/** A body without the reasoning that other channels gave this client in our envelopes. */
export function withoutForeignReasoning(body: Json): { json: Json; notes: TranslationNote[] } {
  const notes: TranslationNote[] = []
  const json = withoutEnvelopes(body, '', (path) => {
    notes.push({ path, action: 'dropped', reason: 'reasoning that a model of another channel has sealed' })
  })
  return { json: isRecord(json) ? json : {}, notes }
}

function translated(gateway: Gateway, call: Call, target: Target): Prepared {
  const { body, notes, reader } = translate(translatable(gateway, call), target)
  noteTranslation(call, target, notes)
  const { headers } = upstreamSide(target.protocol)
  return { request: requestOf(call, target, Buffer.from(JSON.stringify(body)), flat(headers)), reader }
}

/**
 * Most bytes that the request has in the formats of these targets, 0 where none can say it: a translation may be
 * larger than what the client sent, and the upstream charges for what it gets.
 */
export function largestTranslation(gateway: Gateway, call: Call, targets: readonly Candidate[]): number {
  let largest = 0
  const seen = new Set<ProtocolName>()
  for (const target of targets) {
    if (seen.has(target.protocol)) continue
    seen.add(target.protocol)
    try {
      const { body } = translate(translatable(gateway, call), target)
      largest = Math.max(largest, Buffer.byteLength(JSON.stringify(body)))
    } catch (error) {
      // Nothing will be sent there. The attempt tells why.
      if (!(error instanceof GatewayError)) throw error
    }
  }
  return largest
}

function translatable(gateway: Gateway, call: Call): Translatable {
  const { facts, body } = decoded(call)
  call.json ??= parse(body)
  return {
    client: call.endpoint.client,
    body: call.json,
    requestId: call.id,
    model: facts.model,
    stream: facts.stream,
    createdAtSeconds: Math.floor(call.startedAt / 1000),
    inputTokensEstimate: estimateTokens(body.length),
    envelope: gateway.envelope,
    strict: call.identity?.strict === true || call.request.headers['x-tollgate-strict'] === 'true',
    maxOutputTokensDefault: call.price?.model.maxOutputTokens ?? gateway.bounds.outputTokensDefault,
    frameBytesMax: gateway.bounds.sseFrameBytesMax,
    answerSizeMax: gateway.bounds.watchedAnswerBytesMax,
    shown: (error) => shown(call, error),
  }
}

/** Tell the row and the client what became of a request on its way to a target. */
export function noteTranslation(call: Call, target: Candidate, notes: readonly TranslationNote[]): void {
  call.notes = notes.slice(0, notesMax)
  call.headers['x-tollgate-translation'] = summaryOf(target, notes)
}

function requestOf(call: Call, target: Target, body: Buffer, headers: readonly string[]): UpstreamRequest {
  const { stream } = decoded(call).facts
  const side = upstreamSide(target.protocol)
  return {
    method: 'POST',
    path: side.path({ model: target.upstreamModel, stream }),
    body,
    stream,
    headers,
    authHeaders: side.authHeaders,
  }
}

function decoded({ facts, body }: Call) {
  if (facts === null || body === null) throw new Error('an attempt needs a decoded request')
  return { facts, body }
}

/** Its shape has been scanned: this does not throw. */
function parse(body: Buffer): Json {
  const value: unknown = JSON.parse(body.toString('utf8'))
  return isRecord(value) ? value : {}
}

/** What a native channel gets of the client's headers: names and values in turn. */
export function forwardedHeaders(
  { deniedBetas }: Pick<Gateway, 'deniedBetas'>,
  { endpoint, request }: Pick<Call, 'endpoint' | 'request'>,
): readonly string[] {
  const { forwardedHeaders: names, featuresHeader } = endpoint.client
  if (names.length === 0) return nothing
  return names.flatMap((name) =>
    [request.headers[name] ?? []].flat().flatMap((value) => {
      const kept = name === featuresHeader ? withoutDenied(value, deniedBetas) : value
      return kept === '' ? [] : [name, kept]
    }),
  )
}

/** Byte for byte where nothing of it is denied. */
function withoutDenied(features: string, denied: ReadonlySet<string>): string {
  const listed = features.split(',').map((feature) => feature.trim())
  return listed.some((feature) => denied.has(feature))
    ? listed.filter((feature) => !denied.has(feature)).join(',')
    : features
}

const nothing: readonly string[] = []

function flat(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flat()
}

/** More than these are not kept on the row. */
const notesMax = 64
const summaryCharactersMax = 512

/** For the response header: the target's protocol and what became of which paths, losses first. */
function summaryOf(target: Candidate, notes: readonly TranslationNote[]): string {
  const parts = [target.protocol as string]
  for (const action of ['dropped', 'emulated', 'clamped', 'defaulted', 'mapped'] as const) {
    const paths = notes.filter((note) => note.action === action).map((note) => note.path)
    if (paths.length > 0) parts.push(`${action}=${[...new Set(paths)].join(',')}`)
  }
  const text = redactText(parts.join('; ')).replace(/[^\x20-\x7e]/g, '?')
  return text.length <= summaryCharactersMax ? text : `${text.slice(0, summaryCharactersMax - 3)}...`
}
