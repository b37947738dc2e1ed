import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../canonical/error.ts'
import { decodeWhole, type Encoding, encodingOf, encodings } from './encoding.ts'

/** A body above this size is collected in a slab that is used again: a fresh large buffer costs the collector much. */
const slabFromBytes = 16 * 1024
const slabBytes = 1024 * 1024
const slabsKept = 32

/** A request's raw bytes. Call `release` once nothing reads them any more. */
export interface Body {
  bytes: Buffer
  release(): void
}

/** Memory for one body. Run what is added to `releases` once nothing reads it any more. */
export function allocateBody(bytes: number, releases: (() => void)[]): Buffer {
  if (!fitsSlab(bytes)) return Buffer.allocUnsafe(bytes)
  const slab = takeSlab()
  releases.push(() => giveSlab(slab))
  return slab.subarray(0, bytes)
}

/** A few encoded kilobytes can become megabytes. This bounds the decoded bodies of all requests of a process together. */
export interface DecodedBound {
  /** Bytes of all bodies that are being decoded, or are held decoded. */
  bytesMax: number
  /** `readBody` adds a function here: run it once nothing holds the body any more. */
  releases: (() => void)[]
}

const kept: Buffer[] = []
/** Bytes of decoded bodies that this process holds now. */
let decodedBytes = 0
const nothingToRelease = () => {}

/** Requests whose clients wait for a 100 before they send the body, with the response that can send it. */
const askedFor = new WeakMap<IncomingMessage, ServerResponse>()

/**
 * For a server's `checkContinue` event. The client sends its body once `readBody` asks for it; a request that is answered
 * before never sends one.
 * https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1
 */
export function handleContinue(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    askedFor.set(request, response)
    handle(request, response)
  }
}

/**
 * Collect a request's body, decoded where it came encoded. Rejects `request_too_large` beyond `bytesMax`, encoded or
 * decoded, at once where the length is declared; `invalid_request` for an encoding that cannot be undone; `unavailable`
 * where decoded bodies take all of `decoded`, absent: they are not counted; undefined when the client went away before
 * the end.
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
  let held = 0
  const giveBack = once(() => {
    decodedBytes -= held
  })
  try {
    const bytes = await decodeWhole(encoding, body.bytes, bytesMax, (more) => {
      held += more
      decodedBytes += more
      if (decodedBytes > decoded.bytesMax) throw tooManyDecoded(decoded.bytesMax)
    })
    decoded.releases.push(giveBack)
    return { bytes, release: nothingToRelease }
  } catch (cause) {
    giveBack()
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
  if (request.headers.expect !== undefined) askFor(request)
  const slab = fitsSlab(declared) ? takeSlab() : undefined
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const give = once(() => {
      if (slab !== undefined) giveSlab(slab)
    })
    request.on('data', (chunk: Buffer) => {
      if (slab === undefined) chunks.push(chunk)
      else chunk.copy(slab, length)
      length += chunk.length
      if (length <= bytesMax) return
      request.removeAllListeners('data')
      request.resume()
      give()
      reject(tooLarge(bytesMax))
    })
    request.on('end', () => {
      if (slab !== undefined) return resolve({ bytes: slab.subarray(0, length), release: give })
      const only = chunks.length === 1 ? chunks[0] : undefined
      resolve({ bytes: only ?? Buffer.concat(chunks, length), release: nothingToRelease })
    })
    const gone = () => {
      if (request.readableEnded) return
      give()
      resolve(undefined)
    }
    request.on('error', gone)
    request.on('close', gone)
  })
}

function askFor(request: IncomingMessage): void {
  const response = askedFor.get(request)
  if (response === undefined || response.destroyed) return
  askedFor.delete(request)
  response.writeContinue()
}

/** False for an undeclared length, which is NaN. */
function fitsSlab(bytes: number): boolean {
  return bytes > slabFromBytes && bytes <= slabBytes
}

function takeSlab(): Buffer {
  return kept.pop() ?? Buffer.allocUnsafeSlow(slabBytes)
}

function giveSlab(slab: Buffer): void {
  if (kept.length < slabsKept) kept.push(slab)
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
    `The encoded bodies of running requests take all of the ${bytesMax} bytes that there are for them decoded. Try again, or send the body unencoded.`,
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
