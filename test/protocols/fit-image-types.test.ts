import { expect, test } from 'vitest'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide, upstreamSide } from '../../src/protocols/index.ts'
import type { ClientSide, ProtocolName } from '../../src/protocols/protocol.ts'

/** Images whose label is another type than their bytes, from each client to each upstream. */

const envelope = makeEnvelope(Buffer.alloc(32))
const bytes = {
  'image/png': Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ', 'base64'),
  'image/jpeg': Buffer.from('ffd8ffe000104a46494600010100000100010000', 'hex'),
  'image/gif': Buffer.from('GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00', 'latin1'),
  'image/webp': Buffer.from('RIFF\x24\x00\x00\x00WEBPVP8 \x18\x00\x00\x00', 'latin1'),
}
const types = Object.keys(bytes) as (keyof typeof bytes)[]

const bodies: Readonly<Partial<Record<ProtocolName, (type: string, data: string) => object>>> = {
  'openai-chat': (type, data) => ({
    model: 'm',
    messages: [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:${type};base64,${data}` } }] },
    ],
  }),
  'openai-responses': (type, data) => ({
    model: 'm',
    input: [
      {
        role: 'user',
        content: [{ type: 'input_image', detail: 'auto', image_url: `data:${type};base64,${data}` }],
      },
    ],
  }),
  'anthropic-messages': (type, data) => ({
    model: 'm',
    max_tokens: 10,
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: type, data } }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't',
            content: [{ type: 'image', source: { type: 'base64', media_type: type, data } }],
          },
        ],
      },
    ],
  }),
}

const upstreams = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const

test.each(Object.keys(bodies) as ProtocolName[])('from %s', (client) => {
  for (const upstream of upstreams.filter((name) => name !== client))
    for (const real of types)
      for (const label of types) {
        const { text, notes } = sent(client, upstream, label, bytes[real].toString('base64'))
        const found = [...text.matchAll(/image\/(png|jpeg|gif|webp)/g)].map(([type]) => type)
        expect(new Set(found), `${upstream}: ${label}`).toEqual(new Set([real]))
        expect(notes.some(({ reason }) => reason === `its content is ${real}, not ${label}`)).toBe(
          real !== label,
        )
      }
})

test('what is not a known image keeps its label, and image/jpg is none that lies', () => {
  const unknown = sent(
    'openai-chat',
    'gemini',
    'image/png',
    Buffer.from('no image at all').toString('base64'),
  )
  expect(unknown.text).toContain('image/png')
  expect(unknown.notes).toEqual([])
  expect(
    sent('openai-chat', 'anthropic-messages', 'image/jpg', bytes['image/jpeg'].toString('base64')).notes,
  ).toEqual([])
})

function sent(client: ProtocolName, upstream: ProtocolName, type: string, data: string) {
  const request = (clientSide(client) as ClientSide).decodeRequest(bodies[client]?.(type, data) as never, {
    envelope,
  })
  const { body, notes } = upstreamSide(upstream).encodeRequest(request, {
    upstreamModel: 'up',
    traits: {},
    maxOutputTokensDefault: 4096,
  } as never)
  return { text: JSON.stringify(body), notes: notes.filter(({ path }) => path.includes('content')) }
}
