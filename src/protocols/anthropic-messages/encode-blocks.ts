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

/**
 * Encodes a block of a user or assistant turn. Returns nothing, and adds a note, if the format has no
 * equivalent.
 */
export function encodeBlock(block: Block, isAssistant: boolean, context: ToolContext): Piece[] {
  const { notes } = context
  const { path } = block
  switch (block.type) {
    case 'image':
    case 'document':
      if (isAssistant)
        throw refused(path, 'assistant turns of the Messages format cannot contain images or documents')
      return encodePart(block, context).map((wire) => ({ kind: 'other', wire, path }))
    case 'text':
      return encodePart(block, context).map((wire) => ({ kind: 'other', wire, path }))
    case 'refusal':
      return encodePart({ ...block, type: 'text' }, context).map((wire) => ({ kind: 'other', wire, path }))
    case 'audio':
      throw refused(path, 'the Messages format does not support audio')
    case 'reasoning': {
      const wire = isAssistant ? encodeThought(block, context.upstreamModel) : undefined
      if (wire !== undefined) return [{ kind: 'thought', wire, path }]
      notes.add(
        'dropped',
        path,
        'the Messages format accepts only thinking that was signed by the same model',
      )
      return []
    }
    case 'tool-call':
      if (!isAssistant) throw refused(path, 'tool calls are allowed only in assistant turns')
      return [{ kind: 'call', id: block.id, wire: encodeCall(block, context), path }]
    case 'tool-result':
      if (isAssistant) throw refused(path, 'tool results are allowed only in user turns')
      return [{ kind: 'result', id: block.callId, wire: encodeResult(block, context), path }]
    case 'foreign':
      notes.other(block)
      return []
  }
}

/** Encodes a block of an instruction, which must be text. */
export function encodeInstruction(block: Block, context: ToolContext): Json[] {
  switch (block.type) {
    case 'text':
      return encodePart(block, context)
    case 'foreign':
      context.notes.other(block)
      return []
    default:
      throw refused(block.path, 'instructions in the Messages format can contain only text')
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
      : 'the arguments are not a JSON object and are replaced by {}'
    notes.add(isEmpty ? 'mapped' : 'dropped', call.path, reason)
  }
  return { type: 'tool_use', name, input: input ?? {}, ...marks.mark(call) }
}
