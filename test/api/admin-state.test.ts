import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { channelEntry } from '../../src/catalog/gateway-file.ts'
import { modelEntry } from '../../src/catalog/model-entry.ts'
import { priceEntry } from '../../src/catalog/price-entry.ts'
import { rememberRefusal } from '../../src/catalog/verdict-queries.ts'
import { adminToken } from '../support/operator-client.ts'
import { reportBreaker } from '../support/report-breaker.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

/** Offers, health, settings, image jobs and the export of the admin API. */

let gateway: Testbed

beforeAll(async () => {
  gateway = await startTestbed({ env: { ADMIN_TOKEN: adminToken, S3_SECRET_ACCESS_KEY: 'a-secret-of-s3' } })
})
afterAll(() => gateway?.close())

async function send(method: string, path: string, body?: unknown) {
  return await fetch(`http://127.0.0.1:${gateway.tollgate.port}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

async function admin(method: string, path: string, body?: unknown) {
  const answer = await send(method, path, body)
  const json = z.record(z.string(), z.unknown()).parse(JSON.parse(await answer.text()))
  return { status: answer.status, body: json }
}

async function madeChannel(more: object = {}) {
  const name = `channel-${randomUUID()}`
  const answer = await admin('POST', '/channels', {
    name,
    protocols: { 'openai-chat': gateway.upstream.url },
    api_keys: ['credential-of-a-test'],
    models: {},
    allow_private_address: true,
    ...more,
  })
  expect(answer.status).toBe(201)
  return { name, id: String(answer.body.id) }
}

test.each([
  ['Channel', channelEntry],
  ['Model', modelEntry],
  ['Price', priceEntry],
])('the bodies of a %s in /openapi.json have all settings of gateway.yaml', async (name, schema) => {
  const namesOf = (one: unknown) =>
    Object.keys(z.object({ properties: z.record(z.string(), z.unknown()) }).parse(one).properties).sort()
  const files = ['ca_file', 'cert_file', 'key_file']
  const expected = namesOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
  const answer = await fetch(`http://127.0.0.1:${gateway.tollgate.port}/openapi.json`)
  const document = z.object({ components: z.object({ schemas: z.record(z.string(), z.unknown()) }) })
  const { schemas } = document.parse(await answer.json()).components
  const wanted = expected.filter((one) => !files.includes(one))
  expect(wanted.length).toBeGreaterThan(5)
  expect(namesOf(schemas[`${name}Request`])).toEqual(wanted)
  if (name !== 'Price') expect(namesOf(schemas[`${name}Patch`])).toEqual(wanted)
})

test('an offer shows each trait with the place that decides it', async () => {
  const model = `gpt-5-${randomUUID()}`
  await admin('POST', '/models', { id: model, traits: { tools: true, stop_max: 3 }, price: { input: '1' } })
  const { id, name } = await madeChannel({
    models: { [model]: { upstream: 'its-name', traits: { stop_max: 2 } } },
  })
  for (const requestId of [randomUUID(), randomUUID()]) {
    await gateway.tollgate.context.database.state.ask(({ db }) =>
      rememberRefusal(db, {
        ...{ channelId: id, upstreamModel: 'its-name', protocol: 'openai-chat', subject: 'top_k' },
        ...{ traits: { takes: { topK: false } }, evidence: 'no', requestId },
      }),
    )
  }
  const { body } = await admin('GET', `/offers?channel=${name}`)
  expect(body.data).toMatchObject([
    {
      channel: name,
      model,
      upstream_model: 'its-name',
      managed_by: 'admin',
      traits: { stop_max: 2 },
      protocols: {
        'openai-chat': {
          tools: { value: true, from: 'admin' },
          stop_max: { value: 2, from: 'admin' },
          takes: { value: { top_k: false }, from: 'refusal' },
        },
      },
      price: { source: 'admin API, ADMIN_TOKEN', price: { input: '1' } },
      verdicts: [{ subject: 'top_k', origin: 'refusal', verdict: 'no' }],
    },
  ])
})

test('offers are added, changed and removed one by one', async () => {
  const [one, two] = [`model/${randomUUID()}`, `model/${randomUUID()}`]
  for (const id of [one, two]) await admin('POST', '/models', { id })
  const { id } = await madeChannel({ models: [one] })
  const path = (model: string) => `/channels/${id}/offers/${encodeURIComponent(model)}`
  const added = await admin('PUT', path(two), { upstream: 'second', traits: { tools: false } })
  expect(added.body.models).toEqual({ [one]: one, [two]: { upstream: 'second', traits: { tools: false } } })
  expect((await admin('PUT', path(one), { upstream: 'first' })).body.models).toMatchObject({ [one]: 'first' })
  expect((await admin('DELETE', path(two))).body.models).toEqual({ [one]: 'first' })
  expect((await admin('DELETE', path(two))).status).toBe(404)
  expect((await admin('PUT', path('nobody-knows-it'), { upstream: 'x' })).status).toBe(400)
})

test('health says in words what is wrong, and nothing when all is well', async () => {
  const { id, name } = await madeChannel()
  const well = await admin('GET', '/health')
  expect(well.body).toMatchObject({
    status: 'All well',
    problems: [],
    database: { reachable: true },
    queues: { reachable: true, images_waiting: 0 },
    ledger: { status: 'ready' },
    processes: [{ pid: process.pid }],
  })
  const { catalog, routing } = gateway.tollgate.context
  await until(() => catalog.snapshot.channels.has(id))
  routing.breakers.begin(id, name).end('failure', 'upstream_error 529', 60_000)
  const health = async () => (await admin('GET', '/health')).body
  await until(async () => (await health()).status === 'problems')
  expect(await health()).toMatchObject({
    status: 'problems',
    problems: [
      {
        severity: 'bad',
        what: 'The breaker of the channel is open: upstream_error 529',
        where: `channel ${name}`,
        since: expect.any(String),
      },
    ],
  })
  expect(await admin('POST', `/channels/${id}/breaker/reset`)).toMatchObject({ body: { breaker: 'closed' } })
  expect((await health()).status).toBe('All well')
  await until(() => !routing.breakers.isOpen(id))
  // Of several processes it says in how many.
  await reportBreaker(gateway.database.sql, id, 2, 'upstream_timeout')
  expect(await health()).toMatchObject({
    problems: [{ what: 'The breaker of the channel is open in 1 of 2 processes: upstream_timeout' }],
  })
  await gateway.database.sql`DELETE FROM instances WHERE host = 'elsewhere'`
})

test('a cooldown is shown by the last four characters of its credential', async () => {
  const { id } = await madeChannel()
  await until(async () => gateway.tollgate.context.catalog.snapshot.channels.has(id))
  const { routing } = gateway.tollgate.context
  const { credentials } = z
    .object({ credentials: z.array(z.object({ id: z.string() })) })
    .parse((await admin('GET', `/channels/${id}`)).body)
  const name = credentials[0]?.id ?? ''
  routing.cooldowns.begin(id, { secret: 'credential-of-a-test', name }, 'a model', 'limited', 30)
  const { body } = await admin('GET', '/health')
  const { channels } = z.object({ channels: z.array(z.looseObject({ id: z.string() })) }).parse(body)
  expect(channels.find((one) => one.id === id)).toMatchObject({
    cooldowns: [{ credential: name, last_four: 'test', model: 'a model', why: 'limited' }],
  })
})

test('settings show where a value comes from, and no secret', async () => {
  const { body } = await admin('GET', '/settings')
  const text = JSON.stringify(body)
  expect(text).not.toContain(adminToken)
  expect(text).not.toContain('a-secret-of-s3')
  const { environment } = z.object({ environment: z.array(z.looseObject({ name: z.string() })) }).parse(body)
  const of = (name: string) => environment.find((one) => one.name === name)
  expect(of('SHIP_INTERVAL_MS')).toMatchObject({ value: 20, from: 'environment' })
  expect(of('BODY_BYTES_MAX')).toMatchObject({ value: 33554432, from: 'default' })
  expect(of('ADMIN_TOKEN')).toMatchObject({ value: null, is_secret: true, is_set: true })
})

test("the library's prices are asked for while the gateway runs, for channels that are made before and after", async () => {
  const model = `gpt-4o-${randomUUID()}`
  await admin('POST', '/models', { id: model })
  const before = await madeChannel({ vendor: 'openai', models: { [model]: 'gpt-4o' } })
  expect((await admin('PATCH', '/settings', { prices: 'library' })).body).toMatchObject({
    prices: { value: 'library', managed_by: 'admin' },
  })
  const after = await madeChannel({ vendor: 'openai', models: { [model]: 'gpt-4o' } })
  await until(async () => {
    const { body } = await admin('GET', `/models/${model}`)
    const found = z.object({ library_prices: z.array(z.object({ channel: z.string() })) }).parse(body)
    const names = found.library_prices.map(({ channel }) => channel)
    return names.includes(before.name) && names.includes(after.name)
  })
  expect((await admin('PATCH', '/settings', { prices: 'some' })).status).toBe(400)
  expect((await admin('PATCH', '/settings', { prices: null })).body).toMatchObject({
    prices: { value: null },
  })
})

test('an export has the rows of the file and of admins, and no secret', async () => {
  const { name } = await madeChannel()
  const disabled = await madeChannel()
  await admin('POST', `/channels/${disabled.id}/disable`)
  const answer = await send('GET', '/export')
  expect(answer.headers.get('content-type')).toBe('text/yaml; charset=utf-8')
  const text = await answer.text()
  expect(text).toContain(`name: ${name}`)
  expect(text).toContain(`#   - name: ${disabled.name}`)
  expect(text).toContain('name: scripted')
  expect(text).not.toContain('credential-of-a-test')
})

test('image jobs are listed and read, and an unknown one is not found', async () => {
  expect(await admin('GET', '/image-jobs?status=queued&model=main&channel=a%25b')).toMatchObject({
    status: 200,
    body: { data: [], next_cursor: null },
  })
  expect((await admin('GET', `/image-jobs/${randomUUID()}`)).status).toBe(404)
  expect((await admin('POST', `/image-jobs/${randomUUID()}/cancel`)).status).toBe(404)
})
