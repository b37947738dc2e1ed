import { createHmac } from 'node:crypto'

/**
 * The secret that a tenant checks our webhooks with, in the form of the Standard Webhooks: the same for a tenant as
 * long as SECRET_KEY is. https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function webhookSecret(key: Buffer, tenantId: string): string {
  return `whsec_${keyOf(key, tenantId).toString('base64')}`
}

/** The three headers of one delivery. `timestamp`: seconds since the epoch. */
export function webhookHeaders(
  key: Buffer,
  tenantId: string,
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): Record<string, string> {
  const signature = createHmac('sha256', keyOf(key, tenantId))
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  }
}

function keyOf(key: Buffer, tenantId: string): Buffer {
  return createHmac('sha256', key).update(`webhook ${tenantId}`).digest()
}
