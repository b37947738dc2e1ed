import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import { type ProcessTestbed, startProcessTestbed } from '../support/process-testbed.ts'
import { startTollgate } from '../support/tollgate.ts'
import { patienceMs } from '../support/until.ts'
import type { Plan } from '../support/upstream.ts'

/** The endpoints beside chat that call an upstream or take our time: as bounded, logged and discreet as chat. */

const otherKey = 'other-tenants-key-00001'
/** Keys that may make one request a minute: one for each test that uses it up. */
const onceKeys = ['count', 'input', 'get', 'delete', 'translate'].map((name) => `once-${name}-key-0000000001`)
const oneAtATimeKey = 'one-at-a-time-key-00001'
const heldId = 'resp_held_1'

let bed: ProcessTestbed
beforeAll(async () => {
  bed = await startProcessTestbed({ yaml, env: { ATTEMPTS_MAX: '2' } })
  bed.upstream.script(() => json(heldAnswer))
  expect((await post('/v1/responses', { model: 'resp', input: 'Hello' })).status).toBe(200)
})
afterAll(() => bed.close())
beforeEach(() => {
  bed.upstream.script(() => json({ input_tokens: 42 }))
  bed.upstream.requests.length = 0
})

const messages = [{ role: 'user', content: 'Hello' }]
const asks = {
  count: { method: 'POST', path: '/v1/messages/count_tokens', body: { model: 'msgs', messages } },
  input: { method: 'POST', path: '/v1/responses/input_tokens', body: { model: 'resp', input: 'Hello' } },
  get: { method: 'GET', path: `/v1/responses/${heldId}`, body: undefined },
  delete: { method: 'DELETE', path: `/v1/responses/${heldId}`, body: undefined },
} as const
const translation = {
  method: 'POST',
  path: '/v1/translate',
  body: { from: 'openai-chat', to: 'gemini', request: { model: 'msgs', messages } },
} as const
const everyAsk = Object.values(asks)
interface Ask {
  method: string
  path: string
  body?: object | string | undefined
}

function ask(
  { method, path, body }: Ask,
  {
    key = freeKey,
    signal,
    url = bed.tollgate.url,
    agent = 'test',
  }: { key?: string; signal?: AbortSignal; url?: string; agent?: string } = {},
): Promise<Response> {
  return fetch(url + path, {
    method,
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${key}`,
      'user-agent': agent,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
}

function post(path: string, body: object | string, key = freeKey): Promise<Response> {
  return ask({ method: 'POST', path, body }, { key })
}

/** The row, with the attempts in `attempts`. */
async function rowOf(response: Response): Promise<Record<string, unknown>> {
  const row = await bed.row(response.headers.get('x-request-id'))
  const attempts = await bed.database
    .sql`SELECT * FROM attempts WHERE request_id = ${String(row.id)} ORDER BY ordinal`
  return { ...row, attempts: [...attempts] }
}

test.each(everyAsk)(
  '$method $path: a credential that the upstream repeats does not reach the client',
  async (asked) => {
    bed.upstream.script(({ headers }) => {
      const message = `bad ${headers['x-api-key'] ?? headers.authorization}`
      return json({ type: 'error', error: { type: 'invalid_request_error', message } }, 400)
    })
    const response = await ask(asked)
    expect(response.status).toBe(400)
    const text = await response.text()
    expect(text).toContain('bad ')
    expect(text).not.toContain('credential of')
    const row = await rowOf(response)
    expect(String(row.error_message)).toContain('bad ')
    expect(inWords(row)).not.toContain('credential of')
  },
)

test("the row of a request that one channel failed and another answered does not show the first channel's credential", async () => {
  bed.upstream.script(({ path, headers }) =>
    path.startsWith('/spare/')
      ? json({ input_tokens: 7 })
      : json({ type: 'error', error: { type: 'api_error', message: `bad ${headers['x-api-key']}` } }, 500),
  )
  const response = await post('/v1/messages/count_tokens', { model: 'two', messages })
  expect(await response.json()).toEqual({ input_tokens: 7 })
  const row = await rowOf(response)
  expect(row).toMatchObject({
    channel: 'spare',
    outcome: 'succeeded',
    upstream_protocol: 'anthropic-messages',
  })
  expect(row.attempts).toMatchObject([
    {
      channel: 'first',
      status: 500,
      error_kind: 'upstream_error',
      error_message: 'The upstream failed with status 500: the reason is in the log',
    },
    { channel: 'spare', status: 200, error_kind: null },
  ])
  expect(inWords(row)).not.toContain('credential of')
})

test('if no channel can count, the row says that none answered, and lists the called ones', async () => {
  bed.upstream.script(({ path }) =>
    path.startsWith('/spare/') ? json({ tokens: 'many' }) : json({ error: { message: 'broken' } }, 500),
  )
  const response = await post('/v1/messages/count_tokens', { model: 'two', messages })
  expect(response.headers.get('x-tollgate-estimated')).toBe('true')
  const row = await rowOf(response)
  expect(row).toMatchObject({ status: 200, channel: null })
  expect(row.attempts).toMatchObject([
    { channel: 'first' },
    { channel: 'spare', error_kind: 'upstream_error' },
  ])
})

test.each([...everyAsk, translation].map((asked, index) => ({ ...asked, key: onceKeys[index] ?? '' })))(
  '$method $path: counts against the requests per minute of its key',
  async ({ key, ...asked }) => {
    const first = await ask(asked, { key })
    // The tenant of this key has no held answer.
    expect(first.status).toBe(asked.path.includes(heldId) ? 404 : 200)
    // The error has the format of the header that the client sent; the paths of Responses have OpenAI's format only.
    const theirs = asked.path.startsWith('/v1/responses')
    const left = theirs ? 'x-ratelimit-remaining-requests' : 'anthropic-ratelimit-requests-remaining'
    expect(first.headers.get(left)).toBe('0')
    const asking = Array.from({ length: 5 }, () => ask(asked, { key }))
    const refused = await Promise.all(asking)
    expect(refused.map(({ status }) => status)).toEqual([429, 429, 429, 429, 429])
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(bed.upstream.requests.length).toBeLessThanOrEqual(1)
  },
)

test('these calls count against the concurrency limit, and a client that leaves frees its place', async () => {
  bed.upstream.script(({ closed }) => closed.then(() => json({ input_tokens: 1 })))
  const leaving = new AbortController()
  const first = ask(asks.count, { key: oneAtATimeKey, signal: leaving.signal }).catch(() => undefined)
  await bed.upstream.arrived(1)
  expect((await ask(asks.count, { key: oneAtATimeKey })).status).toBe(429)
  leaving.abort()
  await first
  await bed.upstream.requests[0]?.closed
  bed.upstream.script(() => json({ input_tokens: 42 }))
  await expect.poll(async () => (await ask(asks.count, { key: oneAtATimeKey })).status).toBe(200)
})

test.each(everyAsk)(
  '$method $path: when a client leaves, its upstream call ends, and its row says so',
  async (asked) => {
    bed.upstream.script(({ closed }) => closed.then(() => json({ input_tokens: 1 })))
    const leaving = new AbortController()
    const agent = `leaves ${asked.method} ${asked.path}`
    const left = ask(asked, { signal: leaving.signal, agent }).catch(() => undefined)
    await bed.upstream.arrived(1)
    leaving.abort()
    await left
    await bed.upstream.requests[0]?.closed
    expect(bed.upstream.requests[0]?.closedEarly).toBe(true)
    const rows = async () => (await bed.rows()).filter((row) => row.user_agent === agent)
    await expect
      .poll(rows)
      .toMatchObject([
        { status: 499, outcome: 'cancelled', stream_end: 'client_gone', error_kind: null, cost_nano: '0' },
      ])
    expect(bed.upstream.requests).toHaveLength(1)
  },
)

test.each([asks.count, asks.input, translation])(
  '$path: a body nested too deeply is refused as it is for chat',
  async ({ path, body }) => {
    const deep = (own: object) =>
      `${JSON.stringify(own).slice(0, -1)},"deep":${'['.repeat(1e5)}${']'.repeat(1e5)}}`
    const response = await post(path, deep(body))
    expect(response.status).toBe(400)
    const chat = await bed.chat(deep({ model: 'msgs', messages }))
    const { error } = (await chat.json()) as { error: { message: string } }
    expect(chat.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', message: error.message },
    })
    expect(bed.upstream.requests).toHaveLength(0)
  },
)

test('a process at its limit of running requests refuses these calls too, with a row of their key', async () => {
  const small = await startProcessTestbed({ yaml, env: { IN_FLIGHT_MAX: '1' } })
  onTestFinished(() => small.close())
  small.upstream.script(({ closed }) => closed.then(() => json({ input_tokens: 1 })))
  const leaving = new AbortController()
  const { url } = small.tollgate
  const first = ask(asks.count, { signal: leaving.signal, url }).catch(() => undefined)
  await small.upstream.arrived(1)
  for (const asked of [...everyAsk, translation]) {
    const response = await ask(asked, { url })
    expect(response.status, asked.path).toBe(503)
    expect(response.headers.get('retry-after')).toBe('1')
  }
  const rows = () =>
    small.database.sql`SELECT count(*)::int AS n FROM requests WHERE status = 503 AND key_id IS NOT NULL`
  await expect.poll(rows, { timeout: patienceMs }).toEqual([{ n: everyAsk.length + 1 }])
  leaving.abort()
  await first
  expect(small.upstream.requests).toHaveLength(1)
})

test('a process that shuts down ends the running calls at its deadline and begins no new ones', async () => {
  const ending = await startProcessTestbed({ yaml, env: { DRAIN_ON_SHUTDOWN_MS: '1000' } })
  onTestFinished(() => ending.close())
  ending.upstream.script(({ closed }) => closed.then(() => json({ input_tokens: 1 })))
  const socket = connect(ending.tollgate.port, '127.0.0.1')
  let answers = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    answers += text
  })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const body = JSON.stringify(asks.count.body)
  const bytes = `POST ${asks.count.path} HTTP/1.1\r\nhost: t\r\nanthropic-version: 2023-06-01\r\nauthorization: Bearer ${freeKey}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  socket.write(bytes)
  await ending.upstream.arrived(1)
  const stopped = ending.tollgate.stop()
  await expect.poll(() => fetch(`${ending.tollgate.url}/healthz`).catch(() => 'refused')).toBe('refused')
  socket.write(bytes)
  await closed
  expect(answers.match(/HTTP\/1\.1 503/g)).toHaveLength(2)
  expect(answers.match(/shutting down/g)).toHaveLength(2)
  expect(await stopped).toBe(0)
  expect(ending.upstream.requests).toHaveLength(1)
  expect(await ending.rows()).toMatchObject([
    { outcome: 'failed', stream_end: 'shutdown', error_kind: 'unavailable', channel: 'messages' },
    { outcome: 'failed', stream_end: null, error_kind: 'unavailable', channel: null },
  ])
})

test('after kill -9 during such calls, each has one row', async () => {
  const killed = await startProcessTestbed({ yaml })
  onTestFinished(() => killed.close())
  const { upstream, tollgate, databaseUrl } = killed
  const { url } = tollgate
  upstream.script(() => json(heldAnswer))
  await ask({ method: 'POST', path: '/v1/responses', body: { model: 'resp', input: 'Hello' } }, { url })
  upstream.script(({ closed }) => closed.then(() => json({})))
  const asking = everyAsk.map((asked) => ask(asked, { url }).catch(() => undefined))
  await upstream.arrived(1 + everyAsk.length)
  await tollgate.kill9()
  await Promise.all(asking)
  const next = await startTollgate({
    databaseUrl,
    dataDir: tollgate.dataDir,
    gatewayYaml: yaml(upstream.url),
    env: {
      SECRET_KEY: 'a-secret-key-for-tests-of-32-characters',
      SHIP_INTERVAL_MS: '20',
      INSTANCE_DEAD_MS: '1000',
    },
  })
  onTestFinished(async () => void (await next.stop()))
  const orphans = async () =>
    (await killed.rows())
      .flatMap(({ outcome, endpoint }) => (outcome === 'orphaned' ? [endpoint] : []))
      .sort()
  await expect
    .poll(orphans, { timeout: patienceMs })
    .toEqual([asks.count.path, asks.input.path, '/v1/responses/{id}', '/v1/responses/{id}'].sort())
})

test.each([
  { conversation: 'conv_1' },
  { conversation: { id: 'conv_1' } },
  { conversation: 'conv_1', previous_response_id: heldId },
])('%j is refused by the name of the conversation, without an upstream call', async (more) => {
  for (const path of ['/v1/responses', '/v1/responses/input_tokens']) {
    const response = await post(path, { model: 'resp', input: 'Hello', ...more })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: {
        param: 'conversation',
        message: expect.stringMatching(/^conversation: .*previous_response_id/),
      },
    })
  }
  expect(bed.upstream.requests).toHaveLength(0)
})

test('the tokens of an earlier answer are counted only for its own tenant', async () => {
  const body = { model: 'resp', input: 'More', previous_response_id: heldId }
  expect(await (await post('/v1/responses/input_tokens', body)).json()).toEqual({ input_tokens: 42 })
  const stranger = await post('/v1/responses/input_tokens', body, otherKey)
  expect(stranger.status).toBe(400)
  expect(await stranger.json()).toMatchObject({ error: { code: 'previous_response_not_found' } })
  const wrong = await post('/v1/responses/input_tokens', { ...body, previous_response_id: [heldId] })
  expect(await wrong.json()).toMatchObject({ error: { param: 'previous_response_id' } })
  expect(bed.upstream.requests).toHaveLength(1)
})

test.each(['resp_\0', 'resp_\x07', 'resp_\ud800', 'resp_\n', ' '])(
  'an id like %j is not found',
  async (id) => {
    const continued = await post('/v1/responses', { model: 'resp', input: 'Hello', previous_response_id: id })
    expect(continued.status).toBe(400)
    expect(await continued.json()).toMatchObject({ error: { code: 'previous_response_not_found' } })
    const path = `/v1/responses/${encodeURIComponent(id.toWellFormed())}`
    for (const method of ['GET', 'DELETE']) expect((await ask({ method, path })).status).toBe(404)
  },
)

test.each([
  'stream=true',
  'stream=True',
  'stream=1',
  'stream=yes',
  'str%65am=true',
  'include=x&stream=%74rue',
  'stream=false&stream=true',
  'stream[]=true',
  'STREAM=true',
])('a held answer cannot be streamed: ?%s is refused by name', async (query) => {
  const response = await ask({ method: 'GET', path: `/v1/responses/${heldId}?${query}` })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { param: 'stream' } })
  expect(bed.upstream.requests).toHaveLength(0)
})

test('only the query parameters of the format go upstream with a request for a held answer', async () => {
  bed.upstream.script(() => json(heldAnswer))
  const query =
    'include[]=reasoning.encrypted_content&include=a%26b&api_key=x&stream=false&starting_after=3&__proto__=y'
  const response = await ask({ method: 'GET', path: `/v1/responses/${heldId}?${query}` })
  expect(await response.json()).toEqual(heldAnswer)
  const sent = new URL(bed.upstream.requests[0]?.path ?? '', 'http://upstream')
  expect(sent.pathname).toBe(`/r/v1/responses/${heldId}`)
  expect([...sent.searchParams]).toEqual([
    ['include[]', 'reasoning.encrypted_content'],
    ['include', 'a&b'],
    ['starting_after', '3'],
  ])
})

test('reasoning that another channel signed is not sent upstream to be counted', async () => {
  const text = { type: 'text', text: 'Hi' }
  const conversation = (content: unknown[]) => [...messages, { role: 'assistant', content }, ...messages]
  const foreign = { type: 'thinking', thinking: 'Hm', signature: 'tg1.e30.AAAA' }
  const response = await post('/v1/messages/count_tokens', {
    model: 'msgs',
    messages: conversation([foreign, text]),
  })
  expect(await response.json()).toEqual({ input_tokens: 42 })
  expect(JSON.parse(String(bed.upstream.requests[0]?.body))).toEqual({
    model: 'msgs',
    messages: conversation([text]),
  })
  expect(String((await rowOf(response)).notes)).toContain('messages[1].content[0]')
})

const heldAnswer = {
  id: heldId,
  object: 'response',
  status: 'completed',
  model: 'gpt-upstream',
  output: [],
  usage: { input_tokens: 1, output_tokens: 1 },
}

function json(body: unknown, status = 200): Plan {
  return { status, body: JSON.stringify(body) }
}

function inWords(row: Record<string, unknown>): string {
  return JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

function yaml(url: string): string {
  const origin = url.replace(/\/v1$/, '')
  // No pattern recognises these words as secrets: only code that knows them as credentials can remove them.
  const channel = (name: string, protocols: string, models: string, more = '') =>
    `  - { name: ${name}, protocols: { ${protocols} }, api_keys: ["credential of ${name}"], models: ${models}, allow_private_address: true${more} }`
  return `
models: [{ id: msgs, context_length: 1000 }, { id: resp, context_length: 1000 }, { id: two, context_length: 1000 }]
channels:
${channel('messages', `anthropic-messages: ${origin}/m`, '[msgs]')}
${channel('responses', `openai-responses: ${origin}/r/v1`, '[resp]')}
${channel('first', `anthropic-messages: ${origin}/m`, '[two]', ', priority: 1')}
${channel('spare', `anthropic-messages: ${origin}/spare`, '[two]')}
groups:
  - { name: default, models: ['*'], channels: ['*'] }
  - { name: once, models: ['*'], channels: ['*'], limits: { requests_per_minute: 1 } }
  - { name: one-at-a-time, models: ['*'], channels: ['*'], limits: { concurrency: 1 } }
tenants:
  - name: free
    keys:
      - { name: free, group: default, secret: ${freeKey} }
      - { name: one-at-a-time, group: one-at-a-time, secret: ${oneAtATimeKey} }
  - name: other
    keys:
      - { name: other, group: default, secret: ${otherKey} }
${onceKeys.map((secret, index) => `      - { name: once-${index}, group: once, secret: ${secret} }`).join('\n')}
`
}
