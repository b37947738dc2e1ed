import { createHash } from 'node:crypto'
import { ownSecrets } from '../../canonical/own-secrets.ts'
import { isWholeSecret, makeSecret as makeChecked } from '../checked-secret.ts'

/** The prefix of a secret, which identifies its purpose. */
export const prefixes = {
  apiToken: ownSecrets.apiToken,
  session: ownSecrets.session,
  link: ownSecrets.link,
} as const

type SecretPrefix = (typeof prefixes)[keyof typeof prefixes]

export function makeUserSecret(prefix: SecretPrefix): string {
  return makeChecked(prefix)
}

export function isSecret(text: string, prefix: SecretPrefix): boolean {
  return isWholeSecret(text, prefix)
}

/**
 * Returns the hash that is stored instead of a secret. A plain hash is sufficient, because secrets are
 * random.
 */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** Returns the first characters, by which people recognise the secret. */
export function secretHint(secret: string): string {
  return `${secret.slice(0, 8)}…`
}
