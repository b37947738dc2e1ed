import type { ReasoningSignature, TranslationNote } from './chat.ts'
import type { GatewayError } from './error.ts'
import type { Usage } from './usage.ts'

/**
 * An answer, streamed or not, as a list of events:
 *
 *   stream = start block* (finish | error)      block = block-start block-delta* block-end
 *
 * `index` numbers the blocks from 0 in the order in which they start. Blocks can interleave, as parallel tool
 * calls do; an encoder whose format does not allow that writes them one after another. `error` can occur
 * anywhere and ends the answer.
 *
 * Each kind of block has its own kinds of deltas: text has pieces and citations, reasoning has pieces and at
 * most one signature, refusals and tool calls have pieces. A web search has queries, then sources, then at
 * most one failure.
 */
export type ChatEvent = Start | BlockStart | BlockDelta | BlockEnd | Finish | Failure

export interface Start {
  type: 'start'
  /** The upstream's answer id; undefined if there is none. */
  id: string | undefined
  /** The upstream's name for the model that answers. */
  model: string | undefined
  /** Counts sent by the upstream before its answer; undefined if there are none yet. */
  usage: Usage | undefined
}

export interface BlockStart {
  type: 'block-start'
  index: number
  block: AnswerBlock
}

/** The kind of block that starts here. Its content always arrives in deltas. */
export type AnswerBlock =
  /** `startsMessage`: the preceding text belongs to another message of the same answer. */
  | { type: 'text'; startsMessage?: true }
  | { type: 'reasoning'; summary: boolean }
  | { type: 'refusal' }
  | { type: 'tool-call'; id: string; name: string; namespace?: string; kind: 'function' | 'custom' }
  /**
   * A web search that the vendor ran. It can follow the text it contributed to, because some vendors report
   * it last.
   */
  | { type: 'web-search'; id: string }

export interface BlockDelta {
  type: 'block-delta'
  index: number
  delta: Delta
}

export type Delta =
  /** The next piece of a text, reasoning, refusal or tool call input. Never empty. */
  | { type: 'text'; text: string }
  /** The complete signature of a reasoning block, sent at most once. */
  | { type: 'signature'; signature: ReasoningSignature }
  /**
   * A source of a text block. Offsets, if the upstream provides them, count UTF-16 code units of the block's
   * text.
   */
  | Citation
  /** A query that the vendor searched for. Never empty. */
  | { type: 'query'; query: string }
  /** A page found by a web search. `age` is how old the page is, in the vendor's own words. */
  | { type: 'source'; url: string; title: string | undefined; age?: string }
  /** The search failed. Contains the vendor's code for the reason. */
  | { type: 'search-failure'; code: string }

/**
 * `citedText`: the quoted passage of the source, if the upstream provides it. Without offsets, the citation
 * applies to the whole block.
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

/** `tool_calls` if the client has calls to run, even if the upstream reports another reason. */
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
  /** The upstream's original finish reason. */
  upstreamReason: string | undefined
  /** The stop sequence that ended the answer, if the upstream reports it. */
  stopSequence: string | undefined
  /** Undefined: the upstream sent none. */
  usage: Usage | undefined
  /** Parts of the upstream's answer that no event represents. Absent if there are none. */
  losses?: readonly TranslationNote[]
}

export interface Failure {
  type: 'error'
  /** The usage of the failed answer, if the upstream reports it. */
  usage?: Usage | undefined
  error: GatewayError
}
