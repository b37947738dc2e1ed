import type { Block, DocumentBlock, Source } from '../../canonical/chat.ts'
import { type Json, recordsOf, textOf } from '../../canonical/json.ts'
import { invalid } from '../json-scan.ts'
import { type Others, optional, readName, readRecord, readString, wrong } from './shape.ts'

/** The content of a message: a text, or a list of parts. */
export function decodeParts(content: unknown, path: string, others: Others): Block[] {
  if (typeof content === 'string') return [{ type: 'text', path, text: content }]
  if (!Array.isArray(content)) throw wrong(content, path, 'a string or an array of parts')
  return content.map((value, index) => decodePart(value, `${path}[${index}]`, others))
}

/** A hint that everything up to here may be cached: the vendor's own, or the one of OpenRouter and LiteLLM. */
export function readCache(record: Json, path: string): { cache?: { ttl: '5m' | '1h' } } {
  const breakpoint = optional(record.prompt_cache_breakpoint, `${path}.prompt_cache_breakpoint`, readRecord)
  const control = optional(record.cache_control, `${path}.cache_control`, readRecord)
  if (breakpoint === undefined && control === undefined) return {}
  // The vendor's own times, 30m and 12h, are longer than any.
  const isLong = control?.ttl === '1h' || textOf(breakpoint?.ttl) !== undefined
  return { cache: { ttl: isLong ? '1h' : '5m' } }
}

function decodePart(value: unknown, path: string, others: Others): Block {
  const part = readRecord(value, path)
  const type = readName(part.type, `${path}.type`)
  const cache = readCache(part, path)
  const known = membersOf.get(type)
  if (known !== undefined) others.unknown(part, known, path)
  switch (type) {
    case 'text':
      return { type, path, text: readString(part.text, `${path}.text`), ...cache }
    case 'refusal':
      return { type, path, text: readString(part.refusal, `${path}.refusal`), ...cache }
    case 'thinking':
      return {
        type: 'reasoning',
        path,
        text: thoughtOf(part.thinking),
        summary: false,
        seal: undefined,
        ...cache,
      }
    case 'image_url':
      return { ...decodeImage(part.image_url, path, others), ...cache }
    case 'input_audio': {
      const audio = readRecord(part.input_audio, `${path}.input_audio`)
      others.unknown(audio, audioMembers, `${path}.input_audio`)
      const data = readString(audio.data, `${path}.input_audio.data`)
      const format = readString(audio.format, `${path}.input_audio.format`)
      return { type: 'audio', path, data, format, ...cache }
    }
    case 'file':
      return { ...decodeFile(readRecord(part.file, `${path}.file`), path, others), ...cache }
  }
  const name = type.slice(0, 64)
  return {
    type: 'foreign',
    path,
    name,
    verdict: 'refuse',
    reason: `other formats have no part of the type "${name}"`,
  }
}

const hints = ['type', 'cache_control', 'prompt_cache_breakpoint']
const membersOf: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  ['text', 'refusal', 'thinking', 'image_url', 'input_audio', 'file'].map((type) => [
    type,
    new Set([...hints, type]),
  ]),
)
const imageMembers: ReadonlySet<string> = new Set(['url', 'detail'])
const audioMembers: ReadonlySet<string> = new Set(['data', 'format'])
const fileMembers: ReadonlySet<string> = new Set(['file_id', 'file_data', 'filename'])

/** A part of Mistral's: a text, or a list of text parts. */
function thoughtOf(thinking: unknown): string {
  return (
    textOf(thinking) ??
    recordsOf(thinking)
      .map(({ text }) => textOf(text) ?? '')
      .join('')
  )
}

function decodeImage(value: unknown, path: string, others: Others): Extract<Block, { type: 'image' }> {
  const at = `${path}.image_url`
  // Some clients write the address itself.
  const image: Json = typeof value === 'string' ? { url: value } : readRecord(value, at)
  others.unknown(image, imageMembers, at)
  const source = readSource(readName(image.url, `${at}.url`), `${at}.url`)
  const detail = optional(image.detail, `${at}.detail`, readString)
  return { type: 'image', path, source, ...(detail === undefined ? {} : { detail }) }
}

function decodeFile(file: Json, path: string, others: Others): DocumentBlock {
  others.unknown(file, fileMembers, `${path}.file`)
  const filename = optional(file.filename, `${path}.file.filename`, readString)
  const id = optional(file.file_id, `${path}.file.file_id`, readName)
  const name = filename ? { name: filename } : {}
  if (id !== undefined) return { type: 'document', path, source: { kind: 'file', id }, ...name }
  const data = readName(file.file_data, `${path}.file.file_data`)
  const source: Source = /^(data|https?):/i.test(data)
    ? readSource(data, `${path}.file.file_data`)
    : { kind: 'base64', mediaType: mediaTypeOf(filename), data }
  return { type: 'document', path, source, ...name }
}

/** Bare data is of the type that its name tells; the vendor takes mostly this one. */
function mediaTypeOf(filename: string | undefined): string {
  const extension = filename?.slice(filename.lastIndexOf('.') + 1).toLowerCase() ?? ''
  return mediaTypes.get(extension) ?? 'application/pdf'
}

const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['json', 'application/json'],
])

/** An address, or the bytes of a `data:` address. https://www.rfc-editor.org/rfc/rfc2397, read 2026-11-21 */
function readSource(url: string, path: string): Source {
  if (!/^data:/i.test(url)) return { kind: 'url', url }
  const comma = url.indexOf(',')
  if (comma === -1 || comma > 256) throw invalid(path, 'expected a data URL with a comma behind its type')
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma).split(';')
  const data = url.slice(comma + 1)
  const type = mediaType === '' ? 'text/plain' : mediaType.toLowerCase()
  if (parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')) {
    return { kind: 'base64', mediaType: type, data }
  }
  try {
    return { kind: 'base64', mediaType: type, data: Buffer.from(decodeURIComponent(data)).toString('base64') }
  } catch {
    throw invalid(path, 'expected a data URL with well-formed percent codes')
  }
}
