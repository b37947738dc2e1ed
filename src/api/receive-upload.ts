import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { anyOf, invalid, quoted } from '../canonical/field-error.ts'
import { continueBody } from '../http/body.ts'
import type { Identified } from '../pipeline/identify.ts'
import { endUserText } from '../pipeline/labels.ts'
import { adopt, breakOff, confined } from '../runtime/confine.ts'
import type { BegunFile } from '../state/files/client-files.ts'
import { type ClientFile, type FilePurpose, purposes } from '../state/files/file.ts'
import { FileType, typedBytes } from '../state/files/file-type.ts'
import type { FileGateway } from './file-gateway.ts'

/** Limits the memory of a part besides its bytes: boundaries, names and fields. */
const formBytesMax = 64 * 1024
const fieldBytesMax = 1024
const filenameCharactersMax = 255
/** An upload to a bucket holds up to three parts of 5 MiB. */
const uploadBytes = 16 * 1024 * 1024

/**
 * Reads a multipart form with a file, and stores the file as it arrives. When this rejects, nothing of the
 * file remains. Rejects with `invalid_request`, `request_too_large` or `unavailable`, and with the errors of
 * `BodyShare.grow`. `hasNoPurpose` means that the client's format has no purpose field.
 */
export async function receiveUpload(
  gateway: FileGateway,
  stage: Identified,
  request: IncomingMessage,
  hasNoPurpose: boolean,
): Promise<ClientFile> {
  const { identity, life } = stage
  const { fileBytesMax } = gateway.bounds
  const declared = request.headers['content-length']
  const declaredBytes = declared === undefined ? undefined : Number(declared)
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw invalid('content-encoding', 'expected no content-encoding. Send the file unencoded.')
  }
  // The body is not kept, so a repeat cannot be told apart from another upload.
  if (request.headers['idempotency-key'] !== undefined) {
    throw invalid(
      'idempotency-key',
      'uploads do not support this header, because a repeat would create another file. Leave it out.',
    )
  }
  if (declaredBytes !== undefined && declaredBytes > fileBytesMax + formBytesMax)
    throw gatewayError('file_too_large', { bytesMax: fileBytesMax })
  const share = gateway.bodies.begin(identity.parent?.keyId ?? identity.keyId)
  life.releases.push(share.release)
  share.grow(Math.min(declaredBytes ?? uploadBytes, uploadBytes))
  const least = Math.max((declaredBytes ?? 0) - formBytesMax, 0)
  const begun = await gateway.files.begin(identity.tenantId, identity.keyId, least)
  try {
    const form = await readForm(stage, request, begun, { bytesMax: fileBytesMax, hasNoPurpose })
    await kept(begun.writer.commit())
    if (life.clientGone) throw left()
    return await gateway.files.finish(begun, form)
  } catch (error) {
    await gateway.files.abandon(begun)
    throw error
  }
}

type Form = Pick<ClientFile, 'purpose' | 'filename' | 'mime' | 'bytes' | 'sha256'> & {
  seconds: number | undefined
  endUser: string | null
}
type Part = Pick<ClientFile, 'filename' | 'mime' | 'bytes' | 'sha256'>

async function readForm(
  { life }: Identified,
  request: IncomingMessage,
  begun: BegunFile,
  { bytesMax, hasNoPurpose }: { bytesMax: number; hasNoPurpose: boolean },
): Promise<Form> {
  const fields = new Map<string, string>()
  let part: Promise<Part> | undefined
  let bytesOfPart: Readable | undefined
  let parser: BusboyInstance | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      if (request.destroyed) return reject(left())
      const gone = () => {
        if (request.readableEnded) return
        life.clientGone = true
        reject(left())
      }
      life.running = { resume() {}, abort: reject }
      parser = parserOf(request.headers['content-type'], request.headers)
      parser.on(
        'file',
        confined(reject, (name: string | undefined, stream: Readable, filename: string | undefined) => {
          adopt(stream)
          if (name !== 'file' || part !== undefined) {
            stream.resume()
            throw part === undefined ? unknownField(name) : invalid('file', 'given more than once')
          }
          bytesOfPart = stream
          part = receivePart(stream, nameOf(filename), begun, bytesMax)
          part.catch(reject)
        }),
      )
      parser.on(
        'field',
        confined(reject, (name: string | undefined, value: string, nameCut: boolean, valueCut: boolean) => {
          if (name === undefined || !fieldNames.has(name)) throw unknownField(name)
          if (nameCut || valueCut) throw invalid(name, `expected at most ${fieldBytesMax} bytes`)
          if (fields.has(name)) throw invalid(name, 'given more than once')
          fields.set(name, value)
        }),
      )
      parser.on('partsLimit', () => reject(invalid('body', 'has too many parts')))
      parser.on('error', (cause) => reject(notAForm(cause)))
      parser.on('finish', () => resolve())
      request.once('error', gone)
      request.once('close', gone)
      continueBody(request)
      feed(request, parser, (cause) => reject(notAForm(cause)))
    })
    if (part === undefined) throw invalid('file', 'required: a part with the bytes of the file')
    const received = await part
    return { ...received, ...settingsOf(fields, hasNoPurpose), endUser: endUserText(fields.get('user')) }
  } catch (error) {
    request.removeAllListeners('data').resume()
    parser?.destroy()
    if (bytesOfPart !== undefined) breakOff(bytesOfPart, left())
    // The file may be about to be written, so it is abandoned once that has ended.
    await part?.catch(() => {})
    throw error
  } finally {
    life.running = undefined
  }
}

const fieldNames: ReadonlySet<string> = new Set([
  'purpose',
  'user',
  'expires_after[anchor]',
  'expires_after[seconds]',
  'expires_in_seconds',
])

function parserOf(type: string | undefined, headers: IncomingHttpHeaders) {
  if (type === undefined || !/^multipart\/form-data\b/i.test(type)) throw notAForm()
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': type },
      limits: {
        fieldNameSize: 100,
        fieldSize: fieldBytesMax,
        fields: 8,
        files: 2,
        parts: 10,
        headerSize: 8192,
      },
      // A part with a file name is the file, whatever else its client declares.
      isPartAFile: (name, _, filename) => name === 'file' || filename !== undefined,
    })
  } catch (cause) {
    throw notAForm(cause)
  }
}

/**
 * A pipe whose parser may throw, in which case the upload ends. Each piece waits until the previous one has
 * been read.
 */
function feed(request: Readable, parser: BusboyInstance, fail: (cause: unknown) => void): void {
  const next = () => void request.resume()
  request.on(
    'data',
    confined(fail, (chunk: Buffer) => {
      request.pause()
      parser.write(chunk, next)
    }),
  )
  request.once(
    'end',
    confined(fail, () => void parser.end()),
  )
}

/** Stores the bytes as they arrive. */
async function receivePart(
  stream: Readable,
  filename: string,
  { writer }: BegunFile,
  bytesMax: number,
): Promise<Part> {
  const type = new FileType()
  const hash = createHash('sha256')
  const first: Buffer[] = []
  let bytes = 0
  let isTyped = false
  const begin = async () => {
    const whole = Buffer.concat(first)
    type.begin(whole)
    isTyped = true
    await kept(writer.write(whole))
  }
  for await (const chunk of stream) {
    if (!Buffer.isBuffer(chunk)) throw new Error('a part came as text')
    bytes += chunk.length
    if (bytes > bytesMax) throw gatewayError('file_too_large', { bytesMax })
    hash.update(chunk)
    if (!isTyped) {
      first.push(chunk)
      if (bytes >= typedBytes) await begin()
    } else {
      type.more(chunk)
      await kept(writer.write(chunk))
    }
  }
  if (bytes === 0) throw invalid('file', 'is empty')
  if (!isTyped) await begin()
  return { filename, mime: type.end(filename), bytes, sha256: hash.digest() }
}

function nameOf(filename: string | undefined): string {
  const name = filename === undefined || filename === '' ? 'file' : filename
  if (name.length > filenameCharactersMax || /\p{Cc}/u.test(name) || !name.isWellFormed()) {
    throw invalid(
      'file',
      `its name must have at most ${filenameCharactersMax} characters, none of them a control character`,
    )
  }
  return name
}

function settingsOf(
  fields: ReadonlyMap<string, string>,
  hasNoPurpose: boolean,
): { purpose: FilePurpose; seconds: number | undefined } {
  const given = fields.get('purpose') ?? (hasNoPurpose ? 'user_data' : undefined)
  const purpose = purposes.find((each) => each === given)
  if (purpose === undefined) {
    throw invalid(
      'purpose',
      given === undefined
        ? `required: ${anyOf(purposes)}`
        : `expected ${anyOf(purposes)}, got ${quoted(given)}. Files can only be inputs of requests here.`,
    )
  }
  const own = fields.get('expires_in_seconds')
  const anchor = own === undefined ? fields.get('expires_after[anchor]') : 'created_at'
  const seconds = own ?? fields.get('expires_after[seconds]')
  if (anchor === undefined && seconds === undefined) return { purpose, seconds: undefined }
  if (anchor !== 'created_at') throw invalid('expires_after.anchor', 'expected "created_at"')
  if (
    seconds === undefined ||
    !/^\d{1,9}$/.test(seconds) ||
    Number(seconds) < 3600 ||
    Number(seconds) > 2_592_000
  ) {
    throw invalid(
      own === undefined ? 'expires_after.seconds' : 'expires_in_seconds',
      'expected a whole number from 3600 to 2592000',
    )
  }
  return { purpose, seconds: Number(seconds) }
}

async function kept(writing: Promise<void>): Promise<void> {
  try {
    await writing
  } catch (cause) {
    throw gatewayError('file_storage_away', { how: 'stored' }, { cause, retryAfterSeconds: 5 })
  }
}

/** `name` is undefined for a part without a name. */
function unknownField(name = ''): GatewayError {
  return invalid(
    name === '' ? '(unnamed)' : name.slice(0, 100),
    `unknown part of an upload. Expected ${anyOf(['file', ...fieldNames])}`,
  )
}

function notAForm(cause?: unknown): GatewayError {
  return gatewayError('upload_form_invalid', {}, { field: 'body', cause })
}

const left = () => gatewayError('request_cut')
