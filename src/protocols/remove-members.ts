import { type ByteRange, skipSpace } from './json-scan.ts'

/**
 * The ranges that remove members from a JSON object, each with its key and one comma. `values`: the spans of
 * their values in a single object that a scan has checked. The object must keep at least one member.
 */
export function removeMembers(raw: Buffer, values: readonly ByteRange[]): ByteRange[] {
  return removeElements(
    raw,
    values.map(({ start, end }) => ({ start: keyBefore(raw, start), end })),
  )
}

/** The same for elements of an array, which must keep at least one. */
export function removeElements(raw: Buffer, elements: readonly ByteRange[]): ByteRange[] {
  const removed: ByteRange[] = []
  /** The end of the last range that includes the comma after it. */
  let leadingEnd = -1
  for (const { start, end } of [...elements].sort((a, b) => a.start - b.start)) {
    const before = lastBefore(raw, start)
    // The comma before the part is removed with it. The first parts have none, so the comma after them is
    // removed.
    const isLeading = raw[before] === openBrace || raw[before] === openBracket || before === leadingEnd - 1
    if (isLeading) {
      leadingEnd = skipSpace(raw, end, raw.length) + 1
      removed.push({ start, end: leadingEnd })
    } else removed.push({ start: before, end })
  }
  return removed
}

/** The offset of the key's first quote. A key that a scan found by name contains no other quote. */
function keyBefore(raw: Buffer, value: number): number {
  const colon = lastBefore(raw, value)
  const closing = lastBefore(raw, colon)
  return raw.lastIndexOf(quote, closing - 1)
}

/** The last byte before `at` that is not JSON white space. */
function lastBefore(raw: Buffer, at: number): number {
  let i = at - 1
  while (raw[i] === 0x20 || raw[i] === 0x0a || raw[i] === 0x0d || raw[i] === 0x09) i--
  return i
}

const quote = 0x22
const openBrace = 0x7b
const openBracket = 0x5b
