import type { Transform } from 'node:stream'
import {
  brotliDecompress,
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  gunzip,
  inflate,
  inflateRaw,
  type Zlib,
  zstdDecompress,
} from 'node:zlib'

/** An encoding of bodies that can be undone. */
export type Encoding = 'gzip' | 'deflate' | 'br' | 'zstd'

export type Decoder = Transform & Zlib

export const encodings: readonly Encoding[] = ['gzip', 'deflate', 'br', 'zstd']

/** What a `content-encoding` says. `unknown`: an encoding of no name here, or several on top of each other. */
export function encodingOf(header: string | string[] | undefined): Encoding | 'identity' | 'unknown' {
  if (header === undefined) return 'identity'
  const name = String(header).trim().toLowerCase()
  if (name === '' || name === 'identity') return 'identity'
  // https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1.3
  if (name === 'x-gzip') return 'gzip'
  return encodings.find((encoding) => encoding === name) ?? 'unknown'
}

/** A stream that undoes an encoding, and says how many bytes it could use. `first`: the first of them. */
export function openDecoder(encoding: Encoding, first: Buffer): Decoder {
  switch (encoding) {
    case 'gzip':
      return createGunzip()
    case 'deflate':
      return isZlib(first) ? createInflate() : createInflateRaw()
    case 'br':
      return createBrotliDecompress()
    case 'zstd':
      return createZstdDecompress(zstdBounds)
  }
}

/**
 * Undo the encoding of a whole body. Rejects a RangeError beyond `bytesMax`, and another Error for what is damaged, cut
 * off, or has something behind its end.
 */
export async function decodeWhole(encoding: Encoding, bytes: Buffer, bytesMax: number): Promise<Buffer> {
  const options = { maxOutputLength: bytesMax, chunkSize: chunkBytes, info: true }
  const { buffer, engine } = await new Promise<Decoded>((resolve, reject) => {
    // Asked for `info`, zlib gives more than its types tell.
    const done = (error: Error | null, decoded: unknown) => {
      if (error === null) resolve(decoded as Decoded)
      else reject(error)
    }
    switch (encoding) {
      case 'gzip':
        return gunzip(bytes, options, done)
      case 'deflate':
        return isZlib(bytes) ? inflate(bytes, options, done) : inflateRaw(bytes, options, done)
      case 'br':
        return brotliDecompress(bytes, options, done)
      case 'zstd':
        return zstdDecompress(bytes, { ...options, ...zstdBounds }, done)
    }
  })
  if (engine.bytesWritten !== bytes.length) throw new Error('bytes behind the end')
  return buffer
}

interface Decoded {
  buffer: Buffer
  engine: { bytesWritten: number }
}

const chunkBytes = 64 * 1024

/** What a frame may demand of memory: https://www.rfc-editor.org/rfc/rfc9659 */
const zstdBounds = { params: { [constants.ZSTD_d_windowLogMax]: 23 } }

/** `deflate` is the format of zlib, which some take for the bare one inside of it. */
function isZlib(bytes: Buffer): boolean {
  return ((bytes[0] ?? 0) & 0x0f) === 8
}
