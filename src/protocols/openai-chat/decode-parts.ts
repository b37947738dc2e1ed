import type { Block, DocumentBlock, ImageBlock, Source } from '../../canonical/chat.ts'
import { invalid, wrongType } from '../../canonical/field-error.ts'
import { recordsOf, textOf } from '../../canonical/json.ts'
import { Members, membersOfEach } from '../members.ts'

/** Decodes the content of a message: a text or a list of parts. */
export function decodeParts(message: Members, name: string): Block[] {
  const content = message.any(name)
  const path = message.pathOf(name)
  if (typeof content === 'string') return [{ type: 'text', path, text: content }]
  if (!Array.isArray(content)) throw wrongType(content, path, 'a string or an array of parts')
  return membersOfEach(content, path, message.unmapped).map((part) => {
    const block = decodePart(part)
    // Other formats lose such a part as a whole.
    if (block.type === 'foreign') return block
    const cache = readCache(part)
    part.noteRest()
    return { ...block, ...cache }
  })
}

/** Reads a cache hint: the vendor's own, or that of OpenRouter and LiteLLM. */
export function readCache(members: Members): { cache?: { ttl: '5m' | '1h' } } {
  const breakpoint = members.object('prompt_cache_breakpoint')
  const control = members.object('cache_control')
  if (breakpoint === undefined && control === undefined) return {}
  // The vendor's own durations, 30m and 12h, are longer than 5m.
  const isLong = control?.ttl === '1h' || textOf(breakpoint?.ttl) !== undefined
  return { cache: { ttl: isLong ? '1h' : '5m' } }
}

function decodePart(part: Members): Block {
  const type = part.requiredName('type')
  const { path } = part
  switch (type) {
    case 'text':
      return { type, path, text: part.requiredText('text') }
    case 'refusal':
      return { type, path, text: part.requiredText('refusal') }
    case 'thinking':
      return {
        type: 'reasoning',
        path,
        text: thoughtOf(part.any('thinking')),
        summary: false,
        signature: undefined,
      }
    case 'image_url':
      return decodeImage(part)
    case 'input_audio': {
      const audio = part.requiredMembers('input_audio')
      const data = audio.requiredText('data')
      const format = audio.requiredText('format')
      audio.noteRest()
      return { type: 'audio', path, data, format }
    }
    case 'file':
      return decodeFile(part.requiredMembers('file'), path)
  }
  const name = type.slice(0, 64)
  return {
    type: 'foreign',
    path,
    name,
    verdict: 'refuse',
    reason: `other formats do not support parts of type "${name}"`,
  }
}

/** Mistral's thinking part: a text or a list of text parts. */
function thoughtOf(thinking: unknown): string {
  return (
    textOf(thinking) ??
    recordsOf(thinking)
      .map(({ text }) => textOf(text) ?? '')
      .join('')
  )
}

function decodeImage(part: Members): ImageBlock {
  const at = part.pathOf('image_url')
  const given = part.any('image_url')
  // Some clients write the URL without an object around it.
  const image = new Members(typeof given === 'string' ? { url: given } : given, at, part.unmapped)
  const source = readSource(image.requiredName('url'), `${at}.url`)
  const detail = image.text('detail')
  image.noteRest()
  return { type: 'image', path: part.path, source, ...(detail === undefined ? {} : { detail }) }
}

function decodeFile(file: Members, path: string): DocumentBlock {
  const filename = file.text('filename')
  const source = fileSource(file, filename)
  file.ignore(['file_data'])
  file.noteRest()
  return { type: 'document', path, source, ...(filename ? { name: filename } : {}) }
}

function fileSource(file: Members, filename: string | undefined): Source {
  if (file.has('file_id')) return { kind: 'file', id: file.requiredName('file_id') }
  const data = file.requiredName('file_data')
  return /^(data|https?):/i.test(data)
    ? readSource(data, file.pathOf('file_data'))
    : { kind: 'base64', mediaType: mediaTypeOf(filename), data }
}

/**
 * The media type of base64 without a `data:` prefix, according to the file name. The vendor mainly accepts
 * PDF.
 */
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

/** A URL, or the content of a `data:` URL. https://www.rfc-editor.org/rfc/rfc2397, read 2026-11-21 */
function readSource(url: string, path: string): Source {
  if (!/^data:/i.test(url)) return { kind: 'url', url }
  const comma = url.indexOf(',')
  if (comma === -1 || comma > 256) throw invalid(path, 'expected a data URL with a comma after its type')
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma).split(';')
  const data = url.slice(comma + 1)
  const type = mediaType === '' ? 'text/plain' : mediaType.toLowerCase()
  if (parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64')) {
    return { kind: 'base64', mediaType: type, data }
  }
  try {
    return { kind: 'base64', mediaType: type, data: Buffer.from(decodeURIComponent(data)).toString('base64') }
  } catch {
    throw invalid(path, 'expected a data URL with valid percent-encoding')
  }
}
