import type { Block, ReasoningBlock, ToolCallBlock } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { opaqueObject } from '../../canonical/json-digits.ts'
import { wrapCustomInput } from '../custom-tools.ts'
import { refused } from '../notes.ts'
import { isSignedBy } from '../signed-by.ts'
import { encodePart, encodeResult } from './encode-media.ts'
import type { ToolContext } from './encode-tools.ts'
import type { Piece } from './pair-results.ts'
import { protocolName } from './wire.ts'

/** A block of a turn of the user or the assistant. None if the format has no place for it, with a note. */
export function encodeBlock(block: Block, isAssistant: boolean, context: ToolContext): Piece[] {
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

/** A block of an instruction: text. */
export function encodeInstruction(block: Block, context: ToolContext): Json[] {
  switch (block.type) {
    case 'text':
      return encodePart(block, context)
    case 'foreign':
      context.notes.other(block)
      return []
    default:
      throw refused(block.path, 'instructions of the Messages format are text')
  }
}

function encodeThought({ text, signature }: ReasoningBlock, upstreamModel: string): Json | undefined {
  if (!isSignedBy(signature, protocolName, upstreamModel)) return undefined
  return signature.kind === 'encrypted'
    ? { type: 'redacted_thinking', data: signature.value }
    : { type: 'thinking', thinking: text, signature: signature.value }
}

function encodeCall(call: ToolCallBlock, { notes, tools, marks }: ToolContext): Json {
  const name = tools.wireName(call, `${call.path}.name`)
  const input = call.kind === 'custom' ? wrapCustomInput(call.input) : opaqueObject(call.input)
  if (input === undefined) {
    const isEmpty = call.input.trim() === ''
    const reason = isEmpty
      ? 'empty arguments are sent as {}'
      : 'the arguments are not a JSON object: {} takes their place'
    notes.add(isEmpty ? 'mapped' : 'dropped', call.path, reason)
  }
  return { type: 'tool_use', name, input: input ?? {}, ...marks.mark(call) }
}
