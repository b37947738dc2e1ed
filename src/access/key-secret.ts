import { createHmac } from 'node:crypto'
import { ownSecrets } from '../canonical/own-secrets.ts'
import { isWholeSecret, makeSecret } from './checked-secret.ts'

/** Returns a new client key: `tg-` and a secret with a checksum. */
export function makeKeySecret(): string {
  return makeSecret(prefix)
}

/**
 * True if the secret looks like a key that we generated but has a wrong checksum. Other keys have no
 * checksum.
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

/**
 * The start of a key, by which its owner recognises it: at most a quarter of the key, in visible ASCII
 * characters only.
 */
export function keyHint(secret: string): string {
  const shown = Math.min(secret.startsWith(prefix) ? prefix.length + 4 : 4, Math.floor(secret.length / 4))
  return `${secret.slice(0, shown).replace(/[^\x21-\x7e]/g, '?')}…`
}

const prefix = ownSecrets.key
