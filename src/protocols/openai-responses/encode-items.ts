import type {
  Block,
  DocumentBlock,
  ImageBlock,
  ReasoningBlock,
  ToolResultBlock,
  Turn,
} from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { legalCallId } from '../call-ids.ts'
import { type Notes, refused } from '../notes.ts'
import { isSignedBy } from '../signed-by.ts'
import type { ToolNames } from '../tool-names.ts'
import { callIdRules } from './wire.ts'

/**
 * Encodes turns as items of `input`. Instructions stay in their places as messages with their own role, because the
 * member `instructions` could hold only those at the beginning.
 */
export class ItemEncoder {
  readonly items: Json[] = []
  /** True if reasoning goes back. The upstream reads it only if the request asks for encrypted reasoning again. */
  hasReasoning = false
  readonly #notes: Notes
  readonly #names: ToolNames
  readonly #upstreamModel: string
  /** Ids of calls of custom tools, whose results have a type of their own. */
  readonly #customCalls = new Set<string>()

  constructor(notes: Notes, names: ToolNames, upstreamModel: string) {
    this.#notes = notes
    this.#names = names
    this.#upstreamModel = upstreamModel
  }

  add(turn: Turn): void {
    let content: Json[] = []
    const endMessage = () => {
      if (content.length > 0) this.items.push({ type: 'message', role: turn.role, content })
      content = []
    }
    for (const block of turn.blocks) {
      const part = this.#encodePart(block, turn.role)
      if (part !== undefined) content.push(part)
      const item = this.#encodeItem(block)
      if (item === undefined) continue
      endMessage()
      this.items.push(item)
    }
    endMessage()
  }

  /** A block as a part of a message, if it is one. */
  #encodePart(block: Block, role: Turn['role']): Json | undefined {
    const isAnswer = role === 'assistant'
    switch (block.type) {
      case 'text':
        if (block.text === '') return undefined
        return { type: isAnswer ? 'output_text' : 'input_text', text: block.text }
      case 'refusal':
        if (!isAnswer) throw refused(block.path, 'only an assistant refuses')
        return { type: 'refusal', refusal: block.text }
      case 'image':
        if (isAnswer) throw refused(block.path, 'the Responses format has no images in earlier answers')
        return encodeImage(block)
      case 'document':
        if (isAnswer) throw refused(block.path, 'the Responses format has no files in earlier answers')
        return encodeDocument(block)
      case 'audio':
        throw refused(block.path, 'the Responses format takes no audio')
      case 'foreign':
        this.#notes.other(block)
        return undefined
      case 'reasoning':
      case 'tool-call':
      case 'tool-result':
        return undefined
    }
  }

  /** A block as an item of its own, if it is one. */
  #encodeItem(block: Block): Json | undefined {
    if (block.type === 'reasoning') return this.#encodeReasoning(block)
    if (block.type === 'tool-result') return this.#encodeResult(block)
    if (block.type !== 'tool-call') return undefined
    const call_id = legalCallId(block.id, callIdRules)
    const name = this.#names.wireName(block, `${block.path}.name`)
    if (block.kind === 'custom') {
      this.#customCalls.add(call_id)
      return { type: 'custom_tool_call', call_id, name, input: block.input }
    }
    return { type: 'function_call', call_id, name, arguments: block.input === '' ? '{}' : block.input }
  }

  #encodeReasoning(block: ReasoningBlock): Json | undefined {
    const { signature, text, summary, path } = block
    const isOwn = isSignedBy(signature, 'openai-responses', this.#upstreamModel)
    if (!isOwn || signature.kind !== 'encrypted') {
      this.#notes.add('dropped', path, 'only the model that thought it can take its reasoning back')
      return undefined
    }
    this.hasReasoning = true
    return {
      type: 'reasoning',
      ...(signature.id?.startsWith('rs') ? { id: signature.id } : {}),
      summary: summary && text !== '' ? [{ type: 'summary_text', text }] : [],
      encrypted_content: signature.value,
    }
  }

  #encodeResult(block: ToolResultBlock): Json {
    const call_id = legalCallId(block.callId, callIdRules)
    const parts: Json[] = block.content.map((part) =>
      part.type === 'text'
        ? { type: 'input_text', text: part.text }
        : part.type === 'image'
          ? encodeImage(part)
          : encodeDocument(part),
    )
    if (block.isError) {
      this.#notes.add(
        'mapped',
        block.path,
        'the Responses format has no mark for errors: the result begins with a word',
      )
      parts.unshift({ type: 'input_text', text: 'Error:' })
    }
    const texts = parts.flatMap((part) => (part.type === 'input_text' ? [String(part.text)] : []))
    const isText = texts.length === parts.length && texts.length <= (block.isError ? 2 : 1)
    return {
      type: this.#customCalls.has(call_id) ? 'custom_tool_call_output' : 'function_call_output',
      call_id,
      output: isText ? texts.join(' ') : parts,
    }
  }
}

function encodeImage({ source, detail, path }: ImageBlock): Json {
  if (source.kind === 'file') throw refused(path, 'only one vendor keeps the file: send its bytes')
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
      throw refused(path, 'only one vendor keeps the file: send its bytes')
  }
}
