import { createHmac, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** A new client key: `tg-`, 40 random characters (238 bits) and 6 that check the rest. */
export function makeKeySecret(): string {
  const random = Array.from({ length: randomCharacters }, () => base62[randomInt(base62.length)]).join('')
  return prefix + random + checksum(prefix + random)
}

/** True when it looks like one of our generated keys but its checksum is wrong. Keys of other forms have none. */
export function looksMistyped(secret: string): boolean {
  if (!secret.startsWith(prefix)) return false
  const body = secret.slice(0, -checksumCharacters)
  const isWhole = secret.length === prefix.length + randomCharacters + checksumCharacters
  return !isWhole || checksum(body) !== secret.slice(-checksumCharacters)
}

/** The hash that is stored in place of a key. It is useless without the pepper, which is not in the database. */
export function hashKeySecret(secret: string, pepper: Buffer): Buffer {
  return createHmac('sha256', pepper).update(secret).digest()
}

/** The start of a key, by which its owner recognises it: at most a quarter of it, in visible ASCII only. */
export function keyHint(secret: string): string {
  const shown = Math.min(secret.startsWith(prefix) ? prefix.length + 4 : 4, Math.floor(secret.length / 4))
  return `${secret.slice(0, shown).replace(/[^\x21-\x7e]/g, '?')}…`
}

const prefix = 'tg-'
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
