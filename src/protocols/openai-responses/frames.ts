import { type GatewayError, gatewayError } from '../../canonical/error.ts'
import type { AskingFrame, FrameFormat, FrameReader, ReadFrame } from '../../canonical/frames.ts'
import type { Headers } from '../../canonical/headers.ts'
import { isRecord, type Json, parseObject, textOf } from '../../canonical/json.ts'
import { type ByteRange, kindAt, parseSpan, scanElements, scanMembers } from '../json-scan.ts'
import { removeMembers } from '../remove-members.ts'
import { type Edit, splice } from '../splice.ts'

/**
 * Responses over a WebSocket to an upstream: `GET {base}/responses`.
 *
 * https://developers.openai.com/api/docs/guides/websocket-mode, and the behaviour of OpenAI's SDK and Codex,
 * read 2026-11-23
 */
export const responsesFrames: FrameFormat = {
  // Codex sends this header; OpenAI's SDK does not.
  headers: ['openai-beta', 'responses_websockets=2026-02-06'],
  ask,
  reader: ({ stream, bytesMax }) => (stream ? new EventReader() : new WholeReader(bytesMax)),
}

/** An earlier scan has already limited the document. */
const unbounded = { depthMax: Number.MAX_SAFE_INTEGER }

const named = ['type', 'stream', 'background', 'previous_response_id'] as const

/** Returns the body with its type, and without members that only apply to HTTP. */
function ask(body: Buffer): AskingFrame | undefined {
  const members = namedIn(body)
  if (members === undefined) return undefined
  const { type, stream, background, previous_response_id: previous } = members
  // Background answers are not possible over a WebSocket.
  if (background !== undefined && kindAt(body, background.start) !== 'null') {
    if (parseSpan(body, background, 'background') !== false) return undefined
  }
  const open = body.indexOf(openBrace) + 1
  const removed = [type, stream, background].filter((span) => span !== undefined)
  // This edit is first, because a removed member can have the same offset.
  const edits: Edit[] = [{ start: open, end: open, bytes: typeMember }]
  for (const span of removeMembers(body, removed)) edits.push({ ...span, bytes: nothing })
  return { frame: splice(body, edits, Buffer.allocUnsafe), continues: stringAt(body, previous) }
}

const typeMember = Buffer.from('"type":"response.create",')

/**
 * Undefined if a member occurs twice or with other letter case. In that case, the upstream can respond to it
 * over HTTP.
 */
function namedIn(body: Buffer): Partial<Record<(typeof named)[number], ByteRange>> | undefined {
  try {
    return scanMembers(body, { start: 0, end: body.length }, named, unbounded)
  } catch {
    return undefined
  }
}

/** For streaming requests: each frame becomes the event that it would be over HTTP. */
class EventReader implements FrameReader {
  readonly contentType = 'text/event-stream; charset=utf-8'
  #hasBegun = false

  push(frame: Buffer): ReadFrame {
    const type = typeOf(frame)
    const refusal = type === 'error' && !this.#hasBegun ? refusalIn(frame) : undefined
    if (refusal !== undefined) return refusal
    this.#hasBegun = true
    return { kind: 'event', bytes: eventOf(type, frame), last: lastOf(type, frame) }
  }
}

/** For requests without streaming: returns the response of the last event, byte for byte. */
class WholeReader implements FrameReader {
  readonly contentType = 'application/json'
  readonly #bytesMax: number
  /** The items so far, by `output_index`, because on some upstreams the last event has no output. */
  readonly #items = new Map<number, Buffer>()
  #bytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  push(frame: Buffer): ReadFrame {
    const type = typeOf(frame)
    const last = lastOf(type, frame)
    if (type === 'error') {
      return refusalIn(frame) ?? { kind: 'event', bytes: errorBody(parsed(frame)), last }
    }
    if (type === 'response.output_item.done') this.#hold(frame)
    if (last === undefined) return { kind: 'event', bytes: nothing, last }
    const response = responseIn(frame)
    if (response === undefined) throw notOne()
    return {
      kind: 'event',
      bytes: this.#withItems(Buffer.from(frame.subarray(response.start, response.end))),
      last,
    }
  }

  #hold(frame: Buffer): void {
    const { item, output_index: index } = membersOf(frame, ['item', 'output_index'])
    if (item === undefined || index === undefined) return
    this.#bytes += item.end - item.start
    if (this.#bytes > this.#bytesMax) {
      throw gatewayError('upstream_answer_too_large', { bytesMax: this.#bytesMax })
    }
    this.#items.set(
      Number(parseSpan(frame, index, 'output_index')),
      Buffer.from(frame.subarray(item.start, item.end)),
    )
  }

  #withItems(response: Buffer): Buffer {
    if (this.#items.size === 0) return response
    const { output } = membersOf(response, ['output'])
    if (output === undefined || kindAt(response, output.start) !== 'array') return response
    if (scanElements(response, output, unbounded).length > 0) return response
    const items = [...this.#items].sort(([a], [b]) => a - b).map(([, item]) => item)
    const bytes = Buffer.from(`[${items.join(',')}]`)
    return splice(response, [{ ...output, bytes }], Buffer.allocUnsafe)
  }
}

const nothing = Buffer.alloc(0)
const openBrace = 0x7b

const lastTypes: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
])

/** Nearly all frames begin with their type, so that nothing has to be parsed. */
const typeFirst = /^\{\s*"type"\s*:\s*"([a-z_.]{1,100})"/

function typeOf(frame: Buffer): string {
  const [, type] = typeFirst.exec(frame.toString('latin1', 0, 140)) ?? []
  if (type !== undefined) return type
  const named = textOf(parsed(frame).type)
  if (named === undefined || !/^[\w.-]+$/.test(named)) throw notOne()
  return named
}

function eventOf(type: string, frame: Buffer): Buffer {
  const head = Buffer.from(`event: ${type}\ndata: `)
  // JSON can contain line ends between its values. In an event, each line needs a field name.
  const hasLines = frame.includes(0x0a) || frame.includes(0x0d)
  const data = hasLines ? Buffer.from(frame.toString('utf8').replace(/\r\n|\r|\n/g, '\ndata: ')) : frame
  return Buffer.concat([head, data, blankLine])
}

const blankLine = Buffer.from('\n\n')

function lastOf(type: string, frame: Buffer) {
  if (!lastTypes.has(type)) return undefined
  // After an error, the upstream may have discarded the connection's state.
  if (type === 'error') return { answerId: undefined, isReusable: false }
  const response = responseIn(frame)
  const { id } = response === undefined ? {} : membersOf(frame.subarray(response.start, response.end), ['id'])
  const answerId =
    response === undefined || id === undefined
      ? undefined
      : stringAt(frame, { start: response.start + id.start, end: response.start + id.end })
  return { answerId, isReusable: true }
}

function responseIn(frame: Buffer): ByteRange | undefined {
  const { response } = membersOf(frame, ['response'])
  return response !== undefined && kindAt(frame, response.start) === 'object' ? response : undefined
}

function membersOf<Name extends string>(
  bytes: Buffer,
  names: readonly Name[],
): Partial<Record<Name, ByteRange>> {
  try {
    return scanMembers(bytes, { start: 0, end: bytes.length }, names, unbounded)
  } catch {
    throw notOne()
  }
}

/**
 * Reads `{ type: "error", status, error: { type, code, message, param }, headers }`. Undefined if it contains
 * no status.
 */
function refusalIn(frame: Buffer): ReadFrame | undefined {
  const event = parsed(frame)
  const status = Number(event.status ?? event.status_code)
  if (!Number.isInteger(status) || status < 400 || status > 599) return undefined
  const error = isRecord(event.error) ? event.error : event
  return {
    kind: 'refusal',
    status,
    headers: { ...headersIn(event.headers), 'content-type': 'application/json' },
    body: errorBody(event),
    // The upstream closes connections at a certain age. The same request is valid on another connection.
    isOfConnection: error.code === 'websocket_connection_limit_reached',
  }
}

function errorBody(event: Json): Buffer {
  const { type: _, status: __, headers: ___, ...rest } = event
  return Buffer.from(JSON.stringify({ error: isRecord(event.error) ? event.error : rest }))
}

function headersIn(headers: unknown): Headers {
  if (!isRecord(headers)) return {}
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [[name.toLowerCase(), String(value)]] : [],
    ),
  )
}

function parsed(frame: Buffer): Json {
  const event = parseObject(frame.toString('utf8'))
  if (event === undefined) throw notOne()
  return event
}

function stringAt(bytes: Buffer, span: ByteRange | undefined): string | undefined {
  if (span === undefined || kindAt(bytes, span.start) !== 'string') return undefined
  return String(parseSpan(bytes, span, 'id'))
}

function notOne(): GatewayError {
  return gatewayError('upstream_answer_unreadable', {
    what: 'a frame that is not an event in the Responses format',
  })
}
