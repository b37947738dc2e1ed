import { expect, test } from 'vitest'
import type { ReasoningSignature } from '../../src/canonical/chat.ts'
import { isEnvelope, makeEnvelope, withoutEnvelopes } from '../../src/protocols/envelope.ts'

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

test("a vendor's own signature is not an envelope", () => {
  for (const text of ['', 'EqQBCgIYAhIk', 'tg1.', 'tg1..', 'tg1.e30.', 'tg2.a.b']) {
    expect(envelope.open(text)).toBeUndefined()
  }
})

test('a search that another vendor ran is taken out whole, and one of the vendor’s own stays', () => {
  const mark = envelope.wrap({ ...signature, protocol: 'web-search' })
  const search = (id: string, encrypted_content: string) => [
    { type: 'server_tool_use', id, name: 'web_search', input: { query: 'x' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: id,
      content: [{ type: 'web_search_result', encrypted_content }],
    },
  ]
  const text = (encrypted_index: string) => ({
    type: 'text',
    text: 'Bern.',
    citations: [{ encrypted_index }],
  })
  const own = [...search('srvtoolu_1', 'theirs'), text('theirs')]
  const removed: string[][] = []
  const blocks = [...search('srvtoolu_2', mark), ...own, text(mark)]
  const kept = withoutEnvelopes(
    blocks,
    '',
    (path, what) => removed.push([path, what]),
    () => expect.fail('nothing was compacted'),
  )
  expect(kept).toEqual([...own, { type: 'text', text: 'Bern.', citations: [] }])
  expect(removed).toEqual([
    ['[0]', 'search'],
    ['[1]', 'search'],
    ['[5].citations[0]', 'citation'],
  ])
})

test('a summary is opened as it was sealed, and as nothing else', () => {
  const summaries = ['The goal is a door.', 'naïve 日本語 "quotes"\n', 'x'.repeat(100_000)]
  for (const summary of summaries) {
    const sealed = envelope.wrapSummary(summary)
    expect(envelope.openSummary(sealed)).toBe(summary)
    expect(envelope.open(sealed)).toBeUndefined()
    expect(makeEnvelope(Buffer.alloc(32, 99)).openSummary(sealed)).toBeUndefined()
    expect(envelope.openSummary(`${sealed.slice(0, -4)}AAAA`)).toBeUndefined()
  }
  expect(
    envelope.openSummary(envelope.wrap({ protocol: 'gemini', model: 'm', kind: 'signature', value: 'v' })),
  ).toBeUndefined()
  expect(envelope.openSummary('no envelope')).toBeUndefined()
})
