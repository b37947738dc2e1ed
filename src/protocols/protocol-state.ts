import type { GatewayError } from '../canonical/error.ts'
import type { Json } from '../canonical/json.ts'
import type { ByteRange } from './json-scan.ts'

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
  /** The client's `include`. */
  include: readonly string[]
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
  /** The items of stored turns, for clients that list them. Absent if clients cannot. */
  items?: ItemForm
  /** Conversations that exist apart from answers. */
  conversations?: ConversationForm
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

/** Only one format may have conversations: a stored one does not say which format it is in. */
export interface ConversationForm {
  /** The member that names a conversation, for errors and notes. */
  member: string
  newId(): string
  /** The error for a conversation that the gateway does not store. */
  refused(): GatewayError
}
