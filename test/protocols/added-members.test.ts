import { expect, test } from 'vitest'
import { traitChange } from '../../src/catalog/traits/trait-change.ts'
import { allAddedMembers } from '../../src/protocols/added-members.ts'
import { clientSide, upstreamSide } from '../../src/protocols/index.ts'
import { plainReader } from '../../src/protocols/openai-chat/plain-request.ts'
import { requestForAnswer } from '../../src/protocols/openai-responses/background.ts'
import { addedMembers } from '../../src/protocols/patch-request.ts'
import type { RequestFacts, RequestPatch } from '../../src/protocols/protocol.ts'

/** The members that the gateway adds to the bytes of a client: each is taken back where an upstream refuses it. */

const bounds = { jsonDepthMax: 100, jsonValuesMax: 10_000 }
const said = [{ role: 'user', content: 'hi' }]

/** The requests that the gateway changes, and how it changes them. */
const requests = {
  stream: {
    client: { model: 'm', messages: said, stream: true, extra: 1 },
    read: (body: Buffer) => clientSide('openai-chat').readRequest(body, bounds),
    made: (body: Buffer) => body,
    added: undefined,
  },
  background: {
    client: { model: 'm', input: 'hi', background: true, extra: 1 },
    read: (body: Buffer) => clientSide('openai-responses').readRequest(body, bounds),
    made: (body: Buffer, facts: RequestFacts) =>
      facts.background === undefined ? body : requestForAnswer(body, facts.background),
    added: { include: true },
  },
} as const

function patched(kind: keyof typeof requests, client: object, takes: RequestPatch['takes'], include = true) {
  const { read, made, added } = requests[kind]
  const body = Buffer.from(JSON.stringify(client))
  const own = made(body, read(body))
  const facts = read(own)
  const patch = { model: 'm', takes, added: added && { include } }
  const side = upstreamSide(kind === 'stream' ? 'openai-chat' : 'openai-responses').native
  const bytes = side?.patchRequest(own, facts, patch)
  const pieces = Buffer.concat(side?.patchedPieces(own, facts, patch) ?? [])
  expect(pieces.toString()).toBe(bytes?.toString())
  return {
    sent: JSON.parse(String(bytes)) as Record<string, unknown>,
    ours: addedMembers(facts, patch),
  }
}

test.each(allAddedMembers)('$member of $protocol is taken back', ({ protocol, member, takes, in: kind }) => {
  const { client } = requests[kind]
  const first = patched(kind, client, undefined)
  expect(first.sent).toHaveProperty(member)
  expect(first.ours).toHaveProperty(member)
  const change = traitChange(protocol, { member }, first.ours, {})
  expect(change).toEqual({ subject: member, traits: { takes: { [takes]: false } } })
  const second = patched(kind, client, change?.traits.takes)
  const { [member]: _, ...others } = first.sent
  expect(second.sent).toEqual(others)
  expect(second.ours).not.toHaveProperty(member)
})

test.each([
  ['stream', { stream_options: { include_usage: true } }, { streamOptions: false }, ['stream_options']],
  ['background', { include: ['reasoning.encrypted_content'] }, { include: false }, ['include']],
] as const)('what the client of a %s asks for itself stays: %j', (kind, own, takes, members) => {
  const { sent, ours } = patched(kind, { ...requests[kind].client, ...own }, takes, false)
  expect(sent).toMatchObject(own)
  for (const member of members) expect(ours).not.toHaveProperty(member)
})

test('other wishes of the client stay in the list', () => {
  const include = ['message.output_text.logprobs', 'a]"b']
  const { sent } = patched('background', { ...requests.background.client, include }, { include: false })
  expect(sent.include).toEqual(include)
})

test('no other member is added in any format, but the stream of an answer in the background', () => {
  const known = new Set([...allAddedMembers.map(({ member }) => member), 'stream'])
  for (const kind of ['stream', 'background'] as const) {
    const { background: _, ...client } = { background: true, ...requests[kind].client }
    const { sent } = patched(kind, requests[kind].client, undefined)
    for (const name of Object.keys(sent)) if (!known.has(name)) expect(client).toHaveProperty(name)
  }
  const native = [
    ['anthropic-messages', { model: 'm', max_tokens: 9, messages: said, stream: true }],
    ['openai-responses', { model: 'm', input: 'hi', stream: true }],
    ['openai-chat', { model: 'm', messages: said }],
  ] as const
  for (const [protocol, client] of native) {
    const body = Buffer.from(JSON.stringify(client))
    const facts = clientSide(protocol).readRequest(body, bounds)
    expect(upstreamSide(protocol).native?.patchRequest(body, facts, { model: 'm' })).toBe(body)
  }
})

test('embeddings get no encoding_format of us', () => {
  for (const encoding of [{}, { encoding_format: 'float' }, { encoding_format: 'base64' }]) {
    const body = Buffer.from(JSON.stringify({ model: 'm', input: 'hi', ...encoding }))
    const facts = plainReader({ input: 'input' })(body, bounds)
    expect(upstreamSide('openai-chat').native?.patchRequest(body, facts, { model: 'm' })).toBe(body)
  }
})
