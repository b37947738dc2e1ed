import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { type KeyRing, ringOf } from '../../src/canonical/key-ring.ts'
import { webhookKeysOf, webhookSecret } from '../../src/jobs/webhook-secret.ts'
import { signatureHeaders } from '../../src/upstream/webhooks/signature.ts'

const message = { id: 'msg_1', timestamp: 1, body: '{}' }
const [old, fresh] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]

/** As a receiver makes it. https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md */
function signatureWith(secret: string): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  return `v1,${createHmac('sha256', key).update('msg_1.1.{}').digest('base64')}`
}

test('a webhook is signed with the secret of its tenant', () => {
  const headers = signatureHeaders(webhookKeysOf(ringOf(old), 'acme'), message)
  expect(headers['webhook-signature']).toBe(signatureWith(webhookSecret(ringOf(old), 'acme')))
  expect(headers['webhook-signature']).not.toBe(signatureWith(webhookSecret(ringOf(old), 'other')))
})

test('with a new master key a tenant reads the new secret, and each webhook is signed with both', () => {
  const ring: KeyRing = { current: fresh, former: [{ key: old, retiredMs: 0 }] }
  expect(webhookSecret(ring, 'acme')).toBe(webhookSecret(ringOf(fresh), 'acme'))
  expect(signatureHeaders(webhookKeysOf(ring, 'acme'), message)['webhook-signature']?.split(' ')).toEqual([
    signatureWith(webhookSecret(ringOf(fresh), 'acme')),
    signatureWith(webhookSecret(ringOf(old), 'acme')),
  ])
})
