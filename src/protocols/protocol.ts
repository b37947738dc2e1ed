import type { ChatRequest, TranslationNote } from '../canonical/chat.ts'
import type { GatewayError } from '../canonical/error.ts'
import type { ChatEvent } from '../canonical/event.ts'
import type { FrameFormat } from '../canonical/frames.ts'
import type { Headers } from '../canonical/headers.ts'
import type { Json } from '../canonical/json.ts'
import type { Counts } from '../canonical/price-parts.ts'
import type { Traits } from '../canonical/traits.ts'
import type { Usage } from '../canonical/usage.ts'
import type { Envelope } from './envelope.ts'
import type { PlainPlace } from './hidden-input.ts'
import type { ByteRange, JsonBounds } from './json-scan.ts'
import type { KeptOptions } from './kept-options.ts'
import type { KeptState, ProtocolState, StateFacts } from './protocol-state.ts'
import type { ClientTools, ToolNames } from './tool-names.ts'
import type { TurnMemo } from './turn-memo.ts'

/** The names of wire formats. A channel supports one or more of them, an endpoint exactly one. */
export const protocolNames = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'openai-images',
  'gemini',
] as const
export type ProtocolName = (typeof protocolNames)[number]

/** A wire format, with a side for our clients and a side for upstreams. Pure and synchronous. */
export interface Protocol {
  name: ProtocolName
  client?: ClientSide
  upstream?: UpstreamSide
}

/** The format as used by our clients. */
export interface ClientSide {
  /**
   * Reads the parts of a request that the gateway needs from its raw bytes. Throws GatewayError
   * `invalid_request` with the path of the invalid field.
   */
  readRequest(raw: Buffer, bounds: JsonBounds): RequestFacts
  /** The parts of a request that have all their input in the body. */
  plainInput: PlainPlace
  /** The member that contains the turns, for notes. */
  turnsMember: string
  /**
   * Throws GatewayError `invalid_request` with the header's name if a required header is missing or has an
   * unknown value.
   */
  checkHeaders?(headers: Headers): void
  /** The header in which the format's own SDK expects the request id, in addition to `x-request-id`. */
  requestIdHeader?: string
  /** Request headers, in lower case, that are passed unchanged to channels of the same format. */
  forwardedHeaders: readonly string[]
  /** The forwarded header with a comma-separated list of features. Operators can deny some of them. */
  featuresHeader?: string
  /**
   * The prefix of the names of the feature that provides threads. It is not sent to a channel if the gateway
   * stores the thread.
   */
  threadsFeature?: string
  /**
   * Decodes the whole request, for a channel with another format. Every member of the body is either read or
   * listed in `unmapped`. Throws GatewayError `invalid_request` with the path of the invalid field.
   */
  decodeRequest(body: Json, context: DecodeContext): ChatRequest
  /**
   * Returns only those members of a request that an encoder of its answer reads, for `AnswerContext`. They do
   * not include the conversation, so they are small even if a body is large because of its texts and images.
   */
  answerSettings(body: Json): Json
  /** Encodes a complete answer. `events` follows the grammar in canonical/event.ts and ends with `finish`. */
  encodeResponse(events: readonly ChatEvent[], context: AnswerContext): Json
  /** Encodes a streamed answer event by event, including the format's end marker. */
  encodeStream(context: AnswerContext): StreamEncoder
  /** An event without effect, for proxies and clients that close idle connections. */
  keepAlive: string
  /**
   * How to watch answers that are bytes, such as audio, when an upstream sends a JSON document or events
   * instead. Absent: answers are JSON.
   */
  bytes?: Pick<NativeSide, 'watchResponse' | 'watchStream'>
  /** Absent: answers of this format are never stored. */
  state?: ProtocolState
  encodeError(error: GatewayError, requestId: string): RenderedError
  /** The format's error inside a stream, for an answer that fails after its headers were sent. */
  encodeStreamError(error: GatewayError, requestId: string): Buffer
}

export interface DecodeContext {
  /**
   * Whether the gateway stores the answer, so that nothing is lost by dropping `store`. Defaults to false.
   */
  isKept?: boolean
  /** Opens the envelopes in which our earlier answers carried signatures to a client of another format. */
  envelope: Envelope
  /** Of a remembered conversation. */
  memo?: TurnMemo | undefined
}

/** What an encoder needs to know about the request of an answer. */
export interface AnswerContext {
  requestId: string
  /**
   * The upstream's answer id, if the upstream stores the answer and this client is allowed to refer to it.
   */
  heldId?: string
  /** Present if the gateway stores the answer or the conversation that it belongs to. */
  kept?: KeptState | undefined
  /** The public model name that the client requested. */
  model: string
  createdAtSeconds: number
  /** The current time, for formats that state when an answer was completed. Defaults to the system clock. */
  nowSeconds?: () => number
  /** The `answerSettings` of the client's body, for formats whose answers repeat them. */
  body: Json
  /** Our estimate of the input tokens, for formats that report them before the upstream does. */
  inputTokensEstimate: number
  envelope: Envelope
}

/**
 * `push` returns the text to send now, which can be empty. After `finish` or `error` the answer is over.
 * Throws GatewayError `upstream_error` for an answer that the format cannot express.
 */
export interface StreamEncoder {
  push(event: ChatEvent): string
}

export interface RenderedError {
  status: number
  headers: Record<string, string>
  body: unknown
}

/** What admission, routing and the usage log need to know about a request, for all formats. */
export interface RequestFacts extends StateFacts {
  model: string
  stream: boolean
  /**
   * The client's limit of output tokens per choice, if set; 0 if there is no output and therefore no limit.
   */
  maxOutputTokens: number | undefined
  /** The member that sets this limit, for messages; undefined if the format has none. */
  outputBound: string | undefined
  /** The number of answers that the client requests. Defaults to 1. */
  choices: number
  /**
   * What the request contains of units that can be charged in place of tokens. Present if its answer is not
   * text.
   */
  counts?: Counts | undefined
  /** Whether the request can have many inputs, each with its own context. Defaults to false. */
  isBatch?: boolean
  /** Whether the client requested the usage frame of a stream, or the format always sends usage. */
  wantsUsageFrame: boolean
  /**
   * False: no name or text in the body can be an id of something stored at a vendor. Undefined: not checked.
   */
  namesVendorState?: boolean
  /** False: no name or text in the body belongs to a part other than text. Undefined: not checked. */
  hasMediaWords?: boolean
  /**
   * False: no name or text in the body begins like an id or an envelope that this gateway has made.
   * Undefined: not checked.
   */
  namesOurs?: boolean
  /** False: every number in the body is written as JavaScript would write it. Undefined: not checked. */
  losesDigits?: boolean
  /** The span of the JSON string in which the client identifies its session or user, if present. */
  session: ByteRange | undefined
  /** The span of the JSON string in which the client identifies its end user. */
  endUser?: ByteRange | undefined
  /** The span of the client's own labels for the request, an object. */
  metadata?: ByteRange | undefined
  /** Notes on what a pass-through does not send. */
  unsent?: readonly TranslationNote[] | undefined
  /** The vector encoding that an embeddings request sets, if the gateway can write it. */
  vectorsAs?: 'base64' | 'float' | undefined
  /** Byte ranges for `patchRequest`, private to the protocol. */
  spans: unknown
}

/** What we added to a request for a background answer. False: the client had requested it as well. */
export interface BackgroundAdditions {
  include: boolean
}

/** The changes that a pass-through makes to a request. */
export interface RequestPatch {
  /** The upstream's name for the model. */
  model: string
  /** Which of the members that we add the upstream accepts. Defaults to all of them. */
  takes?: Traits['takes']
  /** What we added to the bytes; only in a request for a background answer. */
  added?: BackgroundAdditions | undefined
  /** Allocates the changed body. Defaults to new memory. */
  allocate?: (bytes: number) => Buffer
}

/** The format as used by upstreams. */
export interface UpstreamSide {
  /** The path relative to the channel's base URL, with a query string if the format needs one. */
  path(call: { model: string; stream: boolean }): string
  /** Headers of all translated calls, such as the format's version. */
  headers: Readonly<Record<string, string>>
  /**
   * Encodes the request. Adds a note for each member that the format does not support. Throws GatewayError
   * `unsupported_parameter` with the client's path if the answer would not be what the client requested.
   */
  encodeRequest(request: ChatRequest, context: EncodeContext): EncodedRequest
  /**
   * The options of a request that the format cannot express or the model does not support. The gateway
   * applies them while it translates the answer.
   */
  keeps(request: ChatRequest, traits: Traits): KeptOptions | undefined
  /**
   * Decodes a complete answer. Throws GatewayError `upstream_error` if it is not an answer in this format.
   */
  decodeResponse(body: Json, context: DecodeAnswerContext): ChatEvent[]
  decodeStream(context: DecodeAnswerContext): EventDecoder
  /** Pass-through for clients of the same format; absent if clients cannot use the format. */
  native?: NativeSide
  /**
   * The calls of `path` over a WebSocket, for channels that enable it; absent if the format does not support
   * it.
   */
  frames?: FrameFormat
  /** The error for the client when an upstream answers with an error status. It never quotes credentials. */
  decodeError(status: number, headers: Headers, body: Buffer): GatewayError
}

/**
 * Pass-through: client and upstream use the same format, their bytes are forwarded, and the gateway only
 * watches.
 */
export interface NativeSide {
  /**
   * Returns the client's bytes with the upstream's model name, with a request for usage if the client does
   * not include one, and without the ranges described by `unsent`. Returns the same buffer if nothing
   * changes.
   */
  patchRequest(raw: Buffer, facts: RequestFacts, patch: RequestPatch): Buffer
  /** Returns the same bytes as pieces without copying, for large bodies. */
  patchedPieces(raw: Buffer, facts: RequestFacts, patch: Omit<RequestPatch, 'allocate'>): Buffer[]
  /** Watches a complete (not streamed) answer. Never throws. */
  watchResponse(body: Buffer): Observation
  /** Watches a stream while its bytes are forwarded. Never throws. */
  watchStream(options: WatchOptions): StreamWatcher
}

export interface EncodeContext {
  /** The upstream's name for the model. */
  upstreamModel: string
  /** The traits of the offer. If a trait is absent, the format's own default applies. */
  traits: Traits
  /** The output token limit for formats that require one, if the client set none. */
  maxOutputTokensDefault: number
  /** Of a remembered conversation. */
  memo?: TurnMemo | undefined
}

export interface EncodedRequest {
  body: Json
  notes: TranslationNote[]
  /** Maps the upstream's tool names to the client's. Needed to decode the answer. */
  tools: ToolNames
}

export interface DecodeAnswerContext {
  /** The upstream's name for the model. Reasoning signatures are bound to it. */
  upstreamModel: string
  /** Absent for pass-through, which does not change names. */
  tools?: ClientTools
  /** Unique for each answer. Used to create call ids if the answer itself has no id. */
  answerSeed?: string
}

/** Decodes the events of a stream. Throws only GatewayError. */
export interface EventDecoder {
  /** Takes the `data` of one server-sent event, joined as specified by the standard. */
  push(data: string): ChatEvent[]
  /**
   * Handles the end of the upstream's stream. Ends all open blocks and then the answer: with `finish` if it
   * is complete, otherwise with `error`.
   */
  end(): ChatEvent[]
}

export interface WatchOptions {
  /** Hides a usage frame that only the gateway requested from the client. */
  dropUsageFrame: boolean
  /** The largest incomplete SSE frame that the watcher holds. Larger frames are forwarded in pieces. */
  frameBytesMax: number
}

/** What a watcher has found in an answer. */
export interface Observation {
  /** The upstream's answer id, if the format lets clients refer to it. */
  answerId?: string | undefined
  /** Undefined if the upstream sent none. */
  usage: Usage | undefined
  /** The upstream's original finish reason, such as `stop` or `tool_calls`. */
  finishReason: string | undefined
  /** The upstream's name for the model that answered. */
  servedModel: string | undefined
  /** An error that was received inside the stream. */
  error: GatewayError | undefined
  /** Whether the format's own end was received: [DONE], a finish reason or a terminal event. */
  complete: boolean
  /**
   * Why an answer that ended normally is a failure: it is empty, or contains an error in place of content.
   */
  none?: GatewayError | undefined
  /**
   * Whether the upstream continues working after a complete answer. Its usage then cannot be known or
   * estimated.
   */
  goesOn?: boolean
  /** The parts of the answer that were lost in translation. */
  losses?: readonly TranslationNote[] | undefined
  /** Whether the upstream reported only the input, and the output in `usage` is our estimate. */
  isPartial?: boolean
  /** Our estimate of the output tokens so far, for answers that end without usage. */
  outputTokensEstimate: number
}

/**
 * Watches a stream while its bytes are forwarded. `push` returns the bytes to forward now, in order. The
 * forwarded bytes and the observation do not depend on how the stream is split.
 */
export interface StreamWatcher {
  push(chunk: Buffer): WatchedChunk
  /**
   * Whether upstreams may send more after the end of the answer, which is forwarded too. Defaults to false.
   */
  readonly isFollowed?: boolean
  /** Handles the end of the upstream's stream. Returns the bytes that are still held. */
  end(): Buffer | undefined
  /**
   * Handles a broken connection. A watcher that writes the stream itself returns the error for the client.
   */
  fail?(error: GatewayError): Buffer
  /**
   * Called when the stream is idle. A watcher that writes the stream itself returns an event without effect.
   */
  keepAlive?(): Buffer
  observe(): Observation
}

export interface WatchedChunk {
  /** Bytes to forward, in order; empty if the watcher holds all of them. */
  forward: Buffer[]
  /** True from the first chunk that contains content for the user. */
  hasContent: boolean
  /** Whether `forward` contains the end of the answer, after which the client needs nothing more. */
  terminal: boolean
}
