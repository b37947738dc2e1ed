import type { DocumentBlock, ImageBlock, Source, TextBlock, ToolResultBlock } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import type { Modality } from '../../canonical/traits.ts'
import { type Notes, refused } from '../notes.ts'
import type { EncodeContext } from '../protocol.ts'
import type { CacheMarks } from './cache-marks.ts'

export interface MediaContext extends Pick<EncodeContext, 'upstreamModel' | 'traits'> {
  notes: Notes
  marks: CacheMarks
}

/**
 * Encodes a text, image or document. Returns nothing for a text of white space only, which the vendor
 * refuses.
 */
export function encodePart(part: TextBlock | ImageBlock | DocumentBlock, context: MediaContext): Json[] {
  switch (part.type) {
    case 'text':
      if (part.text.trim() === '') return []
      return [{ type: 'text', text: part.text, ...context.marks.mark(part) }]
    case 'image':
      checkModality('image', part.path, context)
      return [{ type: 'image', source: imageSource(part, context), ...context.marks.mark(part) }]
    case 'document': {
      const source = documentSource(part, context)
      if (source.type === 'text' && !reads('document', context)) {
        const text = [part.name ?? '', String(source.data)].join('\n\n').trim()
        return [{ type: 'text', text, ...context.marks.mark(part) }]
      }
      checkModality('document', part.path, context)
      const title = part.name === undefined ? {} : { title: part.name }
      return [{ type: 'document', source, ...title, ...context.marks.mark(part) }]
    }
  }
}

/** A tool result, without the id of its call. */
export function encodeResult(result: ToolResultBlock, context: MediaContext): Json {
  // A cache hint inside the result is moved to its end, where it has the same effect.
  const cache = result.cache ?? result.content.findLast((part) => part.cache !== undefined)?.cache
  const content = result.content.flatMap(({ cache: _, ...part }) => encodePart(part, context))
  return {
    type: 'tool_result',
    ...(content.length === 0 ? {} : { content }),
    ...(result.isError ? { is_error: true } : {}),
    ...context.marks.mark(cache === undefined ? { path: result.path } : { path: result.path, cache }),
  }
}

function reads(modality: Modality, { traits }: MediaContext): boolean {
  return traits.input === undefined || traits.input.includes(modality)
}

function checkModality(modality: Modality, path: string, context: MediaContext): void {
  if (!reads(modality, context))
    throw refused(path, `the model ${context.upstreamModel} does not accept ${modality}s`)
}

function imageSource({ source, detail, path }: ImageBlock, context: MediaContext): Json {
  const { notes } = context
  if (detail !== undefined && detail !== 'auto') {
    notes.add('dropped', path, 'the Messages format has no detail setting for images')
  }
  if (source.kind !== 'base64') return remoteSource(source, path, context)
  const given = source.mediaType.toLowerCase()
  const mediaType = given === 'image/jpg' ? 'image/jpeg' : given
  if (!imageTypes.has(mediaType)) {
    throw refused(
      path,
      `the Messages format accepts JPEG, PNG, GIF or WebP images, not ${given.slice(0, 60)}`,
    )
  }
  return { type: 'base64', media_type: mediaType, data: source.data }
}

/** https://platform.claude.com/docs/en/build-with-claude/vision, read 2026-11-21 */
const imageTypes: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

function documentSource({ source, path }: DocumentBlock, context: MediaContext): Json {
  if (source.kind === 'text') return textSource(source.text, path)
  if (source.kind !== 'base64') return remoteSource(source, path, context)
  const mediaType = source.mediaType.toLowerCase()
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data: source.data }
  if (mediaType.startsWith('text/')) {
    return textSource(Buffer.from(source.data, 'base64').toString('utf8'), path)
  }
  throw refused(path, `the Messages format accepts PDF or text documents, not ${mediaType.slice(0, 60)}`)
}

function textSource(text: string, path: string): Json {
  if (text.trim() === '') throw refused(path, 'the Messages format does not accept empty documents')
  return { type: 'text', media_type: 'text/plain', data: text }
}

function remoteSource(
  source: Exclude<Source, { kind: 'base64' }>,
  path: string,
  { traits, upstreamModel }: MediaContext,
): Json {
  if (source.kind === 'file')
    throw refused(path, 'a file id is valid only at its own vendor: send the file itself')
  if (!/^https?:\/\//i.test(source.url)) {
    throw refused(path, 'the Messages format accepts only https:// and http:// URLs')
  }
  if (traits.fetchesUrls === false) {
    throw refused(path, `the model ${upstreamModel} does not fetch URLs: send the content as base64`)
  }
  return { type: 'url', url: source.url }
}
