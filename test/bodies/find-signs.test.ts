import { expect, test } from 'vitest'
import { signsIn } from '../../src/bodies/find-signs.ts'
import { hostedMarks } from '../../src/bodies/hosted-work.ts'
import { needSigns } from '../../src/bodies/need-signs.ts'

const signs = [...hostedMarks, ...needSigns]

test('finds each sign at each offset of a word, at both ends, cut short and beside others', () => {
  for (const sign of signs) {
    for (let before = 0; before < 9; before++) {
      for (let after = 0; after < 5; after++) {
        for (const whole of [sign, sign.slice(0, -1), sign.slice(1), `${sign}${sign}`, `"${sign}_`]) {
          const memory = Buffer.from(new SharedArrayBuffer(128)).fill('"tool_web_searc\\u00')
          for (const offset of [0, 1, 2, 3]) {
            const text = 'x'.repeat(before) + whole + 'y'.repeat(after)
            const body = memory.subarray(offset, offset + text.length)
            body.write(text, 'latin1')
            const expected = signs.filter((each) => text.includes(each))
            expect([...signsIn(body, signs)].sort(), text).toEqual([...new Set(expected)].sort())
          }
        }
      }
    }
  }
})

test('finds what a native search finds in texts of pieces of signs', () => {
  let seed = 1
  const next = (below: number) => {
    seed = (Math.imul(seed, 0x19660d) + 0x3c6ef35f) >>> 0
    return (seed >>> 8) % below
  }
  for (let round = 0; round < 500; round++) {
    const pieces = Array.from({ length: 1 + next(40) }, () => {
      const sign = signs[next(signs.length)] ?? ''
      return sign.slice(next(3), sign.length - next(4))
    })
    const body = Buffer.from(pieces.join(['', '_', '"', '\\', 'ü'][next(5)]))
    expect(signsIn(body, signs)).toEqual(new Set(signs.filter((sign) => body.includes(sign))))
  }
})
