import type { GatewayError } from '../canonical/error.ts'
import type { Usage } from '../canonical/usage.ts'

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
  readRequest(raw: Buffer, bounds: { jsonDepthMax: number }): RequestFacts
  encodeError(error: GatewayError, requestId: string): RenderedError
  /** The format's own in-stream error, sent after the headers when an answer cannot be finished. */
  encodeStreamError(error: GatewayError, requestId: string): Buffer
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
  /** True when the client itself asked for the usage frame of a stream. */
  wantsUsageFrame: boolean
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
  /** Path below the channel's base URL. */
  path: string
  /** The client's own bytes, with `model` rewritten and usage asked for where needed; the same buffer if neither is. */
  patchRequest(raw: Buffer, facts: RequestFacts, patch: RequestPatch): Buffer
  authHeaders(secret: string): Record<string, string>
  /** Watch a whole (not streamed) answer. */
  watchResponse(body: Buffer): Observation
  /** Watch a stream while its bytes pass. */
  watchStream(options: WatchOptions): StreamWatcher
  /** What an upstream's refusal means for the caller. Never echoes credentials. */
  decodeError(
    status: number,
    headers: Record<string, string | string[] | undefined>,
    body: Buffer,
  ): GatewayError
}

export interface WatchOptions {
  /** Keep from the client the usage frame that only we asked for. */
  dropUsageFrame: boolean
  /** Largest SSE frame held back while incomplete; a larger one is forwarded in pieces. */
  frameBytesMax: number
}

/** What a watcher read from an answer. */
export interface Observation {
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
  /** Our estimate of the output tokens seen so far, for answers that end without usage. */
  outputTokensEstimate: number
}

/**
 * Watches a stream while its bytes pass. `push` answers with the bytes to forward now: whole frames only, in
 * order, unchanged. Any split of the stream yields the same bytes in total and the same observation.
 */
export interface StreamWatcher {
  push(chunk: Buffer): WatchedChunk
  /** The upstream ended by itself: whatever is still held, to be forwarded. */
  end(): Buffer | undefined
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
