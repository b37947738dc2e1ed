import type {
  AudioBlock,
  DocumentBlock,
  ImageBlock,
  RefusalBlock,
  Source,
  TextBlock,
} from '../../canonical/chat.ts'
import { GatewayError } from '../../canonical/error.ts'
import { isRecord, type Json, textOf } from '../../canonical/json.ts'
import type { Leftovers } from './leftovers.ts'
import { optional, readList, readObject, readText, wrongShape } from './wire.ts'

export type ContentBlock = TextBlock | ImageBlock | DocumentBlock | AudioBlock | RefusalBlock

/** The content of a message or the output of a tool: text alone, or a list of parts. */
export function decodeContent(value: unknown, path: string, leftovers: Leftovers): ContentBlock[] {
  if (typeof value === 'string') return [{ type: 'text', text: value, path }]
  if (!Array.isArray(value)) throw wrongShape(path, 'a string or an array of parts', value)
  const blocks: ContentBlock[] = []
  for (const [i, part] of readList(value, path).entries()) {
    const block = decodePart(readObject(part, `${path}[${i}]`), `${path}[${i}]`, leftovers)
    if (block !== undefined) blocks.push(block)
  }
  return blocks
}

const textMembers = new Set(['type', 'text', 'annotations', 'logprobs', 'prompt_cache_breakpoint'])
const refusalMembers = new Set(['type', 'refusal'])
const imageMembers = new Set(['type', 'image_url', 'file_id', 'detail', 'prompt_cache_breakpoint'])
const fileMembers = new Set([
  'type',
  'file_data',
  'file_url',
  'file_id',
  'filename',
  'prompt_cache_breakpoint',
])
const audioMembers = new Set(['type', 'input_audio'])

function decodePart(part: Json, path: string, leftovers: Leftovers): ContentBlock | undefined {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      leftovers.unknown(part, path, textMembers)
      noteLists(part, path, leftovers)
      return { type: 'text', text: readText(part.text, `${path}.text`), path, ...cacheHint(part) }
    case 'refusal':
      leftovers.unknown(part, path, refusalMembers)
      return { type: 'refusal', text: readText(part.refusal, `${path}.refusal`), path }
    case 'input_image':
      leftovers.unknown(part, path, imageMembers)
      return decodeImage(part, path)
    case 'input_file':
      leftovers.unknown(part, path, fileMembers, { detail: 'other formats choose it themselves' })
      return decodeFile(part, path)
    case 'input_audio': {
      leftovers.unknown(part, path, audioMembers)
      const audio = readObject(part.input_audio, `${path}.input_audio`)
      const data = readText(audio.data, `${path}.input_audio.data`)
      return { type: 'audio', data, format: readText(audio.format, `${path}.input_audio.format`), path }
    }
  }
  const type = readText(part.type, `${path}.type`)
  leftovers.refuse(path, `"${type.slice(0, 40)}" is not a content part that other formats have`)
  return undefined
}

/** What SDKs repeat of an earlier answer: only what is not empty is lost. */
function noteLists(part: Json, path: string, leftovers: Leftovers): void {
  for (const name of ['annotations', 'logprobs']) {
    const list = part[name]
    if (Array.isArray(list) && list.length > 0) {
      leftovers.drop(`${path}.${name}`, 'other formats do not take it back with an earlier answer')
    }
  }
}

function decodeImage(part: Json, path: string): ImageBlock {
  const url = optional(part.image_url, (value) => readText(value, `${path}.image_url`))
  const id = optional(part.file_id, (value) => readText(value, `${path}.file_id`))
  const detail = textOf(part.detail)
  const block = {
    type: 'image',
    path,
    ...(detail === undefined ? {} : { detail }),
    ...cacheHint(part),
  } as const
  if (url !== undefined) return { ...block, source: sourceOf(url, `${path}.image_url`) }
  if (id !== undefined) return { ...block, source: { kind: 'file', id } }
  throw wrongShape(`${path}.image_url`, 'a string', part.image_url)
}

function decodeFile(part: Json, path: string): DocumentBlock {
  const name = optional(part.filename, (value) => readText(value, `${path}.filename`))
  const block = {
    type: 'document',
    path,
    ...(name === undefined ? {} : { name }),
    ...cacheHint(part),
  } as const
  const data = optional(part.file_data, (value) => readText(value, `${path}.file_data`))
  const url = optional(part.file_url, (value) => readText(value, `${path}.file_url`))
  const id = optional(part.file_id, (value) => readText(value, `${path}.file_id`))
  if (data !== undefined) {
    if (data.startsWith('data:')) return { ...block, source: sourceOf(data, `${path}.file_data`) }
    return { ...block, source: { kind: 'base64', mediaType: 'application/pdf', data } }
  }
  if (url !== undefined) return { ...block, source: sourceOf(url, `${path}.file_url`) }
  if (id !== undefined) return { ...block, source: { kind: 'file', id } }
  throw wrongShape(path, 'file_data, file_url or file_id', undefined)
}

/** Bytes that a `data:` URL holds, or the address. */
function sourceOf(url: string, path: string): Source {
  if (!/^data:/i.test(url)) return { kind: 'url', url }
  const comma = url.indexOf(',')
  const [mediaType = '', ...parameters] = url.slice('data:'.length, Math.max(comma, 0)).split(';')
  if (comma === -1 || parameters.at(-1)?.toLowerCase() !== 'base64') {
    throw new GatewayError('invalid_request', `${path}: expected a data: URL in base64, or an https: URL`, {
      field: path,
    })
  }
  return { kind: 'base64', mediaType: mediaType.toLowerCase(), data: url.slice(comma + 1) }
}

function cacheHint(part: Json): { cache?: { ttl: '5m' | '1h' } } {
  const hint = part.prompt_cache_breakpoint
  if (!isRecord(hint)) return {}
  return { cache: { ttl: hint.ttl === '12h' ? '1h' : '5m' } }
}
