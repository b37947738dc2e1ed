import { afterAll, beforeAll, expect, test } from 'vitest'
import { kindOfBytes, kindOfLabel } from '../../src/http/answer-kind.ts'
import { forgettingKey, fourUpstreamsYaml, upstreamModels } from '../support/four-upstreams.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import type { Plan, SeenRequest } from '../support/upstream.ts'
import { startVendor, type Vendor } from '../support/vendor/vendor.ts'

/** Upstreams whose content type does not say what they send. Its first bytes do. */

let bed: Testbed
let vendor: Vendor
beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 0 })
  bed = await startTestbed({ yaml: (url) => yaml(new URL(url).origin) })
})
afterAll(async () => {
  await bed.close()
  await vendor.close()
})

/** With a vendor of the Chat format that takes `stream_options`. */
const yaml = (origin: string) =>
  fourUpstreamsYaml(origin)
    .replace('vendor: mistral', 'vendor: openai')
    .replace('mistral-small-latest', 'gpt-5')

/** The vendor's answer under another label, its first bytes one by one. */
function under(label: string | undefined) {
  return async ({ method, path, headers, body }: SeenRequest): Promise<Plan> => {
    const answer = await fetch(vendor.url + path, {
      method,
      headers: sent(headers),
      body: new Uint8Array(body),
    })
    const bytes = Buffer.from(await answer.arrayBuffer())
    const type = label ?? answer.headers.get('content-type') ?? ''
    const first = [...bytes.subarray(0, 8)].map((byte) => Buffer.from([byte]))
    return {
      status: answer.status,
      headers: { 'content-type': type },
      chunks: [...first, bytes.subarray(8)],
      ending: 'end',
    }
  }
}

const sent = (headers: SeenRequest['headers']) =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      ['host', 'connection', 'content-length', 'transfer-encoding', 'accept-encoding'].includes(name)
        ? []
        : [[name, String(value)]],
    ),
  )

const messages = [{ role: 'user', content: 'Hello' }]
const clients = [
  ['/v1/chat/completions', { messages, max_completion_tokens: 50 }],
  ['/v1/messages', { messages, max_tokens: 50 }],
  ['/v1/responses', { input: 'Hello', max_output_tokens: 50 }],
] as const

const labels = {
  stream: ['text/plain; charset=utf-8', 'application/json', ''],
  whole: ['text/event-stream', ''],
}

async function ask(path: string, body: object) {
  const answer = await fetch(bed.tollgate.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${forgettingKey}`,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  const { status, outcome, usage_source, input_tokens, output_tokens } = await bed.row(
    answer.headers.get('x-request-id'),
  )
  const type = answer.headers.get('content-type')?.split(';')[0]?.toLowerCase()
  return {
    text,
    seen: { type, http: answer.status, status, outcome, usage_source, input_tokens, output_tokens },
  }
}

test.each(upstreamModels.flatMap((model) => clients.map(([path, body]) => ({ model, path, body }))))(
  '$model for $path: an answer is what its bytes are, whatever its label',
  async ({ model, path, body }) => {
    for (const stream of [true, false]) {
      const request = { ...body, model, stream }
      bed.upstream.script(under(undefined))
      const right = await ask(path, request)
      expect(right.seen, right.text).toMatchObject({ http: 200, outcome: 'succeeded' })
      for (const label of labels[stream ? 'stream' : 'whole']) {
        bed.upstream.script(under(label))
        const { seen, text } = await ask(path, request)
        expect(seen, `${label}: ${text}`).toEqual(right.seen)
      }
    }
  },
)

const chatBody = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-5',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
})
const geminiChunks = ['Hel', 'lo'].map((text, at) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, ...(at === 1 && { finishReason: 'STOP' }) }],
  usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 3 + 4 * at, totalTokenCount: 14 + 4 * at },
  modelVersion: 'g',
}))

test.each([
  ['a byte order mark', 'openai-chat', `\uFEFF${chatBody}`],
  ['a list of chunks', 'gemini', JSON.stringify(geminiChunks)],
])('an answer with %s is read, streamed or whole', async (_, model, body) => {
  bed.upstream.script(() => ({ headers: { 'content-type': 'application/json' }, body }))
  for (const [path, request] of clients)
    for (const stream of [true, false]) {
      const { text, seen } = await ask(path, { ...request, model, stream })
      expect(seen, text).toMatchObject({
        http: 200,
        type: stream ? 'text/event-stream' : 'application/json',
        input_tokens: 11,
        usage_source: 'upstream',
      })
      expect(text).toContain(model === 'gemini' && stream ? 'Hel' : 'Hello')
      if (!stream) expect(() => JSON.parse(text)).not.toThrow()
    }
})

test.each([
  ['events', 'data: {"a":1}'],
  ['events', '\uFEFFdata:x'],
  ['events', ': comment'],
  ['events', '\n\r\nevent: message_start'],
  ['events', 'id: 7'],
  ['events', 'retry: 10'],
  ['json', '{"data": 1}'],
  ['json', '\uFEFF\n [{"a":1}]'],
  ['other', '<html>'],
  ['other', 'database down'],
  ['other', 'identity: 7'],
] as const)('%s begins as in %j, however it is cut', (kind, text) => {
  const bytes = Buffer.from(text)
  for (let end = 1; end <= bytes.length; end++)
    expect([kind, undefined]).toContain(kindOfBytes(bytes.subarray(0, end)))
  expect(kindOfBytes(bytes)).toBe(kind)
})

test('a label may be in capital letters', () => {
  expect(kindOfLabel('Text/Event-Stream; charset=utf-8')).toBe('events')
  expect(kindOfLabel('Application/JSON')).toBe('json')
  expect(kindOfLabel('')).toBe('other')
})
