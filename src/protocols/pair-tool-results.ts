import type { Block, TextBlock, ToolCallBlock, ToolResultBlock, Turn } from '../canonical/chat.ts'
import type { Notes } from './notes.ts'

/**
 * A part of a conversation that can be encoded on its own: assistant turns, the results of their calls, and
 * everything up to the next assistant turn. The first round has no assistant turns, unless the conversation
 * begins with one.
 */
export interface Round {
  /** Consecutive turns, with nothing between them. */
  assistant: readonly Turn[]
  /** All calls of the assistant in this round, in order. */
  calls: readonly AnsweredCall[]
  /** User turns and instructions, without results. */
  others: readonly Turn[]
}

export interface AnsweredCall {
  call: ToolCallBlock
  result: ToolResultBlock
}

/** Whether both have the same turns, calls and results: the same objects. */
export function isSameRound(one: Round, other: Round): boolean {
  return (
    isSameList(one.assistant, other.assistant) &&
    isSameList(one.others, other.others) &&
    one.calls.length === other.calls.length &&
    one.calls.every(({ call, result }, at) => {
      const answered = other.calls[at]
      return call === answered?.call && result === answered.result
    })
  )
}

function isSameList(one: readonly object[], other: readonly object[]): boolean {
  return one.length === other.length && one.every((item, at) => item === other[at])
}

/**
 * Divides a conversation into rounds and assigns each call its result. Vendors refuse a call without a
 * result, and a result without a call. So a missing result becomes the text "[no result]", a result without a
 * call becomes user text, and a late result is moved to its call. Each of these adds a note.
 */
export function pairToolResults(turns: readonly Turn[], notes: Notes): Round[] {
  const state: State = { rounds: [], waiting: new Map(), notes }
  for (const turn of turns) {
    if (turn.role === 'assistant') addAssistant(turn, state)
    else addOther(turn, state)
  }
  return state.rounds.map((round) => finish(round, notes))
}

interface State {
  rounds: OpenRound[]
  /**
   * Calls without a result, by the client's id. Some vendors restart their numbering in each answer, so the
   * latest round counts.
   */
  waiting: Map<string, { round: OpenRound; calls: OpenCall[] }>
  notes: Notes
}

interface OpenRound {
  assistant: Turn[]
  calls: OpenCall[]
  others: Turn[]
  /** Whether the assistant's part is over, so that its next turn starts a new round. */
  isOver: boolean
}

interface OpenCall {
  call: ToolCallBlock
  result: ToolResultBlock | undefined
}

function addAssistant(turn: Turn, state: State): void {
  let round = state.rounds.at(-1)
  if (round === undefined || round.isOver) {
    round = { assistant: [], calls: [], others: [], isOver: false }
    state.rounds.push(round)
  }
  const spoken: Block[] = []
  for (const block of turn.blocks) {
    if (block.type === 'tool-call') addCall(block, round, state)
    if (block.type !== 'tool-result') spoken.push(block)
    else round.others.push(...turnOf(takeResult(block, round, state), turn.path))
  }
  round.assistant.push(spoken.length === turn.blocks.length ? turn : { ...turn, blocks: spoken })
}

/** The text of a result without a call becomes a user turn. */
function turnOf(blocks: Block[], path: string): Turn[] {
  return blocks.length === 0 ? [] : [{ role: 'user', blocks, path }]
}

function addCall(call: ToolCallBlock, round: OpenRound, { waiting }: State): void {
  const open: OpenCall = { call, result: undefined }
  round.calls.push(open)
  const known = waiting.get(call.id)
  if (known?.round === round) known.calls.push(open)
  else waiting.set(call.id, { round, calls: [open] })
}

function addOther(turn: Turn, state: State): void {
  // A turn without content has no effect: the assistant's part continues.
  if (turn.blocks.length === 0) return
  let round = state.rounds.at(-1)
  if (round === undefined) {
    round = { assistant: [], calls: [], others: [], isOver: true }
    state.rounds.push(round)
  }
  round.isOver = true
  if (turn.blocks.every((block) => block.type !== 'tool-result')) {
    round.others.push(turn)
    return
  }
  const { others } = round
  const blocks = turn.blocks.flatMap((block) =>
    block.type === 'tool-result' ? takeResult(block, round, state) : [block],
  )
  if (blocks.length > 0) others.push({ ...turn, blocks })
}

/** Assigns a result to its call. If no call is waiting for it, returns the text that replaces it. */
function takeResult(result: ToolResultBlock, round: OpenRound, { waiting, notes }: State): Block[] {
  const known = waiting.get(result.callId)
  const open = known?.calls.shift()
  if (known === undefined || open === undefined) return orphanText(result, notes)
  open.result = result
  if (known.round !== round)
    notes.add('mapped', result.path, 'moved to its call, which is earlier in the conversation')
  return []
}

function orphanText({ callId, content, path, isError }: ToolResultBlock, notes: Notes): Block[] {
  notes.add('mapped', path, 'this result has no matching call and becomes user text')
  const what = isError ? 'Error' : 'Result'
  const head: TextBlock = { type: 'text', path, text: `${what} of the tool call "${callId.slice(0, 64)}":` }
  return [head, ...content]
}

function finish({ assistant, calls, others }: OpenRound, notes: Notes): Round {
  return {
    assistant,
    calls: calls.map(({ call, result }) => ({ call, result: result ?? noResult(call, notes) })),
    others,
  }
}

function noResult({ id, path }: ToolCallBlock, notes: Notes): ToolResultBlock {
  notes.add('defaulted', path, 'this call has no result: "[no result]" is inserted')
  const text: TextBlock = { type: 'text', path, text: '[no result]' }
  return { type: 'tool-result', path, callId: id, content: [text], isError: false }
}
