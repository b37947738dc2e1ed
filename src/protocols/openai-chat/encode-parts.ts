import type { Block, DocumentBlock, ImageBlock } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { type Notes, refused } from '../notes.ts'
import { unmarked } from '../prompt-marks.ts'

/** Encodes a block of a user turn or a tool result as message parts; empty if the block is dropped. */
export function encodePart(block: Block, notes: Notes): Json[] {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return [{ type: 'text', text: block.text }]
    case 'image':
      return [{ type: 'image_url', image_url: encodeImage(block) }]
    case 'document':
      return [encodeDocument(block, notes)]
    case 'audio':
      return [{ type: 'input_audio', input_audio: { data: block.data, format: block.format } }]
    case 'reasoning':
      notes.add('dropped', block.path, 'only assistant turns can contain reasoning')
      return []
    case 'foreign':
      notes.other(block)
      return []
    case 'tool-call':
    case 'tool-result':
      throw refused(block.path, 'the Chat Completions format does not allow it here')
  }
}

/** Adds a cache mark to the last of the parts. */
export function marked(parts: Json[], mark: Json): Json[] {
  if (mark === unmarked) return parts
  return parts.map((part, at) => (at === parts.length - 1 ? { ...part, ...mark } : part))
}

/** Joins texts into one, or keeps them as parts if one of them has a cache mark. */
export function joinedTexts(parts: readonly Json[], separator: string): unknown {
  const [first] = parts
  if (parts.length === 1 && first !== undefined && !isMarked(first)) return first.text
  if (parts.some(isMarked)) return parts
  return parts.map(({ text }) => text).join(separator)
}

/** Whether a text part has members other than its text. */
function isMarked(part: Json): boolean {
  let members = 0
  for (const _name in part) members++
  return members > 2
}

function encodeImage({ source, detail, path }: ImageBlock): Json {
  if (source.kind === 'file')
    throw refused(path, 'the Chat Completions format does not support file ids for images')
  const url = source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`
  return { url, ...(detail === undefined ? {} : { detail }) }
}

function encodeDocument({ source, name, path }: DocumentBlock, notes: Notes): Json {
  switch (source.kind) {
    case 'text':
      notes.add('emulated', path, 'the Chat Completions format has no text documents: sent as a text part')
      return { type: 'text', text: name === undefined ? source.text : `${name}\n\n${source.text}` }
    case 'base64': {
      const filename = name ?? (source.mediaType === 'application/pdf' ? 'document.pdf' : 'document')
      const data = `data:${source.mediaType};base64,${source.data}`
      return { type: 'file', file: { filename, file_data: data } }
    }
    case 'url':
      throw refused(path, 'the Chat Completions format accepts documents only as data, not as URLs')
    case 'file':
      throw refused(path, 'this file is stored at another vendor: send the document itself')
  }
}
