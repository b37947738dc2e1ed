import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError, gatewayError } from '../canonical/error.ts'
import { freeMemory } from '../runtime/free-memory.ts'
import { keepShared, takeShared } from '../runtime/shared-memory.ts'
import type { BodyShare } from './body-memory.ts'
import { decodeWhole, type Encoding, encodingOf, encodings } from './encoding.ts'

/** A larger body is read into a reusable slab, because new large buffers are expensive to collect. */
const slabFromBytes = 16 * 1024
const slabBytes = 1024 * 1024
const freeSlabsMax = 32

/** How to read a large body. Its memory is shared, so that other threads can read it too. */
export interface LargeBodies {
  /** The size from which a body is large. */
  fromBytes: number
  /**
   * Called with the size of each piece. When it returns a promise, reading continues once that resolves;
   * otherwise it continues immediately.
   */
  pace(bytes: number): Promise<void> | undefined
}

/** Whether a body was read as a large one. */
export function isLarge(body: Buffer): boolean {
  return body.buffer instanceof SharedArrayBuffer
}

/** A request's raw bytes. Call `release` when nothing reads them any more. */
export interface Body {
  bytes: Buffer
  release(): void
}

/**
 * Takes memory for one body, and adds a function to `releases`, which must be called when nothing reads the
 * memory any more.
 */
export function allocateBody(bytes: number, releases: (() => void)[]): Buffer {
  if (!fitsSlab(bytes)) return Buffer.allocUnsafe(bytes)
  const slab = takeSlab()
  releases.push(() => keepSlab(slab))
  return slab.subarray(0, bytes)
}

const freeSlabs: Buffer[] = []
const nothingToRelease = () => {}

/**
 * Requests whose client waits for a `100 Continue` before it sends the body, with the response that sends it.
 */
const awaitingContinue = new WeakMap<IncomingMessage, ServerResponse>()

/**
 * For a server's `checkContinue` event. `readBody` tells the client to send its body. A client that is
 * answered earlier sends no body. https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1
 */
export function handleContinue(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    awaitingContinue.set(request, response)
    handle(request, response)
  }
}

/**
 * Collects a request's body and decodes its `content-encoding`. Resolves with undefined when the client
 * leaves before the end. Rejects with `request_too_large` for more than `bytesMax` bytes, encoded or decoded,
 * and immediately when the client declares such a length; with `invalid_request` for an unknown encoding or a
 * damaged body; and with the errors of `share`, which counts a declared length immediately and other bytes as
 * they arrive. Release `share` when nothing holds the body any more. Without `large`, no body is large.
 */
export function readBody(
  request: IncomingMessage,
  bytesMax: number,
  share: BodyShare,
  large: LargeBodies = noneLarge,
): Promise<Body | undefined> {
  const encoding = encodingOf(request.headers['content-encoding'])
  if (encoding === 'identity') return readBytes(request, bytesMax, share, large)
  if (encoding === 'unknown') return Promise.reject(unknownEncoding(request.headers['content-encoding']))
  return readEncoded(request, encoding, bytesMax, share, large)
}

const noneLarge: LargeBodies = { fromBytes: Number.POSITIVE_INFINITY, pace: () => undefined }

async function readEncoded(
  request: IncomingMessage,
  encoding: Encoding,
  bytesMax: number,
  share: BodyShare,
  large: LargeBodies,
): Promise<Body | undefined> {
  const body = await readBytes(request, bytesMax, share, large)
  if (body === undefined) return undefined
  try {
    const pieces = await decodeWhole(encoding, body.bytes, bytesMax, (more) => share.growDecoded(more))
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
    const bytes = await join(pieces, length, large)
    share.shrink(body.bytes.length)
    return isLarge(bytes) ? largeBody(bytes) : { bytes, release: nothingToRelease }
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    throw cause instanceof RangeError
      ? gatewayError('body_too_large', { bytesMax })
      : damaged(encoding, cause)
  } finally {
    body.release()
  }
}

function readBytes(
  request: IncomingMessage,
  bytesMax: number,
  share: BodyShare,
  large: LargeBodies,
): Promise<Body | undefined> {
  return new Promise((resolve, reject) => {
    const declared = Number(request.headers['content-length'] ?? Number.NaN)
    if (declared > bytesMax) throw gatewayError('body_too_large', { bytesMax })
    const isDeclared = !Number.isNaN(declared)
    if (isDeclared) share.set(declared)
    // A destroyed request emits no more events, even when its whole body has arrived.
    if (request.destroyed) {
      resolve(undefined)
      return
    }
    continueBody(request)
    const shared = declared >= large.fromBytes ? takeShared(declared) : undefined
    const slab = shared === undefined && fitsSlab(declared) ? takeSlab() : undefined
    const chunks: Buffer[] = []
    let length = 0
    let isRefused = false
    const returnMemory = once(() => {
      if (slab !== undefined) keepSlab(slab)
      if (shared !== undefined) keepShared(shared)
    })
    request.on('data', (chunk: Buffer) => {
      try {
        if (length + chunk.length > bytesMax) throw gatewayError('body_too_large', { bytesMax })
        if (!isDeclared) share.grow(chunk.length)
        const memory = shared ?? slab
        if (memory === undefined) chunks.push(chunk)
        else chunk.copy(memory, length)
        const { length: bytes } = chunk
        length += bytes
        if (memory !== undefined) freeMemory(chunk)
        if (length >= large.fromBytes) pause(request, large.pace(bytes))
      } catch (refusal) {
        isRefused = true
        request.removeAllListeners('data')
        request.resume()
        chunks.length = 0
        returnMemory()
        reject(refusal)
      }
    })
    request.on('end', () => {
      if (isRefused) return
      if (slab !== undefined) return resolve({ bytes: slab.subarray(0, length), release: returnMemory })
      const whole = shared?.subarray(0, length) ?? join(chunks, length, large)
      if (whole instanceof Promise) void whole.then((bytes) => resolve(largeBody(bytes)))
      else resolve({ bytes: whole, release: returnMemory })
    })
    const onGone = () => {
      if (request.readableEnded) return
      returnMemory()
      resolve(undefined)
    }
    request.on('error', onGone)
    request.on('close', onGone)
  })
}

/** Joins the pieces of a body, those of a large one gradually. */
function join(pieces: readonly Buffer[], length: number, large: LargeBodies): Buffer | Promise<Buffer> {
  if (length >= large.fromBytes) return joinLarge(pieces, length, large)
  const only = pieces.length === 1 ? pieces[0] : undefined
  return only ?? Buffer.concat(pieces, length)
}

function largeBody(bytes: Buffer): Body {
  return { bytes, release: once(() => keepShared(bytes)) }
}

/** Returns a body that is already in memory as a large one. */
export async function copyLarge(body: Buffer, large: LargeBodies): Promise<Body> {
  return largeBody(await joinLarge([body], body.length, large))
}

async function joinLarge(pieces: readonly Buffer[], length: number, { pace }: LargeBodies): Promise<Buffer> {
  const whole = takeShared(length)
  let at = 0
  for (const piece of pieces) {
    at += piece.copy(whole, at)
    await pace(piece.length)
  }
  return whole
}

function pause(request: IncomingMessage, until: Promise<void> | undefined): void {
  if (until === undefined) return
  request.pause()
  void until.then(() => request.resume())
}

/** Tells a client that waits for `100 Continue` to send the body. Must be called before reading the body. */
export function continueBody(request: IncomingMessage): void {
  if (request.headers.expect === undefined) return
  const response = awaitingContinue.get(request)
  if (response === undefined || response.destroyed) return
  awaitingContinue.delete(request)
  response.writeContinue()
}

/** False for an undeclared length, which is NaN. */
function fitsSlab(bytes: number): boolean {
  return bytes > slabFromBytes && bytes <= slabBytes
}

function takeSlab(): Buffer {
  return freeSlabs.pop() ?? Buffer.allocUnsafeSlow(slabBytes)
}

function keepSlab(slab: Buffer): void {
  if (freeSlabs.length < freeSlabsMax) freeSlabs.push(slab)
}

function once(action: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    action()
  }
}

function unknownEncoding(header: string | undefined): GatewayError {
  return gatewayError(
    'content_encoding_unknown',
    { encoding: String(header).slice(0, 32), encodings: encodings.join(', ') },
    { field: 'content-encoding' },
  )
}

function damaged(encoding: Encoding, cause: unknown): GatewayError {
  return gatewayError('content_encoding_damaged', { encoding }, { field: 'content-encoding', cause })
}
