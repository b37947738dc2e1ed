import { describe, expect, it } from 'vitest'
import type { Citation } from '../../src/canonical/event.ts'
import { divideText } from '../../src/protocols/anthropic-messages/cited-texts.ts'
import { seeded } from '../support/random.ts'

const cite = (url: string, start?: number, end?: number): Citation => ({
  type: 'citation',
  url,
  title: undefined,
  ...(start === undefined ? {} : { start }),
  ...(end === undefined ? {} : { end }),
})

function divided(text: string, ...citations: Citation[]) {
  return divideText(text, citations).map((part) => [part.text, ...part.citations.map(({ url }) => url)])
}

describe('a text is divided where its citations begin and end', () => {
  it('so that each stands on its words', () => {
    expect(divided('one two three', cite('a', 4, 7))).toEqual([['one '], ['two', 'a'], [' three']])
    expect(divided('one two three', cite('a', 0, 7), cite('b', 4, 13))).toEqual([
      ['one ', 'a'],
      ['two', 'a', 'b'],
      [' three', 'b'],
    ])
    expect(divided('one two', cite('a'))).toEqual([['one two', 'a']])
  })

  it('and a citation without a length stands on the words before it', () => {
    expect(divided('one two', cite('a', 3, 3))).toEqual([['one', 'a'], [' two']])
    expect(divided('one', cite('a', 0, 0))).toEqual([['one', 'a']])
  })

  it('but no part is white space alone, or half a character', () => {
    expect(divided('one two', cite('a', 0, 3), cite('b', 4, 7))).toEqual([
      ['one ', 'a'],
      ['two', 'b'],
    ])
    expect(divided(' \none', cite('a', 2, 5))).toEqual([[' \none', 'a']])
    expect(divided('😀 one', cite('a', 1, 6))).toEqual([['😀'], [' one', 'a']])
  })

  it('whatever the offsets are: all words and all sources are there', () => {
    const random = seeded(41)
    for (let round = 0; round < 2000; round++) {
      const text = Array.from({ length: random.upTo(6) }, () =>
        random.pick(['ab', ' ', '😀', '\n', 'é']),
      ).join('')
      const offset = () => random.upTo(text.length + 2) - 1
      const citations = Array.from({ length: random.upTo(3) }, (_, n) => cite(String(n), offset(), offset()))
      const parts = divideText(text, citations)
      expect(parts.map((part) => part.text).join('')).toBe(text)
      expect(new Set(parts.flatMap((part) => part.citations))).toEqual(new Set(citations))
      if (text.trim() !== '') for (const part of parts) expect(part.text.trim()).not.toBe('')
    }
  })
})
