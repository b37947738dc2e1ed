import { createHmac, randomBytes } from 'node:crypto'
import { ownSecrets } from '../../canonical/own-secrets.ts'

/** The parts of a message that the signature covers. `timestamp` is in seconds since the epoch. */
export interface SignedMessage {
  id: string
  timestamp: number
  body: string
}

/**
 * Returns the three headers of one delivery, signed with each of the keys. A receiver needs only one of them.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signatureHeaders(
  keys: readonly Buffer[],
  { id, timestamp, body }: SignedMessage,
): Record<string, string> {
  const signatures = keys.map((key) => {
    const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`)
    return `v1,${signature.digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}

/** The form in which a receiver gets its key. */
export function secretOf(key: Buffer): string {
  return `${ownSecrets.webhook}${key.toString('base64')}`
}

/** Returns a new random key. */
export function newWebhookKey(): Buffer {
  return randomBytes(32)
}
