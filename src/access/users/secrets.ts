import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** The first characters of a secret say what it is for. */
export type SecretPrefix = 'tga_' | 'tgs_' | 'tgl_'

/** API token, session, link. */
export const prefixes = { apiToken: 'tga_', session: 'tgs_', link: 'tgl_' } as const

/** A new secret: its prefix, 40 random characters (238 bits) and 6 that check the rest. */
export function makeSecret(prefix: SecretPrefix): string {
  const random = Array.from({ length: randomCharacters }, () => base62[randomInt(base62.length)]).join('')
  return prefix + random + checksum(prefix + random)
}

/** Whether it may be one of our secrets. A guess fails here, and asks Postgres nothing. */
export function isSecret(text: string, prefix: SecretPrefix): boolean {
  if (!text.startsWith(prefix) || text.length !== prefix.length + randomCharacters + checksumCharacters)
    return false
  return checksum(text.slice(0, -checksumCharacters)) === text.slice(-checksumCharacters)
}

/** What is stored in place of a secret. The secret is random, so nobody can find it by trying. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** The first characters, by which people recognise it. */
export function secretHint(secret: string): string {
  return `${secret.slice(0, 8)}…`
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
