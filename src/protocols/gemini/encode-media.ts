import type { AudioBlock, DocumentBlock, ImageBlock, Source } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { type Notes, refused } from '../notes.ts'

/** https://ai.google.dev/gemini-api/docs/image-understanding, read 2026-11-21 */
export function imagePart({ source, detail, path }: ImageBlock, notes: Notes): Json {
  if (detail !== undefined) notes.add('dropped', path, 'the Gemini format has no detail setting for images')
  if (source.kind === 'base64' && !source.mediaType.startsWith('image/')) {
    throw refused(path, `expected an image, got "${source.mediaType}"`)
  }
  return sourcePart(source, 'image/jpeg', path, notes)
}

export function documentPart({ source, name, path }: DocumentBlock, notes: Notes): Json {
  if (source.kind === 'text') return { text: name === undefined ? source.text : `${name}:\n\n${source.text}` }
  if (name !== undefined) notes.add('dropped', path, 'the Gemini format has no document names')
  return sourcePart(source, 'application/pdf', path, notes)
}

export function audioPart({ data, format }: AudioBlock): Json {
  return { inlineData: { mimeType: `audio/${format}`, data } }
}

function sourcePart(source: Source, mediaTypeDefault: string, path: string, notes: Notes): Json {
  switch (source.kind) {
    case 'base64':
      return { inlineData: { mimeType: realTypes[source.mediaType] ?? source.mediaType, data: source.data } }
    case 'file':
      throw refused(path, 'a stored file is available only at its own vendor: send the file itself')
    case 'url':
      if (!/^(https|gs):\/\//.test(source.url)) {
        throw refused(
          path,
          'the Gemini format accepts only https:// URLs and gs:// URLs of Google Cloud Storage',
        )
      }
      notes.add('mapped', path, 'the upstream fetches the URL itself')
      return { fileData: { mimeType: mediaTypeOf(source.url) ?? mediaTypeDefault, fileUri: source.url } }
  }
}

/** Clients send nonstandard media types, which the vendor refuses. */
const realTypes: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
}

const mediaTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  html: 'text/html',
  csv: 'text/csv',
  json: 'application/json',
}

/** The media type of a URL according to its file extension. The format requires a media type. */
function mediaTypeOf(url: string): string | undefined {
  const path = url.replace(/^\w+:\/\//, '').split(/[?#]/, 1)[0] ?? ''
  return mediaTypes[/\.(\w{2,5})$/.exec(path)?.[1]?.toLowerCase() ?? '']
}
