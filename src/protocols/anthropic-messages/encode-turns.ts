import type { Block, ChatRequest, ReasoningBlock, ToolCallBlock, Turn } from '../../canonical/chat.ts'
import { type Json, parseObject } from '../../canonical/json.ts'
import { wrapCustomInput } from '../custom-tools.ts'
import { refused } from '../notes.ts'
import { isSignedBy } from '../signed-by.ts'
import { encodePart, encodeResult } from './encode-media.ts'
import type { ToolContext } from './encode-tools.ts'
import { type Message, type Piece, pairResults } from './pair-results.ts'
import { protocolName } from './wire.ts'

export interface EncodedTurns {
  system: Json[]
  messages: Json[]
  /** True if the last message is the assistant's: the model continues it. */
  endsWithAssistant: boolean
  /** True if the last tool calls came without thinking that this model has signed. */
  inUnsignedLoop: boolean
}

interface TurnContext extends ToolContext {
  upstreamModel: string
}

/**
 * Encode turns by the format's rules: instructions apart, user and assistant in turn, a user first, and results at the
 * beginning of the message after their calls.
 */
export function encodeTurns({ turns }: ChatRequest, context: TurnContext): EncodedTurns {
  const firstTalk = turns.findIndex((turn) => !isInstruction(turn))
  const leading = firstTalk === -1 ? turns : turns.slice(0, firstTalk)
  const system = leading.flatMap((turn) => turn.blocks.flatMap((block) => encodeInstruction(block, context)))

  const messages: Message[] = []
  for (const turn of turns.slice(leading.length)) {
    const pieces = isInstruction(turn) ? foldInstruction(turn, context) : encodeTurn(turn, context)
    join(messages, { role: turn.role === 'assistant' ? 'assistant' : 'user', pieces })
  }
  const spoken: Message[] = []
  for (const message of messages) join(spoken, withoutLastThoughts(message, context))
  pairResults(spoken, context.notes)
  beginWithUser(spoken, turns, context)
  const endsWithAssistant = spoken.at(-1)?.role === 'assistant'
  if (endsWithAssistant) trimEnd(spoken, context)
  return {
    system,
    messages: spoken.map(({ role, pieces }) => ({ role, content: pieces.map(({ wire }) => wire) })),
    endsWithAssistant,
    inUnsignedLoop: isUnsignedLoop(spoken),
  }
}

function isInstruction({ role }: Turn): boolean {
  return role === 'system' || role === 'developer'
}

/** Append a message, or merge it into the last one if that has the same role. */
function join(messages: Message[], { role, pieces }: Message): void {
  if (pieces.length === 0) return
  const last = messages.at(-1)
  if (last?.role !== role) messages.push({ role, pieces: [...pieces] })
  else for (const piece of pieces) last.pieces.push(piece)
}

function encodeInstruction(block: Block, { notes, marks }: TurnContext): Json[] {
  switch (block.type) {
    case 'text':
      return encodePart(block, { notes, marks })
    case 'foreign':
      notes.other(block)
      return []
    default:
      throw refused(block.path, 'instructions of the Messages format are text')
  }
}

/** Not every model of the vendor accepts instructions between the turns. */
function foldInstruction(turn: Turn, context: TurnContext): Piece[] {
  const pieces = turn.blocks.flatMap((block) =>
    encodeInstruction(block, context).map((wire) => {
      const text = `<system>\n${String(wire.text)}\n</system>`
      return { kind: 'other' as const, wire: { ...wire, text }, path: block.path }
    }),
  )
  if (pieces.length > 0) {
    const reason = 'instructions between the turns become marked text of the user turn there'
    context.notes.add('mapped', turn.path, reason)
  }
  return pieces
}

function encodeTurn({ role, blocks }: Turn, context: TurnContext): Piece[] {
  return blocks.flatMap((block) => encodeBlock(block, role === 'assistant', context))
}

function encodeBlock(block: Block, isAssistant: boolean, context: TurnContext): Piece[] {
  const { notes } = context
  const { path } = block
  switch (block.type) {
    case 'image':
    case 'document':
      if (isAssistant)
        throw refused(path, 'assistant turns of the Messages format hold no images and documents')
      return encodePart(block, context).map((wire) => ({ kind: 'other', wire, path }))
    case 'text':
      return encodePart(block, context).map((wire) => ({ kind: 'other', wire, path }))
    case 'refusal':
      return encodePart({ ...block, type: 'text' }, context).map((wire) => ({ kind: 'other', wire, path }))
    case 'audio':
      throw refused(path, 'the Messages format takes no audio')
    case 'reasoning': {
      const wire = isAssistant ? encodeThought(block, context.upstreamModel) : undefined
      if (wire !== undefined) return [{ kind: 'thought', wire, path }]
      notes.add('dropped', path, 'the Messages format takes only thinking that the same model has signed')
      return []
    }
    case 'tool-call':
      if (!isAssistant) throw refused(path, 'tool calls belong into assistant turns')
      return [{ kind: 'call', id: block.id, wire: encodeCall(block, context), path }]
    case 'tool-result':
      if (isAssistant) throw refused(path, 'results of tools belong into user turns')
      return [{ kind: 'result', id: block.callId, wire: encodeResult(block, context), path }]
    case 'foreign':
      notes.other(block)
      return []
  }
}

function encodeThought({ text, signature }: ReasoningBlock, upstreamModel: string): Json | undefined {
  if (!isSignedBy(signature, protocolName, upstreamModel)) return undefined
  return signature.kind === 'encrypted'
    ? { type: 'redacted_thinking', data: signature.value }
    : { type: 'thinking', thinking: text, signature: signature.value }
}

function encodeCall(call: ToolCallBlock, { notes, tools, marks }: TurnContext): Json {
  const name = tools.wireName(call, `${call.path}.name`)
  const input = call.kind === 'custom' ? wrapCustomInput(call.input) : parseObject(call.input)
  if (input === undefined) {
    const isEmpty = call.input.trim() === ''
    const reason = isEmpty
      ? '{} stands for empty arguments'
      : 'the arguments are no JSON object: {} takes their place'
    notes.add(isEmpty ? 'mapped' : 'dropped', call.path, reason)
  }
  return { type: 'tool_use', name, input: input ?? {}, ...marks.mark(call) }
}

/** The vendor refuses an assistant message that ends with thinking. A broken answer may end so. */
function withoutLastThoughts({ role, pieces }: Message, { notes }: TurnContext): Message {
  const end = pieces.findLastIndex(({ kind }) => kind !== 'thought') + 1
  for (const { path } of pieces.slice(end)) {
    notes.add('dropped', path, 'the Messages format has no assistant turn that ends with thinking')
  }
  return { role, pieces: pieces.slice(0, end) }
}

function beginWithUser(messages: Message[], turns: readonly Turn[], { notes }: TurnContext): void {
  if (messages[0]?.role === 'user') return
  const path = turns.find((turn) => !isInstruction(turn))?.path ?? 'messages'
  notes.add('emulated', path, 'the Messages format begins with a user turn: a placeholder takes its place')
  const wire = { type: 'text', text: '(The conversation begins.)' }
  messages.unshift({ role: 'user', pieces: [{ kind: 'other', wire, path }] })
}

/** The vendor refuses white space at the end of a last assistant message. */
function trimEnd(messages: readonly Message[], { notes }: TurnContext): void {
  const last = messages.at(-1)?.pieces.at(-1)
  if (last === undefined || typeof last.wire.text !== 'string') return
  const text = last.wire.text.trimEnd()
  if (text === last.wire.text) return
  last.wire = { ...last.wire, text }
  notes.add('mapped', last.path, 'white space at the end of a last assistant turn is left out')
}

function isUnsignedLoop(messages: readonly Message[]): boolean {
  let hasCalls = false
  for (let at = messages.length - 1; at > 0; at -= 2) {
    const calls = messages[at - 1]
    if (!messages[at]?.pieces.some(({ kind }) => kind === 'result')) break
    if (calls?.pieces[0]?.kind === 'thought') return false
    hasCalls = true
  }
  return hasCalls
}
