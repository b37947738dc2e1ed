/** Looks at the names, texts and numbers of a document while they are scanned. */
export interface Watch {
  /**
   * `start` and `end`: of a string with its quotes, or of its first bytes and no closing quote. `hasCodes`:
   * escapes such as `\u0061`.
   */
  look(bytes: Buffer, start: number, end: number, hasCodes: boolean): void
  lookAtNumber(bytes: Buffer, start: number, end: number): void
}

/** The name that the key between these quotes is, if any. Keys may have escapes. */
export function nameAt<Name extends string>(
  bytes: Buffer,
  start: number,
  end: number,
  names: readonly Name[],
): Name | undefined {
  const length = end - start - 2
  if (length > nameBytesMax) return undefined
  for (let i = start + 1; i < end - 1; i++) {
    if (bytes[i] !== backslash) continue
    const key = parsedOrNothing(bytes.toString('utf8', start, end))
    return names.find((name) => name === key)
  }
  for (const name of names) {
    if (name.length !== length) continue
    let i = 0
    while (i < length && bytes[start + 1 + i] === name.charCodeAt(i)) i++
    if (i === length) return name
  }
  return undefined
}

/**
 * The name for which some parsers would take this key, though it is another one. Go ignores upper and lower
 * case (https://pkg.go.dev/encoding/json#Unmarshal), and parsers in C may stop at a NUL.
 */
export function nameLike<Name extends string>(
  bytes: Buffer,
  start: number,
  end: number,
  names: readonly Name[],
): Name | undefined {
  const length = end - start - 2
  for (let i = start + 1; i < end - 1; i++) {
    const byte = bytes[i] ?? 0
    if (byte === backslash || byte >= 0x80) return nameFolded(beginningOf(bytes, start, end), names)
  }
  for (const name of names) {
    if (name.length !== length) continue
    let i = 0
    while (i < length && isLetterLike(bytes[start + 1 + i] ?? 0, name.charCodeAt(i))) i++
    if (i === length) return name
  }
  return undefined
}

/** The value of a JSON text; undefined if it is broken. */
export function parsedOrNothing(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const backslash = 0x5c
/** More bytes than any name has, even with six for each letter. */
const nameBytesMax = 6 * 64

/** The beginning of a key, as long as a name can be and a little more: a key may have megabytes. */
function beginningOf(bytes: Buffer, start: number, end: number): string {
  if (end - start - 2 <= nameBytesMax) return bytes.toString('utf8', start, end)
  let to = start + 1
  while (to < start + nameBytesMax) {
    if (bytes[to] !== backslash) to++
    else to += bytes[to + 1] === letterU ? 6 : 2
  }
  // Do not cut a character in half.
  while (((bytes[to] ?? 0) & 0xc0) === 0x80) to++
  return `${bytes.toString('utf8', start, Math.min(to, end - 1))}"`
}

const letterU = 0x75

function nameFolded<Name extends string>(literal: string, names: readonly Name[]): Name | undefined {
  const key = parsedOrNothing(literal)
  if (typeof key !== 'string') return undefined
  // Case folding also turns a long s into an s, and the kelvin sign into a k.
  const folded = key.replace(/\0.*$/s, '').toUpperCase().toLowerCase()
  return names.find((name) => name === folded)
}

/** Names have only small letters and `_`. */
function isLetterLike(byte: number, letter: number): boolean {
  return byte === letter || (byte >= 0x41 && byte <= 0x5a && byte + 0x20 === letter)
}
