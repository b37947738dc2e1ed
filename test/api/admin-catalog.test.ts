import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { freeKey } from '../support/gateway-yaml.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

/** Channels, models and prices by the admin API, with gateway.yaml untouched beside it. */

let gateway: Testbed

beforeAll(async () => {
  gateway = await startTestbed({ env: { ADMIN_TOKEN: adminToken } })
})
afterAll(() => gateway?.close())

async function admin(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Record<string, unknown>; etag: string | null }> {
  const answer = await fetch(`http://127.0.0.1:${gateway.tollgate.port}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const json = z.record(z.string(), z.unknown()).parse(text === '' ? {} : JSON.parse(text))
  return { status: answer.status, body: json, etag: answer.headers.get('etag') }
}

function ask(model: string) {
  return fetch(`http://127.0.0.1:${gateway.tollgate.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  })
}

const secret = (name: string) => `credential-${name}-of-a-test`

function channelBody(name: string, more: object = {}) {
  return {
    name,
    protocols: { 'openai-chat': gateway.upstream.url },
    api_keys: [secret('one')],
    models: {},
    allow_private_address: true,
    ...more,
  }
}

async function made(more: object = {}) {
  const name = `channel-${randomUUID()}`
  const answer = await admin('POST', '/channels', channelBody(name, more))
  expect(answer).toMatchObject({ status: 201, body: { name, state: 'enabled', managed_by: 'admin' } })
  return { name, id: String(answer.body.id), ...answer }
}

test('a model and a channel that were made serve requests', async () => {
  const model = `vendor/model-${randomUUID()}`
  expect((await admin('POST', '/models', { id: model, price: { input: '1', output: '2' } })).status).toBe(201)
  await made({ models: { [model]: 'its-upstream-name' } })
  // Until then the model "*" of gateway.yaml passes the name through.
  await until(async () => {
    expect((await ask(model)).status).toBe(200)
    return String(gateway.upstream.requests.at(-1)?.body).includes('its-upstream-name')
  })
})

test('no secret is in an answer or in the audit log', async () => {
  const { id, body } = await made({
    api_keys: [secret('first'), secret('second')],
    proxy: 'http://someone:proxy-password@127.0.0.1:3128',
    headers: { 'x-team': 'the-value-of-a-header' },
    timeouts: { connect_ms: 1000 },
  })
  expect(body).toMatchObject({
    credentials: [{ last_four: 'test' }, { last_four: 'test' }],
    proxy: 'http://***:***@127.0.0.1:3128/',
    headers: ['x-team'],
    timeouts: { connect_ms: 1000 },
  })
  await admin('PATCH', `/channels/${id}`, { weight: 5 })
  // What is shown in place of the proxy's password must not replace it.
  const echoed = await admin('PATCH', `/channels/${id}`, { proxy: body.proxy })
  expect(echoed).toMatchObject({ status: 400, body: { detail: expect.stringContaining('to keep them') } })
  const all = [
    await admin('GET', '/channels?limit=200'),
    await admin('GET', `/channels/${id}`),
    await admin('GET', `/audit?resource_id=${id}`),
  ]
  expect(all[2]?.body.data).toHaveLength(2)
  expect(JSON.stringify(all)).not.toMatch(/credential-|proxy-password|value-of-a-header|someone/)
})

test('a patch changes what it names, null is the default, and the rest stays with its secrets', async () => {
  const { id } = await made({
    priority: 7,
    weight: 3,
    models: '*',
    traits: { tools: true, stop_max: 4 },
    plain_members: ['plugins'],
  })
  const patched = await admin('PATCH', `/channels/${id}`, {
    weight: null,
    traits: { stop_max: null },
    images: { concurrency: 2 },
  })
  expect(patched).toMatchObject({
    status: 200,
    body: {
      priority: 7,
      weight: 1,
      models: '*',
      traits: { tools: true },
      images: { concurrency: 2, per_minute: null },
      plain_members: ['plugins'],
      credentials: [{ last_four: 'test' }],
    },
  })
})

test('a channel that signs needs no keys, and shows how it signs, which a patch changes by parts', async () => {
  const auth = { kind: 'sigv4', region: 'eu-west-1', service: 'bedrock' }
  const { id, body } = await made({ auth, api_keys: undefined })
  expect(body).toMatchObject({ auth, credentials: [{ last_four: null }] })
  const role = 'arn:aws:iam::123456789012:role/models'
  const patched = await admin('PATCH', `/channels/${id}`, { auth: { role_arn: role, region: 'us-east-1' } })
  expect(patched.body.auth).toEqual({ ...auth, region: 'us-east-1', role_arn: role })
  const wrong = await admin('PATCH', `/channels/${id}`, { auth: { service: 'sts' } })
  expect(wrong).toMatchObject({ status: 400, body: { detail: expect.stringContaining('auth.service') } })
  const bad = await admin('PATCH', `/channels/${id}`, { api_keys: ['not-a-key-of-amazon'] })
  expect(bad).toMatchObject({ status: 400, body: { detail: expect.stringContaining('api_keys[0]') } })
  expect(JSON.stringify(bad)).not.toContain('not-a-key-of-amazon')
  const key = `AKIAEXAMPLEEXAMPLE00:${'s'.repeat(40)}`
  const keyed = await admin('PATCH', `/channels/${id}`, { api_keys: [key] })
  expect(keyed.body.credentials).toMatchObject([{ last_four: 'ssss' }])
  const header = await admin('PATCH', `/channels/${id}`, { auth: null })
  expect(header.body.auth).toEqual({})
})

test('a channel is called by WebSocket where it says so and speaks the protocol', async () => {
  const protocols = { 'openai-responses': gateway.upstream.url }
  const { id, body } = await made({ protocols })
  expect(body.websocket).toBe(false)
  const websocketAfter = async (patch: object) =>
    (await admin('PATCH', `/channels/${id}`, patch)).body.websocket
  expect(await websocketAfter({ websocket: true })).toBe(true)
  expect(await websocketAfter({ weight: 2 })).toBe(true)
  const refused = await admin('PATCH', `/channels/${id}`, {
    protocols: { 'openai-responses': null, 'openai-chat': gateway.upstream.url },
  })
  expect(refused.status).toBe(400)
  expect(refused.body.detail).toContain('websocket: requires "openai-responses" among the protocols')
  expect(await websocketAfter({ websocket: null })).toBe(false)
})

test('of two patches of what was read, one has precondition_failed', async () => {
  const { id, etag } = await made()
  const both = await Promise.all(
    [5, 6].map((weight) => admin('PATCH', `/channels/${id}`, { weight }, { 'if-match': etag ?? '' })),
  )
  expect(both.map(({ status }) => status).sort()).toEqual([200, 412])
})

test('of ten channels of one name that are made at once one is, and the others are in conflict', async () => {
  const body = channelBody(`channel-${randomUUID()}`)
  const all = await Promise.all(Array.from({ length: 10 }, () => admin('POST', '/channels', body)))
  expect(all.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 9 }, () => 409)])
})

test('credentials are added, replaced and removed one by one, in their order', async () => {
  const { id } = await made()
  const idsOf = (answer: { body: Record<string, unknown> }) =>
    z
      .array(z.object({ id: z.string() }))
      .parse(answer.body.data)
      .map((one) => one.id)
  const path = `/channels/${id}/credentials`
  const [one = ''] = idsOf(await admin('GET', path))
  const [two = '', ...rest] = idsOf(await admin('POST', path, { secret: secret('two'), position: 0 }))
  expect(rest).toEqual([one])
  const [three = '', last] = idsOf(await admin('PUT', `${path}/${two}`, { secret: secret('three') }))
  expect([three === two, last]).toEqual([false, one])
  expect(await admin('POST', path, { secret: secret('three') })).toMatchObject({ status: 409 })
  expect(idsOf(await admin('DELETE', `${path}/${one}`))).toEqual([three])
  expect(await admin('DELETE', `${path}/${three}`)).toMatchObject({ status: 409 })
  expect(await admin('DELETE', `${path}/${one}`)).toMatchObject({ status: 404 })
})

test.each([
  ['an unknown model', { models: ['nobody-knows-it'] }, 'models[0]', '"nobody-knows-it" is not in models'],
  ['an unknown setting', { wieght: 1 }, 'wieght', 'is not a known setting'],
  ['a weight of 0', { weight: 0 }, 'weight', 'must be 1 or more'],
  ['neither protocols nor a vendor', { protocols: undefined }, 'protocols', 'is missing'],
  ['no credential', { api_keys: [] }, 'api_keys', 'must not be an empty list'],
  [
    'a wrong block',
    { allow_private_address: ['nowhere'] },
    'allow_private_address[0]',
    'must be an address block',
  ],
  ['a file', { ca_file: '/etc/passwd' }, 'ca_file', 'send the content as "ca"'],
  [
    'a file that would be its credential',
    { api_keys: ['x', 'file:/etc/passwd'] },
    'api_keys[1]',
    'is a file reference, which only gateway.yaml can contain',
  ],
  [
    'a timeout above the bound',
    { timeouts: { total_ms: 2_000_000_000 } },
    'timeouts.total_ms',
    'UPSTREAM_TOTAL_MS',
  ],
])('a channel with %s is refused as in gateway.yaml', async (_, more, field, words) => {
  const answer = await admin('POST', '/channels', channelBody(`channel-${randomUUID()}`, more))
  expect(answer.status).toBe(400)
  expect(answer.body.detail).toContain(`${field}: `)
  expect(answer.body.detail).toContain(words)
})

test('an alias, a fallback and an id of a model are checked against all others', async () => {
  const id = `model-${randomUUID()}`
  const detailOf = async (body: object) => (await admin('POST', '/models', body)).body.detail
  expect(await detailOf({ id, aliases: ['main'] })).toMatch(/^aliases\[0\]: "main" is already used/)
  expect(await detailOf({ id, fallbacks: ['nobody'] })).toBe('fallbacks[0]: "nobody" is not in models')
  expect(await detailOf({ id, fallbacks: [id] })).toBe('fallbacks[0]: must not be the model itself')
  expect(await admin('POST', '/models', { id: 'main' })).toMatchObject({ status: 409 })
})

test('a row of gateway.yaml is refused with its file and line', async () => {
  for (const [method, path, body] of [
    ['PATCH', '/channels/scripted', { weight: 2 }],
    ['DELETE', '/channels/scripted', undefined],
    ['POST', '/channels/scripted/disable', undefined],
    ['POST', '/channels/scripted/credentials', { secret: secret('other') }],
    ['PATCH', '/models/main', { context_length: 5 }],
    ['POST', '/models/main/prices', { input: '1' }],
  ] as const) {
    const answer = await admin(method, path, body)
    expect(answer.status, path).toBe(409)
    expect(answer.body.detail).toMatch(/(channel "scripted"|model "main") is managed by .*gateway\.yaml:\d+/)
  }
})

test('a disabled channel gets no requests, and serves again when it is enabled', async () => {
  const model = `model-${randomUUID()}`
  await admin('POST', '/models', { id: model })
  const { id } = await made({ models: [model] })
  await until(async () => (await ask(model)).status === 200)
  expect(await admin('POST', `/channels/${id}/disable`)).toMatchObject({ body: { state: 'disabled' } })
  await until(async () => (await ask(model)).status !== 200)
  expect(await admin('POST', `/channels/${id}/enable`)).toMatchObject({ body: { state: 'enabled' } })
  await until(async () => (await ask(model)).status === 200)
})

test('a deleted channel has no credentials, and its name is free', async () => {
  const { id, name } = await made()
  expect(await admin('DELETE', `/channels/${id}`)).toMatchObject({ status: 200, body: { deleted: true } })
  const stored = await gateway.database.sql`SELECT 1 FROM channel_credentials WHERE channel_id = ${id}`
  expect(stored).toEqual([])
  expect(await admin('POST', `/channels/${id}/enable`)).toMatchObject({ status: 409 })
  expect(await admin('POST', '/channels', channelBody(name))).toMatchObject({ status: 201, body: { id } })
})

test('a model that a channel offers is not deleted', async () => {
  const model = `model-${randomUUID()}`
  await admin('POST', '/models', { id: model })
  const { id, name } = await made({ models: [model] })
  const refused = await admin('DELETE', `/models/${model}`)
  expect(refused).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining(`channel "${name}"`) },
  })
  await admin('PATCH', `/channels/${id}`, { models: { [model]: null } })
  expect((await admin('DELETE', `/models/${model}`)).status).toBe(200)
})

test('each price is a new version, and says who has set it', async () => {
  const model = `model-${randomUUID()}`
  await admin('POST', '/models', { id: model, price: { input: '1.5' } })
  const tiered = {
    input: '2',
    output: '4',
    tiers: [{ above_input_tokens: 1000, input: '3' }],
    service_tiers: { flex: '0.5' },
  }
  expect((await admin('POST', `/models/${model}/prices`, tiered)).status).toBe(201)
  await admin('PATCH', `/models/${model}`, { context_length: 99 })
  const versions = await admin('GET', `/models/${model}/prices`)
  expect(versions.body.data).toMatchObject([
    {
      source: 'admin API, ADMIN_TOKEN',
      price: {
        input: '2',
        tiers: [{ above_input_tokens: 1000, input: '3', output: '4' }],
        service_tiers: { flex: { input: '1', tiers: [{ above_input_tokens: 1000, input: '1.5' }] } },
      },
    },
    { price: { input: '1.5' } },
  ])
  const first = await admin('GET', `/models/${model}/prices?limit=1`)
  const next = await admin('GET', `/models/${model}/prices?limit=1&cursor=${first.body.next_cursor}`)
  expect(next.body.data).toMatchObject([{ price: { input: '1.5' } }])
  const wrong = await admin('POST', `/models/${model}/prices`, { input: 'much' })
  expect(wrong).toMatchObject({ status: 400, body: { errors: [{ pointer: '#/input' }] } })
})

test('lists are sorted and have pages', async () => {
  for (let at = 0; at < 3; at++) await made()
  const names: unknown[] = []
  let cursor = ''
  do {
    const page = await admin('GET', `/channels?sort=-name&limit=2${cursor}`)
    names.push(
      ...z
        .array(z.object({ name: z.string() }))
        .parse(page.body.data)
        .map(({ name }) => name),
    )
    cursor = page.body.next_cursor === null ? '' : `&cursor=${page.body.next_cursor}`
  } while (cursor !== '')
  expect(names).toEqual(names.toSorted().toReversed())
  expect(new Set(names).size).toBe(names.length)
})

test('a search finds channels and models by a part of the name, in capital or small letters', async () => {
  const word = randomUUID().slice(0, 13)
  const channel = await admin('POST', '/channels', channelBody(`Channel-${word}-EU`))
  expect(channel.status).toBe(201)
  await admin('POST', '/models', { id: `vendor/Model-${word}` })
  const found = async (list: string) => {
    const { body } = await admin('GET', `/${list}?search=${word.toUpperCase()}`)
    return z.object({ data: z.array(z.object({ id: z.string(), name: z.string().optional() })) }).parse(body)
      .data
  }
  expect((await found('channels')).map((one) => one.name)).toEqual([`Channel-${word}-EU`])
  expect((await found('models')).map(({ id }) => id)).toEqual([`vendor/Model-${word}`])
})

test('a model names the channels that serve it, and those with a wildcard only while none offers its name', async () => {
  const id = `wild-${randomUUID()}`
  expect((await admin('POST', '/models', { id })).status).toBe(201)
  const wild = await made({ models: { '*': '*' } })
  const served = async () =>
    z.object({ channels: z.array(z.unknown()) }).parse((await admin('GET', `/models/${id}`)).body).channels
  const by = async (channel: string) =>
    z
      .object({ data: z.array(z.object({ id: z.string(), channels: z.array(z.unknown()) })) })
      .parse((await admin('GET', `/models?channel=${channel}&search=${id}`)).body)
      .data.map((model) => model.channels)
  const used = { state: 'enabled', blocked: false }
  const byWildcard = { id: wild.id, name: wild.name, ...used, by: 'wildcard', upstream_model: id }
  expect(await served()).toContainEqual(byWildcard)
  expect(await by(wild.name)).toEqual([await served()])

  const named = await made({ models: { [id]: 'there' } })
  const byName = { id: named.id, name: named.name, ...used, by: 'name', upstream_model: 'there' }
  expect(await served()).toEqual([byName])
  expect(await by(wild.name)).toEqual([])
  expect(await by(named.name)).toEqual([[byName]])

  // A disabled one keeps its name, as in routing.
  expect((await admin('POST', `/channels/${named.id}/disable`)).status).toBe(200)
  expect(await served()).toEqual([{ ...byName, state: 'disabled' }])
  expect((await admin('DELETE', `/channels/${named.id}`)).status).toBe(200)
  expect(await served()).toContainEqual(byWildcard)
  expect((await admin('DELETE', `/channels/${wild.id}`)).status).toBe(200)
  expect(await served()).not.toContainEqual(byWildcard)
})

test('a disabled channel is tested with one small request, which has a row of the tenant of probes', async () => {
  const model = `model-${randomUUID()}`
  await admin('POST', '/models', { id: model })
  const { id, name } = await made({ models: { [model]: 'upstream-name' } })
  await admin('POST', `/channels/${id}/disable`)
  const { status, body } = await admin('POST', `/channels/${id}/test`, {})
  expect(status).toBe(200)
  expect(body).toMatchObject({
    channel: name,
    ok: true,
    results: [{ protocol: 'openai-chat', model, upstream_model: 'upstream-name', status: 200, error: null }],
  })
  const sent = JSON.parse(String(gateway.upstream.requests.at(-1)?.body))
  expect(sent).toMatchObject({ model: 'upstream-name', max_tokens: 16 })
  const { results } = z.object({ results: z.array(z.object({ request_id: z.string() })) }).parse(body)
  const row = await gateway.row(results[0]?.request_id)
  const [tenant] = await gateway.database.sql`SELECT name FROM tenants WHERE id = ${String(row.tenant_id)}`
  expect(tenant?.name).toBe('tollgate-probes')
})

test('a channel that no one answers says so in its test', async () => {
  const model = `model-${randomUUID()}`
  await admin('POST', '/models', { id: model })
  const { id } = await made({ models: [model], protocols: { 'openai-chat': 'http://127.0.0.1:9' } })
  const { body } = await admin('POST', `/channels/${id}/test`, {})
  expect(body).toMatchObject({ ok: false, results: [{ ok: false, status: null, error: expect.any(String) }] })
})
