import { createHmac } from 'node:crypto'
import type { KeyRing } from '../canonical/key-ring.ts'
import { secretOf } from '../webhooks/signature.ts'

/**
 * The secret that a tenant checks our webhooks with, in the form of the Standard Webhooks: the same for a
 * tenant as long as the master key is.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function webhookSecret({ current }: KeyRing, tenantId: string): string {
  return secretOf(keyOf(current, tenantId))
}

/**
 * The keys that sign a tenant's webhooks: of each key of the ring, as the Standard Webhooks allow, so that a
 * tenant may take its new secret at any time.
 */
export function webhookKeysOf(keys: KeyRing, tenantId: string): Buffer[] {
  return [keys.current, ...keys.former.map(({ key }) => key)].map((key) => keyOf(key, tenantId))
}

function keyOf(key: Buffer, tenantId: string): Buffer {
  return createHmac('sha256', key).update(`webhook ${tenantId}`).digest()
}
