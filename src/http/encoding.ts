import type { Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  type Zlib,
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

/**
 * A stream that undoes an encoding, and says how many bytes it could use. `first`: the first of them. `chunkSize`: bytes
 * that it gives at a time.
 */
export function openDecoder(encoding: Encoding, first: Buffer, chunkSize = 16 * 1024): Decoder {
  switch (encoding) {
    case 'gzip':
      return createGunzip({ chunkSize })
    case 'deflate':
      return isZlib(first) ? createInflate({ chunkSize }) : createInflateRaw({ chunkSize })
    case 'br':
      return createBrotliDecompress({ chunkSize })
    case 'zstd':
      return createZstdDecompress({ ...zstdBounds, chunkSize })
  }
}

/**
 * Undo the encoding of a whole body. `count` hears of bytes as they come out, and ends it by throwing. Rejects with what
 * that threw, a RangeError beyond `bytesMax`, and another Error for what is damaged, cut off, or has something behind
 * its end.
 */
export function decodeWhole(
  encoding: Encoding,
  bytes: Buffer,
  bytesMax: number,
  count: (bytes: number) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const stream = openDecoder(encoding, bytes, chunkBytes)
    const pieces: Buffer[] = []
    let length = 0
    stream.on('data', (piece: Buffer) => {
      length += piece.length
      try {
        if (length > bytesMax) throw new RangeError('larger than it may be')
        count(piece.length)
        pieces.push(piece)
      } catch (error) {
        stream.destroy(error instanceof Error ? error : new Error(String(error)))
      }
    })
    stream.on('end', () => {
      if (stream.bytesWritten === bytes.length) resolve(Buffer.concat(pieces, length))
      else reject(new Error('bytes behind the end'))
    })
    stream.on('error', reject)
    stream.end(bytes)
  })
}

const chunkBytes = 64 * 1024

/** What a frame may demand of memory: https://www.rfc-editor.org/rfc/rfc9659 */
const zstdBounds = { params: { [constants.ZSTD_d_windowLogMax]: 23 } }

/** `deflate` is the format of zlib, which some take for the bare one inside of it. */
function isZlib(bytes: Buffer): boolean {
  return ((bytes[0] ?? 0) & 0x0f) === 8
}
