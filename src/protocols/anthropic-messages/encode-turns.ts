import type { ChatRequest, Turn } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { continueInstruction } from '../continue-instruction.ts'
import { isInstruction } from '../fit-content.ts'
import { addTurn, beginConversation, endConversation } from './conversation.ts'
import { encodeInstruction } from './encode-blocks.ts'
import type { ToolContext } from './encode-tools.ts'
import type { Message } from './pair-results.ts'

export interface EncodedTurns {
  system: Json[]
  messages: Json[]
  /** Whether the last message is an assistant message, which the model then continues. */
  endsWithAssistant: boolean
  /** Whether the last tool calls are not preceded by thinking signed by this model. */
  inUnsignedLoop: boolean
}

/**
 * Encodes turns according to the rules of the format: instructions are separate, user and assistant messages
 * alternate, the first message is a user message, and results are at the beginning of the message after their
 * calls.
 */
export function encodeTurns({ turns }: ChatRequest, context: ToolContext): EncodedTurns {
  const firstTalk = turns.findIndex((turn) => !isInstruction(turn))
  const leading = firstTalk === -1 ? turns : turns.slice(0, firstTalk)
  const system = leading.flatMap((turn) => turn.blocks.flatMap((block) => encodeInstruction(block, context)))

  let state = beginConversation
  const messages: Message[] = []
  for (const turn of turns.slice(leading.length)) {
    const step = addTurn(state, turn, context)
    state = step.state
    messages.push(...step.out)
  }
  messages.push(...endConversation(state, context))
  beginWithUser(messages, turns, context)
  const endsWithAssistant = continues(messages, context)
  return {
    system,
    messages: messages.map(({ role, pieces }) => ({ role, content: pieces.map(({ wire }) => wire) })),
    endsWithAssistant,
    inUnsignedLoop: isUnsignedLoop(messages.filter(({ role }) => role !== 'system')),
  }
}

function beginWithUser(messages: Message[], turns: readonly Turn[], { notes }: ToolContext): void {
  if (messages[0]?.role === 'user') return
  const path = turns.find((turn) => !isInstruction(turn))?.path ?? 'messages'
  notes.add('emulated', path, 'the Messages format requires a user turn first: a placeholder is inserted')
  const wire = { type: 'text', text: '(The conversation begins.)' }
  messages.unshift({ role: 'user', pieces: [{ kind: 'other', wire, path }] })
}

/**
 * Returns whether the model continues an assistant message at the end. If the model refuses that, an
 * instruction requests it, as recommended by the vendor:
 * https://platform.claude.com/docs/en/about-claude/models/migration-guide, read 2026-11-22
 */
function continues(messages: Message[], { traits, upstreamModel, notes }: ToolContext): boolean {
  const last = messages.at(-1)
  const piece = last?.pieces.at(-1)
  if (last?.role !== 'assistant' || piece === undefined) return false
  if (traits.prefill === false) {
    const reason = `the model ${upstreamModel} cannot continue an assistant turn: an instruction requests it, but the answer may start over`
    notes.add('emulated', piece.path, reason)
    const wire = { type: 'text', text: continueInstruction }
    messages.push({ role: 'user', pieces: [{ kind: 'other', wire, path: piece.path }] })
    return false
  }
  const text = typeof piece.wire.text === 'string' ? piece.wire.text.trimEnd() : undefined
  if (text !== undefined && text !== piece.wire.text) {
    piece.wire = { ...piece.wire, text }
    notes.add('mapped', piece.path, 'white space at the end of the last assistant turn is removed')
  }
  return true
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
