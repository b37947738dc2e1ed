import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Json, parseObject } from '../../src/canonical/json.ts'
import { begun } from '../support/begun-answers.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import type { Plan } from '../support/upstream.ts'
import { chat, chatAnswer } from '../support/upstream-plans.ts'

/** Known faults of gateways around a translation: headers, credentials, clients that leave, bounds. */

const abortKey = 'abort-key-for-tests-001'
const watchedAnswerBytesMax = 200_000

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({
    yaml,
    env: {
      WATCHED_ANSWER_BYTES_MAX: String(watchedAnswerBytesMax),
      SSE_FRAME_BYTES_MAX: '20000',
      ATTEMPTS_MAX: '1',
    },
  })
})
afterAll(() => bed.close())
beforeEach(() => {
  bed.upstream.script(chat)
  bed.upstream.requests.length = 0
})

const hello = [{ role: 'user', content: 'Hello' }]
const clients = [
  { path: '/v1/messages', model: 'via-chat', body: { max_tokens: 50, messages: hello } },
  { path: '/v1/responses', model: 'via-chat', body: { input: 'Hello' } },
  { path: '/v1/chat/completions', model: 'via-messages', body: { messages: hello } },
] as const
type Client = (typeof clients)[number]

function post(
  { path, model, body }: Pick<Client, 'path'> & { model: string; body: object },
  more: object = {},
  { headers = {}, signal }: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Response> {
  return fetch(`${bed.tollgate.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${freeKey}`,
      ...headers,
    },
    body: JSON.stringify({ model, ...body, ...more }),
    ...(signal === undefined ? {} : { signal }),
  })
}

test.each(clients)('$path, translated: no header of the client reaches the upstream', async (client) => {
  const own = {
    'anthropic-beta': 'context-management-2025-06-27',
    'x-api-key': 'the-client-has-two-keys-01',
    'x-stainless-lang': 'js',
    'x-claude-code-session-id': 's',
    'openai-organization': 'org-1',
    cookie: 'a=b',
  }
  await (await post(client, {}, { headers: own })).text()
  const [seen] = bed.upstream.requests
  for (const name of Object.keys(own)) {
    if (name !== 'x-api-key') expect(seen?.headers[name], name).toBeUndefined()
  }
  const text = JSON.stringify(seen?.headers)
  expect(text).toContain('upstream-credential')
  expect(text).not.toContain(freeKey)
  expect(text).not.toContain('the-client-has-two-keys')
})

test('of two credentials the Bearer token counts, even when only the other one is good', async () => {
  const [client] = clients
  const good = await post(client, {}, { headers: { 'x-api-key': 'no-such-key-at-all-000' } })
  expect(good.status).toBe(200)
  const swapped = { authorization: 'Bearer no-such-key-at-all-000', 'x-api-key': freeKey }
  const bad = await post(client, {}, { headers: swapped })
  expect(bad.status).toBe(401)
  expect(bad.headers.get('x-should-retry')).toBe('false')
  expect(bed.upstream.requests).toHaveLength(1)
})

test.each(clients)(
  '$path, translated: the first words come at once, unbuffered and not compressed',
  async (client) => {
    let goOn = () => {}
    const waitFor = new Promise<void>((resolve) => {
      goOn = resolve
    })
    bed.upstream.script((seen) => {
      const plan = begun(seen, [])
      return 'chunks' in plan ? { ...plan, chunks: [...(plan.chunks as string[]), { waitFor }] } : plan
    })
    const headers = { 'accept-encoding': 'gzip, br' }
    const response = await post(client, { stream: true }, { headers })
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    expect(response.headers.get('cache-control')).toContain('no-cache')
    expect(response.headers.get('content-encoding')).toBeNull()
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const reader = response.body?.getReader()
    const first = Buffer.from((await reader?.read())?.value ?? new Uint8Array()).toString()
    expect(first).toContain('Hello')
    goOn()
    while (!(await reader?.read())?.done);
  },
)

test.each(
  clients.flatMap((client) =>
    (['before the headers', 'before the first word', 'in the middle'] as const).flatMap((when) =>
      [true, false].map((stream) => ({ ...client, when, stream })),
    ),
  ),
)(
  '$path, translated, stream $stream: when the client leaves $when, the upstream call ends',
  async (asked) => {
    const never = new Promise<never>(() => {})
    bed.upstream.script(async (seen): Promise<Plan> => {
      if (asked.when === 'before the headers')
        return await Promise.race([never, seen.closed.then(() => chatAnswer())])
      return asked.when === 'in the middle'
        ? begun(seen, [], 'stall')
        : { chunks: [': nothing yet\n\n'], ending: 'stall' }
    })
    const leaving = new AbortController()
    const headers = { authorization: `Bearer ${abortKey}` }
    const response = post(asked, { stream: asked.stream }, { headers, signal: leaving.signal }).catch(
      () => undefined,
    )
    await bed.upstream.arrived(1)
    const [seen] = bed.upstream.requests
    if (asked.when === 'in the middle' && asked.stream) await response
    leaving.abort()
    await seen?.closed
    expect(seen?.closedEarly).toBe(true)
    expect(bed.upstream.requests).toHaveLength(1)
  },
)

test.each(clients)(
  '$path, translated: a broken connection is one error and one call of the upstream',
  async (client) => {
    bed.upstream.script((seen) => begun(seen, [], 'cut'))
    const text = await (await post(client, { stream: true })).text()
    expect(text.match(/connection to the upstream was lost/g)).toHaveLength(1)
    expect(text).not.toMatch(/message_stop|response\.completed|"finish_reason":"/)
    expect(bed.upstream.requests).toHaveLength(1)
  },
)

test.each(['/v1/messages', '/v1/responses'] as const)(
  '%s: unknown members reach a channel of the format unchanged',
  async (path) => {
    const native = { '/v1/messages': messagesAnswer, '/v1/responses': responsesAnswer }
    bed.upstream.script(() => ({ body: JSON.stringify(native[path]) }))
    const body = {
      max_tokens: 5,
      of_tomorrow: { deep: [1.0, 'é'] },
      messages: [...hello, { role: 'system', content: 'Mind', output_config: { effort: 'low' } }],
      input: [{ type: 'item_of_tomorrow', x: 1 }],
      system: [{ type: 'text', text: 'x-anthropic-billing-header: cch=1;' }],
    }
    const response = await post({ path, model: 'native', body })
    expect(response.status).toBe(200)
    expect(bed.upstream.requests[0]?.body.toString()).toBe(JSON.stringify({ model: 'native', ...body }))
  },
)

test('the model discovery of Claude Code gets one page without a redirect, by the version header alone', async () => {
  const ask = (headers: Record<string, string>) =>
    fetch(`${bed.tollgate.url}/v1/models?limit=1000`, {
      headers: { authorization: `Bearer ${freeKey}`, ...headers },
      redirect: 'error',
    })
  const theirs = await ask({ 'anthropic-version': '2023-06-01' })
  expect(theirs.headers.get('vary')).toContain('anthropic-version')
  const page = (await theirs.json()) as { data: Json[] }
  expect(page).toMatchObject({ has_more: false, first_id: expect.any(String), last_id: expect.any(String) })
  expect(page.data.map(({ type }) => type)).toEqual(page.data.map(() => 'model'))
  const openai = await ask({})
  expect(openai.headers.get('vary')).toContain('anthropic-version')
  expect(await openai.json()).toMatchObject({
    object: 'list',
    data: page.data.map(({ id }) => ({ id, object: 'model' })),
  })
})

test.each(clients)(
  '$path, translated: the gateway gives an event without an end up at the bound',
  async (client) => {
    const endless = function* () {
      yield 'data: {"choices":[{"delta":{"content":"'
      for (;;) yield 'x'.repeat(5000)
    }
    bed.upstream.script(() => ({ chunks: endless(), ending: 'end' }))
    const response = await post(client, { stream: true })
    expect(await response.text()).toContain('more than 20000 bytes')
    await bed.upstream.requests[0]?.closed
  },
)

test.each(clients)('$path, translated: a whole answer beyond the bound is an error', async (client) => {
  bed.upstream.script(() => chatAnswer({ content: 'x'.repeat(2 * watchedAnswerBytesMax) }))
  const response = await post(client)
  expect(response.status).toBe(502)
  expect(parseObject(await response.text())).toMatchObject({
    error: { message: expect.stringContaining(`larger than the limit of ${watchedAnswerBytesMax} bytes`) },
  })
})

test.each(clients)(
  '$path, translated: a stream without an end gets an error at the bound, and the upstream call ends',
  async (client) => {
    const endless = function* (beginning: Iterable<unknown>) {
      const words = [...beginning].map(String)
      yield* words
      for (;;) yield (words.at(-1) ?? '').repeat(50)
    }
    bed.upstream.script((seen) => ({ chunks: endless(begun(seen, []).chunks as string[]), ending: 'end' }))
    const text = await (await post(client, { stream: true })).text()
    expect(text).toContain(`larger than the limit of ${watchedAnswerBytesMax} bytes`)
    await bed.upstream.requests[0]?.closed
    expect(bed.upstream.requests[0]?.closedEarly).toBe(true)
  },
)

test('/v1/responses, translated: bytes that are held until an item is whole have a bound, too', async () => {
  const call = (piece: string) =>
    `data: {"id":"1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"patch","arguments":"${piece}"}}]}}]}\n\n`
  const endless = function* () {
    yield call('{\\"input\\":\\"')
    for (;;) yield call('x'.repeat(5000))
  }
  bed.upstream.script(() => ({ chunks: endless(), ending: 'end' }))
  const [, client] = clients
  const response = await post(client, { stream: true, tools: [{ type: 'custom', name: 'patch' }] })
  expect(await response.text()).toContain(`larger than the limit of ${watchedAnswerBytesMax} bytes`)
  await bed.upstream.requests[0]?.closed
})

const messagesAnswer = {
  type: 'message',
  content: [],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}
const responsesAnswer = { id: 'resp_1', status: 'completed', output: [] }

function yaml(url: string): string {
  const origin = url.replace(/\/v1$/, '')
  const channel = (name: string, protocols: string) =>
    `  - { name: ${name}, protocols: { ${protocols} }, api_keys: [upstream-credential-1], models: [${name}], allow_private_address: true }`
  return `
models:
  - { id: via-chat, context_length: 100000, max_output_tokens: 1000 }
  - { id: via-messages, context_length: 100000, max_output_tokens: 1000 }
  - { id: native, context_length: 100000, max_output_tokens: 1000 }
channels:
${channel('via-chat', `openai-chat: ${url}`)}
${channel('via-messages', `anthropic-messages: ${origin}/m`)}
${channel('native', `openai-responses: ${url}, anthropic-messages: ${origin}`)}
groups:
  - { name: default, models: ['*'], channels: ['*'] }
  - { name: abort, models: ['*'], channels: ['*'], client_gone: { policy: abort, seconds: 0 } }
tenants:
  - name: free
    keys:
      - { name: free, group: default, secret: ${freeKey} }
      - { name: abort, group: abort, secret: ${abortKey} }
`
}
