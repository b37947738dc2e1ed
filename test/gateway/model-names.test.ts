import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { name } from '../../src/journal/column.ts'
import { modelEndpoints } from '../../src/pipeline/endpoints.ts'
import { modelCharactersMax } from '../../src/protocols/model-name.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Whatever names a model, one reader with one bound reads the name. */

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken, BODY_THREAD_BYTES: '200000' } })
})
afterAll(() => bed.close())

const messages = [{ role: 'user', content: 'Hello' }]
const chat = { messages, max_tokens: 9 }
/** For each endpoint that reads a model: a request of this model that is good, but for the model. */
const bodies: Record<string, (model: unknown) => object> = {
  '/v1/chat/completions': (model) => ({ model, messages }),
  '/v1/responses': (model) => ({ model, input: 'Hello' }),
  '/v1/responses/compact': (model) => ({ model, input: 'Hello' }),
  '/v1/messages': (model) => ({ model, ...chat }),
  '/v1/embeddings': (model) => ({ model, input: 'Hello' }),
  '/v1/moderations': (model) => ({ model, input: 'Hello' }),
  '/v1/audio/speech': (model) => ({ model, input: 'Hello', voice: 'alloy' }),
  '/v1/completions': (model) => ({ model, prompt: 'Hello' }),
  '/v1/images/generations': (model) => ({ model, prompt: 'a door' }),
  '/v1/messages/count_tokens': (model) => ({ model, messages }),
  '/v1/responses/input_tokens': (model) => ({ model, input: 'Hello' }),
  '/v1/translate': (model) => ({ from: 'openai-chat', to: 'gemini', request: { model, messages } }),
}
const others: [string, string, (model: unknown) => object][] = [
  [
    '/v1/translate',
    "the upstream's name",
    (model) => ({ from: 'openai-chat', to: 'gemini', model, request: { model: 'main', messages } }),
  ],
  [
    '/v1/translate',
    'a request that stays in its format',
    (model) => ({ from: 'openai-chat', to: 'openai-chat', request: { model, messages } }),
  ],
]
const requests = [...Object.entries(bodies).map(([path, of]) => [path, 'its model', of] as const), ...others]

const wrong: [string, unknown, RegExp][] = [
  ['257 characters', 'm'.repeat(257), /expected at most 256 characters, got 257/],
  ['64 KB', 'xSG.'.repeat(16_384), /expected at most 256 characters, got 65536/],
  ['400 KB', 'xsk-aaaa'.repeat(51_200), /expected at most 256 characters, got 409600/],
  ['a number', 5, /expected a string, got number/],
  ['a list', ['main'], /expected a string, got array/],
  ['an object', { id: 'main' }, /expected a string, got object/],
  ['nothing between its quotes', '', /expected a model id, got an empty string/],
  ['a control character', 'ma\u0001in', /expected printable characters only/],
  ['half of a surrogate pair', 'main\ud800', /expected printable characters only/],
]

test('the table has every endpoint that reads a model', async () => {
  const document: unknown = await (await fetch(`${bed.tollgate.url}/openapi.json`)).json()
  const named = Object.entries(membersOf(document, 'paths')).flatMap(([path, operations]) => {
    const body = membersOf(operations, 'post', 'requestBody', 'content', 'application/json', 'schema')
    const name =
      String(body.$ref ?? '')
        .split('/')
        .at(-1) ?? ''
    const { properties } = name === '' ? body : membersOf(document, 'components', 'schemas', name)
    return 'model' in membersOf({ properties }, 'properties') && path.startsWith('/v1/') ? [path] : []
  })
  expect(named.sort()).toEqual(Object.keys(bodies).sort())
  expect(modelEndpoints.filter(({ path }) => !(path in bodies))).toEqual([])
})

function membersOf(value: unknown, ...path: string[]): Record<string, unknown> {
  let at = value
  for (const name of path) at = Object(at)[name]
  return Object(at ?? {})
}

test('the longest name fits into its column', () => {
  expect(modelCharactersMax).toBe(name.max)
})

describe.each(requests)('a request to %s with %s', (path, _, bodyOf) => {
  test.each(wrong)(
    'of %s is one 400 that names it, with its row, and goes nowhere',
    async (_, model, message) => {
      bed.upstream.requests.length = 0
      const response = await fetch(`${bed.tollgate.url}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${freeKey}`,
          'content-type': 'application/json',
          ...(path.startsWith('/v1/messages') && { 'anthropic-version': '2023-06-01' }),
        },
        body: JSON.stringify(bodyOf(model)),
      })
      const answer: unknown = await response.json()
      expect(response.status, JSON.stringify(answer).slice(0, 500)).toBe(400)
      const error = membersOf(answer, 'error')
      expect(error.type).toBe('invalid_request_error')
      expect(error.message).toMatch(/^(request\.)?model: /)
      expect(error.message).toMatch(message)
      if (!path.startsWith('/v1/messages')) expect(error.param).toMatch(/^(request\.)?model$/)
      expect(bed.upstream.requests).toEqual([])
      await expectRow(response.headers.get('x-request-id'), path, message)
    },
  )
})

async function expectRow(id: string | null, endpoint: string, message: RegExp) {
  const row = await bed.row(id)
  expect(row).toMatchObject({ endpoint, status: 400, outcome: 'refused', error_kind: 'invalid_request' })
  expect(row.error_message).toMatch(message)
  expect(String(row.error_message).length).toBeLessThan(256)
  expect(String(row.requested_model ?? '').length).toBeLessThanOrEqual(256)
  expect(await bed.database.sql`SELECT id FROM requests WHERE id = ${id}`).toHaveLength(1)
}

test.each(wrong)(
  'a frame of a WebSocket with a model of %s is refused like a request',
  async (_, model, message) => {
    const socket = new WebSocket(`${bed.tollgate.url.replace('http', 'ws')}/v1/responses`, {
      headers: { authorization: `Bearer ${freeKey}` },
    })
    const answer = await new Promise<string>((resolve, reject) => {
      socket.once('message', (data) => resolve(String(data)))
      socket.once('error', reject)
      socket.once('open', () =>
        socket.send(JSON.stringify({ type: 'response.create', model, input: 'Hello' })),
      )
    })
    socket.close()
    expect(answer).toMatch(message)
    expect(answer).toContain('model: ')
    expect(answer.length).toBeLessThan(1000)
  },
)

test.each(wrong)('a run of the playground with a model of %s shows a refusal', async (_, model, message) => {
  const response = await fetch(`http://127.0.0.1:${bed.tollgate.port}/admin/v1/playground`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      key: { name: 'free', tenant: 'free' },
      endpoint: '/v1/chat/completions',
      request: { model, messages },
    }),
  })
  const events = await response.text()
  expect(events).toContain('"status":400')
  // The admin API refuses some of them itself.
  if (!events.includes('text without NUL')) expect(events).toMatch(message)
})
