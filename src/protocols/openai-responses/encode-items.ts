import type {
  Block,
  DocumentBlock,
  ImageBlock,
  ReasoningBlock,
  ToolCallBlock,
  ToolResultBlock,
  Turn,
} from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { legalCallId } from '../call-ids.ts'
import { wrapCustomInput } from '../custom-tools.ts'
import { type Notes, refused } from '../notes.ts'
import { type AnsweredCall, pairToolResults, type Round } from '../pair-tool-results.ts'
import type { PromptMarks } from '../prompt-marks.ts'
import { isSignedBy } from '../signed-by.ts'
import type { ToolNames } from '../tool-names.ts'
import { callIdRules } from './wire.ts'

export interface ItemsContext {
  notes: Notes
  /** Undefined if the upstream does not support cache marks. */
  marks: PromptMarks | undefined
  names: ToolNames
  upstreamModel: string
  /** Whether the upstream supports custom tools. Otherwise their calls become function calls. */
  customTools: boolean
}

/**
 * Encodes turns as items of `input`. Instructions keep their position as messages with their own role,
 * because the member `instructions` could contain only those at the beginning.
 */
export function encodeItems(turns: readonly Turn[], context: ItemsContext): Json[] {
  return pairToolResults(turns, context.notes).flatMap((round) => encodeRound(round, context))
}

/** Encodes one round, which does not depend on any other round. */
function encodeRound({ assistant, calls, others }: Round, context: ItemsContext): Json[] {
  return [
    ...assistant.flatMap((turn) => encodeTurn(turn, context)),
    ...calls.map((answered) => encodeResult(answered, context)),
    ...others.flatMap((turn) => encodeTurn(turn, context)),
  ]
}

/** Consecutive parts become one message. Reasoning and calls are separate items. */
function encodeTurn({ role, blocks }: Turn, context: ItemsContext): Json[] {
  const items: Json[] = []
  let content: Json[] = []
  const endMessage = () => {
    if (content.length > 0) items.push({ type: 'message', role, content })
    content = []
  }
  for (const block of blocks) {
    const item = encodeItem(block, context)
    if (item === undefined) content.push(...encodePart(block, role, context))
    else {
      endMessage()
      items.push(item)
    }
  }
  endMessage()
  return items
}

/** Encodes a block as a part of a message; empty if it is not one. */
function encodePart(block: Block, role: Turn['role'], { notes, marks }: ItemsContext): Json[] {
  const isAnswer = role === 'assistant'
  const mark = marks?.mark(block, isAnswer ? 'assistant' : 'content')
  switch (block.type) {
    case 'text':
      if (block.text === '') return []
      return [{ type: isAnswer ? 'output_text' : 'input_text', text: block.text, ...mark }]
    case 'refusal':
      if (!isAnswer) throw refused(block.path, 'refusals are allowed only in assistant turns')
      return [{ type: 'refusal', refusal: block.text }]
    case 'image':
      if (isAnswer)
        throw refused(block.path, 'the Responses format does not support images in earlier answers')
      return [{ ...encodeImage(block), ...mark }]
    case 'document':
      if (isAnswer)
        throw refused(block.path, 'the Responses format does not support files in earlier answers')
      return [{ ...encodeDocument(block), ...mark }]
    case 'audio':
      throw refused(block.path, 'the Responses format does not support audio')
    case 'foreign':
      notes.other(block)
      return []
    case 'reasoning':
    case 'tool-call':
    case 'tool-result':
      return []
  }
}

/** Encodes a block as a separate item; undefined if it is not one. */
function encodeItem(block: Block, context: ItemsContext): Json | undefined {
  if (block.type === 'reasoning') return encodeReasoning(block, context)
  return block.type === 'tool-call' ? encodeCall(block, context) : undefined
}

function encodeCall(call: ToolCallBlock, { names, customTools }: ItemsContext): Json {
  const call_id = legalCallId(call.id, callIdRules)
  const name = names.wireName(call, `${call.path}.name`)
  const { kind, input } = call
  if (kind === 'custom' && customTools) return { type: 'custom_tool_call', call_id, name, input }
  const text = kind === 'custom' ? JSON.stringify(wrapCustomInput(input)) : input
  return { type: 'function_call', call_id, name, arguments: text === '' ? '{}' : text }
}

function encodeReasoning(block: ReasoningBlock, { notes, upstreamModel }: ItemsContext): Json | undefined {
  const { signature, text, summary, path } = block
  const isOwn = isSignedBy(signature, 'openai-responses', upstreamModel)
  if (!isOwn || signature.kind !== 'encrypted') {
    notes.add('dropped', path, 'reasoning can be sent back only to the model that produced it')
    return undefined
  }
  return {
    type: 'reasoning',
    ...(signature.id?.startsWith('rs') ? { id: signature.id } : {}),
    summary: summary && text !== '' ? [{ type: 'summary_text', text }] : [],
    encrypted_content: signature.value,
  }
}

function encodeResult({ call, result }: AnsweredCall, { notes, marks, customTools }: ItemsContext): Json {
  for (const hinted of [...result.content, result]) marks?.mark(hinted, 'tool')
  const isCustom = call.kind === 'custom' && customTools
  return {
    type: isCustom ? 'custom_tool_call_output' : 'function_call_output',
    call_id: legalCallId(call.id, callIdRules),
    output: outputOf(result, notes),
  }
}

function outputOf({ content, isError, path }: ToolResultBlock, notes: Notes): unknown {
  const parts: Json[] = content.map((part) =>
    part.type === 'text'
      ? { type: 'input_text', text: part.text }
      : part.type === 'image'
        ? encodeImage(part)
        : encodeDocument(part),
  )
  if (isError) {
    notes.add('mapped', path, 'the Responses format has no error flag: the result begins with "Error:"')
    parts.unshift({ type: 'input_text', text: 'Error:' })
  }
  const texts = parts.flatMap((part) => (part.type === 'input_text' ? [String(part.text)] : []))
  const isText = texts.length === parts.length && texts.length <= (isError ? 2 : 1)
  return isText ? texts.join(' ') : parts
}

function encodeImage({ source, detail, path }: ImageBlock): Json {
  if (source.kind === 'file') throw refused(path, 'the file is stored at another vendor: send its content')
  const image_url = source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`
  return { type: 'input_image', image_url, detail: detail ?? 'auto' }
}

function encodeDocument({ source, name, path }: DocumentBlock): Json {
  switch (source.kind) {
    case 'text':
      return { type: 'input_text', text: name === undefined ? source.text : `${name}\n\n${source.text}` }
    case 'url':
      return { type: 'input_file', file_url: source.url, ...(name === undefined ? {} : { filename: name }) }
    case 'base64':
      return {
        type: 'input_file',
        filename: name ?? `document.${source.mediaType === 'application/pdf' ? 'pdf' : 'txt'}`,
        file_data: `data:${source.mediaType};base64,${source.data}`,
      }
    case 'file':
      throw refused(path, 'the file is stored at another vendor: send its content')
  }
}
