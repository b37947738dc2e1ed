import { createHash, randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Actor } from '../../src/access/actor.ts'
import { asCurl } from '../../src/api/admin/as-curl.ts'
import { adminRequestEndpoint } from '../../src/api/admin/request-detail.ts'
import { abortKey, paidKey } from '../support/gateway-yaml.ts'
import { callAs } from './call-as.ts'
import { type LogBed, startLogBed } from './log-bed.ts'

/** One row of the usage log as admins see it, and the command that sends it again. */

let bed: LogBed
beforeAll(async () => {
  bed = await startLogBed({ CAPTURE_BYTES_MAX: '400000', CAPTURE_STRING_BYTES_MAX: '300000' })
})
afterAll(() => bed.close())

const messages = [{ role: 'user', content: 'Hello' }]

test('a row has its names of then, body, attempts with their credential, entries and parts of the cost', async () => {
  const id = await bed.send(JSON.stringify({ model: 'main', max_tokens: 10, messages }), paidKey)
  await bed.database.sql`update keys set name = 'renamed' where name = 'paid'`
  const { status, body } = await bed.read(id.toUpperCase())
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body).toMatchObject({
    id,
    tenant: { name: 'paid' },
    key: { name: 'paid' },
    group: { name: 'default' },
    channel: 'scripted',
    user_agent: 'test/1',
    client_address: '127.0.0.1',
    capture: 'content',
    body: expect.stringContaining('Hello'),
    attempts: [
      {
        channel: 'scripted',
        status: 200,
        credential: createHash('sha256').update('upstream-credential-0001').digest('hex').slice(0, 8),
      },
    ],
    entries: [{ id, kind: 'charge', amount_nano_usd: `-${body.cost_nano_usd}` }],
  })
  const parts = Object.values(body.cost_parts_nano_usd ?? {}).map(Number)
  expect(parts.reduce((sum, part) => sum + part, 0)).toBe(Number(body.cost_nano_usd))
  expect(JSON.stringify(body)).not.toContain('upstream-credential')
  expect(JSON.stringify(body)).not.toContain(paidKey)
})

test('a member sees a row of its own tenant, without attempts, and no other row', async () => {
  const id = await bed.send(JSON.stringify({ model: 'main', messages }))
  const [own] = await bed.database.sql`select id from tenants where name = 'free'`
  const [foreign] = await bed.database.sql`select id from tenants where name = 'paid'`
  const endpoint = adminRequestEndpoint(bed.tollgate.context)
  const member = (tenantId: unknown): Actor => ({
    ...{ kind: 'user', id: randomUUIDv7(), userId: randomUUIDv7(), name: 'member', role: 'member' },
    ...{ tenantId: String(tenantId), scopes: undefined },
  })
  const seen = await callAs(bed.tollgate.context, endpoint, member(own?.id), `/admin/v1/requests/${id}`)
  expect(seen.body).toMatchObject({ id, channel: null, attempts: [] })
  expect(
    (await callAs(bed.tollgate.context, endpoint, member(foreign?.id), `/admin/v1/requests/${id}`)).status,
  ).toBe(404)
})

test('an unknown id, and a text that is not one, get a 404', async () => {
  expect((await bed.read(randomUUIDv7())).status).toBe(404)
  expect((await bed.read('nonsense')).status).toBe(404)
})

test('the command has the address of PUBLIC_URL, also where that has a quote', () => {
  const kept = { endpoint: '/v1/responses', client_protocol: null, stream: false, payload: null }
  expect(asCurl(kept, "https://gate.example/it's/")).toEqual({
    command: expect.stringContaining("'https://gate.example/it'\\''s/v1/responses'"),
    differs: ['The body is not stored. Write it to request.json.'],
  })
  expect(asCurl({ ...kept, endpoint: '/v1/models' }, undefined)).toBeNull()
})

test('what the command lacks is said: secrets, long texts, and all texts where only the shape is kept', async () => {
  const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789abcdef'
  const withSecret = await bed.read(
    await bed.send(
      JSON.stringify({ model: 'main', messages: [{ role: 'user', content: `my key is ${secret}` }] }),
    ),
  )
  expect(withSecret.body.as_curl?.differs).toEqual(['Secrets in the body are replaced by placeholders.'])
  expect(JSON.stringify(withSecret.body)).not.toContain(secret)
  const long = await bed.read(
    await bed.send(
      JSON.stringify({ model: 'main', messages: [{ role: 'user', content: 'y'.repeat(310_000) }] }),
    ),
  )
  expect(long.body.as_curl?.differs).toEqual([
    'Only part of the body is stored. The middle of long texts is missing.',
  ])
  const shape = await bed.read(await bed.send(JSON.stringify({ model: 'main', messages }), abortKey))
  expect(shape.body.as_curl?.differs).toEqual([
    'Only the shape of the body is stored. Its texts are placeholders.',
  ])
})
