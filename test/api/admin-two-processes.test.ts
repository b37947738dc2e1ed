import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

/** What an admin changes at one process holds in another, beside a gateway.yaml that both read. */

let bed: Testbed
let other: Gateway

beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken } })
  other = await startGateway({
    databaseUrl: bed.databaseUrl,
    gatewayYaml: gatewayYaml(bed.upstream.url),
    env: { SECRET_KEY: secretKey, ADMIN_TOKEN: adminToken },
  })
})
afterAll(async () => {
  await other?.stop()
  await bed?.close()
})

async function admin(url: string, method: string, path: string, body?: unknown) {
  const answer = await fetch(`${url}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  expect(answer.status, `${method} ${path}`).toBeLessThan(300)
  return JSON.parse(await answer.text())
}

async function upstreamNameOf(url: string, model: string): Promise<string> {
  const before = bed.upstream.requests.length
  await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  })
  const sent = bed.upstream.requests[before]
  return sent === undefined ? 'none' : String(JSON.parse(String(sent.body)).model)
}

test('a channel that is made at one process serves requests of another, until it is disabled there', async () => {
  const model = `model-${randomUUID()}`
  await admin(bed.tollgate.url, 'POST', '/models', { id: model })
  const { id } = await admin(bed.tollgate.url, 'POST', '/channels', {
    name: 'by-an-admin',
    protocols: { 'openai-chat': bed.upstream.url },
    api_keys: ['credential-of-an-admin'],
    models: { [model]: 'upstream-of-an-admin' },
    allow_private_address: true,
  })
  await until(async () => (await upstreamNameOf(other.url, model)) === 'upstream-of-an-admin')
  await admin(other.url, 'POST', `/channels/${id}/disable`)
  await until(async () => (await upstreamNameOf(bed.tollgate.url, model)) === 'none')
  const { channels, processes } = await admin(other.url, 'GET', '/health')
  expect(channels).toMatchObject([{ name: 'by-an-admin', state: 'disabled' }, { name: 'scripted' }])
  expect(processes).toHaveLength(2)
})
