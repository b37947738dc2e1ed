import type { SecretSpan } from './secret-span.ts'

/**
 * A text whose percent-encoded ASCII is decoded, and the place of each of its characters in the text; undefined: the text has
 * none. A backslash stays encoded: decoded, it could hide the end of a JSON string.
 */
export interface DecodedText {
  text: string
  /** The span of the original text. */
  original(span: SecretSpan): SecretSpan
}

const printable = /%(?:[2-7][0-9a-f]|0[9ad])/i

export function percentDecoded(text: string): DecodedText | undefined {
  if (!text.includes('%') || !printable.test(text)) return undefined
  /** Where each escape stands in the decoded text. Each has taken two characters. */
  const escapes: number[] = []
  const decoded = text.replace(escaped, (written, hex: string, at: number) => {
    if (/^5c|7f$/i.test(hex)) return written
    escapes.push(at - 2 * escapes.length)
    return String.fromCharCode(Number.parseInt(hex, 16))
  })
  const originalOf = (at: number) => at + 2 * countBelow(escapes, at)
  return {
    text: decoded,
    original: ({ from, start, end, until, kind }) => ({
      from: originalOf(from),
      start: originalOf(start),
      end: originalOf(end),
      until: originalOf(until),
      kind,
    }),
  }
}

const escaped = new RegExp(printable.source.replace('(?:', '('), 'gi')

/** How many of these ascending numbers are below `limit`. */
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
