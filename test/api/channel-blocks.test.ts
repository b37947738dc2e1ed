import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type AdminClient, adminClient, becomeOwner, join } from '../support/admin-client.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'
import type { Plan } from '../support/upstream.ts'
import { chatAnswer } from '../support/upstream-plans.ts'

/** Taking a channel of gateway.yaml out of use, in two processes that read the file. */

const narrowKey = 'a-key-of-a-narrow-group'

/** Channel `vendor` alone has `main`; `priced` is on `spare` too, and `safe` falls back to it. */
const yaml = (url: string) =>
  gatewayYaml(url, `  - { name: narrow, keys: [{ name: narrow, group: narrow, secret: ${narrowKey} }] }`)
    .replace('name: scripted', 'name: vendor\n    priority: 9')
    .replace("models: { main: upstream-main, priced: priced, '*': '*' }", 'models: [main, priced, safe]')
    .replace('{ openai-chat:', `{ openai-images: ${url}, openai-chat:`)
    .replace("  - id: '*'", '  - { id: safe, fallbacks: [priced] }')
    .replace(
      'groups:',
      `  - { name: spare, protocols: { openai-chat: ${url} }, api_keys: [spare-credential-0001], models: [priced], allow_private_address: true }
groups:
  - { name: narrow, models: ['*'], channels: [vendor] }`,
    )

let bed: Testbed
let other: Gateway
let call: AdminClient
let cookie: string
beforeAll(async () => {
  bed = await startTestbed({ yaml })
  other = await startGateway({
    databaseUrl: bed.databaseUrl,
    gatewayYaml: yaml(bed.upstream.url),
    env: { SECRET_KEY: secretKey },
  })
  call = adminClient(bed.tollgate.url)
  cookie = await becomeOwner(bed.tollgate, call)
})
afterAll(async () => {
  await other?.stop()
  await bed?.close()
})
beforeEach(async () => {
  bed.upstream.script(() => chatAnswer())
  expect((await asOwner('POST', 'channels/vendor/unblock')).status).toBe(200)
  await until(async () => (await ask('main', { at: other })).status === 200)
})

const asOwner = (method: string, path: string, body?: unknown) => call(method, path, { cookie, body })

/** Resolves when the process under test has applied it, for which the API does not wait longer than a second. */
async function block(reason = 'it answers nonsense') {
  const answer = await asOwner('POST', 'channels/vendor/block', { reason })
  await until(() => bed.tollgate.context.catalog.snapshot.models.get('main')?.blocked !== undefined)
  return answer
}

async function ask(model: string, { at = bed.tollgate, key = freeKey }: { at?: Gateway; key?: string } = {}) {
  const answer = await fetch(`${at.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  })
  const text = await answer.text()
  const { headers, status } = answer
  return { status, reason: headers.get('x-tollgate-reason'), id: headers.get('x-request-id'), text }
}

async function attemptsOf({ id }: { id: string | null }) {
  const row = await bed.row(id)
  const attempts = await bed.database.sql<{ channel: string; reason: string; passed_over: boolean }[]>`
    SELECT channel, reason, passed_over FROM attempts WHERE request_id = ${id} ORDER BY ordinal`
  return { row, attempts: attempts.map((one) => ({ ...one })) }
}
const passedOver = { channel: 'vendor', reason: 'blocked by a person', passed_over: true }

test('a channel of the file is blocked in both processes, until a person lifts it', async () => {
  const blocked = await block()
  expect(blocked).toMatchObject({
    status: 200,
    body: {
      ...{ name: 'vendor', managed_by: 'file', state: 'enabled' },
      blocked: { by: 'owner@example.com', reason: 'it answers nonsense' },
    },
  })
  // The process that answers applies it before it answers.
  const refused = await ask('main')
  expect(refused).toMatchObject({ status: 503, reason: 'channels_blocked' })
  expect(refused.text).not.toMatch(/nonsense|owner@|vendor/)
  expect((await attemptsOf(refused)).attempts).toEqual([passedOver])
  await until(async () => (await ask('main', { at: other })).reason === 'channels_blocked')
  expect((await block('another reason')).body.blocked).toEqual(blocked.body.blocked)
  const listed = await asOwner('GET', 'channels?blocked=true')
  expect(listed.body.data).toMatchObject([{ name: 'vendor', blocked: { reason: 'it answers nonsense' } }])

  const { body: lifted } = await asOwner('POST', 'channels/vendor/unblock')
  expect(lifted).toMatchObject({ blocked: null, managed_by: 'file' })
  expect((await ask('main')).status).toBe(200)
  await until(async () => (await ask('main', { at: other })).status === 200)
  const lines = await asOwner('GET', `audit?resource_id=${lifted.id}&sort=created_at`)
  const actions = lines.body.data.map(({ action }: { action: string }) => action)
  expect(actions.slice(-3)).toEqual(['channel.block', 'channel.block', 'channel.unblock'])
})

test('a model goes on with its other channel or a fallback, and its row says what was passed over', async () => {
  await block()
  const spare = expect.objectContaining({ channel: 'spare', passed_over: false })
  const fallback = { ...passedOver, reason: 'fallback priced, blocked by a person' }
  for (const [model, expected] of [
    ['priced', [passedOver, spare]],
    ['safe', [passedOver, fallback, spare]],
  ] as const) {
    const answered = await ask(model)
    expect(answered.status).toBe(200)
    const { row, attempts } = await attemptsOf(answered)
    expect(row).toMatchObject({ channel: 'spare', outcome: 'succeeded' })
    expect(attempts).toEqual(expected)
  }
})

test('a key whose group has only the blocked channel learns that it is out of use, and sees no such model', async () => {
  await block()
  expect(await ask('priced', { key: narrowKey })).toMatchObject({ status: 503, reason: 'channels_blocked' })
  const models = await fetch(`${bed.tollgate.url}/v1/models`, {
    headers: { authorization: `Bearer ${narrowKey}` },
  })
  expect(await models.json()).toMatchObject({ data: [] })
})

test('an image that only a blocked channel could make is refused at once, and its row names the channel', async () => {
  await block()
  const refused = await fetch(`${bed.tollgate.url}/v1/images/generations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'main', prompt: 'a square' }),
  })
  const { status, headers } = refused
  expect([status, headers.get('x-tollgate-reason')]).toEqual([503, 'channels_blocked'])
  expect((await attemptsOf({ id: headers.get('x-request-id') })).attempts).toEqual([passedOver])
})

test('a request that is running when its channel is blocked gets its answer', async () => {
  const seen = bed.upstream.requests.length
  const { promise, resolve } = Promise.withResolvers<Plan>()
  bed.upstream.script(() => promise)
  const running = ask('main')
  await bed.upstream.arrived(seen + 1)
  await block()
  expect((await ask('main')).status).toBe(503)
  resolve(chatAnswer())
  expect((await running).status).toBe(200)
})

test('a blocked channel can still be tested by hand, and models and health say that it is blocked', async () => {
  await block()
  const tested = await asOwner('POST', 'channels/vendor/test', { model: 'main' })
  expect(tested).toMatchObject({ status: 200, body: { ok: true } })
  const { body: model } = await asOwner('GET', 'models/main')
  expect(model.channels).toMatchObject([{ name: 'vendor', state: 'enabled', blocked: true }])
  const { body: health } = await asOwner('GET', 'health')
  expect(health.channels).toMatchObject([
    { name: 'spare', blocked: false },
    { name: 'vendor', blocked: true },
  ])
  const { body: offers } = await asOwner('GET', 'offers?model=priced')
  expect(offers.data.map((one: { blocked: boolean }) => one.blocked).sort()).toEqual([false, true])
})

test('deleting a channel and creating one of its name, renaming it or enabling it lifts no block', async () => {
  const body = {
    ...{ protocols: { 'openai-chat': bed.upstream.url }, api_keys: ['own-credential-0001'] },
    ...{ models: ['priced'], allow_private_address: true },
  }
  await asOwner('POST', 'channels', { name: 'own', ...body })
  await asOwner('POST', 'channels/own/block', { reason: 'for a while' })
  await asOwner('POST', 'channels/own/disable')
  const enabled = await asOwner('POST', 'channels/own/enable')
  expect(enabled.body).toMatchObject({ state: 'enabled', blocked: { reason: 'for a while' } })
  const renamed = await asOwner('PATCH', 'channels/own', { name: 'mine' })
  expect(renamed.body).toMatchObject({ name: 'mine', blocked: { reason: 'for a while' } })
  await asOwner('DELETE', 'channels/mine')
  const again = await asOwner('POST', 'channels', { name: 'mine', ...body })
  expect(again).toMatchObject({ status: 201, body: { blocked: { reason: 'for a while' } } })
  expect((await asOwner('POST', 'channels/mine/unblock')).body).toMatchObject({ blocked: null })
  await asOwner('DELETE', 'channels/mine')
})

test('a block needs a reason and the right to change the catalog', async () => {
  for (const body of [{}, { reason: ' ' }, { reason: 'x'.repeat(1_001) }])
    expect((await asOwner('POST', 'channels/vendor/block', body)).status).toBe(400)
  const viewer = (await join(call, cookie, { email: 'viewer@example.com', role: 'viewer' })).cookie
  for (const act of ['block', 'unblock']) {
    const answer = await call('POST', `channels/vendor/${act}`, { cookie: viewer, body: { reason: 'x' } })
    expect(answer.status).toBe(403)
  }
  expect((await asOwner('POST', 'channels/nowhere/block', { reason: 'x' })).status).toBe(404)
})
