import type { ChatRequest, TranslationNote } from '../canonical/chat.ts'
import type { GatewayError } from '../canonical/error.ts'
import type { ChatEvent } from '../canonical/event.ts'
import type { Json } from '../canonical/json.ts'
import type { Usage } from '../canonical/usage.ts'
import type { Envelope } from './envelope.ts'
import type { JsonBounds, Span } from './json-scan.ts'
import type { ToolNames } from './tool-names.ts'

/** Wire formats by name. A channel speaks one or more of them; an endpoint is spoken in one. */
export const protocolNames = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'openai-images',
  'gemini',
] as const
export type ProtocolName = (typeof protocolNames)[number]

/** One wire format, as clients speak it to us and as upstreams speak it. Pure and synchronous. */
export interface Protocol {
  name: ProtocolName
  client?: ClientSide
  upstream?: UpstreamSide
}

/** How our clients speak. */
export interface ClientSide {
  /**
   * Read what the gateway must know of a request from its raw bytes, leaving the rest untouched.
   * Throws GatewayError `invalid_request` naming the path of the bad field.
   */
  readRequest(raw: Buffer, bounds: JsonBounds): RequestFacts
  /** Throws GatewayError `invalid_request` naming a header that the format demands or does not know. */
  checkHeaders?(headers: Headers): void
  /** Where the format's own SDK looks for the request id, beside `x-request-id`. */
  requestIdHeader?: string
  /** Request headers that a native channel gets as they came, in lower case. */
  forwardedHeaders: readonly string[]
  /** The one of them that lists features with commas between them, of which an operator may deny some. */
  featuresHeader?: string
  /**
   * The whole request in canonical words, for a channel that speaks another format. Every member of the body is read,
   * or stands in `others`. Throws GatewayError `invalid_request` naming the path of what has the wrong shape.
   */
  decodeRequest(body: Json, context: DecodeContext): ChatRequest
  /** A whole answer. `events` obeys the grammar of canonical/event.ts and ends with `finish`. */
  encodeResponse(events: readonly ChatEvent[], context: AnswerContext): Json
  /** A streamed answer, event by event, the format's own end included. */
  encodeStream(context: AnswerContext): StreamEncoder
  /** An event of a stream that means nothing, for proxies and clients that take silence for death. */
  keepAlive: string
  encodeError(error: GatewayError, requestId: string): RenderedError
  /** The format's own in-stream error, sent after the headers when an answer cannot be finished. */
  encodeStreamError(error: GatewayError, requestId: string): Buffer
}

export type Headers = Readonly<Record<string, string | string[] | undefined>>

export interface DecodeContext {
  /** Opens the seals that earlier answers of ours carried through a foreign client. */
  envelope: Envelope
}

/** What an answer must know of the request it answers. */
export interface AnswerContext {
  requestId: string
  /** The upstream's id of the answer, where it holds the answer under it for this client; absent: it is no id of theirs. */
  heldId?: string
  /** The public name that the client asked for. */
  model: string
  createdAtSeconds: number
  /** The client's own body, for formats that repeat its settings. */
  body: Json
  request: ChatRequest
  /** Our estimate of the input, for formats that must tell it before the upstream does. */
  inputTokensEstimate: number
  envelope: Envelope
}

/** `push` answers with the text to send now, `''` for none. Never throws; after `finish` or `error` it is over. */
export interface StreamEncoder {
  push(event: ChatEvent): string
}

export interface RenderedError {
  status: number
  headers: Record<string, string>
  body: unknown
}

/** What admission, routing and the usage log need of a request, whatever its format. */
export interface RequestFacts {
  model: string
  stream: boolean
  /** Most output tokens the client allows for each choice; undefined when it set no bound. */
  maxOutputTokens: number | undefined
  /** Number of answers asked for. Default 1. */
  choices: number
  /** True when parts other than text are (or may be) there, so that bytes do not bound the input tokens. */
  hasMedia: boolean
  /** True when the client itself asked for the usage frame of a stream, or the format has no such wish. */
  wantsUsageFrame: boolean
  /** Id of an earlier answer that only the channel that holds it can continue. */
  heldId: string | undefined
  /** True when the upstream keeps the answer, so that its id can be asked for or continued. */
  keepsAnswer: boolean
  /** The member that lets the upstream go on behind its answer, so that what it charges is never seen here. */
  hidesCost: string | undefined
  /** Where the client names its session or its user, as a JSON string; undefined where it does not. */
  session: Span | undefined
  /** Where the client names the user that it asks for, as a JSON string. */
  endUser?: Span | undefined
  /** Where the client's own labels of the request stand, an object. */
  metadata?: Span | undefined
  /** Where the turns stand: an array, or the one turn as a JSON string. */
  conversation: Span | undefined
  /** Byte ranges that a pass-through rewrite needs; private to the protocol that read them. */
  spans: unknown
}

/** What a pass-through changes of a request. */
export interface RequestPatch {
  /** The upstream's name of the model. */
  model: string
  /** Where the changed bytes go. Default: fresh memory. */
  allocate?: (bytes: number) => Buffer
}

/** How an upstream speaks. */
export interface UpstreamSide {
  /** Path below the channel's base URL, with a query where the format wants one. */
  path(call: { model: string; stream: boolean }): string
  /** Sent with every translated call, such as the format's version. */
  headers: Readonly<Record<string, string>>
  authHeaders(secret: string): Record<string, string>
  /**
   * The request in this format. What it cannot say is noted as dropped; what would change the meaning is refused with
   * GatewayError `unsupported_parameter` naming the client's path.
   */
  encodeRequest(request: ChatRequest, context: EncodeContext): EncodedRequest
  /** A whole answer as events. Throws GatewayError `upstream_error` for what is no answer of this format. */
  decodeResponse(body: Json, context: DecodeAnswerContext): ChatEvent[]
  decodeStream(context: DecodeAnswerContext): EventDecoder
  /** How it is watched when the client speaks it too; absent where no client does. */
  native?: NativeSide
  /** What an upstream's refusal means for the caller. Never echoes credentials. */
  decodeError(
    status: number,
    headers: Record<string, string | string[] | undefined>,
    body: Buffer,
  ): GatewayError
}

/** Pass-through: the client's own bytes go up, the upstream's own bytes come down, and we watch. */
export interface NativeSide {
  /** The client's own bytes, with `model` rewritten and usage asked for where needed; the same buffer if neither is. */
  patchRequest(raw: Buffer, facts: RequestFacts, patch: RequestPatch): Buffer
  /** Watch a whole (not streamed) answer. Never throws. */
  watchResponse(body: Buffer): Observation
  /** Watch a stream while its bytes pass. Never throws. */
  watchStream(options: WatchOptions): StreamWatcher
}

export interface EncodeContext {
  /** The upstream's name of the model. */
  upstreamModel: string
  /** For formats that demand a bound where the client set none. */
  maxOutputTokensDefault: number
}

export interface EncodedRequest {
  body: Json
  notes: TranslationNote[]
  /** What the upstream's names of tools stand for; to be given back when its answer is decoded. */
  tools: ToolNames
}

export interface DecodeAnswerContext {
  /** The upstream's name of the model, which its seals are bound to. */
  upstreamModel: string
  /** Absent for pass-through: names are taken as they are. */
  tools?: ToolNames
}

/** Turns the events of a stream into canonical ones. Throws nothing but GatewayError. */
export interface EventDecoder {
  /** The `data` of one server-sent event, joined as the standard says. */
  push(data: string): ChatEvent[]
  /** The upstream's stream ended by itself. Whatever is open ends, with `finish` if the answer is whole, else `error`. */
  end(): ChatEvent[]
}

export interface WatchOptions {
  /** Keep from the client the usage frame that only we asked for. */
  dropUsageFrame: boolean
  /** Largest SSE frame held back while incomplete; a larger one is forwarded in pieces. */
  frameBytesMax: number
}

/** What a watcher read from an answer. */
export interface Observation {
  /** The upstream's id of the answer, where the format lets clients come back to it. */
  answerId?: string | undefined
  /** Undefined when the upstream told none. */
  usage: Usage | undefined
  /** The upstream's own word, such as `stop` or `tool_calls`. */
  finishReason: string | undefined
  /** The upstream's name for the model that served. */
  servedModel: string | undefined
  /** An error that arrived inside the stream. */
  error: GatewayError | undefined
  /** True once the format's own end was seen ([DONE], a finish reason, a terminal event). */
  complete: boolean
  /** True when the upstream goes on behind a complete answer: usage is then neither known nor to be estimated. */
  goesOn?: boolean
  /** Our estimate of the output tokens seen so far, for answers that end without usage. */
  outputTokensEstimate: number
}

/**
 * Watches a stream while its bytes pass. `push` answers with the bytes to forward now, in order. Any split of the stream yields the same bytes in total and the same observation.
 */
export interface StreamWatcher {
  push(chunk: Buffer): WatchedChunk
  /** The upstream ended by itself: whatever is still held, to be forwarded. */
  end(): Buffer | undefined
  /** The connection broke: how the client is told, for a watcher that writes the stream itself. */
  fail?(error: GatewayError): Buffer
  /** Nothing came for a while: what to send, for a watcher that writes the stream itself. */
  keepAlive?(): Buffer
  observe(): Observation
}

export interface WatchedChunk {
  /** Bytes to forward, in order; none when all of them are held back. */
  forward: Buffer[]
  /** True from the first chunk on that carries content for the user. */
  hasContent: boolean
  /** True when `forward` ends the stream: nothing after it matters to the client. */
  terminal: boolean
}
