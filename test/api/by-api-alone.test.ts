import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientOf } from '../openapi-client/client.ts'
import { adminClient, becomeOwner } from '../support/admin-client.ts'
import { emptyDatabase } from '../support/database.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { adminToken } from '../support/operator-client.ts'
import { until } from '../support/until.ts'
import { type ScriptedUpstream, startUpstream } from '../support/upstream.ts'

/** From an empty database to a key that is revoked, by the client that is made from /openapi.json. */

let upstream: ScriptedUpstream
const running: Gateway[] = []
const databases: Awaited<ReturnType<typeof emptyDatabase>>[] = []

beforeAll(async () => {
  upstream = await startUpstream()
  upstream.script(({ body }) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: JSON.parse(String(body)).model },
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 },
    }),
  }))
})
afterAll(async () => {
  for (const tollgate of running) await tollgate.stop()
  await upstream?.close()
  for (const database of databases) await database.drop()
})

async function start(yaml: string | undefined, databaseUrl: string, env: Record<string, string> = {}) {
  const tollgate = await startGateway({
    databaseUrl,
    gatewayYaml: yaml,
    env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20', ...env },
  })
  running.push(tollgate)
  return tollgate
}

async function freshStart(yaml: string | undefined, env: Record<string, string> = {}) {
  const database = await emptyDatabase()
  databases.push(database)
  const first = await start(yaml, database.url, env)
  return { first, second: await start(yaml, database.url, env) }
}

const messages = [{ role: 'user', content: 'Hello' }]
const ask = ({ url }: Gateway, secret: string, model: string) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages }),
  })

/** Waits for the first answer of this status. */
async function answered(tollgate: Gateway, { secret, status }: { secret: string; status: number }) {
  let last = ''
  const isSo = async () => {
    const answer = await ask(tollgate, secret, 'by-api')
    last = `${answer.status} ${await answer.text()}`
    return answer.status === status ? answer : undefined
  }
  return await until(isSo).catch((cause) => {
    throw new Error(`expected ${status}, got ${last}`, { cause })
  })
}

const price = { input: '1', output: '2' }
const costNano = String(1000 * 1000 + 500 * 2000)

async function fiveMinutes({ first, second }: { first: Gateway; second: Gateway }) {
  const call = adminClient(first.url)
  const cookie = await becomeOwner(first, call)
  const scopes = ['catalog', 'tenants', 'keys', 'log', 'settings'].map((area) => `${area}:write`)
  const made = await call('POST', 'api-tokens', { cookie, body: { name: 'automation', scopes } })
  const api = clientOf(first.url, `Bearer ${made.body.token}`)

  const model = await api.POST('/admin/v1/models', {
    body: { id: 'by-api', context_length: 8000, max_output_tokens: 1000, aliases: [], fallbacks: [], price },
  })
  expect(model.response.status).toBe(201)
  const channel = await api.POST('/admin/v1/channels', {
    body: {
      ...{ name: 'by-api', protocols: { 'openai-chat': upstream.url }, allow_private_address: true },
      ...{ api_keys: ['credential-by-api'], models: { 'by-api': 'upstream-by-api' } },
      ...{ priority: 0, weight: 1, images: { concurrency: 4 } },
    },
  })
  expect(channel.response.status).toBe(201)
  const group = await api.POST('/admin/v1/groups', { body: { name: 'by-api', models: ['by-api'] } })
  expect(group.response.status).toBe(201)
  const tenant = await api.POST('/admin/v1/tenants', { body: { name: 'by-api', balance_usd: '5' } })
  expect(tenant.response.status).toBe(201)
  const key = await api.POST('/admin/v1/keys', {
    body: { tenant: 'by-api', name: 'service', group: 'by-api' },
  })
  expect(key.response.status).toBe(201)
  const { id = '', secret = '' } = key.data ?? {}

  await answered(second, { secret, status: 200 })
  const answer = await answered(first, { secret, status: 200 })
  const requestId = answer.headers.get('x-request-id')
  const found = await until(async () => {
    const query = { tenant: ['by-api'], status: ['200'] }
    const { data } = await api.GET('/admin/v1/requests', { params: { query } })
    return data?.data.find((row) => row.id === requestId)
  })
  expect(found).toMatchObject({
    ...{ requested_model: 'by-api', channel: 'by-api', outcome: 'succeeded', cost_nano_usd: costNano },
    key: { id, name: 'service' },
  })
  const other = await api.GET('/admin/v1/requests', { params: { query: { channel: ['another'] } } })
  expect(other.data?.data).toEqual([])
  const summary = await api.GET('/admin/v1/summary', {
    params: { query: { tenant_id: tenant.data?.id ?? '' } },
  })
  expect(summary.data?.total.succeeded).toBeGreaterThanOrEqual(1)
  const exported = await api.GET('/admin/v1/export', { parseAs: 'text' })
  expect(exported.response.status).toBe(200)

  const revoked = await api.POST('/admin/v1/keys/{id}/revoke', { params: { path: { id } } })
  expect(revoked.data?.revoked_at).toEqual(expect.any(String))
  await Promise.all([first, second].map((tollgate) => answered(tollgate, { secret, status: 401 })))
  return { api, yaml: String(exported.data) }
}

/** A Tollgate that starts with an exported file serves the same model at the same price. */
async function again(yaml: string): Promise<void> {
  const names = [...yaml.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => [name, 'credential-by-api'])
  const database = await emptyDatabase()
  databases.push(database)
  // The key that was made is revoked by now, and a file names no secrets: the start makes new ones.
  const copy = await start(yaml, database.url, { ...Object.fromEntries(names), ADMIN_TOKEN: adminToken })
  const secret = /new key \(shown only once\): (\S+)\s+\(tenant by-api, key service\)/.exec(
    copy.stdout(),
  )?.[1]
  const answer = await ask(copy, secret ?? '', 'by-api')
  expect(answer.status, await answer.text()).toBe(200)
  const api = clientOf(copy.url, `Bearer ${adminToken}`)
  const row = await until(async () => {
    const { data } = await api.GET('/admin/v1/requests', {
      params: { query: { requested_model: ['by-api'] } },
    })
    return data?.data[0]
  })
  expect(row).toMatchObject({ channel: 'by-api', cost_nano_usd: costNano })
}

test('without a gateway.yaml all is done by the API', { timeout: 180_000 }, async () => {
  const { yaml } = await fiveMinutes(await freshStart(undefined))
  await again(yaml)
})

test('beside a gateway.yaml, which keeps its own rows', { timeout: 180_000 }, async () => {
  const processes = await freshStart(gatewayYaml(upstream.url))
  const { api, yaml } = await fiveMinutes(processes)
  const refused = await api.PATCH('/admin/v1/tenants/{id}', {
    params: { path: { id: 'free' } },
    body: { disabled: true },
  })
  expect(refused.error).toMatchObject({ status: 409, code: 'conflict' })
  expect(refused.error?.detail).toMatch(/tenant "free" is managed by .*gateway\.yaml:\d+\. Change it there/)
  const ofFile = await ask(processes.second, freeKey, 'main')
  expect(ofFile.status).toBe(200)
  await again(yaml)
})
