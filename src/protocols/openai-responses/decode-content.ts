import type {
  AudioBlock,
  DocumentBlock,
  ImageBlock,
  RefusalBlock,
  Source,
  TextBlock,
} from '../../canonical/chat.ts'
import { invalid, wrongType } from '../../canonical/field-error.ts'
import { isRecord, textOf } from '../../canonical/json.ts'
import type { Members } from '../members.ts'

export type ContentBlock = TextBlock | ImageBlock | DocumentBlock | AudioBlock | RefusalBlock

/** The content of a message or the output of a tool: plain text or a list of parts. */
export function decodeContent(item: Members, name: string): ContentBlock[] {
  const value = item.any(name)
  const path = item.pathOf(name)
  if (typeof value === 'string') return [{ type: 'text', text: value, path }]
  if (!Array.isArray(value)) throw wrongType(value, path, 'a string or an array of parts')
  return item.requiredObjects(name).flatMap((part) => {
    const block = decodePart(part)
    if (block === undefined) return []
    part.noteRest(block.type === 'document' ? fileLosses : textLosses)
    return [block]
  })
}

/** SDKs send these members of an earlier answer back. */
const textLosses = {
  annotations: 'other formats do not accept it as part of an earlier answer',
  logprobs: 'other formats do not accept it as part of an earlier answer',
}
const fileLosses = { detail: 'other formats choose the detail themselves' }

function decodePart(part: Members): ContentBlock | undefined {
  const { path } = part
  const type = part.requiredText('type')
  switch (type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { type: 'text', text: part.requiredText('text'), path, ...cacheHint(part) }
    case 'refusal':
      return { type: 'refusal', text: part.requiredText('refusal'), path, ...cacheHint(part) }
    case 'input_image':
      return decodeImage(part)
    case 'input_file':
      return decodeFile(part)
    case 'input_audio': {
      const audio = part.requiredMembers('input_audio')
      const data = audio.requiredText('data')
      const format = audio.requiredText('format')
      audio.noteRest()
      return { type: 'audio', data, format, path, ...cacheHint(part) }
    }
  }
  part.unmapped.refuse(path, `other formats do not support content parts of type "${type.slice(0, 40)}"`)
  return undefined
}

/** An image, from the members of a content part or of a screenshot. */
export function decodeImage(part: Members): ImageBlock {
  const url = part.text('image_url')
  const id = part.text('file_id')
  const detail = textOf(part.any('detail'))
  const block = {
    type: 'image',
    path: part.path,
    ...(detail === undefined ? {} : { detail }),
    ...cacheHint(part),
  } as const
  if (url !== undefined) return { ...block, source: sourceOf(url, part.pathOf('image_url')) }
  if (id !== undefined) return { ...block, source: { kind: 'file', id } }
  throw wrongType(undefined, part.pathOf('image_url'), 'a string')
}

function decodeFile(part: Members): DocumentBlock {
  const name = part.text('filename')
  const data = part.text('file_data')
  const url = part.text('file_url')
  const id = part.text('file_id')
  const block = {
    type: 'document',
    path: part.path,
    ...(name === undefined ? {} : { name }),
    ...cacheHint(part),
  } as const
  if (data?.startsWith('data:')) return { ...block, source: sourceOf(data, part.pathOf('file_data')) }
  if (data !== undefined) {
    return { ...block, source: { kind: 'base64', mediaType: 'application/pdf', data } }
  }
  if (url !== undefined) return { ...block, source: sourceOf(url, part.pathOf('file_url')) }
  if (id !== undefined) return { ...block, source: { kind: 'file', id } }
  throw wrongType(undefined, part.path, 'file_data, file_url or file_id')
}

/** The content of a `data:` URL, or the URL. */
function sourceOf(url: string, path: string): Source {
  if (!/^data:/i.test(url)) return { kind: 'url', url }
  const comma = url.indexOf(',')
  const [mediaType = '', ...parameters] = url.slice('data:'.length, Math.max(comma, 0)).split(';')
  if (comma === -1 || parameters.at(-1)?.toLowerCase() !== 'base64') {
    throw invalid(path, 'expected a data: URL with base64 data, or an https: URL')
  }
  return { kind: 'base64', mediaType: mediaType.toLowerCase(), data: url.slice(comma + 1) }
}

function cacheHint(part: Members): { cache?: { ttl: '5m' | '1h' } } {
  const hint = part.any('prompt_cache_breakpoint')
  if (!isRecord(hint)) return {}
  return { cache: { ttl: hint.ttl === '12h' ? '1h' : '5m' } }
}
