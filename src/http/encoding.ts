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
import { adopt, breakOff } from '../runtime/confine.ts'

/** A content encoding that can be decoded. */
export type Encoding = 'gzip' | 'deflate' | 'br' | 'zstd'

export type Decoder = Transform & Zlib

export const encodings: readonly Encoding[] = ['gzip', 'deflate', 'br', 'zstd']

/**
 * Returns the encoding of a `content-encoding` header. `unknown` means one that cannot be decoded, or several
 * at once.
 */
export function encodingOf(header: string | string[] | undefined): Encoding | 'identity' | 'unknown' {
  if (header === undefined) return 'identity'
  const name = String(header).trim().toLowerCase()
  if (name === '' || name === 'identity') return 'identity'
  // https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1.3
  if (name === 'x-gzip') return 'gzip'
  return encodings.find((encoding) => encoding === name) ?? 'unknown'
}

/**
 * Returns a decoding stream whose `bytesWritten` is the number of input bytes consumed. `first` is the first
 * bytes of input; `chunkSize` is the size of the output chunks.
 */
export function openDecoder(encoding: Encoding, first: Buffer, chunkSize = 16 * 1024): Decoder {
  switch (encoding) {
    case 'gzip':
      return adopt(createGunzip({ chunkSize }))
    case 'deflate':
      return isZlib(first) ? adopt(createInflate({ chunkSize })) : adopt(createInflateRaw({ chunkSize }))
    case 'br':
      return adopt(createBrotliDecompress({ chunkSize }))
    case 'zstd':
      return adopt(createZstdDecompress({ ...zstdBounds, chunkSize }))
  }
}

/**
 * Decodes a whole body into pieces. `count` is called with the size of each decoded piece; decoding stops
 * when it throws. Rejects with the error of `count`, with a RangeError beyond `bytesMax`, and with another
 * Error when the body is damaged, truncated or followed by more bytes.
 */
export function decodeWhole(
  encoding: Encoding,
  bytes: Buffer,
  bytesMax: number,
  count: (bytes: number) => void,
): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const stream = openDecoder(encoding, bytes, chunkBytes)
    const pieces: Buffer[] = []
    let length = 0
    stream.on('data', (piece: Buffer) => {
      length += piece.length
      try {
        if (length > bytesMax) throw new RangeError('body exceeds the size limit')
        count(piece.length)
        pieces.push(piece)
      } catch (error) {
        breakOff(stream, error instanceof Error ? error : new Error(String(error)))
      }
    })
    stream.on('end', () => {
      if (stream.bytesWritten === bytes.length) resolve(pieces)
      else reject(new Error('unexpected bytes after the end of the body'))
    })
    stream.on('error', reject)
    stream.end(bytes)
  })
}

const chunkBytes = 64 * 1024

/** Limits the memory that a frame can request: https://www.rfc-editor.org/rfc/rfc9659 */
const zstdBounds = { params: { [constants.ZSTD_d_windowLogMax]: 23 } }

/** `deflate` means the zlib format, but some clients send raw deflate data instead. */
function isZlib(bytes: Buffer): boolean {
  return ((bytes[0] ?? 0) & 0x0f) === 8
}
