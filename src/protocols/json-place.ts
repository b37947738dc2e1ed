/**
 * Line and column of an offset, for a message. Columns count characters. Behind more than 4 KB of one line they count
 * bytes, because refusing a body must be cheap.
 */
export function placeOf(bytes: Buffer, at: number): string {
  let line = 1
  let start = 0
  for (let i = 0; i < at; i++) {
    if (bytes[i] !== 0x0a) continue
    line++
    start = i + 1
  }
  const isShort = at - start <= decodedLineBytesMax
  const column = isShort ? bytes.toString('utf8', start, at).length : at - start
  return `line ${line} column ${column + 1}`
}

const decodedLineBytesMax = 4096
