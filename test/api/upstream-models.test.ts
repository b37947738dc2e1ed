import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { sentenceOf } from '../../src/canonical/reasons/catalogue.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import type { Plan } from '../support/upstream.ts'

/** What an upstream says that it serves, asked by an admin with a credential that is nowhere yet. */

const secret = 'credential-that-is-only-pasted'
const bytesMax = 20_000
let gateway: Testbed

beforeAll(async () => {
  gateway = await startTestbed({
    env: {
      ADMIN_TOKEN: adminToken,
      MODEL_LIST_MS: '4000',
      MODEL_LIST_BYTES_MAX: String(bytesMax),
      MODEL_LIST_NAMES_MAX: '50',
    },
  })
})
afterAll(() => gateway?.close())
beforeEach(() => {
  gateway.upstream.requests.length = 0
})

const json = (value: unknown, status = 200): Plan => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})
const list = (...ids: string[]) => json({ object: 'list', data: ids.map((id) => ({ id })) })

async function admin(method: string, path: string, body?: unknown) {
  const answer = await fetch(`http://127.0.0.1:${gateway.tollgate.port}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: z.record(z.string(), z.unknown()).parse(await answer.json()) }
}

/** A channel that is not saved: at the scripted upstream. */
function wanted(more: object = {}) {
  return {
    protocols: { 'openai-chat': gateway.upstream.url },
    api_keys: [secret],
    allow_private_address: true,
    ...more,
  }
}

const ask = (more: object = {}) => admin('POST', '/channels/upstream-models', wanted(more))

test('the list is read with the pasted key, in order of names, and nothing is saved', async () => {
  gateway.upstream.script(() => list('model-b', 'model-a'))
  const before = await admin('GET', '/channels')
  const { status, body } = await ask()
  expect(status).toBe(200)
  expect(body).toEqual({
    outcome: 'listed',
    protocol: 'openai-chat',
    models: [
      { id: 'model-a', context_length: null, max_output_tokens: null },
      { id: 'model-b', context_length: null, max_output_tokens: null },
    ],
    is_cut: false,
    status: null,
    error: null,
  })
  expect(gateway.upstream.requests).toMatchObject([
    { method: 'GET', path: '/v1/models', headers: { authorization: `Bearer ${secret}` } },
  ])
  expect((await admin('GET', '/channels')).body).toEqual(before.body)
})

test('sizes are those of the list, in the first protocol that has one', async () => {
  gateway.upstream.script(({ path }) =>
    path.includes('limit=')
      ? json({ data: [{ id: 'claude', max_input_tokens: 200_000, max_tokens: 64_000 }] })
      : json({}, 404),
  )
  const { url } = gateway.upstream
  const { body } = await ask({
    protocols: { 'openai-chat': url, 'anthropic-messages': url.replace('/v1', '') },
  })
  expect(body).toMatchObject({
    outcome: 'listed',
    protocol: 'anthropic-messages',
    models: [{ id: 'claude', context_length: 200_000, max_output_tokens: 64_000 }],
  })
})

test('the audit log has who asked where, and no secret is in it or in an answer', async () => {
  gateway.upstream.script(() => json({ error: { message: `Incorrect API key provided: ${secret}.` } }, 401))
  const { body } = await ask({
    headers: { 'x-team': 'the-value-of-a-header' },
    proxy: 'http://someone:proxy-password@127.0.0.1:9',
  })
  const direct = await ask()
  expect(direct.body).toMatchObject({ outcome: 'failed', status: 401, models: [] })
  expect(direct.body.error).toMatch(
    /^The upstream answered with status 401\. It said: Incorrect API key provided: \[/,
  )
  const audit = await admin('GET', '/audit?resource=channel')
  expect(JSON.stringify(audit.body)).toContain('channel.list_models')
  expect(JSON.stringify([audit, body, direct])).not.toMatch(
    /credential-that|proxy-password|value-of-a-header|someone/,
  )
})

const faults: [string, () => Plan, object][] = [
  [
    'too large',
    () => ({ body: 'x'.repeat(bytesMax + 1) }),
    { outcome: 'failed', error: sentenceOf('upstream_model_list_too_large', { bytesMax }) },
  ],
  [
    'no JSON',
    () => ({ body: 'Hello there' }),
    { outcome: 'failed', error: sentenceOf('upstream_model_list_invalid', {}) },
  ],
  [
    'another shape',
    () => json({ data: { id: 'model' } }),
    { outcome: 'failed', error: sentenceOf('upstream_model_list_invalid', {}) },
  ],
  [
    'without an end',
    () => ({ chunks: ['{"data": ['], ending: 'stall' }),
    { outcome: 'failed', error: sentenceOf('upstream_model_list_late', {}) },
  ],
  ['cut', () => ({ chunks: ['{"data": ['], ending: 'cut' }), { outcome: 'failed' }],
  [
    'elsewhere',
    () => ({ status: 302, headers: { location: '/v1/secret-place' }, body: '' }),
    {
      outcome: 'failed',
      status: 302,
      error: 'The upstream answered with status 302, a redirect, which is not followed.',
    },
  ],
  [
    'a page',
    () => ({ status: 502, body: `<html>${'x'.repeat(50_000)}</html>` }),
    {
      outcome: 'failed',
      status: 502,
      error: sentenceOf('upstream_model_list_refused', { status: 502, moved: '' }),
    },
  ],
  ['missing', () => json({ error: { message: 'Not Found' } }, 404), { outcome: 'no_list', status: 404 }],
]

test.each(faults)('a list that is %s is told in words, with one call', async (_, plan, told) => {
  gateway.upstream.script(plan)
  const { status, body } = await ask()
  expect(status).toBe(200)
  expect(body).toMatchObject({ models: [], protocol: null, ...told })
  expect(gateway.upstream.requests).toHaveLength(1)
})

test('names that no client could write are left out, and so are those beyond the bound', async () => {
  gateway.upstream.script(() => list('a\nb', '', 'x'.repeat(257), 'good'))
  expect((await ask()).body).toMatchObject({ models: [{ id: 'good' }], is_cut: false })
  gateway.upstream.script(() => list(...Array.from({ length: 60 }, (_, at) => `m-${at}`)))
  const { body } = await ask()
  expect(body.models).toHaveLength(50)
  expect(body.is_cut).toBe(true)
})

test('a private address is not called unless the channel allows it', async () => {
  gateway.upstream.script(() => list('model'))
  const { body } = await ask({ allow_private_address: false })
  expect(body).toMatchObject({ outcome: 'failed', models: [], status: null })
  expect(body.error).toContain('allow_private_address')
  const other = await ask({ allow_private_address: ['127.128.0.0/9'] })
  expect(other.body.outcome).toBe('failed')
  const never = await ask({ protocols: { 'openai-chat': 'http://169.254.169.254/latest' } })
  expect(never.body.error).toContain('which can never be an upstream')
  expect(gateway.upstream.requests).toHaveLength(0)
})

test.each([
  ['protocols', { protocols: { 'openai-chat': 'ftp://127.0.0.1/v1' } }],
  ['vendor', { protocols: undefined, vendor: 'nobody' }],
  ['api_keys', { api_keys: [] }],
  ['weigth', { weigth: 3 }],
])(
  'settings that are wrong at "%s" are refused as for a channel, and nothing is called',
  async (field, more) => {
    const { status, body } = await ask(more)
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain(field)
    expect(gateway.upstream.requests).toHaveLength(0)
  },
)

test('an existing channel is asked with its own key, also while it is disabled', async () => {
  const made = await admin('POST', '/channels', wanted({ name: 'stands', models: {} }))
  expect(made.status).toBe(201)
  await admin('POST', '/channels/stands/disable')
  gateway.upstream.script(() => list('model'))
  const { body } = await admin('POST', `/channels/${made.body.id}/upstream-models`)
  expect(body).toMatchObject({ outcome: 'listed', models: [{ id: 'model' }] })
  expect(gateway.upstream.requests).toMatchObject([{ headers: { authorization: `Bearer ${secret}` } }])
  expect((await admin('POST', '/channels/none/upstream-models')).status).toBe(404)
})
