import { int32View } from '../canonical/json-quote.ts'

/**
 * Returns those of the signs that a body contains. All signs are ASCII. A native search takes a pass over the
 * body for each sign; this takes one for all signs with a quote, a backslash or an underscore, of which a
 * long body has few.
 */
export function signsIn(body: Buffer, signs: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>()
  const byPair = new Map<number, PairedSign[]>()
  for (const sign of new Set(signs)) {
    const anchor = sign.search(/["\\_]/)
    if (anchor === -1) {
      if (body.includes(sign, 0, 'latin1')) found.add(sign)
      continue
    }
    const at = Math.min(anchor, sign.length - 2)
    const pair = (sign.charCodeAt(at) << 8) | sign.charCodeAt(at + 1)
    byPair.set(pair, [...(byPair.get(pair) ?? []), { sign, at }])
  }
  addPaired(body, byPair, found)
  return found
}

interface PairedSign {
  sign: string
  /** The place in the sign of its pair: two bytes, one of which is an anchor. */
  at: number
}

const quote = 0x22
const backslash = 0x5c
const underscore = 0x5f

function addPaired(
  body: Buffer,
  byPair: ReadonlyMap<number, readonly PairedSign[]>,
  found: Set<string>,
): void {
  const isWanted = new Uint8Array(0x1_0000)
  for (const pair of byPair.keys()) isWanted[pair] = 1
  const words = int32View(body)
  const { byteOffset, length } = body
  for (let at = 0; at < length; at++) {
    if (((byteOffset + at) & 3) === 0) {
      const word = nextWithAnchor(words, (byteOffset + at) >> 2, (byteOffset + length) >> 2)
      at = Math.max(at, word * 4 - byteOffset)
    }
    const byte = body[at] ?? 0
    if (byte !== quote && byte !== backslash && byte !== underscore) continue
    const before = ((body[at - 1] ?? 0) << 8) | byte
    if (isWanted[before] === 1) addAt(body, at - 1, byPair.get(before), found)
    const after = (byte << 8) | (body[at + 1] ?? 0)
    if (isWanted[after] === 1) addAt(body, at, byPair.get(after), found)
  }
}

/** The first word from `from` on that has an anchor; `end` if there is none. Checks four bytes per step. */
function nextWithAnchor(words: Int32Array, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    const word = words[at] ?? 0
    if ((zeroIn(word ^ 0x22222222) | zeroIn(word ^ 0x5c5c5c5c) | zeroIn(word ^ 0x5f5f5f5f)) !== 0) return at
  }
  return end
}

/** Not zero if one of the four bytes is zero. */
function zeroIn(word: number): number {
  return (word - 0x01010101) & ~word & 0x80808080
}

function addAt(body: Buffer, pairAt: number, signs: readonly PairedSign[] = [], found: Set<string>): void {
  for (const { sign, at } of signs) if (!found.has(sign) && isAt(body, pairAt - at, sign)) found.add(sign)
}

function isAt(body: Buffer, start: number, sign: string): boolean {
  for (let index = 0; index < sign.length; index++)
    if (body[start + index] !== sign.charCodeAt(index)) return false
  return true
}
