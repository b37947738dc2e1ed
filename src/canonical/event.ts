import type { ReasoningSignature } from './chat.ts'
import type { GatewayError } from './error.ts'
import type { Usage } from './usage.ts'

/**
 * An answer, streamed or not, as a list of events:
 *
 *   stream = start block* (finish | error)      block = block-start block-delta* block-end
 *
 * `index` counts the blocks from 0 in the order of their start. Blocks may interleave (parallel tool calls do); an
 * encoder whose format forbids it serialises them. `error` may come at any place and ends everything.
 */
export type ChatEvent = Start | BlockStart | BlockDelta | BlockEnd | Finish | Failure

export interface Start {
  type: 'start'
  /** The upstream's id of the answer; undefined where it has none. */
  id: string | undefined
  /** The upstream's name of the model that serves. */
  model: string | undefined
  /** What the upstream tells of the input before it answers; undefined: nothing yet. */
  usage: Usage | undefined
}

export interface BlockStart {
  type: 'block-start'
  index: number
  block: AnswerBlock
}

/** What kind of block begins. Its text comes in deltas, always. */
export type AnswerBlock =
  | { type: 'text' }
  | { type: 'reasoning'; summary: boolean }
  | { type: 'refusal' }
  | { type: 'tool-call'; id: string; name: string; namespace?: string; kind: 'function' | 'custom' }

export interface BlockDelta {
  type: 'block-delta'
  index: number
  delta: Delta
}

export type Delta =
  /** The next piece of the block's text: of text, thought, refusal, or of a tool call's input. Never empty. */
  | { type: 'text'; text: string }
  /** The signature of a reasoning block, whole and at most once. */
  | { type: 'signature'; signature: ReasoningSignature }
  /** A source of a text block. Offsets count UTF-16 code units of the block's text; undefined where not told. */
  | { type: 'citation'; url: string; title: string | undefined; start?: number; end?: number }

export interface BlockEnd {
  type: 'block-end'
  index: number
}

/** `tool_calls` whenever there are calls for the client to run, whatever the upstream's own word was. */
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
  /** The sequence that ended the answer, where the upstream tells it. */
  stopSequence: string | undefined
  /** Undefined: the upstream told none. */
  usage: Usage | undefined
}

export interface Failure {
  type: 'error'
  error: GatewayError
}
