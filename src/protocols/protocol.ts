import type { ChatRequest, TranslationNote } from '../canonical/chat.ts'
import type { GatewayError } from '../canonical/error.ts'
import type { ChatEvent } from '../canonical/event.ts'
import type { FrameFormat } from '../canonical/frames.ts'
import type { Headers } from '../canonical/headers.ts'
import type { Json } from '../canonical/json.ts'
import type { Traits } from '../canonical/traits.ts'
import type { Usage } from '../canonical/usage.ts'
import type { Envelope } from './envelope.ts'
import type { PlainPlace } from './hidden-input.ts'
import type { ByteRange, JsonBounds } from './json-scan.ts'
import type { KeptOptions } from './kept-options.ts'
import type { ClientTools, ToolNames } from './tool-names.ts'

/** Names of wire formats. A channel speaks one or more of them, an endpoint exactly one. */
export const protocolNames = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'openai-images',
  'gemini',
] as const
export type ProtocolName = (typeof protocolNames)[number]

/** One wire format: a side for our clients and a side for upstreams. Pure and synchronous. */
export interface Protocol {
  name: ProtocolName
  client?: ClientSide
  upstream?: UpstreamSide
}

/** The format as our clients speak it. */
export interface ClientSide {
  /**
   * Read what the gateway must know about a request from its raw bytes. Throws GatewayError `invalid_request`
   * with the path of the bad field.
   */
  readRequest(raw: Buffer, bounds: JsonBounds): RequestFacts
  /** What of a request has all its input in the body. */
  plainInput: PlainPlace
  /**
   * Throws GatewayError `invalid_request` with the header if a required one is missing or a value is unknown.
   */
  checkHeaders?(headers: Headers): void
  /** The header in which the format's own SDK looks for the request id, besides `x-request-id`. */
  requestIdHeader?: string
  /** Request headers that a channel of the same format gets unchanged, in lower case. */
  forwardedHeaders: readonly string[]
  /**
   * The forwarded header that lists features with commas between them. An operator may deny some of the
   * features.
   */
  featuresHeader?: string
  /**
   * What the names of the feature of threads begin with. A channel does not get it where the gateway holds
   * the thread.
   */
  threadsFeature?: string
  /**
   * Decode the whole request, for a channel that speaks another format. It reads every member of the body or
   * lists it in `unmapped`. Throws GatewayError `invalid_request` with the path of the bad field.
   */
  decodeRequest(body: Json, context: DecodeContext): ChatRequest
  /**
   * The members of a request that an encoder of its answer reads, and no others: the body that
   * `AnswerContext` has. They do not have the conversation, so they are small where a large body is large for
   * its texts and pictures.
   */
  answerSettings(body: Json): Json
  /** Encode a whole answer. `events` obeys the grammar of canonical/event.ts and ends with `finish`. */
  encodeResponse(events: readonly ChatEvent[], context: AnswerContext): Json
  /** Encode a streamed answer, event by event, with the format's own end. */
  encodeStream(context: AnswerContext): StreamEncoder
  /** An event without meaning, for proxies and clients that close a silent connection. */
  keepAlive: string
  /**
   * Reads a whole answer in this format, from the bytes that its client gets. Undefined: it is not to be
   * continued. Where `endSuffices`, the bytes may be the last ones alone. Absent: answers of this format are
   * never kept.
   */
  toKeep?: { endSuffices: boolean; read(bytes: Buffer): AnswerToKeep | undefined }
  encodeError(error: GatewayError, requestId: string): RenderedError
  /** The format's error inside a stream, for an answer that breaks after its headers were sent. */
  encodeStreamError(error: GatewayError, requestId: string): Buffer
}

export interface DecodeContext {
  /** True: the gateway keeps the answer, so that `store` loses nothing. Default false. */
  isKept?: boolean
  /** Opens the envelopes that our earlier answers gave to a client of another format. */
  envelope: Envelope
}

/** The facts about a request that an encoder of its answer needs. */
export interface AnswerContext {
  requestId: string
  /**
   * The upstream's id of the answer, if the upstream keeps the answer and this client may come back to it.
   */
  heldId?: string
  /** Present where the gateway keeps the answer, or the conversation that it belongs to. */
  kept?: KeptState | undefined
  /** The public name that the client asked for. */
  model: string
  createdAtSeconds: number
  /** The time now, for formats that state when an answer was complete. Default: that of the clock. */
  nowSeconds?: () => number
  /** The `answerSettings` of the client's body, for formats whose answers repeat them. */
  body: Json
  /** Our estimate of the input tokens, for formats that state them before the upstream does. */
  inputTokensEstimate: number
  envelope: Envelope
}

/** A request for an answer that is made in the background. */
export interface BackgroundFacts {
  /** The members that the request which makes the answer has otherwise, or not at all. */
  removed: readonly ByteRange[]
  /** The place for its own members. */
  at: number
  /** The client's `include`. */
  include: readonly string[]
}

/** A conversation that is kept between requests, in the Messages format. */
export interface ThreadFacts {
  /** Span of the member. */
  span: ByteRange
  /** The answer that the request continues; undefined: it begins a conversation. */
  previousId: string | undefined
  /** Spans of the members that hold for all of the conversation. Its first request alone has them. */
  head: { readonly [name: string]: ByteRange }
}

/** An answer that is kept: what later requests repeat of it, and the answer itself. */
export interface AnswerToKeep {
  id: string
  /** Items or messages, as JSON text without brackets around them. */
  output: string
  answer: Json
}

/** What an answer says about its keeping. */
export interface KeptState {
  /** Days for which the gateway keeps the answer; 0: it does not. */
  days: number
  /** The kept answer that its request continues. */
  previousId: string | undefined
  /** The conversation of ours that its request runs in. */
  conversationId?: string | undefined
}

/**
 * `push` returns the text to send now, which may be empty. After `finish` or `error` the answer is over.
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

/** The facts about a request of any format that admission, routing and the usage log need. */
export interface RequestFacts {
  model: string
  stream: boolean
  /**
   * The client's bound of output tokens for each choice, if it set one; 0: there is no output, and no bound
   * of that.
   */
  maxOutputTokens: number | undefined
  /** The member with that bound, for advice; undefined: the format has none. */
  outputBound: string | undefined
  /** Number of answers that the client wants. Default 1. */
  choices: number
  /** True: it may have many inputs, each with a context of its own. Default false. */
  isBatch?: boolean
  /** True if the client asked for the usage frame of a stream, or if the format always sends usage. */
  wantsUsageFrame: boolean
  /**
   * False: no name or text of the body can be an id of what a vendor keeps. Undefined: nothing has looked.
   */
  namesVendorState?: boolean
  /** False: no name or text of the body marks a part that is not text. Undefined: nothing has looked. */
  hasMediaWords?: boolean
  /** False: every number of the body is written as JavaScript writes it. Undefined: nothing has looked. */
  losesDigits?: boolean
  /** Present where the request begins or continues a conversation that is kept between requests. */
  thread?: ThreadFacts | undefined
  /**
   * Id of an earlier answer that the request continues. Only the channel that keeps that answer can do this.
   */
  heldId: string | undefined
  /** Span of that id, a JSON string. */
  heldSpan?: ByteRange | undefined
  /** The conversation that the request names, kept by us or not at all: its id, and the member's span. */
  runsIn?: { id: string; span: ByteRange } | undefined
  /** True if the upstream keeps the answer, so that the client can come back to its id. Default false. */
  keepsAnswer?: boolean
  /** The member that makes the upstream work on after its answer, so that we never see the cost. */
  hidesCost?: string | undefined
  /** Present where that is an answer in the background, which the gateway can make itself. */
  background?: BackgroundFacts | undefined
  /** Span of the JSON string in which the client names its session or its user, if it does. */
  session: ByteRange | undefined
  /** Span of the user that the client names, as a JSON string. */
  endUser?: ByteRange | undefined
  /** Span of the client's own labels of the request, an object. */
  metadata?: ByteRange | undefined
  /** Span of the turns: an array, or one turn as a JSON string. */
  conversation: ByteRange | undefined
  /** Notes on what a pass-through does not send. */
  unsent?: readonly TranslationNote[] | undefined
  /**
   * The encoding of vectors that a request for embeddings asks for, if it is one that the gateway can write.
   */
  vectorsAs?: 'base64' | 'float' | undefined
  /** Byte ranges for `patchRequest`; private to the protocol. */
  spans: unknown
}

/** What a request that makes an answer in the background has of us. False: its client asked for it, too. */
export interface BackgroundAdditions {
  include: boolean
}

/** The changes of a pass-through to a request. */
export interface RequestPatch {
  /** The upstream's name of the model. */
  model: string
  /** What the upstream takes of the members that we add. Default: all. */
  takes?: Traits['takes']
  /** Present in a request that makes an answer in the background: what its bytes have of us. */
  added?: BackgroundAdditions | undefined
  /** Allocates the changed body. Default: new memory. */
  allocate?: (bytes: number) => Buffer
}

/** The format as upstreams speak it. */
export interface UpstreamSide {
  /** Path below the channel's base URL, with a query if the format needs one. */
  path(call: { model: string; stream: boolean }): string
  /** Headers of every translated call, such as the format's version. */
  headers: Readonly<Record<string, string>>
  authHeaders(secret: string): Record<string, string>
  /**
   * Encode the request. A note reports each member that the format lacks. Throws GatewayError
   * `unsupported_parameter` with the client's path if the answer would not be what the client asked for.
   */
  encodeRequest(request: ChatRequest, context: EncodeContext): EncodedRequest
  /**
   * The options of a request that the format cannot express, or that the model does not take. The gateway
   * applies them while it translates the answer.
   */
  keeps(request: ChatRequest, traits: Traits): KeptOptions | undefined
  /** Decode a whole answer. Throws GatewayError `upstream_error` if it is no answer of this format. */
  decodeResponse(body: Json, context: DecodeAnswerContext): ChatEvent[]
  decodeStream(context: DecodeAnswerContext): EventDecoder
  /** Pass-through for clients of the same format; absent if clients cannot speak it. */
  native?: NativeSide
  /** The calls of `path` over a WebSocket, for channels that say so; absent: the format has none. */
  frames?: FrameFormat
  /** The client's error for an upstream's answer with an error status. It never quotes credentials. */
  decodeError(status: number, headers: Headers, body: Buffer): GatewayError
}

/**
 * Pass-through: client and upstream speak the same format, their bytes pass, and the gateway only watches.
 */
export interface NativeSide {
  /**
   * The client's bytes with the upstream's model name, asking for usage where the client does not, and
   * without the ranges that `unsent` is about. Returns the same buffer if nothing changes.
   */
  patchRequest(raw: Buffer, facts: RequestFacts, patch: RequestPatch): Buffer
  /** The same bytes in pieces, without a copy: for a large body. */
  patchedPieces(raw: Buffer, facts: RequestFacts, patch: Omit<RequestPatch, 'allocate'>): Buffer[]
  /** Watch a whole (not streamed) answer. Never throws. */
  watchResponse(body: Buffer): Observation
  /** Watch a stream while its bytes pass. Never throws. */
  watchStream(options: WatchOptions): StreamWatcher
}

export interface EncodeContext {
  /** The upstream's name of the model. */
  upstreamModel: string
  /** What the offer takes; an absent trait: the format's own default. */
  traits: Traits
  /** The bound of output tokens for formats that require one, if the client set none. */
  maxOutputTokensDefault: number
}

export interface EncodedRequest {
  body: Json
  notes: TranslationNote[]
  /** Maps the upstream's names of tools to the client's. The decoder of the answer needs it. */
  tools: ToolNames
}

export interface DecodeAnswerContext {
  /** The upstream's name of the model. Signatures of reasoning are bound to it. */
  upstreamModel: string
  /** Absent for pass-through, which does not change names. */
  tools?: ClientTools
  /** Different for each answer. Ids of calls are made of it where the answer has no id of its own. */
  answerSeed?: string
}

/** Decodes the events of a stream. Throws only GatewayError. */
export interface EventDecoder {
  /** The `data` of one server-sent event, joined as the standard says. */
  push(data: string): ChatEvent[]
  /**
   * The upstream ended its stream. Ends all open blocks, then the answer: with `finish` if it is whole, else
   * with `error`.
   */
  end(): ChatEvent[]
}

export interface WatchOptions {
  /** Hide from the client the usage frame that only the gateway asked for. */
  dropUsageFrame: boolean
  /** Largest incomplete SSE frame that the watcher holds. It forwards a larger one in pieces. */
  frameBytesMax: number
}

/** The facts that a watcher has found in an answer. */
export interface Observation {
  /** The upstream's id of the answer, if the format lets clients come back to it. */
  answerId?: string | undefined
  /** Undefined if the upstream sent none. */
  usage: Usage | undefined
  /** The upstream's own word, such as `stop` or `tool_calls`. */
  finishReason: string | undefined
  /** The upstream's name of the model that answered. */
  servedModel: string | undefined
  /** An error that arrived inside the stream. */
  error: GatewayError | undefined
  /** True after the format's own end: [DONE], a finish reason or a terminal event. */
  complete: boolean
  /** Why an answer that ends well is a failure: it is empty, or what it has instead of content says so. */
  none?: GatewayError | undefined
  /** True if the upstream works on after a complete answer. Its usage then cannot be known or estimated. */
  goesOn?: boolean
  /** The parts of the answer that its translation has lost. */
  losses?: readonly TranslationNote[] | undefined
  /** True: the upstream has counted the input alone, and the output of `usage` is our estimate. */
  isPartial?: boolean
  /** Our estimate of the output tokens so far, for answers that end without usage. */
  outputTokensEstimate: number
}

/**
 * Watches a stream while its bytes pass. `push` returns the bytes to forward now, in order. Any split of the
 * stream gives the same bytes in total and the same observation.
 */
export interface StreamWatcher {
  push(chunk: Buffer): WatchedChunk
  /** True: upstreams may send more after the end of the answer, and the client gets it too. Default false. */
  readonly isFollowed?: boolean
  /** The upstream ended its stream. Returns the bytes that are still held. */
  end(): Buffer | undefined
  /** The connection broke. A watcher that writes the stream itself returns the error for the client. */
  fail?(error: GatewayError): Buffer
  /** Nothing came for a while. A watcher that writes the stream itself returns an event without meaning. */
  keepAlive?(): Buffer
  observe(): Observation
}

export interface WatchedChunk {
  /** Bytes to forward, in order; none if the watcher holds all of them. */
  forward: Buffer[]
  /** True from the first chunk with content for the user. */
  hasContent: boolean
  /** True if `forward` has the end of the answer: the client needs nothing after it. */
  terminal: boolean
}
