/** Receives the names, texts and numbers of a document while it is scanned. */
export interface Watch {
  /** What it has found so far. A scan that goes on behind a known beginning sets what was found there. */
  state: number
  /**
   * `start` and `end`: the range of a string with its quotes, or of its first bytes without a closing quote.
   * `hasCodes`: whether it contains escapes such as `\u0061`.
   */
  look(bytes: Buffer, start: number, end: number, hasCodes: boolean): void
  lookAtNumber(bytes: Buffer, start: number, end: number): void
}

/** Returns the name that equals the key between these quotes, if any. Keys can contain escapes. */
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
 * Returns the name that some parsers would confuse with this key, although it is a different one. Go ignores
 * letter case (https://pkg.go.dev/encoding/json#Unmarshal), and parsers in C may stop at a NUL.
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

/** Parses JSON text; returns undefined if it is invalid. */
export function parsedOrNothing(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const backslash = 0x5c
/** More bytes than any name has, even with six bytes per letter. */
const nameBytesMax = 6 * 64

/** The beginning of a key, slightly longer than any name, because a key can have megabytes. */
function beginningOf(bytes: Buffer, start: number, end: number): string {
  if (end - start - 2 <= nameBytesMax) return bytes.toString('utf8', start, end)
  let to = start + 1
  while (to < start + nameBytesMax) {
    if (bytes[to] !== backslash) to++
    else to += bytes[to + 1] === letterU ? 6 : 2
  }
  // Avoids cutting a character in half.
  while (((bytes[to] ?? 0) & 0xc0) === 0x80) to++
  return `${bytes.toString('utf8', start, Math.min(to, end - 1))}"`
}

const letterU = 0x75

function nameFolded<Name extends string>(literal: string, names: readonly Name[]): Name | undefined {
  const key = parsedOrNothing(literal)
  if (typeof key !== 'string') return undefined
  // Case folding also converts a long s to an s, and the kelvin sign to a k.
  const folded = key.replace(/\0.*$/s, '').toUpperCase().toLowerCase()
  return names.find((name) => name === folded)
}

/** Names contain only lower-case letters and `_`. */
function isLetterLike(byte: number, letter: number): boolean {
  return byte === letter || (byte >= 0x41 && byte <= 0x5a && byte + 0x20 === letter)
}
