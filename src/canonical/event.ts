import type { ReasoningSignature, TranslationNote } from './chat.ts'
import type { GatewayError } from './error.ts'
import type { Usage } from './usage.ts'

/**
 * An answer, streamed or not, as a list of events:
 *
 *   stream = start block* (finish | error)      block = block-start block-delta* block-end
 *
 * `index` counts the blocks from 0 in the order of their start. Blocks may interleave, as parallel tool calls
 * do; an encoder whose format forbids it writes them one after the other. `error` may come anywhere and ends
 * the answer.
 *
 * A block takes only its own kinds of deltas: a text has pieces and citations, a thought has pieces and at
 * most one signature, a refusal and a call have pieces. A web search has queries, then sources, then at most
 * one failure.
 */
export type ChatEvent = Start | BlockStart | BlockDelta | BlockEnd | Finish | Failure

export interface Start {
  type: 'start'
  /** The upstream's id of the answer; undefined where it has none. */
  id: string | undefined
  /** The upstream's name of the model that serves. */
  model: string | undefined
  /** Counts that the upstream sends before its answer; undefined: none yet. */
  usage: Usage | undefined
}

export interface BlockStart {
  type: 'block-start'
  index: number
  block: AnswerBlock
}

/** The kind of block that begins. Its content always comes in deltas. */
export type AnswerBlock =
  /** `startsMessage`: the text before it belongs to another message of the same answer. */
  | { type: 'text'; startsMessage?: true }
  | { type: 'reasoning'; summary: boolean }
  | { type: 'refusal' }
  | { type: 'tool-call'; id: string; name: string; namespace?: string; kind: 'function' | 'custom' }
  /**
   * A search of the web that the vendor ran. It may come after the text that it served: some vendors
   * report it last.
   */
  | { type: 'web-search'; id: string }

export interface BlockDelta {
  type: 'block-delta'
  index: number
  delta: Delta
}

export type Delta =
  /** The next piece of a text, a thought, a refusal or a tool call's input. Never empty. */
  | { type: 'text'; text: string }
  /** The whole signature of a reasoning block, at most once. */
  | { type: 'signature'; signature: ReasoningSignature }
  /**
   * A source of a text block. Offsets count UTF-16 code units of the block's text, if the upstream gives any.
   */
  | Citation
  /** What the vendor searched for. Never empty. */
  | { type: 'query'; query: string }
  /** A page that a web search found. `age` is the vendor's word for how old it is. */
  | { type: 'source'; url: string; title: string | undefined; age?: string }
  /** The search failed. The vendor's word for the reason. */
  | { type: 'search-failure'; code: string }

/**
 * `citedText`: the words of the source, if the upstream gives them. Without offsets it is about the whole
 * block.
 */
export interface Citation {
  type: 'citation'
  url: string
  title: string | undefined
  start?: number
  end?: number
  citedText?: string
}

export interface BlockEnd {
  type: 'block-end'
  index: number
}

/** `tool_calls` if there are calls for the client to run, even if the upstream reports another reason. */
export type FinishReason =
  | 'stop'
  | 'stop_sequence'
  | 'length'
  | 'tool_calls'
  | 'refusal'
  | 'content_filter'
  | 'pause'

export interface Finish {
  type: 'finish'
  reason: FinishReason
  /** The upstream's own word. */
  upstreamReason: string | undefined
  /** The stop sequence that ended the answer, if the upstream names it. */
  stopSequence: string | undefined
  /** Undefined: the upstream sent none. */
  usage: Usage | undefined
  /** Parts of the upstream's answer that no event carries. Absent: none. */
  losses?: readonly TranslationNote[]
}

export interface Failure {
  type: 'error'
  /** What the failed answer used, if the upstream says so. */
  usage?: Usage | undefined
  error: GatewayError
}
