import type { Block, TextBlock, ToolCallBlock, ToolResultBlock, Turn } from '../canonical/chat.ts'
import type { Notes } from './notes.ts'

/**
 * A part of a conversation that can be encoded by itself: what the assistant said, the results of the calls
 * it made, and what came before it spoke again. The first round has no assistant, unless the conversation
 * begins with one.
 */
export interface Round {
  /** One after the other, without anything between them. */
  assistant: readonly Turn[]
  /** All calls of the assistant in this round, in their order. */
  calls: readonly AnsweredCall[]
  /** Turns of the user, and instructions. They hold no results. */
  others: readonly Turn[]
}

export interface AnsweredCall {
  call: ToolCallBlock
  result: ToolResultBlock
}

/**
 * Divide a conversation into rounds, and give each call its result. Vendors refuse a call without a result,
 * and a result without a call. So a missing result becomes the text "[no result]", a result without a call
 * becomes a text of the user, and a result that comes later than others is moved to its call. A note says
 * each of these.
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
   * Calls without a result, by the client's id. Some vendors count anew in each answer: the latest round
   * counts.
   */
  waiting: Map<string, { round: OpenRound; calls: OpenCall[] }>
  notes: Notes
}

interface OpenRound {
  assistant: Turn[]
  calls: OpenCall[]
  others: Turn[]
  /** The assistant has ended: its next turn begins a new round. */
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

/** The text of a result without a call is the user's. */
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
  // A turn without content says nothing: the assistant goes on.
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

/** Give a result to its call. Returns the text that it becomes if no call waits for it. */
function takeResult(result: ToolResultBlock, round: OpenRound, { waiting, notes }: State): Block[] {
  const known = waiting.get(result.callId)
  const open = known?.calls.shift()
  if (known === undefined || open === undefined) return orphanText(result, notes)
  open.result = result
  if (known.round !== round) notes.add('mapped', result.path, 'it is moved to its call, which came earlier')
  return []
}

function orphanText({ callId, content, path, isError }: ToolResultBlock, notes: Notes): Block[] {
  notes.add('mapped', path, 'no call waits for this result: it becomes a text of the user')
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
  notes.add('defaulted', path, 'this call has no result: "[no result]" takes its place')
  const text: TextBlock = { type: 'text', path, text: '[no result]' }
  return { type: 'tool-result', path, callId: id, content: [text], isError: false }
}
