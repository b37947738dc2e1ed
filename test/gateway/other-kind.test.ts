import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide } from '../../src/protocols/index.ts'
import type { AnswerContext } from '../../src/protocols/protocol.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Upstreams of the client's own format that stream unasked, or do not stream although we asked. */

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ yaml })
})
afterAll(() => bed.close())

const hello = [{ role: 'user', content: 'Hello' }]
const clients = [
  {
    path: '/v1/chat/completions',
    protocol: 'openai-chat',
    body: { messages: hello, stream_options: { include_usage: true } },
    terminal: 'data: [DONE]',
  },
  {
    path: '/v1/responses',
    protocol: 'openai-responses',
    body: { input: 'Hello' },
    terminal: 'event: response.completed',
  },
  {
    path: '/v1/messages',
    protocol: 'anthropic-messages',
    body: { max_tokens: 50, messages: hello },
    terminal: 'event: message_stop',
  },
] as const
type Client = (typeof clients)[number]

const usage = { input: 3, cacheRead: 1, cacheWrite: 0, output: 2, reasoning: 0 }
const said: ChatEvent[] = [
  { type: 'start', id: 'up-1', model: 'up', usage: undefined },
  { type: 'block-start', index: 0, block: { type: 'text' } },
  { type: 'block-delta', index: 0, delta: { type: 'text', text: 'Hello back' } },
  { type: 'block-end', index: 0 },
  {
    type: 'block-start',
    index: 1,
    block: { type: 'tool-call', id: 'call_1', name: 'look', kind: 'function' },
  },
  { type: 'block-delta', index: 1, delta: { type: 'text', text: '{"at":"Oslo"}' } },
  { type: 'block-end', index: 1 },
  { type: 'finish', reason: 'tool_calls', upstreamReason: undefined, stopSequence: undefined, usage },
]

function contextOf({ body: given }: Client): AnswerContext {
  const body: Json = { model: 'native', ...given, stream: true }
  const envelope = makeEnvelope(Buffer.alloc(32))
  return {
    requestId: 'up',
    model: 'up',
    createdAtSeconds: 1,
    body,
    inputTokensEstimate: 3,
    envelope,
  }
}

function post({ path, body }: Pick<Client, 'path'> & { body: object }, stream: boolean): Promise<Response> {
  return fetch(`${bed.tollgate.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${freeKey}`,
    },
    body: JSON.stringify({ model: 'native', ...body, stream }),
  })
}

test.each(clients)(
  '$path: a client that asked for a stream gets one, even when the answer comes whole',
  async (client) => {
    const answer = clientSide(client.protocol).encodeResponse(said, contextOf(client))
    bed.upstream.script(() => ({ body: JSON.stringify(answer) }))
    const response = await post(client, true)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const text = await response.text()
    expect(text).toContain('Hello back')
    expect(text).toContain('Oslo')
    expect(text).toContain(client.terminal)
    await expectRow(response)
  },
)

test.each(clients)(
  '$path: a client that asked for no stream gets a whole answer, even when the upstream streams',
  async (client) => {
    const encoder = clientSide(client.protocol).encodeStream(contextOf(client))
    const chunks = said.map((event) => encoder.push(event)).filter((text) => text !== '')
    bed.upstream.script(() => ({ chunks, ending: 'end' }))
    const response = await post(client, false)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    const text = JSON.stringify(await response.json())
    expect(text).toContain('Hello back')
    expect(text).toContain('Oslo')
    await expectRow(response)
  },
)

test.each(clients)('$path: a stream that breaks before it was whole is an error', async (client) => {
  const encoder = clientSide(client.protocol).encodeStream(contextOf(client))
  const chunks = said.slice(0, -1).map((event) => encoder.push(event))
  bed.upstream.script(() => ({ chunks: chunks.filter((text) => text !== ''), ending: 'cut' }))
  const response = await post(client, false)
  expect(response.status).toBe(502)
  expect(JSON.stringify(await response.json())).toContain('upstream')
})

test('/v1/responses: a rewritten answer keeps the id under which its upstream keeps it', async () => {
  const [, client] = clients
  const answer = { ...clientSide(client.protocol).encodeResponse(said, contextOf(client)), id: 'resp_theirs' }
  bed.upstream.script(() => ({ body: JSON.stringify(answer) }))
  const text = await (await post(client, true)).text()
  expect(text.match(/"id":"resp_[^"]*"/g)?.every((id) => id === '"id":"resp_theirs"')).toBe(true)
  expect(text).toContain('"store":true')
  bed.upstream.script(() => ({ body: JSON.stringify({ ...answer, id: 'resp_next' }) }))
  const next = await post({ ...client, body: { ...client.body, previous_response_id: 'resp_theirs' } }, false)
  expect(await next.json()).toMatchObject({ id: 'resp_next' })
})

test('/v1/messages: a rewritten answer has the upstream’s own signature, which goes back to it', async () => {
  const [, , client] = clients
  const thought = { type: 'thinking', thinking: 'Hm.', signature: 'REALSIG' }
  const use = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }
  const answer = {
    ...clientSide(client.protocol).encodeResponse(said, contextOf(client)),
    content: [thought, use],
  }
  bed.upstream.script(() => ({ body: JSON.stringify(answer) }))
  const response = await post(client, true)
  expect(await response.text()).toContain('"signature":"REALSIG"')
  expect(response.headers.get('x-tollgate-translation')).toContain('emulated=stream')
})

test('/v1/chat/completions: an answer that a rewrite would lose parts of passes unchanged', async () => {
  const [client] = clients
  const answer = clientSide(client.protocol).encodeResponse(said, contextOf(client))
  const body = JSON.stringify({ ...answer, of_tomorrow: 1 })
  bed.upstream.script(() => ({ body }))
  for (const more of [{ n: 2 }, { logprobs: true }]) {
    const response = await post({ ...client, body: { ...client.body, ...more } }, true)
    expect(await response.text()).toBe(body)
    expect(response.headers.get('x-tollgate-translation')).toBeNull()
  }
})

async function expectRow(response: Response): Promise<void> {
  const row = await bed.row(response.headers.get('x-request-id'))
  expect(row).toMatchObject({ status: 200, outcome: 'succeeded', usage_source: 'upstream' })
  expect(row.input_tokens).toBe(3)
  expect(row.output_tokens).toBe(2)
}

function yaml(url: string): string {
  const origin = url.replace(/\/v1$/, '')
  return `
models:
  - { id: native, context_length: 100000, max_output_tokens: 1000 }
channels:
  - name: native
    protocols: { openai-chat: ${url}, openai-responses: ${url}, anthropic-messages: ${origin} }
    api_keys: [upstream-credential-1]
    models: [native]
    allow_private_address: true
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - name: free
    keys: [{ name: free, group: default, secret: ${freeKey} }]
`
}
