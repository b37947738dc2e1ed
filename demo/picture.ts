import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { crc32, deflate as deflateToCallback } from 'node:zlib'

export interface Size {
  width: number
  height: number
}

/**
 * Returns a PNG with "TOLLGATE DEMO" on a gradient, so that it is not mistaken for a model's output. The seed
 * determines the colours, and the same size and seed always yield the same bytes. The picture is at least 64
 * pixels wide and high.
 *
 * https://www.w3.org/TR/png-3/
 */
export async function drawPicture(size: Size, seed: string): Promise<Buffer> {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(size.width, 0)
  header.writeUInt32BE(size.height, 4)
  header.set([bitsPerPixel, colourTypePalette], 8)
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', paletteOf(seed)),
    // Compressed in a thread, because this runs in the gateway's process.
    chunk('IDAT', await deflate(drawRows(size), { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const deflate = promisify<Buffer, { level: number }, Buffer>(deflateToCallback)
const signature = Buffer.from('89504e470d0a1a0a', 'hex')
const bitsPerPixel = 8
const colourTypePalette = 3

/** The first colour of the palette is for letters; the others form the gradient. */
const letterColour = 0
const shades = 255

/** Each row consists of the byte 0, which means that the row is not filtered, and a colour for each pixel. */
function drawRows({ width, height }: Size): Buffer {
  const ramp = Buffer.alloc(width + height)
  for (let at = 0; at < ramp.length; at++) ramp[at] = 1 + Math.floor((at * shades) / ramp.length)
  const scale = Math.max(1, Math.floor(Math.min(width / columns, height / dots.length) * partOfPicture))
  const [left, top] = [(width - columns * scale) >> 1, (height - dots.length * scale) >> 1]
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++) {
    const start = y * (width + 1) + 1
    // Each row is the previous one shifted by a pixel.
    ramp.copy(rows, start, y, y + width)
    for (const { index } of (dots[Math.floor((y - top) / scale)] ?? '').matchAll(/#/g)) {
      rows.fill(letterColour, start + left + index * scale, start + left + (index + 1) * scale)
    }
  }
  return rows
}

/** White, followed by the shades between two colours. Both are dark enough for white letters. */
function paletteOf(seed: string): Buffer {
  const hash = createHash('sha256').update(seed).digest()
  const palette = Buffer.alloc((1 + shades) * 3, 255)
  for (let at = 3; at < palette.length; at++) {
    const [from, to] = [hash.readUInt8(at % 3), hash.readUInt8(3 + (at % 3))]
    palette[at] = ((from + ((to - from) * at) / palette.length) * 5) >> 3
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

const partOfPicture = 0.8

/** Letters of five by seven dots. */
const dots = `
##### .###. #.... #.... .###. .###. ##### #####
..#.. #...# #.... #.... #...# #...# ..#.. #....
..#.. #...# #.... #.... #.... #...# ..#.. #....
..#.. #...# #.... #.... #.### ##### ..#.. ####.
..#.. #...# #.... #.... #...# #...# ..#.. #....
..#.. #...# #.... #.... #...# #...# ..#.. #....
..#.. .###. ##### ##### .###. #...# ..#.. #####


            ####. ##### #...# .###.
            #...# #.... ##.## #...#
            #...# #.... #.#.# #...#
            #...# ####. #.#.# #...#
            #...# #.... #...# #...#
            #...# #.... #...# #...#
            ####. ##### #...# .###.
`
  .split('\n')
  .slice(1, -1)
const columns = Math.max(...dots.map((line) => line.length))
