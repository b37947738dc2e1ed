import { randomUUID } from 'node:crypto'
import type { FileUse } from '../bodies/file-uses.ts'
import { invalid } from '../canonical/field-error.ts'
import { isRecord, type Json, textOf } from '../canonical/json.ts'
import type { SourceFile } from '../state/files/file-source.ts'
import { isImage, isText } from '../state/files/file-type.ts'

/** How bytes are encoded in a body. `json` means as the inside of a JSON string. */
export type FileEncoding = 'base64' | 'json'

interface PartWithFile {
  encoding: FileEncoding
  /** The text before and after the bytes. */
  before: Buffer
  after: Buffer
}

/**
 * Returns a content part in the client's format with the bytes of a file in place of its id. Other members
 * are unchanged. Throws `invalid_request` when that part cannot contain such a file.
 */
export function partWith(use: FileUse, file: SourceFile): PartWithFile {
  const given: unknown = JSON.parse(use.part)
  const part = isRecord(given) ? given : {}
  switch (use.within) {
    case 'part':
      return split(isImage(file.mime) ? inputImage(part, file) : inputFile(part, use, file))
    case 'file':
      return split(isImage(file.mime) ? imageUrl(part, file) : chatFile(part, file))
    case 'source':
      return withSource(part, use, file)
  }
}

/** A placeholder for the bytes, which no client can know. */
const mark = randomUUID()

const dataUrl = ({ mime }: SourceFile) => `data:${mime};base64,${mark}`

/** Also replaces an `input_file` that is an image, so that the model sees it. A screenshot keeps its type. */
function inputImage({ file_id: _, filename: __, ...others }: Json, file: SourceFile): Json {
  const type = others.type === 'computer_screenshot' ? others.type : 'input_image'
  return { ...others, type, image_url: dataUrl(file) }
}

function inputFile({ file_id: _, ...others }: Json, use: FileUse, file: SourceFile): Json {
  if (others.type !== 'input_file') throw noImage(use, file)
  return { ...others, filename: textOf(others.filename) ?? file.filename, file_data: dataUrl(file) }
}

/** The format cannot name an image by an id, so clients name images as files. */
function imageUrl({ file: _, ...others }: Json, file: SourceFile): Json {
  return { ...others, type: 'image_url', image_url: { url: dataUrl(file) } }
}

function chatFile(part: Json, file: SourceFile): Json {
  const { file_id: _, ...others } = isRecord(part.file) ? part.file : {}
  const filename = textOf(others.filename) ?? file.filename
  return { ...part, file: { ...others, filename, file_data: dataUrl(file) } }
}

function withSource(part: Json, use: FileUse, file: SourceFile): PartWithFile {
  if (part.type === 'image' && !isImage(file.mime)) throw noImage(use, file)
  if (part.type === 'document' && isImage(file.mime)) {
    throw invalid(
      use.path,
      `the file is ${file.mime}, which needs an "image" block instead of a "document" block`,
    )
  }
  // The vendor accepts text as plain text, and only PDFs in base64.
  if (isText(file.mime)) {
    return split({ ...part, source: { type: 'text', media_type: 'text/plain', data: mark } }, 'json')
  }
  return split({ ...part, source: { type: 'base64', media_type: file.mime, data: mark } })
}

function split(part: Json, encoding: FileEncoding = 'base64'): PartWithFile {
  const text = JSON.stringify(part)
  const at = text.indexOf(mark)
  return {
    encoding,
    before: Buffer.from(text.slice(0, at)),
    after: Buffer.from(text.slice(at + mark.length)),
  }
}

function noImage(use: FileUse, file: SourceFile): Error {
  return invalid(use.path, `expected an image, got a file of type ${file.mime}`)
}
