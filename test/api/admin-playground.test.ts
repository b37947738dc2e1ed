import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminPlaygroundEndpoint } from '../../src/api/admin/playground.ts'
import { freeKey, gatewayYaml, paidKey } from '../support/gateway-yaml.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { callAs } from './call-as.ts'

/** Requests under a key whose secret the caller does not have. */

let bed: Testbed
beforeAll(async () => {
  const tenants = `
  - name: narrow
    keys:
      - { name: cidr, group: default, secret: cidr-key-for-tests-0001, allowed_cidrs: [ 192.0.2.0/24 ], allowed_models: [ main ] }
      - { name: slow, group: default, secret: slow-key-for-tests-0001, limits: { requests_per_minute: 1 } }
`
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken }, yaml: (url) => gatewayYaml(url, tenants) })
})
afterAll(() => bed.close())

async function play(body: unknown) {
  const response = await fetch(`http://127.0.0.1:${bed.tollgate.port}/admin/v1/playground`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, ...read(await response.text()) }
}

interface Event {
  event: string
  data: Record<string, unknown>
}

function read(text: string) {
  const events = [...text.matchAll(/event: (\S+)\ndata: (.*)\n\n/g)].map(
    ([, event = '', data = '']): Event => ({ event, data: JSON.parse(data) }),
  )
  const of = (event: string) => events.filter((each) => each.event === event).map(({ data }) => data)
  return {
    text,
    of,
    id: String(of('end')[0]?.request_id),
    client: of('client.data')
      .map(({ text }) => text)
      .join(''),
  }
}

const messages = [{ role: 'user', content: 'Hello' }]
const free = { name: 'free', tenant: 'free' }

test('a stream shows both wires, without secrets, and has the row of the key, with its cost', async () => {
  bed.upstream.script(() => ({
    chunks: [
      'data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"key upstream-',
      'credential-0001"}}]}\n\ndata: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
      'data: {"id":"1","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}\n\ndata: [DONE]\n\n',
    ],
    ending: 'end',
  }))
  const seen = await play({
    key: { name: 'paid', tenant: 'paid' },
    endpoint: '/v1/messages',
    request: { model: 'main', max_tokens: 10, stream: true, messages },
  })
  expect(seen.status, seen.text).toBe(200)
  expect(seen.of('client.start')).toMatchObject([
    { status: 200, content_type: expect.stringContaining('event-stream') },
  ])
  expect(seen.client).toContain('event: message_stop')
  expect(seen.of('upstream.request')).toMatchObject([
    { attempt: 1, channel: 'scripted', method: 'POST', body: expect.stringContaining('upstream-main') },
  ])
  expect(seen.of('upstream.start')).toEqual([{ attempt: 1, status: 200 }])
  expect(
    seen
      .of('upstream.data')
      .map(({ text }) => text)
      .join(''),
  ).toContain('[DONE]')
  expect(seen.of('upstream.end')).toEqual([{ attempt: 1, error: null }])
  expect(seen.text).not.toContain('upstream-credential-0001')
  expect(seen.text).not.toContain('play-')
  const row = await bed.row(seen.id)
  const [key] = await bed.database.sql`select id, tenant_id from keys where name = 'paid'`
  expect(row).toMatchObject({
    ...{ key_id: key?.id, tenant_id: key?.tenant_id, outcome: 'succeeded', endpoint: '/v1/messages' },
    ...{ cost_nano: '20000000', user_agent: 'tollgate-playground' },
  })
  const audit = await bed.database.sql`select * from audit_log where action = 'playground.run'`
  expect(audit).toMatchObject([
    {
      resource: 'key',
      resource_id: key?.id,
      resource_name: 'paid',
      after: { endpoint: '/v1/messages', model: 'main' },
    },
  ])
})

test('limits and models of the key hold, and addresses do not', async () => {
  bed.upstream.script(() => ({
    body: JSON.stringify({
      id: '1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    }),
  }))
  const endpoint = '/v1/chat/completions'
  const slow = { key: { name: 'slow', tenant: 'narrow' }, endpoint, request: { model: 'main', messages } }
  expect((await play(slow)).of('client.start')).toMatchObject([{ status: 200 }])
  const second = await play(slow)
  expect(second.of('client.start')).toMatchObject([{ status: 429 }])
  expect(second.of('upstream.request')).toEqual([])
  expect(await bed.row(second.id)).toMatchObject({ outcome: 'refused', status: 429 })
  const cidr = { key: { name: 'cidr', tenant: 'narrow' }, endpoint, request: { model: 'main', messages } }
  expect((await play(cidr)).of('client.start')).toMatchObject([{ status: 200 }])
  const other = await play({ ...cidr, request: { model: 'priced', messages } })
  expect(other.of('client.start')).toMatchObject([{ status: 403 }])
})

test('a key or an endpoint that there is not is refused, and nothing runs', async () => {
  const before = bed.upstream.requests.length
  const request = { model: 'main', messages }
  const endpoint = '/v1/chat/completions'
  expect((await play({ key: { name: 'free', tenant: 'paid' }, endpoint, request })).status).toBe(404)
  expect((await play({ key: free, endpoint: '/v1/images/edits', request })).status).toBe(400)
  expect((await play({ key: { secret: freeKey }, endpoint, request })).status).toBe(400)
  expect(bed.upstream.requests).toHaveLength(before)
})

test('a member plays with the keys of its tenant, and sees no channel', async () => {
  bed.upstream.script(() => ({
    body: JSON.stringify({
      id: '1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    }),
  }))
  const [own] = await bed.database.sql`select id from tenants where name = 'free'`
  const id = '00000000-0000-7000-8000-000000000001'
  const member = {
    ...{ kind: 'user' as const, id, userId: id, name: 'member', role: 'member' as const },
    ...{ tenantId: String(own?.id), scopes: undefined },
  }
  const call = (key: unknown) =>
    callAs(
      bed.tollgate.context,
      adminPlaygroundEndpoint(bed.tollgate.context),
      member,
      '/admin/v1/playground',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ key, endpoint: '/v1/chat/completions', request: { model: 'main', messages } }),
      },
    )
  const seen = read((await call(free)).text)
  expect(seen.client).toContain('Hi')
  expect(seen.text).not.toContain('upstream')
  expect((await call({ name: 'paid', tenant: 'paid' })).status).toBe(404)
})

test('the secret of a run is not a key of the gateway', async () => {
  const response = await fetch(`http://127.0.0.1:${bed.tollgate.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer play-${'0'.repeat(48)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'main', messages }),
  })
  expect(response.status).toBe(401)
  expect(paidKey).not.toContain('play-')
})
