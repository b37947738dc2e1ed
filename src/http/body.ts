import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../canonical/error.ts'
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

/** Bounds the decoded bodies of all requests of a process together: a few encoded kilobytes can become megabytes. */
export interface DecodedBound {
  /** Most bytes of decoded bodies that the process holds, those being decoded included. */
  bytesMax: number
  /** `readBody` adds a function here. Run it when nothing holds the body any more. */
  releases: (() => void)[]
}

const freeSlabs: Buffer[] = []
/** Bytes of decoded bodies that this process holds now, those being decoded included. */
let decodedBytes = 0
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
 * length; `invalid_request` for an unknown encoding or a damaged body; `unavailable` when the decoded bodies of all requests
 * exceed `decoded`. Without `decoded`, they are not counted.
 */
export function readBody(
  request: IncomingMessage,
  bytesMax: number,
  decoded?: DecodedBound,
): Promise<Body | undefined> {
  const encoding = encodingOf(request.headers['content-encoding'])
  if (encoding === 'identity') return readBytes(request, bytesMax)
  if (encoding === 'unknown') return Promise.reject(unknownEncoding(request.headers['content-encoding']))
  return readEncoded(request, encoding, bytesMax, decoded)
}

async function readEncoded(
  request: IncomingMessage,
  encoding: Encoding,
  bytesMax: number,
  decoded: DecodedBound = { bytesMax: Number.POSITIVE_INFINITY, releases: [] },
): Promise<Body | undefined> {
  const body = await readBytes(request, bytesMax)
  if (body === undefined) return undefined
  let ownBytes = 0
  const releaseDecoded = once(() => {
    decodedBytes -= ownBytes
  })
  try {
    const bytes = await decodeWhole(encoding, body.bytes, bytesMax, (more) => {
      ownBytes += more
      decodedBytes += more
      if (decodedBytes > decoded.bytesMax) throw tooManyDecoded(decoded.bytesMax)
    })
    decoded.releases.push(releaseDecoded)
    return { bytes, release: nothingToRelease }
  } catch (cause) {
    releaseDecoded()
    if (cause instanceof GatewayError) throw cause
    throw cause instanceof RangeError ? tooLarge(bytesMax) : damaged(encoding, cause)
  } finally {
    body.release()
  }
}

function readBytes(request: IncomingMessage, bytesMax: number): Promise<Body | undefined> {
  const declared = Number(request.headers['content-length'] ?? Number.NaN)
  if (declared > bytesMax) return Promise.reject(tooLarge(bytesMax))
  // A destroyed request emits no more events, even when its whole body had arrived.
  if (request.destroyed) return Promise.resolve(undefined)
  if (request.headers.expect !== undefined) sendContinue(request)
  const slab = fitsSlab(declared) ? takeSlab() : undefined
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const returnSlab = once(() => {
      if (slab !== undefined) keepSlab(slab)
    })
    request.on('data', (chunk: Buffer) => {
      if (slab === undefined) chunks.push(chunk)
      else chunk.copy(slab, length)
      length += chunk.length
      if (length <= bytesMax) return
      request.removeAllListeners('data')
      request.resume()
      returnSlab()
      reject(tooLarge(bytesMax))
    })
    request.on('end', () => {
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

function tooManyDecoded(bytesMax: number): GatewayError {
  return new GatewayError(
    'unavailable',
    `The decoded bodies of running requests use all ${bytesMax} bytes that they may use. Try again, or send the body unencoded.`,
    { retryAfterSeconds: 1 },
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
