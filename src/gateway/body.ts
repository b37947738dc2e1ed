import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../canonical/error.ts'

/** Bodies above this are joined in a slab that is used again: each would else cost the collector a large buffer. */
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

const kept: Buffer[] = []
const nothingToRelease = () => {}

/**
 * Collect a request's body. Rejects `request_too_large` beyond `bytesMax`, at once where the length is declared;
 * `invalid_request` for an encoded body; undefined when the client went away before the end.
 */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<Body | undefined> {
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    return Promise.reject(
      new GatewayError(
        'invalid_request',
        `Send the body unencoded: content-encoding "${encoding.slice(0, 32)}" is not accepted.`,
        {
          field: 'content-encoding',
        },
      ),
    )
  }
  const declared = Number(request.headers['content-length'] ?? Number.NaN)
  if (declared > bytesMax) return Promise.reject(tooLarge(bytesMax))
  // Whoever is gone already tells nothing any more.
  if (request.destroyed && !request.complete) return Promise.resolve(undefined)
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
      if (request.complete) return
      give()
      resolve(undefined)
    }
    request.on('error', gone)
    request.on('close', gone)
  })
}

/** False for NaN: an undeclared length. */
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
