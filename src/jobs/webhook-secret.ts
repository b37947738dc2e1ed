import { createHmac } from 'node:crypto'
import type { KeyRing } from '../canonical/key-ring.ts'
import { secretOf } from '../upstream/webhooks/signature.ts'

/**
 * The secret with which a tenant verifies our webhooks, in the Standard Webhooks format. It stays the same
 * for as long as the master key does.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function webhookSecret({ current }: KeyRing, tenantId: string): string {
  return secretOf(keyOf(current, tenantId))
}

/**
 * The keys that sign a tenant's webhooks: one for each key of the ring. Standard Webhooks allows several
 * signatures, so a tenant can switch to its new secret at any time.
 */
export function webhookKeysOf(keys: KeyRing, tenantId: string): Buffer[] {
  return [keys.current, ...keys.former.map(({ key }) => key)].map((key) => keyOf(key, tenantId))
}

function keyOf(key: Buffer, tenantId: string): Buffer {
  return createHmac('sha256', key).update(`webhook ${tenantId}`).digest()
}
