import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../canonical/error.ts'
import type { BodyShare } from './body-memory.ts'
import { decodeWhole, type Encoding, encodingOf, encodings } from './encoding.ts'

/** A larger body goes into a slab that we reuse: a new large buffer costs the garbage collector much. */
const slabFromBytes = 16 * 1024
const slabBytes = 1024 * 1024
const freeSlabsMax = 32

/** A request's raw bytes. Call `release` when nothing reads them any more. */
export interface Body {
  bytes: Buffer
  release(): void
}

/** Memory for one body. Run the function that it adds to `releases` when nothing reads the memory any more. */
export function allocateBody(bytes: number, releases: (() => void)[]): Buffer {
  if (!fitsSlab(bytes)) return Buffer.allocUnsafe(bytes)
  const slab = takeSlab()
  releases.push(() => keepSlab(slab))
  return slab.subarray(0, bytes)
}

const freeSlabs: Buffer[] = []
const nothingToRelease = () => {}

/** Requests whose client waits for a `100 Continue` before it sends the body, with the response that sends it. */
const awaitingContinue = new WeakMap<IncomingMessage, ServerResponse>()

/**
 * For a server's `checkContinue` event. `readBody` asks the client for its body. A client that gets its answer earlier
 * sends no body.
 * https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1
 */
export function handleContinue(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    awaitingContinue.set(request, response)
    handle(request, response)
  }
}

/**
 * Collect a request's body, and decode its `content-encoding`. Resolves with undefined when the client left before the end.
 * Rejects `request_too_large` for more than `bytesMax` bytes, encoded or decoded, at once when the client declares such a
 * length; `invalid_request` for an unknown encoding or a damaged body; and as `share` does, which counts a declared length at
 * once and other bytes when they arrive. Release `share` when nothing holds the body any more. Without it, nothing is counted.
 */
export function readBody(
  request: IncomingMessage,
  bytesMax: number,
  share: BodyShare = uncounted,
): Promise<Body | undefined> {
  const encoding = encodingOf(request.headers['content-encoding'])
  if (encoding === 'identity') return readBytes(request, bytesMax, share)
  if (encoding === 'unknown') return Promise.reject(unknownEncoding(request.headers['content-encoding']))
  return readEncoded(request, encoding, bytesMax, share)
}

const uncounted: BodyShare = { grow() {}, growDecoded() {}, shrink() {}, release() {} }

async function readEncoded(
  request: IncomingMessage,
  encoding: Encoding,
  bytesMax: number,
  share: BodyShare,
): Promise<Body | undefined> {
  const body = await readBytes(request, bytesMax, share)
  if (body === undefined) return undefined
  try {
    const bytes = await decodeWhole(encoding, body.bytes, bytesMax, (more) => share.growDecoded(more))
    share.shrink(body.bytes.length)
    return { bytes, release: nothingToRelease }
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    throw cause instanceof RangeError ? tooLarge(bytesMax) : damaged(encoding, cause)
  } finally {
    body.release()
  }
}

async function readBytes(
  request: IncomingMessage,
  bytesMax: number,
  share: BodyShare,
): Promise<Body | undefined> {
  const declared = Number(request.headers['content-length'] ?? Number.NaN)
  if (declared > bytesMax) throw tooLarge(bytesMax)
  const isDeclared = !Number.isNaN(declared)
  if (isDeclared) share.grow(declared)
  // A destroyed request emits no more events, even when its whole body had arrived.
  if (request.destroyed) return undefined
  if (request.headers.expect !== undefined) sendContinue(request)
  const slab = fitsSlab(declared) ? takeSlab() : undefined
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    let isRefused = false
    const returnSlab = once(() => {
      if (slab !== undefined) keepSlab(slab)
    })
    request.on('data', (chunk: Buffer) => {
      try {
        if (length + chunk.length > bytesMax) throw tooLarge(bytesMax)
        if (!isDeclared) share.grow(chunk.length)
        if (slab === undefined) chunks.push(chunk)
        else chunk.copy(slab, length)
        length += chunk.length
      } catch (refusal) {
        isRefused = true
        request.removeAllListeners('data')
        request.resume()
        chunks.length = 0
        returnSlab()
        reject(refusal)
      }
    })
    request.on('end', () => {
      if (isRefused) return
      if (slab !== undefined) return resolve({ bytes: slab.subarray(0, length), release: returnSlab })
      const only = chunks.length === 1 ? chunks[0] : undefined
      resolve({ bytes: only ?? Buffer.concat(chunks, length), release: nothingToRelease })
    })
    const onGone = () => {
      if (request.readableEnded) return
      returnSlab()
      resolve(undefined)
    }
    request.on('error', onGone)
    request.on('close', onGone)
  })
}

function sendContinue(request: IncomingMessage): void {
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

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError(
    'request_too_large',
    `The request body is larger than the ${bytesMax} bytes this gateway accepts.`,
  )
}

function unknownEncoding(header: string | undefined): GatewayError {
  return new GatewayError(
    'invalid_request',
    `content-encoding: "${String(header).slice(0, 32)}" is not accepted. Send the body in one of ${encodings.join(', ')}, or unencoded.`,
    { field: 'content-encoding' },
  )
}

function damaged(encoding: Encoding, cause: unknown): GatewayError {
  return new GatewayError(
    'invalid_request',
    `content-encoding: the body is not whole and sound ${encoding}. Send it unencoded, or encode it anew.`,
    { field: 'content-encoding', cause },
  )
}
