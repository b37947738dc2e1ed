import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { OwnSecret } from '../canonical/own-secrets.ts'

/** Returns a new secret: the prefix, 40 random characters (238 bits) and a checksum of 6 characters. */
export function makeSecret(prefix: OwnSecret): string {
  const random = Array.from({ length: randomCharacters }, () => base62[randomInt(base62.length)]).join('')
  return prefix + random + checksum(prefix + random)
}

/**
 * Whether `makeSecret` can have created this secret. A guess or a mistyped secret fails this check without a
 * Postgres query.
 */
export function isWholeSecret(text: string, prefix: OwnSecret): boolean {
  if (!text.startsWith(prefix) || text.length !== prefix.length + randomCharacters + checksumCharacters)
    return false
  return checksum(text.slice(0, -checksumCharacters)) === text.slice(-checksumCharacters)
}

const randomCharacters = 40
const checksumCharacters = 6
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let index = 0; index < checksumCharacters; index++) {
    digits = base62.charAt(rest % base62.length) + digits
    rest = Math.floor(rest / base62.length)
  }
  return digits
}
