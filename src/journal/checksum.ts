/**
 * The XXH32, with seed 0, of the bytes from `start` to `end`, as a non-negative integer.
 * https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
 * `zlib.crc32` is not used because frames are short and its call overhead alone exceeds the time that this
 * function takes for 400 bytes.
 */
export function checksum(bytes: DataView, start: number, end: number): number {
  let at = start
  let hash = prime5
  if (end - start >= 16) {
    let a = (prime1 + prime2) | 0
    let b = prime2
    let c = 0
    let d = -prime1 | 0
    for (const last = end - 16; at <= last; at += 16) {
      a = Math.imul(left13((a + Math.imul(bytes.getInt32(at, true), prime2)) | 0), prime1)
      b = Math.imul(left13((b + Math.imul(bytes.getInt32(at + 4, true), prime2)) | 0), prime1)
      c = Math.imul(left13((c + Math.imul(bytes.getInt32(at + 8, true), prime2)) | 0), prime1)
      d = Math.imul(left13((d + Math.imul(bytes.getInt32(at + 12, true), prime2)) | 0), prime1)
    }
    hash =
      (((a << 1) | (a >>> 31)) +
        ((b << 7) | (b >>> 25)) +
        ((c << 12) | (c >>> 20)) +
        ((d << 18) | (d >>> 14))) |
      0
  }
  hash = (hash + end - start) | 0
  for (; at + 4 <= end; at += 4) {
    hash = (hash + Math.imul(bytes.getInt32(at, true), prime3)) | 0
    hash = Math.imul((hash << 17) | (hash >>> 15), prime4)
  }
  for (; at < end; at++) {
    hash = (hash + Math.imul(bytes.getUint8(at), prime5)) | 0
    hash = Math.imul((hash << 11) | (hash >>> 21), prime1)
  }
  hash = Math.imul(hash ^ (hash >>> 15), prime2)
  hash = Math.imul(hash ^ (hash >>> 13), prime3)
  return (hash ^ (hash >>> 16)) >>> 0
}

const prime1 = 0x9e3779b1 | 0
const prime2 = 0x85ebca77 | 0
const prime3 = 0xc2b2ae3d | 0
const prime4 = 0x27d4eb2f
const prime5 = 0x165667b1

function left13(word: number): number {
  return (word << 13) | (word >>> 19)
}
