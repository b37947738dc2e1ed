import type { Size } from './read.ts'

/**
 * Write "TOLLGATE DEMO" into the middle of a picture, so that nobody takes it for a model's. `rows` are of a byte and then
 * a byte for each pixel. The picture is at least 64 pixels wide and high.
 */
export function drawLabel(rows: Buffer, { width, height }: Size, colour: number): void {
  const scale = Math.max(1, Math.floor(Math.min(width / columns, height / dots.length) * partOfPicture))
  const top = (height - dots.length * scale) >> 1
  for (const [row, line] of dots.entries()) {
    const left = (width - line.length * scale) >> 1
    for (const [column, dot] of [...line].entries()) {
      if (dot !== '#') continue
      for (let y = top + row * scale; y < top + (row + 1) * scale; y++) {
        const start = y * (width + 1) + 1 + left + column * scale
        rows.fill(colour, start, start + scale)
      }
    }
  }
}

const partOfPicture = 0.8

/** Five dots wide and seven high; the letters that are needed. */
const glyphs: Readonly<Record<string, string>> = {
  A: '.###. #...# #...# ##### #...# #...# #...#',
  D: '####. #...# #...# #...# #...# #...# ####.',
  E: '##### #.... #.... ####. #.... #.... #####',
  G: '.###. #...# #.... #.### #...# #...# .###.',
  L: '#.... #.... #.... #.... #.... #.... #####',
  M: '#...# ##.## #.#.# #.#.# #...# #...# #...#',
  O: '.###. #...# #...# #...# #...# #...# .###.',
  T: '##### ..#.. ..#.. ..#.. ..#.. ..#.. ..#..',
}

/** The label in rows of dots: two words below each other. */
const dots = [...dotsOf('TOLLGATE'), '', '', ...dotsOf('DEMO')]
const columns = Math.max(...dots.map((line) => line.length))

function dotsOf(word: string): string[] {
  const letters = [...word].map((letter) => glyphs[letter]?.split(' ') ?? [])
  return Array.from({ length: 7 }, (_, row) => letters.map((letter) => letter[row]).join('.'))
}
