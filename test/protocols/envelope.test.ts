import { expect, test } from 'vitest'
import type { ReasoningSignature } from '../../src/canonical/chat.ts'
import { isEnvelope, makeEnvelope } from '../../src/protocols/envelope.ts'

const envelope = makeEnvelope(Buffer.alloc(32, 1))
const signature: ReasoningSignature = {
  protocol: 'anthropic-messages',
  model: 'upstream-model',
  kind: 'signature',
  value: 'EqQBCgIYAhIk+/=',
  id: 'rs_1',
}

test('a signature that went through a client is the same when it comes back', () => {
  const text = envelope.wrap(signature)
  expect(text).toMatch(/^[A-Za-z0-9._-]+$/)
  expect(isEnvelope(text)).toBe(true)
  expect(envelope.open(text)).toEqual(signature)
  const bare: ReasoningSignature = { protocol: 'gemini', model: undefined, kind: 'encrypted', value: 'x' }
  expect(envelope.open(envelope.wrap(bare))).toEqual(bare)
})

test('a signature from somebody else, or with any byte changed, is ignored', () => {
  expect(makeEnvelope(Buffer.alloc(32, 2)).open(envelope.wrap(signature))).toBeUndefined()
  const text = envelope.wrap(signature)
  for (let at = 4; at < text.length; at++) {
    if (text[at] === '.') continue
    const changed = text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
    const opened = envelope.open(changed)
    // The last character of a signature may carry bits that base64 does not use.
    if (opened !== undefined)
      expect(Buffer.from(changed, 'base64url')).toEqual(Buffer.from(text, 'base64url'))
  }
})

test("a vendor's own signature is no envelope", () => {
  for (const text of ['', 'EqQBCgIYAhIk', 'tg1.', 'tg1..', 'tg1.e30.', 'tg2.a.b']) {
    expect(envelope.open(text)).toBeUndefined()
  }
})
