import { createHmac } from 'node:crypto'
import { ownSecrets } from '../canonical/own-secrets.ts'
import { isWholeSecret, makeSecret } from './checked-secret.ts'

/** A new client key: `tg-` and a secret with a checksum. */
export function makeKeySecret(): string {
  return makeSecret(prefix)
}

/**
 * True when it looks like one of our generated keys but its checksum is wrong. Keys of other forms have none.
 */
export function looksMistyped(secret: string): boolean {
  return secret.startsWith(prefix) && !isWholeSecret(secret, prefix)
}

/**
 * The hash that is stored instead of a key. It is useless without the pepper, which is not in the database.
 */
export function hashKeySecret(secret: string, pepper: Buffer): Buffer {
  return createHmac('sha256', pepper).update(secret).digest()
}

/** The start of a key, by which its owner recognises it: at most a quarter of it, in visible ASCII only. */
export function keyHint(secret: string): string {
  const shown = Math.min(secret.startsWith(prefix) ? prefix.length + 4 : 4, Math.floor(secret.length / 4))
  return `${secret.slice(0, shown).replace(/[^\x21-\x7e]/g, '?')}…`
}

const prefix = ownSecrets.key
