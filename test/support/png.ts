import { crc32, inflateSync } from 'node:zlib'
import { expect } from 'vitest'

export interface Png {
  width: number
  height: number
  /** A filter byte and then an index into the palette for each pixel, row by row. */
  rows: Buffer
  /** The palette in hex. */
  colours: string
}

/** Reads a PNG by the rules of the standard, without the demo's code: https://www.w3.org/TR/png-3/ */
export function decodePng(base64: string | undefined): Png {
  const bytes = Buffer.from(base64 ?? '', 'base64')
  expect(bytes.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a')
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at)
    expect(crc32(bytes.subarray(at + 4, end))).toBe(bytes.readUInt32BE(end))
    chunks.set(bytes.toString('latin1', at + 4, at + 8), bytes.subarray(at + 8, end))
    at = end + 4
  }
  expect([...chunks.keys()]).toEqual(['IHDR', 'PLTE', 'IDAT', 'IEND'])
  const header = chunks.get('IHDR') ?? Buffer.alloc(13)
  const palette = chunks.get('PLTE') ?? Buffer.alloc(0)
  // Eight bits with a palette, the only compression and filter methods of the standard, not interlaced.
  expect([...header.subarray(8)]).toEqual([8, 3, 0, 0, 0])
  expect(palette).toHaveLength(256 * 3)
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const rows = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0))
  return { width, height, rows, colours: palette.toString('hex') }
}
