import { createHmac } from 'node:crypto'
import type { KeyRing } from '../../canonical/key-ring.ts'

/**
 * The secret that a tenant checks our webhooks with, in the form of the Standard Webhooks: the same for a tenant as
 * long as the master key is. https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function webhookSecret({ current }: KeyRing, tenantId: string): string {
  return `whsec_${keyOf(current, tenantId).toString('base64')}`
}

/**
 * The three headers of one delivery. `timestamp`: seconds since the epoch. It is signed with each key of the ring, as the
 * Standard Webhooks allow, so that a tenant may take its new secret at any time.
 */
export function webhookHeaders(
  keys: KeyRing,
  tenantId: string,
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): Record<string, string> {
  const signatures = [keys.current, ...keys.former.map(({ key }) => key)].map((key) => {
    const signature = createHmac('sha256', keyOf(key, tenantId)).update(`${id}.${timestamp}.${body}`)
    return `v1,${signature.digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}

function keyOf(key: Buffer, tenantId: string): Buffer {
  return createHmac('sha256', key).update(`webhook ${tenantId}`).digest()
}
