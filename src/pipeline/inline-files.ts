import { randomUUID } from 'node:crypto'
import { StringDecoder } from 'node:string_decoder'
import { type FileUse, fileMark, fileUsesIn } from '../bodies/file-uses.ts'
import { contains } from '../bodies/remembered-bodies.ts'
import { GatewayError, gatewayError } from '../canonical/error.ts'
import { invalid } from '../canonical/field-error.ts'
import { isRecord, type Json, textOf } from '../canonical/json.ts'
import { type BodyShare, bodyOwnerOf } from '../http/body-memory.ts'
import { breakOff } from '../runtime/confine.ts'
import { keepShared, takeShared } from '../runtime/shared-memory.ts'
import { fileScopeOf } from '../state/files/file.ts'
import type { SourceFile } from '../state/files/file-source.ts'
import { isImage, isText } from '../state/files/file-type.ts'
import type { Gateway } from './gateway.ts'
import type { Identified } from './identify.ts'
import { inThread } from './in-thread.ts'
import { requireClient } from './life.ts'
import { type Content, type MadeReading, readMade } from './read.ts'

/** False for a request that names no file. True does not say that it names one. */
export function mayNameFiles({ facts, body, large }: Content): boolean {
  if (facts.namesOurs === false) return false
  return large === undefined ? contains(body, fileMark) : large.hasFiles
}

/**
 * Replaces the tenant's files that a request names by their bytes. The following stages see a request as if
 * the client had sent the bytes, including for its targets, cost and bounds. The row keeps the original body.
 * Rejects with ClientLeft, with `invalid_request` for a file that this key does not have, with
 * `request_too_large` and `unavailable`, and with the errors of reading a body.
 */
export async function inlineFiles(
  gateway: Gateway,
  identified: Identified,
  content: Content,
  reading: MadeReading,
): Promise<Content> {
  if (reading.format.kind !== 'text') return content
  try {
    return await inline(gateway, identified, content, reading)
  } catch (error) {
    requireClient(identified)
    throw error
  }
}

async function inline(
  gateway: Gateway,
  identified: Identified,
  content: Content,
  reading: MadeReading,
): Promise<Content> {
  const { endpoint, identity, life } = identified
  const { body, large } = content
  const { bounds, files, bodies } = gateway
  const input = { bytes: body, client: endpoint.protocol, most: bounds.filesPerRequestMax }
  const uses =
    large === undefined
      ? fileUsesIn(body, input.client, input.most)
      : await inThread(gateway, identified, { name: 'files', input })
  if (uses.length === 0) return content
  const found = await files.find(fileScopeOf(identity), [...new Set(uses.map(({ id }) => id))])
  const sources = new Map(found.map((file) => [file.id, file]))
  const edits = uses.map((use) => ({ use, ...editOf(use, sources.get(use.id)) }))
  const least = edits.reduce((sum, { file }) => sum + file.bytes, body.length)
  if (least > bounds.bodyBytesMax)
    throw gatewayError('request_with_files_too_large', { bytesMax: bounds.bodyBytesMax })
  const share = bodies.begin(bodyOwnerOf(identity))
  life.releases.push(share.release)
  const read = await readAll(gateway, identified, edits, share)
  const pieces = piecesOf(body, edits, read)
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (length > bounds.bodyBytesMax)
    throw gatewayError('request_with_files_too_large', { bytesMax: bounds.bodyBytesMax })
  share.grow(length)
  const whole = await join(gateway, identified, pieces, length)
  for (const { length: bytes } of read.values()) share.shrink(bytes)
  return { ...content, ...(await readMade(gateway, identified, whole, reading)) }
}

interface Edit {
  use: FileUse
  file: SourceFile
  encoding: FileEncoding
  before: Buffer
  after: Buffer
}

function editOf(use: FileUse, file: SourceFile | undefined): Omit<Edit, 'use'> {
  if (file === undefined) {
    throw invalid(use.path, `you have no stored file "${use.id}". GET /v1/files lists your files.`)
  }
  return { file, ...partWith(use, file) }
}

/** The replacement of each file in the body, by `keyOf`. */
type Encoded = Map<string, Buffer>

const keyOf = ({ file, encoding }: Pick<Edit, 'file' | 'encoding'>) => `${file.id} ${encoding}`

/** Reads each file once, in small pieces, and counts the bytes that it holds. Ends when the client leaves. */
async function readAll(gateway: Gateway, identified: Identified, edits: readonly Edit[], share: BodyShare) {
  const { life, identity } = identified
  const encoded: Encoded = new Map()
  let ended: Error | undefined
  let destroy = () => {}
  life.running = {
    resume() {},
    abort(reason) {
      ended = reason
      destroy()
    },
  }
  try {
    for (const edit of edits) {
      if (life.clientGone) throw gatewayError('client_left')
      if (encoded.has(keyOf(edit))) continue
      const stored = await openStored(gateway, edit.file)
      if (stored === undefined || stored.bytes !== edit.file.bytes) {
        stored?.stream.destroy()
        throw notThere(edit)
      }
      destroy = () => breakOff(stored.stream, ended ?? gatewayError('client_left'))
      if (ended !== undefined) destroy()
      const encoder = encoders[edit.encoding]()
      const pieces: Buffer[] = []
      const add = (piece: Buffer) => {
        share.grow(piece.length)
        pieces.push(piece)
      }
      try {
        for await (const chunk of stored.stream) {
          add(encoder.more(chunk))
          await gateway.turns.take(identity.keyId, chunk.length)
        }
      } catch (cause) {
        throw ended ?? (cause instanceof GatewayError ? cause : unreadable(cause))
      } finally {
        stored.stream.destroy()
      }
      add(encoder.end())
      encoded.set(keyOf(edit), Buffer.concat(pieces))
    }
    return encoded
  } finally {
    life.running = undefined
  }
}

async function openStored(gateway: Gateway, file: SourceFile) {
  try {
    return await gateway.files.open(file)
  } catch (cause) {
    throw unreadable(cause)
  }
}

interface Encoder {
  more(bytes: Buffer): Buffer
  end(): Buffer
}

/** `json` means the inside of a JSON string. */
const encoders: Readonly<Record<FileEncoding, () => Encoder>> = {
  base64() {
    let rest: Buffer = Buffer.alloc(0)
    return {
      more(chunk) {
        const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
        // Three bytes become four characters, so the remainder waits for the next chunk.
        const whole = bytes.length - (bytes.length % 3)
        rest = Buffer.from(bytes.subarray(whole))
        return Buffer.from(bytes.toString('base64', 0, whole), 'latin1')
      },
      end: () => Buffer.from(rest.toString('base64'), 'latin1'),
    }
  },
  json() {
    const decoder = new StringDecoder('utf8')
    const inside = (text: string) => Buffer.from(JSON.stringify(text).slice(1, -1))
    return { more: (bytes) => inside(decoder.write(bytes)), end: () => inside(decoder.end()) }
  },
}

function piecesOf(body: Buffer, edits: readonly Edit[], encoded: Encoded): Buffer[] {
  const pieces: Buffer[] = []
  let from = 0
  for (const edit of [...edits].sort((a, b) => a.use.start - b.use.start)) {
    const { use, before, after } = edit
    pieces.push(body.subarray(from, use.start), before, encoded.get(keyOf(edit)) ?? Buffer.alloc(0), after)
    from = use.end
  }
  pieces.push(body.subarray(from))
  return pieces
}

/** Joins the pieces into one body, in memory that threads can read if it is large. */
async function join(
  { bounds, turns }: Gateway,
  { life, identity }: Identified,
  pieces: Buffer[],
  length: number,
) {
  if (length < bounds.bodyThreadBytes) return Buffer.concat(pieces, length)
  const whole = takeShared(length)
  life.slabs.push(() => keepShared(whole))
  let at = 0
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += copiedAtOnce) {
      at += piece.copy(whole, at, from, from + copiedAtOnce)
      await turns.take(identity.keyId, copiedAtOnce)
    }
  }
  return whole
}

const copiedAtOnce = 256 * 1024

function notThere({ use }: Edit): GatewayError {
  return invalid(use.path, `the file "${use.id}" is no longer stored here. Upload it again.`)
}

function unreadable(cause: unknown): GatewayError {
  return gatewayError('file_storage_away', { how: 'read' }, { cause, retryAfterSeconds: 5 })
}

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
