import type { DocumentBlock, ImageBlock } from '../../canonical/chat.ts'
import type { Json } from '../../canonical/json.ts'
import { refused } from '../notes.ts'

export function encodeImage({ source, detail, path }: ImageBlock): Json {
  if (source.kind === 'file') throw refused(path, 'only one vendor keeps the file: send its bytes')
  const image_url = source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`
  return { type: 'input_image', image_url, detail: detail ?? 'auto' }
}

export function encodeDocument({ source, name, path }: DocumentBlock): Json {
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
