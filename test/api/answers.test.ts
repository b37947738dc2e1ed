import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { adminEntriesEndpoints } from '../../src/api/admin/entries.ts'
import { problem } from '../../src/api/admin/problem.ts'
import type { ApiEndpoint } from '../../src/api/dispatch.ts'
import { apiEndpoints } from '../../src/api/endpoints.ts'
import { messagesError, openaiError } from '../../src/api/openapi-components.ts'
import { imageJob } from '../../src/images/job-json.ts'
import { imageRunner } from '../../workers/generate-image.ts'
import { png } from '../support/image-upstream.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import type { Plan, SeenRequest } from '../support/upstream.ts'

/** Compares the answers of a Tollgate with their schemas, and so with /openapi.json: no member is missing or extra. */

const key = 'schema-key-for-tests-0001'
const adminHeader = { authorization: `Bearer ${adminToken}` }
const messages = [{ role: 'user', content: 'Hello' }]
const versioned = { 'anthropic-version': '2023-06-01' }
const heldId = 'resp_held_1'
const anItem = { type: 'message', role: 'user', content: 'Hello' }

let bed: Testbed
let endpoints: readonly ApiEndpoint[]
let made: {
  done: string
  waiting: string
  chat: string
  link: string
  file: string
  conversation: string
  item: string
}

beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken, ROLE: 'api' }, yaml })
  const { context } = bed.tollgate
  endpoints = [
    ...apiEndpoints(context).filter(({ guard }) => guard !== 'admin'),
    ...adminEntriesEndpoints(context),
  ]
  bed.upstream.script(answerOf)
  const chat = await ask('POST', '/v1/chat/completions', { model: 'many', messages, seed: 7 })
  expect(chat.status).toBe(200)
  expect((await ask('POST', '/v1/responses', { model: 'many', input: 'Hello' })).status).toBe(200)
  const done = await submit('a door')
  await imageRunner(context).run(done)
  const job = imageJob.parse(await (await ask('GET', `/v1/images/generations/${done}`)).json())
  const conversation = z
    .object({ id: z.string() })
    .parse(await (await ask('POST', '/v1/conversations', { items: [anItem] })).json()).id
  const items = z
    .object({ first_id: z.string() })
    .parse(await (await ask('GET', `/v1/conversations/${conversation}/items`)).json())
  made = {
    conversation,
    item: items.first_id,
    done,
    waiting: await submit('a window'),
    file: z.object({ id: z.string() }).parse(await (await uploadOne()).json()).id,
    chat: chat.headers.get('x-request-id') ?? '',
    link: job.result?.data[0]?.url ?? '',
  }
})
afterAll(() => bed?.close())

/** One or more calls of each endpoint. */
const calls: Record<string, () => Promise<Response>[]> = {
  'POST /v1/responses/input_tokens': () => [
    ask('POST', '/v1/responses/input_tokens', { model: 'many', input: 'Hello' }),
    ask('POST', '/v1/responses/input_tokens', { model: 'talk', input: 'Hello' }),
  ],
  'POST /v1/messages/count_tokens': () => [
    ask('POST', '/v1/messages/count_tokens', { model: 'many', messages }, versioned),
    ask('POST', '/v1/messages/count_tokens', { model: 'talk', messages }, versioned),
  ],
  'GET /v1/responses/{id}': () => [ask('GET', `/v1/responses/${heldId}`)],
  'GET /v1/responses/{id}/input_items': () => [ask('GET', `/v1/responses/${heldId}/input_items`)],
  'POST /v1/responses/{id}/cancel': () => [ask('POST', `/v1/responses/${heldId}/cancel`)],
  'DELETE /v1/responses/{id}': () => [ask('DELETE', `/v1/responses/${heldId}`)],
  'POST /v1/conversations': () => [ask('POST', '/v1/conversations', { metadata: { of: 'a test' } })],
  'GET /v1/conversations/{id}': () => [ask('GET', `/v1/conversations/${made.conversation}`)],
  'POST /v1/conversations/{id}': () => [
    ask('POST', `/v1/conversations/${made.conversation}`, { metadata: { of: 'another' } }),
  ],
  'GET /v1/conversations/{id}/items': () => [ask('GET', `/v1/conversations/${made.conversation}/items`)],
  'POST /v1/conversations/{id}/items': () => [
    ask('POST', `/v1/conversations/${made.conversation}/items`, { items: [anItem] }),
  ],
  'GET /v1/conversations/{id}/items/{item_id}': () => [
    ask('GET', `/v1/conversations/${made.conversation}/items/${made.item}`),
  ],
  'DELETE /v1/conversations/{id}/items/{item_id}': () => [
    ask('DELETE', `/v1/conversations/${made.conversation}/items/${made.item}`),
  ],
  'DELETE /v1/conversations/{id}': () => [ask('DELETE', `/v1/conversations/${made.conversation}`)],
  'GET /v1/images/generations': () => [ask('GET', '/v1/images/generations')],
  'GET /v1/images/generations/{id}': () => [
    ask('GET', `/v1/images/generations/${made.done}`),
    ask('GET', `/v1/images/generations/${made.waiting}`),
  ],
  'GET /v1/images/generations/{id}/events': () => [ask('GET', `/v1/images/generations/${made.done}/events`)],
  'GET /v1/images/files/{day}/{name}': () => [fetch(made.link)],
  'DELETE /v1/images/generations/{id}': () => [ask('DELETE', `/v1/images/generations/${made.waiting}`)],
  'POST /v1/files': () => [uploadOne()],
  'GET /v1/files': () => [ask('GET', '/v1/files')],
  'GET /v1/files/{id}': () => [ask('GET', `/v1/files/${made.file}`)],
  'GET /v1/files/{id}/content': () => [ask('GET', `/v1/files/${made.file}/content`)],
  'DELETE /v1/files/{id}': () => [ask('DELETE', `/v1/files/${made.file}`)],
  'GET /v1/images/webhook-secret': () => [ask('GET', '/v1/images/webhook-secret')],
  'POST /v1/translate': () => [
    ask('POST', '/v1/translate', {
      from: 'openai-chat',
      to: 'anthropic-messages',
      request: { model: 'many', messages, seed: 7 },
    }),
  ],
  'GET /v1/models': () => [ask('GET', '/v1/models'), ask('GET', '/v1/models', undefined, versioned)],
  'GET /v1/models/{id}': () => [
    ask('GET', '/v1/models/picture'),
    ask('GET', '/v1/models/many', undefined, versioned),
  ],
  'GET /v1/usage/requests': () => [ask('GET', '/v1/usage/requests')],
  'GET /v1/usage/requests/{id}': () => [
    ask('GET', `/v1/usage/requests/${made.chat}`),
    ask('GET', `/v1/usage/requests/${made.done}`),
  ],
  'GET /v1/usage/summary': () => [ask('GET', '/v1/usage/summary')],
  'GET /v1/usage/export': () => [ask('GET', '/v1/usage/export')],
  'GET /public/v1/catalog': () => [ask('GET', '/public/v1/catalog')],
  'GET /v1/usage/budget': () => [ask('GET', '/v1/usage/budget')],
  'GET /v1/key': () => [ask('GET', '/v1/key')],
  'POST /v1/keys': () => [ask('POST', '/v1/keys', { name: `leaf-${randomUUID()}` })],
  'GET /v1/keys': () => [ask('GET', '/v1/keys')],
  'DELETE /v1/keys/{id}': () => [revokeOne()],
  'POST /admin/v1/tenants/{id}/entries': () => [
    ask('POST', '/admin/v1/tenants/one/entries', { kind: 'top_up', amount_usd: '1.50' }, adminHeader),
  ],
  'GET /admin/v1/tenants/{id}/entries': () => [
    ask('GET', '/admin/v1/tenants/one/entries?charges=true', undefined, adminHeader),
  ],
  'GET /admin/v1/tenants/{id}/balance': () => [
    ask('GET', '/admin/v1/tenants/one/balance', undefined, adminHeader),
  ],
}

test('this file calls every endpoint of our own', () => {
  expect(Object.keys(calls).sort()).toEqual(endpoints.map(callName).sort())
})

describe.each(Object.keys(calls))('%s', (name) => {
  test('answers with exactly what its schema says', async () => {
    const endpoint = endpoints.find((one) => callName(one) === name)
    const { media = 'application/json', answer, statuses = [200] } = endpoint ?? {}
    for (const call of calls[name]?.() ?? []) {
      const response = await call
      const text = await response.text()
      expect(statuses, text).toContain(response.status)
      expect(response.headers.get('content-type')).toMatch(new RegExp(`^${media.replace('*', '')}`))
      for (const json of answer === undefined ? [] : jsonIn(text, media)) {
        expect(answer?.parse(json)).toEqual(json)
      }
    }
  })
})

test('errors have the shapes that the document gives them', async () => {
  const nobody = { authorization: 'Bearer nobody-knows-this-key' }
  const plain = await (await ask('GET', '/v1/models', undefined, nobody)).json()
  expect(openaiError.parse(plain)).toEqual(plain)
  const admin = await (await ask('GET', '/admin/v1/tenants/one/balance')).json()
  expect(problem.parse(admin)).toEqual(admin)
  const messages = await (await ask('GET', '/v1/models', undefined, { ...nobody, ...versioned })).json()
  expect(messagesError.parse(messages)).toEqual(messages)
})

function uploadOne(): Promise<Response> {
  const form = new FormData()
  form.set('purpose', 'user_data')
  form.set('file', new Blob(['A note.']), 'note.txt')
  const headers = { authorization: `Bearer ${key}` }
  return fetch(`http://127.0.0.1:${bed.tollgate.port}/v1/files`, { method: 'POST', headers, body: form })
}

function callName({ method, path }: { method: string; path: string }): string {
  return `${method} ${path}`
}

/** The JSON of the answer, or of the data of each event. */
function jsonIn(text: string, media: string): unknown[] {
  if (media === 'application/json') return [JSON.parse(text)]
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
}

function ask(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`http://127.0.0.1:${bed.tollgate.port}${path}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

/** Makes a sub-key, and revokes it. */
async function revokeOne(): Promise<Response> {
  const made = await ask('POST', '/v1/keys', { name: `leaf-${randomUUID()}` })
  const { id } = z.object({ id: z.string() }).parse(await made.json())
  return await ask('DELETE', `/v1/keys/${id}`)
}

/** Submits a job, and returns its id. */
async function submit(prompt: string): Promise<string> {
  const path = '/v1/images/generations'
  const answer = await ask('POST', path, { model: 'picture', prompt }, { prefer: 'respond-async' })
  const job: unknown = await answer.json()
  expect(answer.status, JSON.stringify(job)).toBe(202)
  expect(imageJob.parse(job)).toEqual(job)
  return imageJob.parse(job).id
}

function answerOf({ path }: SeenRequest): Plan {
  if (/count_tokens|input_tokens/.test(path)) return json({ input_tokens: 42 })
  if (path.endsWith('/images/generations')) {
    return json({
      created: 1,
      data: [{ b64_json: png().toString('base64'), revised_prompt: 'a red door' }],
      usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
    })
  }
  return json(heldAnswer)
}

const heldAnswer = {
  id: heldId,
  object: 'response',
  status: 'completed',
  model: 'upstream-many',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hello.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 },
}

function json(body: object): Plan {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

function yaml(url: string): string {
  const origin = url.replace(/\/v1$/, '')
  return `
models:
  - { id: many, aliases: [lots], context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2" } }
  - { id: talk, context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2" } }
  - { id: picture, price: { image: "0.04", images: [{ size: 512x512, usd: "0.01" }] }, images: { sizes: [512x512, 1024x1024] } }
channels:
  - { name: responses, protocols: { openai-responses: ${url} }, api_keys: [""], models: [many], allow_private_address: true }
  - { name: messages, protocols: { anthropic-messages: ${origin}/m }, api_keys: [""], models: [many], allow_private_address: true, priority: -1 }
  - { name: chat, protocols: { openai-chat: ${url} }, api_keys: [""], models: [talk], allow_private_address: true }
  - { name: painter, protocols: { openai-images: ${url} }, api_keys: [""], models: [picture], allow_private_address: true }
groups:
  - { name: default, public: true, models: ['*'], channels: ['*'], budget: { month: "5.00" } }
tenants:
  - name: one
    balance_usd: "10.00"
    keys:
      - { name: one, group: default, secret: ${key}, responses: { store: true, days: 1 }, sub_keys: 10, budget: { total: "3.00" } }
`
}
