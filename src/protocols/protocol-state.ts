import type { GatewayError } from '../canonical/error.ts'
import type { Json } from '../canonical/json.ts'
import type { ByteRange, JsonBounds } from './json-scan.ts'

/** What a request says about stored turns and answers. */
export interface StateFacts {
  /** The span of the turns: an array, or a single turn as a JSON string. */
  conversation: ByteRange | undefined
  /** The id of an earlier answer that the request continues. A channel or the gateway stores that answer. */
  heldId: string | undefined
  /** The span of that id, a JSON string. */
  heldSpan?: ByteRange | undefined
  /** The conversation that the request names, whether we store it or not: its id, and the member's span. */
  runsIn?: { id: string; span: ByteRange } | undefined
  /** Whether the client wants the answer stored, so that it can refer to its id. Defaults to false. */
  keepsAnswer?: boolean
  /** The member that lets the upstream continue working after its answer, so that we never see the cost. */
  hidesCost?: string | undefined
  /** Present if that member requests a background answer, which the gateway can produce itself. */
  background?: BackgroundFacts | undefined
  /** Present if the request starts or continues a stored conversation in the Messages format. */
  thread?: ThreadFacts | undefined
}

/** A request for a background answer. */
export interface BackgroundFacts {
  /** The members that the request to the upstream changes or omits. */
  removed: readonly ByteRange[]
  /** Where its own members are inserted. */
  at: number
  /** What its request asks to include, in the format's words. */
  include: readonly string[]
  /** Whether the client sees encrypted reasoning, which the gateway always requests. */
  showsEncrypted: boolean
}

/** A conversation that is stored between requests, in the Messages format. */
export interface ThreadFacts {
  /** The span of the member. */
  span: ByteRange
  /** The answer that the request continues; undefined if it starts a conversation. */
  previousId: string | undefined
  /** The spans of members that apply to the whole conversation, which only its first request contains. */
  head: { readonly [name: string]: ByteRange }
}

/** A stored answer, and the part of it that later requests repeat. */
export interface AnswerToKeep {
  id: string
  /** Items or messages as JSON text, without surrounding brackets. */
  output: string
  answer: Json
}

/** What an answer reports about its storage. */
export interface KeptState {
  /** The number of days for which the gateway stores the answer; 0 if it is not stored. */
  days: number
  /** The stored answer that its request continues. */
  previousId: string | undefined
  /** Our conversation to which its request belongs. */
  conversationId?: string | undefined
}

/**
 * How later requests of a format refer to earlier ones. The gateway decides what is stored, for whom and for
 * how long; this says how the format names it. Items are JSON text without surrounding brackets, so that
 * turns are joined without parsing.
 */
export interface ProtocolState {
  /** The member that names the earlier answer, for notes. */
  previousMember: string
  /** The member that requests storage, for errors. */
  storeMember: string
  /** How a client avoids storage, as an imperative for messages. */
  unstored: string
  /**
   * Reads a complete answer from the bytes sent to the client. Undefined if the answer cannot be continued.
   * If `endSuffices`, the last bytes alone are enough.
   */
  toKeep: { endSuffices: boolean; read(bytes: Buffer): AnswerToKeep | undefined }
  /** The items that a request adds; empty if it adds none. */
  itemsIn(body: Buffer, facts: Pick<StateFacts, 'conversation'>): string
  /**
   * The members of a first request that apply to all later turns, as JSON text without braces. Absent if the
   * format has none.
   */
  headIn?(body: Buffer, facts: StateFacts): string
  /**
   * Returns the request with earlier turns before its own, so that it names nothing that is stored. Returns
   * the same buffer if nothing changes.
   */
  withHistory(body: Buffer, facts: StateFacts, history: History): Buffer
  refusals: StateRefusals
  /**
   * Present if only one request may continue an answer. The gateway then stores every such answer itself,
   * because channels do not see the request to store it.
   */
  continuedOnce?: ContinuedOnce
  /** The items of stored turns. Absent if clients cannot list them. */
  items?: ItemForm
  /** Where clients read, delete and cancel stored answers. Absent if they cannot. */
  answers?: AnswersForm
  /** Conversations that exist apart from answers. */
  conversations?: ConversationForm
  /** Answers that the gateway generates after it has answered the request. */
  background?: BackgroundForm
  /** Clients' requests over a WebSocket, whose connection remembers answers that are not stored. */
  sockets?: SocketForm
}

/** Earlier turns, oldest first. */
export interface History {
  items: string
  /** The result of `headIn` for the first of them. */
  head?: string
  /** The id of an answer before them, which is stored elsewhere. */
  before?: string | undefined
}

/** The errors for a request that cannot continue an answer. Ids have been redacted. */
export interface StateRefusals {
  /** `advice`: how to have answers stored, as further sentences; can be empty. */
  unknown(id: string, advice: string): GatewayError
  /** An answer before this one was deleted. */
  broken(id: string): GatewayError
  tooLong(bytesMax: number): GatewayError
}

/** The errors of formats in which an answer can be continued only once. */
export interface ContinuedOnce {
  /** Another request has continued the answer. */
  continued(): GatewayError
  /** Another request is continuing it. */
  running(): GatewayError
  /** The tenant's storage is full. */
  full(): GatewayError
}

/** An item to store. */
export interface NewItem {
  id: string
  /** The item as JSON text, in the form in which later requests send it. */
  text: string
  /** False when clients see it but requests do not send it. */
  isSent: boolean
}

export interface ItemForm {
  /** The items of a request or a client. Those without an id are given one. */
  added(items: readonly Json[]): NewItem[]
  /** The items of an answer. */
  answered(items: readonly Json[]): NewItem[]
  /** The item as a client sees it. */
  shown(id: string, item: Json): Json
  /** What precedes the underscore in the ids of such items. */
  idPrefix(item: Json): string
  /**
   * Returns what is wrong with an item that a client adds, as `member: problem`; undefined when nothing is.
   * A bad item would break every later request.
   */
  faultOf(item: Json): string | undefined
}

/** The resource of stored answers. */
export interface AnswersForm {
  /** Our path; an answer is at the path below it that is its id. */
  path: string
  /** The same below the base URL of a channel. */
  upstreamPath: string
  /** Below an answer: the items of the conversation before it. */
  itemsBelow: string
  /** The query parameters that are passed on to the channel that holds the answer. */
  forwarded: readonly string[]
  /** The query parameter that resumes a stream of events: the number of the last event that arrived. */
  resumes: string
  /** The body after an answer was deleted. */
  deleted(id: string): Json
}

/** Only one format may have conversations: a stored one does not say which format it is in. */
export interface ConversationForm {
  /** The member that names a conversation, for errors and notes. */
  member: string
  newId(): string
  /** The error for a conversation that the gateway does not store. */
  refused(): GatewayError
  /**
   * Names a conversation in an answer, or in whole frames of a streamed one, whose channel does not know it.
   * All other bytes stay unchanged.
   */
  nameIn(bytes: Buffer, id: string, isStream: boolean): Buffer
}

/** What the client of a background answer sees in place of the values of our own request to the upstream. */
export interface BackgroundView {
  /** The answer as it was accepted. */
  answer: Json
  showsEncrypted: boolean
}

/** Background answers. An event is an object of the format, without its number. */
export interface BackgroundForm {
  /** The number of events before those of a run. */
  eventsBeforeRun: number
  /** Converts a request id to the id of its answer. */
  backgroundId(requestId: string): string
  /** The reverse; undefined if the id does not belong to one of our requests. */
  requestIdOfAnswer(answerId: string): string | undefined
  /** Creates the request that generates the answer: it streams, and the channel stores nothing. */
  requestForAnswer(body: Buffer, facts: BackgroundFacts): Buffer
  /** The answer before it runs, and its first events, with their numbers. `body`: its `answerSettings`. */
  queuedAnswer(
    requestId: string,
    context: { model: string; createdAt: number; previousId: string | null; body: Json },
  ): { answer: Json; events: Json[] }
  /** A queued answer that a worker is generating; any other answer is returned unchanged. */
  runningAnswer(answer: Json): Json
  /** The id of the answer that it continues. */
  previousIdOf(answer: Json): string | undefined
  /**
   * Converts an event of a run to the form that the client sees. Undefined if the client does not receive it,
   * because one of our events has the same meaning.
   */
  eventForClient(event: Json, view: BackgroundView): Json | undefined
  /** The final state of an answer; undefined for an event that does not end it. */
  endOfEvent(event: Json): 'completed' | 'incomplete' | 'failed' | undefined
  /** The answer that an event contains. */
  answerIn(event: Json): Json | undefined
  /** The item that an event completes. */
  itemIn(event: Json): Json | undefined
  /** The items of an answer as JSON text without brackets. */
  itemsOfAnswer(answer: Json): string
  /** `number` counts the events of an answer from 0. */
  numbered(event: Json, number: number): Json
  /** A stored event, JSON text, as a server-sent event. */
  encodeStored(text: string): string
  /** The last event of an answer that no run could finish. `output`: the items from its events. */
  unmadeEvent(
    answer: Json,
    how: { status: 'failed'; error: GatewayError } | { status: 'cancelled' },
    output: readonly Json[],
  ): Json
  /** The body of the webhook for an answer that has ended, in its final state; undefined if it is gone. */
  webhookBody(requestId: string, answer: Json | undefined, endedAt: Date): Json
}

/** The request in one frame. */
export interface SocketRequest {
  /** The body of the same request over HTTP, as a stream. */
  body: Buffer
  /** The id of the answer that it continues. */
  previousId: string | undefined
  /** The lane in which it runs; undefined means the lane of requests that name none. */
  lane: string | undefined
  /** False when it only prepares the next request, so that no model answers. */
  generates: boolean
}

/** An answer to a request over a WebSocket. */
export interface SocketAnswer {
  id: string
  isStored: boolean
  /** The items of an answer that is not stored, as later requests repeat them. */
  items(): string
}

/** A format over a WebSocket. Each frame of a client is a request, and each frame of ours is an event. */
export interface SocketForm {
  /** The path of the upgrade, and of the same requests over HTTP. */
  path: string
  /** Throws a GatewayError `invalid_request` or `unsupported_parameter` that names the member. */
  readFrame(frame: Buffer, bounds: JsonBounds): SocketRequest
  /** The lane of a refused frame, where its client waits for the answer; undefined if it cannot be read. */
  laneOfRefused(frame: Buffer, bounds: JsonBounds): string | undefined
  /**
   * Checks that every tool result in the request has its call, there or in the items before it. Throws a
   * GatewayError `invalid_request`, because a client without it has lost its place in the conversation.
   */
  requireCalls(body: Buffer, facts: StateFacts, before: string, bounds: JsonBounds): void
  /** What each event of a lane begins with, in place of its opening brace. */
  laneMark(lane: string): string
  /** The answer in its last event; undefined for an event that ends nothing. */
  endOf(event: Json): Json | 'failed' | undefined
  /** Undefined for an answer that cannot be continued. */
  answered(answer: Json): SocketAnswer | undefined
  /** The frame for an error, which is the `error` of an HTTP error body. */
  errorFrame(parts: {
    status: number
    error: Json
    retryAfter: string | undefined
    lane: string | undefined
  }): string
  /** The events that answer a request that only prepares the next one. `body`: its `answerSettings`. */
  preparedEvents(requestId: string, model: string, body: Json): Json[]
}
