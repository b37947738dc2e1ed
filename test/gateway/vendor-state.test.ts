import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import WebSocket from 'ws'
import { adminClient } from '../support/admin-client.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'
import type { Plan, SeenRequest } from '../support/upstream.ts'

/** Ids of what a vendor keeps, on channels that one tenant or several can reach. `bodies/vendor-state.test.ts` has every place of an id. */

const keyOfA = 'vendor-state-key-of-a-01'
const loneKey = 'vendor-state-lone-of-a-1'
const keyOfB = 'vendor-state-key-of-b-01'
const keepingKey = 'vendor-state-keeping-of-b'

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ yaml, env: { ADMIN_TOKEN: adminToken, BODY_THREAD_BYTES: '100000' } })
  bed.upstream.script(answer)
})
afterAll(() => bed?.close())
beforeEach(() => {
  bed.upstream.requests.length = 0
})

const reference = [{ type: 'item_reference', id: 'msg_1' }]
const content = (part: object) => [{ role: 'user', content: [part] }]

/** A request of each format that names something, its path, and the same without the id. */
const formats = {
  '/v1/responses': [{ input: reference }, 'input[0].id', { input: 'Hello' }],
  '/v1/responses/input_tokens': [{ input: reference }, 'input[0].id', { input: 'Hello' }],
  '/v1/chat/completions': [
    { messages: content({ type: 'file', file: { file_id: 'file-1' } }) },
    'messages[0].content[0].file.file_id',
    { messages: content({ type: 'text', text: 'file_id' }) },
  ],
  '/v1/messages': [
    { max_tokens: 10, messages: content({ type: 'document', source: { type: 'file', file_id: 'file_1' } }) },
    'messages[0].content[0].source.file_id',
    { max_tokens: 10, messages: content({ type: 'text', text: 'file_id' }) },
  ],
  '/v1/messages/count_tokens': [
    { messages: content({ type: 'image', source: { type: 'file', file_id: 'file_1' } }) },
    'messages[0].content[0].source.file_id',
    { messages: content({ type: 'text', text: 'file_id' }) },
  ],
} as const
const paths = Object.keys(formats) as (keyof typeof formats)[]

describe.each(paths)('an id in POST %s', (path) => {
  const [naming, place, plain] = formats[path]

  test.each([
    ['several tenants reach', 'shared', keyOfA],
    ['several tenants reach, and which does not say so', 'shared', keyOfB],
    ['one tenant reaches, with shared_state: own', 'strict', loneKey],
  ])('is refused by a channel that %s', async (_, model, key) => {
    for (const filler of ['', 'x'.repeat(120_000)]) {
      const answered = await post(path, key, { model, ...naming, metadata: { filler } })
      const text = JSON.stringify(answered.body)
      expect(answered.status, text).toBe(400)
      expect(text).toContain(`${place}: refers to something stored at the vendor`)
      expect(text).toContain('shared_state: allow')
      if (!path.startsWith('/v1/messages'))
        expect(answered.body.error).toMatchObject({ param: place, code: 'shared_state' })
    }
    expect(bed.upstream.requests).toHaveLength(0)
    expect((await post(path, key, { model, ...plain })).status).toBe(200)
  })

  test.each([
    ['with shared_state: allow', 'open', keyOfB],
    ['that one tenant alone reaches', 'lone', loneKey],
    ['that takes it, where another does not', 'either', keyOfA],
  ])('goes to a channel %s', async (_, model, key) => {
    for (const filler of ['', 'x'.repeat(120_000)]) {
      const answered = await post(path, key, { model, ...naming, metadata: { filler } })
      expect(answered.status, JSON.stringify(answered.body)).toBe(200)
    }
    expect(bed.upstream.requests.map(({ headers }) => headers['x-api-key'] ?? headers.authorization)).toEqual(
      Array(2).fill(expect.stringContaining(model === 'lone' ? 'credential-lone' : 'credential-open')),
    )
  })
})

test('an id in a frame of a WebSocket is refused and passed on alike', async () => {
  const socket = new WebSocket(`${bed.tollgate.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${keyOfA}` },
  })
  onTestFinished(() => socket.terminate())
  await once(socket, 'open')
  const send = async (model: string) => {
    const answered = once(socket, 'message')
    socket.send(JSON.stringify({ type: 'response.create', model, input: reference }))
    return JSON.parse(String((await answered)[0]))
  }
  expect(await send('shared')).toMatchObject({
    type: 'error',
    status: 400,
    error: { code: 'shared_state', param: 'input[0].id' },
  })
  expect(bed.upstream.requests).toHaveLength(0)
  await send('open')
  await bed.upstream.arrived(1)
})

test('an id in a request for the background is refused when it is accepted', async () => {
  const body = { model: 'shared', input: reference, background: true }
  expect(await post('/v1/responses', keepingKey, body)).toMatchObject({
    status: 400,
    body: { error: { code: 'shared_state', param: 'input[0].id' } },
  })
})

test.each([
  ['a channel holds', keyOfB],
  ['the gateway keeps', keepingKey],
])("a tenant's own answer that %s is continued, and an id beside it is refused", async (_, key) => {
  const first = await post('/v1/responses', key, { model: 'shared', input: 'Hello' })
  const continued = { model: 'shared', previous_response_id: first.body.id, input: 'And?' }
  expect((await post('/v1/responses', key, continued)).status).toBe(200)
  expect((await post('/v1/responses', key, { ...continued, input: reference })).body.error).toMatchObject({
    code: 'shared_state',
  })
})

test('a row says why a channel was left out', async () => {
  const { id } = await post('/v1/responses', keyOfA, { model: 'shared', input: reference })
  const row = await bed.row(id)
  expect(row).toMatchObject({ status: 400, error_kind: 'unsupported_parameter' })
  const attempts = await bed.database.sql`SELECT reason FROM attempts WHERE request_id = ${id}`
  expect(attempts.map(({ reason }) => reason).join()).toContain(
    'input[0].id refers to data kept by its vendor',
  )
})

test('a channel is shared from the first key of a second tenant on, and no longer after its last one', async () => {
  const call = adminClient(bed.tollgate.url)
  const ask = async (key: string) =>
    (await post('/v1/responses', key, { model: 'lone', input: reference })).status
  expect(await ask(loneKey)).toBe(200)
  const body = { tenant: 'b', group: 'lone', name: 'second' }
  const made = await call('POST', 'keys', { token: adminToken, body })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  // From the moment on that the key is known, also before the snapshot is: that one knows another tenant.
  const statuses: number[] = []
  await until(async () => {
    statuses.push(await ask(made.body.secret))
    return statuses.at(-1) === 400
  })
  expect(statuses).not.toContain(200)
  await expect.poll(() => ask(loneKey)).toBe(400)
  const revoked = await call('POST', `keys/${made.body.id}/revoke`, { token: adminToken, body: {} })
  expect(revoked.status, JSON.stringify(revoked.body)).toBe(200)
  await until(async () => (await ask(loneKey)) === 200)
})

async function post(path: string, key: string, body: object) {
  const response = await fetch(`${bed.tollgate.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${key}`,
    },
    body: JSON.stringify(body),
  })
  // biome-ignore lint/suspicious/noExplicitAny: what a client reads from JSON.
  const json = (await response.json()) as any
  return { status: response.status, body: json, id: response.headers.get('x-request-id') }
}

let answers = 0

function answer({ path, stream }: SeenRequest): Plan {
  const id = `resp_${++answers}`
  const usage = { input_tokens: 1, output_tokens: 1 }
  const response = { id, object: 'response', status: 'completed', model: 'm', output: [], usage }
  if (path.endsWith('tokens'))
    return { body: JSON.stringify({ object: 'response.input_tokens', input_tokens: 3 }) }
  if (path.endsWith('/messages'))
    return {
      body: JSON.stringify({
        ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn' },
        ...{ content: [{ type: 'text', text: 'Hi' }], usage },
      }),
    }
  if (path.endsWith('/responses')) {
    const event = { type: 'response.completed', sequence_number: 0, response }
    return stream
      ? {
          body: `event: response.completed\ndata: ${JSON.stringify(event)}\n\n`,
          headers: { 'content-type': 'text/event-stream' },
        }
      : { body: JSON.stringify(response) }
  }
  return {
    body: JSON.stringify({
      ...{ id: 'chatcmpl_1', object: 'chat.completion', model: 'm' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  }
}

function yaml(url: string): string {
  const protocols = `{ openai-chat: ${url}, openai-responses: ${url}, anthropic-messages: ${url.replace(/\/v1$/, '')} }`
  const channel = (name: string, models: string, more = '') =>
    `  - { name: ${name}, protocols: ${protocols}, api_keys: [credential-${name}-01], models: [${models}], allow_private_address: true${more} }`
  return `
models: [ { id: shared }, { id: open }, { id: lone }, { id: strict }, { id: either } ]
channels:
${channel('shared', 'shared, either', ', priority: 9')}
${channel('open', 'open, either', ', shared_state: allow')}
${channel('lone', 'lone')}
${channel('strict', 'strict', ', shared_state: own')}
groups:
  - { name: default, models: ['*'], channels: [shared, open] }
  - { name: keeping, models: ['*'], channels: [shared, open], responses: { store: true, days: 1 } }
  - { name: lone, models: ['*'], channels: [lone, strict] }
tenants:
  - name: a
    keys: [ { name: a, group: default, secret: ${keyOfA} }, { name: lone, group: lone, secret: ${loneKey} } ]
  - name: b
    keys: [ { name: b, group: default, secret: ${keyOfB} }, { name: keeping, group: keeping, secret: ${keepingKey} } ]
`
}
