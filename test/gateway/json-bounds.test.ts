import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freeKey, gatewayYaml } from '../support/gateway-yaml.ts'
import { type ProcessTestbed, startProcessTestbed } from '../support/process-testbed.ts'
import type { Plan } from '../support/upstream.ts'
import { chat } from '../support/upstream-plans.ts'

let bed: ProcessTestbed
beforeAll(async () => {
  bed = await startProcessTestbed({
    env: { JSON_DEPTH_MAX: '20', JSON_VALUES_MAX: '1000', IMAGE_RUNS_MAX: '1' },
    yaml: (url) =>
      gatewayYaml(url).replace(
        'channels:\n',
        `  - { id: picture, images: {} }
  - { id: responses-model, max_output_tokens: 100 }
  - { id: messages-model, max_output_tokens: 100 }
channels:
  - { name: painter, protocols: { openai-images: "${url}" }, api_keys: [ "" ], models: [ picture ], allow_private_address: true, priority: 9 }
  - { name: responder, protocols: { openai-responses: "${url}" }, api_keys: [ "" ], models: [ responses-model ], allow_private_address: true, priority: 9 }
  - { name: messenger, protocols: { anthropic-messages: "${url}" }, api_keys: [ "" ], models: [ messages-model ], allow_private_address: true, priority: 9 }
`,
      ),
  })
})
afterAll(() => bed?.close())
beforeEach(() => {
  bed.upstream.requests.length = 0
  bed.upstream.script(chat)
})

const messages = [{ role: 'user', content: 'Hello' }]
/** Good requests of every endpoint that takes JSON. */
const requests: Record<string, Record<string, unknown>> = {
  '/v1/chat/completions': { model: 'any', messages },
  '/v1/responses': { model: 'responses-model', input: 'Hello' },
  '/v1/messages': { model: 'messages-model', max_tokens: 9, messages },
  '/v1/images/generations': { model: 'picture', prompt: 'a door' },
  '/v1/translate': { from: 'openai-chat', to: 'gemini', model: 'any', request: { messages } },
  '/v1/messages/count_tokens': { model: 'messages-model', messages },
  '/v1/responses/input_tokens': { model: 'responses-model', input: 'Hello' },
}
const paths = Object.keys(requests)

describe.each(paths)('a request to %s', (path) => {
  test.each([
    ['nested deeper than JSON_DEPTH_MAX', `"extra":${nested(21)}`],
    ['nested a million deep', `"extra":${nested(1_000_000)}`],
    ['that opens a million objects and ends', `"extra":${'{"a":'.repeat(1_000_000)}`],
    ['of more values than JSON_VALUES_MAX', `"extra":[${'1,'.repeat(1001)}1]`],
    ['of more keys than JSON_VALUES_MAX', [...Array(600).keys()].map((i) => `"k${i}":1`).join(',')],
  ])('%s is one 400 with its row, and nothing is sent upstream', async (_, member) => {
    const answer = await post(path, `{${JSON.stringify(requests[path]).slice(1, -1)},${member}}`)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error: { type: 'invalid_request_error' } })
    expect(await bed.row(answer.headers.get('x-request-id'))).toMatchObject({
      status: 400,
      outcome: 'refused',
      error_kind: 'invalid_request',
      endpoint: path,
    })
    expect(bed.upstream.requests).toEqual([])
  })
})

test.each(['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/images/generations'])(
  'a request to %s with a repeated member, or one in other letters, is one 400 with its row',
  async (path) => {
    const text = JSON.stringify(requests[path]).slice(1, -1)
    const twice = [
      '"model":"main"',
      '"mod\\u0065l":"main"',
      '"Model":"main"',
      '"stream":true,"stre\\u0061m":false',
      '"\\u017ftream":true',
    ]
    for (const member of twice) {
      for (const body of [`{${text},${member}}`, `{${member},${text}}`]) {
        const answer = await post(path, body)
        expect([member, answer.status]).toEqual([member, 400])
        expect(await bed.row(answer.headers.get('x-request-id'))).toMatchObject({
          status: 400,
          outcome: 'refused',
        })
      }
    }
    expect(bed.upstream.requests).toEqual([])
  },
)

test.each([
  ['/v1/chat/completions', ['max_tokens', 'max_completion_tokens', 'n', 'stream_options']],
  ['/v1/responses', ['max_output_tokens', 'background', 'store', 'previous_response_id', 'tools']],
  ['/v1/messages', ['max_tokens', 'tools']],
  ['/v1/images/generations', ['n', 'size', 'quality']],
])('a request to %s with two bounds, or two prices, is one 400', async (path, names) => {
  for (const name of names) {
    const { [name]: _, ...rest } = requests[path] ?? {}
    const text = JSON.stringify(rest).slice(1, -1)
    const [head = '', tail = ''] = [name.slice(0, -1), name.slice(-1)]
    const spellings = [name, `${head}\\u00${tail.charCodeAt(0).toString(16)}`, `${head}${tail.toUpperCase()}`]
    for (const other of spellings) {
      const answer = await post(path, `{${text},"${name}":null,"${other}":null}`)
      expect([other, answer.status]).toEqual([other, 400])
      expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining(name) } })
    }
  }
  expect(bed.upstream.requests).toEqual([])
})

const deep = nested(50_000)
const frames = (...data: string[]): Plan => ({ chunks: data.map((one) => `data: ${one}\n\n`), ending: 'end' })

describe.each<[string, Plan]>([
  ['an answer that is nothing but depth', { body: deep }],
  [
    'an answer with depth inside',
    {
      body: `{"id":"a","choices":${deep},"output":${deep},"content":${deep},"data":${deep},"usage":${deep},"input_tokens":${deep}}`,
    },
  ],
  [
    'an answer with depth in its text',
    {
      body: `{"id":"a","choices":[{"message":{"content":${deep},"tool_calls":${deep}}}],"output":[{"type":"message","content":${deep}}],"content":[{"type":"text","text":${deep}}],"data":[{"b64_json":${deep}}]}`,
    },
  ],
  ['an error with depth inside', { status: 400, body: `{"error":${deep}}` }],
  [
    'an error with depth in its message',
    { status: 500, body: `{"error":{"message":${deep},"type":${deep}}}` },
  ],
  [
    'frames of depth',
    frames(
      deep,
      `{"choices":${deep}}`,
      `{"choices":[{"delta":${deep}}],"usage":${deep}}`,
      `{"type":"response.completed","response":${deep}}`,
      `{"type":"content_block_delta","delta":${deep}}`,
    ),
  ],
])('%s from an upstream', (_, plan) => {
  test.each(paths.filter((path) => path !== '/v1/translate'))(
    'to %s ends in a row, and the next request is served',
    async (path) => {
      bed.upstream.script(() => plan)
      for (const stream of [false, true]) {
        const answer = await post(path, JSON.stringify({ ...requests[path], ...(stream && { stream }) }))
        await answer.text().catch(() => '')
        const row = await bed.row(answer.headers.get('x-request-id'))
        expect(row.error_kind).not.toBe('internal')
        // The client's format, on a channel that speaks another one.
        if (path !== '/v1/chat/completions' && path !== '/v1/messages' && path !== '/v1/responses') continue
        const translated = await post(
          path,
          JSON.stringify({
            ...requests[path],
            model: path === '/v1/messages' ? 'main' : 'messages-model',
            ...(stream && { stream }),
          }),
        )
        await translated.text().catch(() => '')
        expect((await bed.row(translated.headers.get('x-request-id'))).error_kind).not.toBe('internal')
      }
      bed.upstream.script(chat)
      expect((await bed.chat({ model: 'any', messages })).status).toBe(200)
      expect(bed.tollgate.child.exitCode).toBeNull()
    },
  )
})

function post(path: string, body: string): Promise<Response> {
  return fetch(bed.tollgate.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${freeKey}`,
      ...(path.startsWith('/v1/messages') && { 'anthropic-version': '2023-06-01' }),
    },
    body,
  })
}

function nested(depth: number): string {
  return `${'['.repeat(depth)}${']'.repeat(depth)}`
}
