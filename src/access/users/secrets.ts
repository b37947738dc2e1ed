import { createHash } from 'node:crypto'
import { ownSecrets } from '../../canonical/own-secrets.ts'
import { isWholeSecret, makeSecret as makeChecked } from '../checked-secret.ts'

/** The first characters of a secret say what it is for. */
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

/** What is stored instead of a secret. The secret is random, so it cannot be guessed. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}

/** The first characters, by which people recognise it. */
export function secretHint(secret: string): string {
  return `${secret.slice(0, 8)}…`
}
