import type { SecretSpan } from './secret-span.ts'

/**
 * A text whose ASCII escapes are decoded. Backslashes stay encoded because a decoded one could hide the end
 * of a JSON string.
 */
export interface DecodedText {
  text: string
  /** Maps a span of the decoded text to the original text. */
  original(span: SecretSpan): SecretSpan
}

/** Decodes percent-encoding, as in the query of a URL. Returns undefined if the text contains none. */
export function percentDecoded(text: string): DecodedText | undefined {
  return text.includes('%') && percent.test(text) ? decoded(text, percents) : undefined
}

/**
 * Decodes escapes such as `\u002d`, including those of JSON within JSON. Returns undefined if the text
 * contains none. Quotes stay encoded so that the result remains JSON.
 */
export function unicodeDecoded(text: string): DecodedText | undefined {
  // Checked first because two zeros are rarer than a backslash.
  return text.includes('00') && text.includes('\\u00') && unicode.test(text)
    ? decoded(text, unicodes)
    : undefined
}

const percent = /%(?:[2-7][0-9a-fA-F]|0[9adAD])/
const percents = /%([2-7][0-9a-fA-F]|0[9adAD])/g
const unicode = /\\u00[2-7][0-9a-fA-F]/
const unicodes = /\\{1,15}u00([2-7][0-9a-fA-F])/g

function decoded(text: string, escapes: RegExp): DecodedText {
  /**
   * The position of each escape in the decoded text, and how many characters decoding has removed up to its
   * end.
   */
  const places: number[] = []
  const losses: number[] = []
  let lost = 0
  const plain = text.replace(escapes, (written, hex: string, at: number) => {
    if (/^5c|7f$/i.test(hex) || (hex === '22' && written.length > 3)) return written
    places.push(at - lost)
    lost += written.length - 1
    losses.push(lost)
    return String.fromCharCode(Number.parseInt(hex, 16))
  })
  const originalOf = (at: number) => at + (losses[countBelow(places, at) - 1] ?? 0)
  return {
    text: plain,
    original: ({ from, start, end, until, kind }) => ({
      from: originalOf(from),
      start: originalOf(start),
      end: originalOf(end),
      until: originalOf(until),
      kind,
    }),
  }
}

/** Counts the numbers below `limit`; `ascending` must be sorted. */
function countBelow(ascending: readonly number[], limit: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascending[middle] ?? limit) < limit) low = middle + 1
    else high = middle
  }
  return low
}
