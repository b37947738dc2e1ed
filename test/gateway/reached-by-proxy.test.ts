import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeCertificate } from '../support/certificate.ts'
import { type EgressProxy, startEgressProxy } from '../support/egress-proxy.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { type ProcessTestbed, startProcessTestbed } from '../support/process-testbed.ts'
import { until } from '../support/until.ts'
import { type ScriptedUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts'
import { chat, errorAnswer } from '../support/upstream-plans.ts'

/** A channel behind a proxy with credentials, with a CA and headers of its own: every kind of call, and no secret anywhere. */

const ours = makeCertificate('upstream')
const secretHeader = 'the-secret-of-our-header-0001'
const secrets = [secretHeader, 'proxy-pass-word', Buffer.from('user:proxy-pass-word').toString('base64')]
let proxy: EgressProxy
let secure: ScriptedUpstream
let bed: ProcessTestbed

beforeAll(async () => {
  ;[proxy, secure] = await Promise.all([startEgressProxy(), startUpstream({ tls: ours })])
  const origin = secure.url.replace('/v1', '')
  bed = await startProcessTestbed({
    env: { HEADER_SECRET: secretHeader, PROXY: proxy.url, LOG_LEVEL: 'trace' },
    yaml: () => `
models: [{ id: main }, { id: painter, price: { image: "0" } }]
channels:
  - name: far
    protocols: { openai-chat: ${secure.url}, openai-responses: ${secure.url}, openai-images: ${secure.url}, anthropic-messages: ${origin} }
    api_keys: [upstream-credential-0001]
    models: { main: upstream-main, painter: painter, '*': '*' }
    proxy: "\${PROXY}"
    ca: ${JSON.stringify(ours.cert)}
    headers: { x-team: abc, X-Secret: "\${HEADER_SECRET}" }
    timeouts: { total_ms: 60000 }
    allow_private_address: true
groups: [{ name: default }]
tenants: [{ name: free, keys: [{ name: free, secret: ${freeKey} }] }]`,
  })
})
afterAll(() => Promise.all([bed.close(), proxy.close(), secure.close()]))
beforeEach(() => {
  secure.requests.length = 0
  secure.script(answer)
})

/** A PNG of one pixel. */
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+M8AAAMBAQDJ/pLvAAAAAElFTkSuQmCC'

/** Good answers, by path. */
function answer(request: SeenRequest) {
  if (request.path.endsWith('/count_tokens')) return { body: '{"input_tokens":7}' }
  if (request.path.endsWith('/embeddings')) {
    return { body: '{"object":"list","data":[],"model":"m","usage":{"prompt_tokens":1,"total_tokens":1}}' }
  }
  if (request.path.endsWith('/images/generations')) {
    return { body: JSON.stringify({ created: 1, data: [{ b64_json: pixel }] }) }
  }
  if (request.path.includes('/responses')) {
    return {
      body: JSON.stringify({
        id: 'resp_kept',
        object: 'response',
        status: 'completed',
        model: 'm',
        output: [],
      }),
    }
  }
  return chat(request)
}

function call(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${bed.tollgate.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

const messages = [{ role: 'user', content: 'Hello' }]

test.each([
  ['chat', '/v1/chat/completions', { model: 'main', messages }],
  ['a stream', '/v1/chat/completions', { model: 'main', messages, stream: true }],
  ['a plain endpoint', '/v1/embeddings', { model: 'text-embedding-3-small', input: 'x' }],
  ['a count of tokens', '/v1/messages/count_tokens', { model: 'main', messages }],
  ['images', '/v1/images/generations', { model: 'painter', prompt: 'a dot' }],
  ['an answer that is kept', '/v1/responses', { model: 'main', input: 'Hello' }],
])('%s goes through the proxy, with the headers of the channel', async (_, path, body) => {
  const answered = await call(path, body, { 'anthropic-version': '2023-06-01' })
  expect(answered.status, await answered.text()).toBe(200)
  expect(secure.requests).toHaveLength(1)
  expect(secure.requests[0]?.headers).toMatchObject({ 'x-team': 'abc', 'x-secret': secretHeader })
  expect(proxy.asked.every((line) => line === `CONNECT localhost:${secure.port} 200`)).toBe(true)
  expect(proxy.asked.length).toBeGreaterThan(0)
})

test('a kept answer is read again through the proxy', async () => {
  await (await call('/v1/responses', { model: 'main', input: 'Hello' })).text()
  const again = await until(async () => {
    const response = await call('/v1/responses/resp_kept')
    return response.status === 200 && response
  })
  expect(await again.json()).toMatchObject({ id: 'resp_kept' })
  expect(secure.requests.at(-1)).toMatchObject({ method: 'GET' })
  expect(secure.requests.at(-1)?.headers).toMatchObject({ 'x-secret': secretHeader })
})

test('an upstream that quotes the secrets of the channel tells them to nobody', async () => {
  secure.script(() =>
    errorAnswer(400, { type: 'invalid_request_error', message: `Bad: ${secrets.join(', ')}.` }),
  )
  const refused = await bed.chat({ model: 'main', messages: [{ role: 'user', content: secretHeader }] })
  expect(refused.status).toBe(400)
  const text = await refused.text()
  expect(text).toContain('Bad: ')
  const row = await bed.row(refused.headers.get('x-request-id'))
  const shown = [
    text,
    JSON.stringify(row, (_, value) => (Buffer.isBuffer(value) ? value.toString('latin1') : value)),
    await (await call('/v1/models')).text(),
    await (await call('/v1/usage/requests')).text(),
    bed.tollgate.stderr(),
    bed.tollgate.stdout(),
  ]
  for (const secret of secrets) {
    for (const each of shown) expect(each).not.toContain(secret)
  }
})

test('the database has no secret in clear', async () => {
  const [found] = await bed.database.sql`SELECT string_agg(to_jsonb(t)::text, ' ') AS text FROM channels t`
  const text = String(found?.text)
  expect(text).toContain('"headers": ["x-team", "x-secret"]')
  for (const secret of [...secrets, '127.0.0.1', 'BEGIN CERTIFICATE']) {
    expect(text).not.toContain(secret)
    expect(text).not.toContain(Buffer.from(secret).toString('hex'))
  }
})

test('a proxy that is gone makes the channel fail as an upstream that is gone', async () => {
  await proxy.close()
  const failed = await bed.chat({ model: 'main', messages })
  expect(failed.status).toBe(502)
  expect(await failed.text()).not.toContain(String(proxy.port))
})
