import type { Turn } from '../../canonical/chat.ts'
import { isInstruction } from '../fit-content.ts'
import { encodeBlock, encodeInstruction } from './encode-blocks.ts'
import type { ToolContext } from './encode-tools.ts'
import {
  beginPairing,
  endPairing,
  type Message,
  type Pairing,
  type Piece,
  pairMessage,
} from './pair-results.ts'

/**
 * The state of encoding a conversation after a number of turns, as far as later turns depend on it. A step
 * receives the state and one turn, and returns the new state and the messages that later turns cannot change.
 */
export interface ConversationState {
  /** The message to which the next turn can add. */
  readonly open: Message | undefined
  /** Thinking at the end of an assistant turn. The vendor refuses a message that ends with thinking. */
  readonly thoughts: Piece[]
  /** Instructions directly after the open message, which is a user message. */
  readonly instructions: Piece[]
  readonly pairing: Pairing
}

export interface ConversationStep {
  state: ConversationState
  out: Message[]
}

export const beginConversation: ConversationState = {
  open: undefined,
  thoughts: [],
  instructions: [],
  pairing: beginPairing,
}

export function addTurn(state: ConversationState, turn: Turn, context: ToolContext): ConversationStep {
  if (isInstruction(turn)) return addInstruction(state, turn, context)
  const isAssistant = turn.role === 'assistant'
  const pieces = turn.blocks.flatMap((block) => encodeBlock(block, isAssistant, context))
  if (pieces.length === 0) return { state, out: [] }
  return isAssistant ? addAnswer(state, pieces, context) : addQuestion(state, pieces, context)
}

/** Returns the remaining messages. */
export function endConversation(state: ConversationState, context: ToolContext): Message[] {
  const { out, pairing } = close(withoutThoughts(state, context), context)
  return [...out, ...endPairing(pairing, context.notes)]
}

/**
 * Only some models accept instructions between turns, and only directly after a user message:
 * https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages, read 2026-11-22
 */
function addInstruction(state: ConversationState, turn: Turn, context: ToolContext): ConversationStep {
  const pieces = turn.blocks.flatMap((block) =>
    encodeInstruction(block, context).map((wire): Piece => ({ kind: 'other', wire, path: turn.path })),
  )
  if (pieces.length === 0) return { state, out: [] }
  const hasPlace = state.open?.role === 'user' && state.thoughts.length === 0
  if (context.traits.laterInstructions === true && hasPlace) {
    return { state: { ...state, instructions: appended(state.instructions, pieces) }, out: [] }
  }
  return addQuestion(state, marked(pieces, context), context)
}

function addAnswer(
  state: ConversationState,
  pieces: readonly Piece[],
  context: ToolContext,
): ConversationStep {
  const end = pieces.findLastIndex(({ kind }) => kind !== 'thought') + 1
  if (end === 0) return { state: { ...state, thoughts: appended(state.thoughts, pieces) }, out: [] }
  const { open, step } = openFor('assistant', state, context)
  append(open.pieces, state.thoughts)
  append(open.pieces, pieces.slice(0, end))
  return { ...step, state: { ...step.state, thoughts: pieces.slice(end) } }
}

function addQuestion(
  before: ConversationState,
  pieces: readonly Piece[],
  context: ToolContext,
): ConversationStep {
  const state = withoutThoughts(before, context)
  const { open, step } = openFor('user', state, context)
  append(open.pieces, marked(state.instructions, context))
  append(open.pieces, pieces)
  return { ...step, state: { ...step.state, instructions: [] } }
}

/** Returns the open message of a role. If the open message belongs to the other role, closes it first. */
function openFor(
  role: 'user' | 'assistant',
  state: ConversationState,
  context: ToolContext,
): { open: Message; step: ConversationStep } {
  if (state.open?.role === role) return { open: state.open, step: { state, out: [] } }
  const { out, pairing } = close(state, context)
  const open: Message = { role, pieces: [] }
  return { open, step: { state: { ...state, open, pairing, instructions: [] }, out } }
}

function close(
  { open, instructions, pairing: before }: ConversationState,
  { notes }: ToolContext,
): { out: Message[]; pairing: Pairing } {
  if (open === undefined) return { out: [], pairing: before }
  const { message, pairing } = pairMessage(before, open, notes)
  if (instructions.length === 0) return { out: [message], pairing }
  return { out: [message, { role: 'system', pieces: [...instructions] }], pairing }
}

/** An answer that was cut off can end with thinking. */
function withoutThoughts(state: ConversationState, { notes }: ToolContext): ConversationState {
  for (const { path } of state.thoughts) {
    notes.add('dropped', path, 'an assistant turn of the Messages format cannot end with thinking')
  }
  return { ...state, thoughts: [] }
}

/** Appends in place, because a copy per turn would make long conversations quadratic. */
function appended(list: Piece[], pieces: readonly Piece[]): Piece[] {
  if (list.length === 0) return [...pieces]
  append(list, pieces)
  return list
}

/** Does not use `push(...pieces)`, which could overflow the stack for a turn with many blocks. */
function append(list: Piece[], pieces: readonly Piece[]): void {
  for (const piece of pieces) list.push(piece)
}

/** Converts instructions to text of a user message. */
function marked(instructions: readonly Piece[], { notes }: ToolContext): Piece[] {
  let noted: string | undefined
  return instructions.map((piece) => {
    if (piece.path !== noted) {
      const reason = 'instructions between turns become marked text in the adjacent user turn'
      notes.add('mapped', piece.path, reason)
      noted = piece.path
    }
    const text = `<system>\n${String(piece.wire.text)}\n</system>`
    return { ...piece, wire: { ...piece.wire, text } }
  })
}
