import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { crc32, deflate as deflateToCallback } from 'node:zlib'
import { drawLabel } from './label.ts'
import type { Size } from './read.ts'

/**
 * A PNG: a gradient from corner to corner whose colours come from the seed, and on it what it is. The same size and seed
 * give the same bytes. It is packed in a thread: the loop is the gateway's own.
 *
 * https://www.w3.org/TR/png-3/
 */
export async function drawPicture(size: Size, seed: string): Promise<Buffer> {
  const rows = drawGradient(size)
  drawLabel(rows, size, labelColour)
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size.width, 0)
  header.writeUInt32BE(size.height, 4)
  header.set([bitsPerPixel, colourTypePalette], 8)
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', paletteOf(seed)),
    chunk('IDAT', await deflate(rows, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const deflate = promisify<Buffer, { level: number }, Buffer>(deflateToCallback)
const signature = Buffer.from('89504e470d0a1a0a', 'hex')
const bitsPerPixel = 8
const colourTypePalette = 3

/** The palette's first colour; the others are the gradient. */
const labelColour = 0
const shades = 255

/** Rows of a byte that says that the row is not filtered, and then a byte for each pixel. */
function drawGradient({ width, height }: Size): Buffer {
  const ramp = Buffer.alloc(width + height)
  for (let at = 0; at < ramp.length; at++) ramp[at] = 1 + Math.floor((at * shades) / ramp.length)
  const rows = Buffer.alloc((width + 1) * height)
  // Each row is the one before it, moved by a pixel.
  for (let y = 0; y < height; y++) ramp.copy(rows, y * (width + 1) + 1, y, y + width)
  return rows
}

/** White, and from one colour to another, both dark enough for white to be seen on them. */
function paletteOf(seed: string): Buffer {
  const [from, to] = [0, 3].map((at) =>
    createHash('sha256')
      .update(seed)
      .digest()
      .subarray(at, at + 3)
      .map((value) => (value * 5) >> 3),
  )
  const palette = Buffer.alloc((1 + shades) * 3, 255)
  for (let shade = 0; shade < shades; shade++) {
    const part = shade / (shades - 1)
    for (let c = 0; c < 3; c++) {
      palette[(1 + shade) * 3 + c] = Math.round((from?.[c] ?? 0) * (1 - part) + (to?.[c] ?? 0) * part)
    }
  }
  return palette
}

function chunk(type: string, data: Buffer): Buffer {
  const framed = Buffer.alloc(12 + data.length)
  framed.writeUInt32BE(data.length, 0)
  framed.write(type, 4, 'latin1')
  data.copy(framed, 8)
  framed.writeUInt32BE(crc32(framed.subarray(4, 8 + data.length)), 8 + data.length)
  return framed
}
