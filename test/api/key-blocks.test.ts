import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminClient, adminClient, becomeOwner, join } from '../support/admin-client.ts'
import { type SeenCollector, startCollector } from '../support/collector.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

/** Finding the key of a secret, and blocking a key, in two processes that read one gateway.yaml. */

const fileKey = 'a-key-of-the-file-0001'
const parentKey = 'a-parent-of-the-file-1'
const yaml = (upstreamUrl: string) =>
  gatewayYaml(
    upstreamUrl,
    `
  - name: blockable
    keys:
      - { name: leaky, group: default, secret: ${fileKey} }
      - { name: parent, group: default, secret: ${parentKey}, sub_keys: 5 }`,
  )

let bed: Testbed
let other: Gateway
let collector: SeenCollector
let call: AdminClient
let cookie: string
let members: { own: string; foreign: string }

beforeAll(async () => {
  collector = await startCollector()
  const env = {
    LOG_LEVEL: 'trace',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_TRACES_SAMPLER: 'always_on',
  }
  bed = await startTestbed({ yaml, env })
  other = await startGateway({
    databaseUrl: bed.databaseUrl,
    gatewayYaml: yaml(bed.upstream.url),
    env: { SECRET_KEY: secretKey },
  })
  call = adminClient(bed.tollgate.url)
  cookie = await becomeOwner(bed.tollgate, call)
  const member = async (tenant: string) => {
    const { body } = await call('GET', `tenants/${tenant}`, { cookie })
    const invitation = { email: `${tenant}@example.com`, role: 'member', tenant_id: body.id }
    return (await join(call, cookie, invitation)).cookie
  }
  members = { own: await member('blockable'), foreign: await member('free') }
})
afterAll(async () => {
  await other?.stop()
  await bed?.close()
  await collector?.close()
})

const asOwner = (method: string, path: string, body?: unknown) => call(method, path, { cookie, body })
const find = (secret: string, as: string = cookie) =>
  call('POST', 'keys/find', { cookie: as, body: { secret }, headers: { 'idempotency-key': randomUUID() } })

async function made(settings: object = {}) {
  const body = { tenant: 'blockable', group: 'default', name: randomUUID(), ...settings }
  const answer = await asOwner('POST', 'keys', body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

async function ask(secret: string, { url }: Gateway = bed.tollgate, path = '/v1/key') {
  const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${secret}` } })
  const { status } = answer
  return { status, reason: answer.headers.get('x-tollgate-reason'), text: await answer.text() }
}

const isBlocked = async (secret: string, at?: Gateway) => (await ask(secret, at)).reason === 'key_blocked'

test('a secret finds its key: of the file, former, revoked, imported or of a sub-key', async () => {
  expect((await find(fileKey)).body).toMatchObject({ name: 'leaky', managed_by: 'file', blocked: null })
  const key = await made()
  const shown = await asOwner('GET', `keys/${key.id}`)
  const found = await find(`  ${key.secret}\n`)
  expect([found.status, found.body, found.headers.get('etag')]).toEqual([
    200,
    shown.body,
    shown.headers.get('etag'),
  ])
  await asOwner('POST', `keys/${key.id}/rotate`, { grace_seconds: 600 })
  expect((await find(key.secret)).body).toMatchObject({ id: key.id, former_secret_until: expect.any(String) })
  const gone = await made()
  await asOwner('POST', `keys/${gone.id}/revoke`)
  expect((await find(gone.secret)).body).toMatchObject({ id: gone.id, revoked_at: expect.any(String) })
  const sub = await fetch(`${bed.tollgate.url}/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${parentKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'found-sub-key' }),
  })
  const { secret } = (await sub.json()) as { secret: string }
  expect((await find(secret)).body).toMatchObject({ name: 'found-sub-key', parent_id: expect.any(String) })
})

test('a member finds keys of its own tenant, and gets the same for those of another as for none', async () => {
  const { id, secret } = await made()
  expect((await find(secret, members.own)).body).toMatchObject({ id })
  const plain = ({ status, body }: Awaited<ReturnType<typeof find>>) => [
    status,
    { ...body, request_id: '', instance: '' },
  ]
  expect(plain(await find(secret, members.foreign))).toEqual(
    plain(await find('no-key-has-this-secret-1', members.foreign)),
  )
  expect((await find(secret, members.foreign)).status).toBe(404)
})

test('a secret that was looked for is in no log line, row, trace or error', async () => {
  const secret = `planted-${randomUUID()}`
  const known = `planted-${randomUUID()}`
  await asOwner('POST', 'keys/import', {
    ...{ tenant: 'blockable', group: 'default', name: randomUUID(), secret: known },
  })
  for (const text of [secret, known]) {
    const answers = [
      await find(text),
      await find(text.slice(0, 12)),
      await call('POST', 'keys/find', { cookie, body: { secret: { text } } }),
      await call('POST', 'keys/find', { cookie, body: [text] }),
    ]
    const raw = await fetch(`${bed.tollgate.url}/admin/v1/keys/find`, {
      method: 'POST',
      headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      body: `{"secret": ${text}}`,
    })
    expect(raw.status).toBe(400)
    expect(`${JSON.stringify(answers.map(({ body }) => body))}${await raw.text()}`).not.toContain('planted-')
  }
  await bed.tollgate.ship()
  expect(bed.tollgate.stderr() + bed.tollgate.stdout()).not.toContain('planted-')
  expect(
    JSON.stringify(collector.spans, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
  ).not.toContain('planted-')
  const tables = await bed.database.sql<{ name: string }[]>`
    SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = current_schema()`
  expect(tables.map(({ name }) => name)).toContain('admin_answers')
  for (const { name } of tables) {
    const rows = await bed.database.sql.unsafe(`SELECT 1 FROM ${name} t WHERE t::text LIKE '%planted-%'`)
    expect(rows, name).toHaveLength(0)
  }
})

test('a key of the file is refused by both processes, until a person lifts the block', async () => {
  const { body } = await find(fileKey)
  const blocked = await asOwner('POST', `keys/${body.id}/block`, { reason: 'it was in a repository' })
  expect(blocked).toMatchObject({
    status: 200,
    body: { blocked: { by: 'owner@example.com', reason: 'it was in a repository', of_parent: false } },
  })
  // The process that answers applies it before it answers.
  expect(await ask(fileKey)).toMatchObject({ status: 401, reason: 'key_blocked' })
  expect((await ask(fileKey)).text).not.toContain('repository')
  await until(() => isBlocked(fileKey, other))
  const again = await asOwner('POST', `keys/${body.id}/block`, { reason: 'another reason' })
  expect(again.body.blocked).toEqual(blocked.body.blocked)
  const listed = await asOwner('GET', 'keys?blocked=true&tenant=blockable')
  expect(listed.body.data).toMatchObject([{ id: body.id, blocked: { reason: 'it was in a repository' } }])

  expect(await asOwner('POST', `keys/${body.id}/unblock`)).toMatchObject({
    status: 200,
    body: { blocked: null },
  })
  expect((await ask(fileKey)).status).toBe(200)
  await until(async () => (await ask(fileKey, other)).status === 200)
  const lines = await asOwner('GET', `audit?resource_id=${body.id}&sort=created_at`)
  expect(lines.body.data.map(({ action }: { action: string }) => action)).toEqual([
    'key.block',
    'key.block',
    'key.unblock',
  ])
})

test('the sub-keys of a blocked key are blocked with it, and none can be made', async () => {
  const { body: parent } = await find(parentKey)
  const makeSubKey = (name: string) =>
    fetch(`${bed.tollgate.url}/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${parentKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    })
  const sub = (await (await makeSubKey('blocked-sub-key')).json()) as { id: string; secret: string }
  expect((await ask(sub.secret)).status).toBe(200)
  expect((await ask(sub.secret, other)).status).toBe(200)
  await asOwner('POST', `keys/${parent.id}/block`, { reason: 'its sub-keys as well' })
  expect(await ask(sub.secret)).toMatchObject({ status: 401, reason: 'key_blocked' })
  await until(() => isBlocked(sub.secret, other))
  expect((await makeSubKey('one-more')).status).toBe(401)
  expect((await asOwner('GET', `keys/${sub.id}`)).body.blocked).toMatchObject({ of_parent: true })
  expect((await asOwner('POST', `keys/${sub.id}/unblock`)).status).toBe(409)
  await asOwner('POST', `keys/${parent.id}/unblock`)
  expect((await ask(sub.secret)).status).toBe(200)
})

test('a member blocks a key of its tenant, also one of the file, and lifts what no admin has blocked', async () => {
  const { body: key } = await find(fileKey)
  const act = (verb: 'block' | 'unblock', as: string) =>
    call('POST', `keys/${key.id}/${verb}`, {
      ...{ cookie: as, body: verb === 'block' ? { reason: 'in a repository' } : undefined },
    })
  for (const verb of ['block', 'unblock'] as const)
    expect((await act(verb, members.foreign)).status).toBe(404)
  expect(await act('block', members.own)).toMatchObject({
    status: 200,
    body: { blocked: { by: 'blockable@example.com', by_role: 'member' } },
  })
  expect(await isBlocked(fileKey)).toBe(true)
  expect(await act('unblock', members.own)).toMatchObject({ status: 200, body: { blocked: null } })

  // An admin takes over the block of a member, and a member not that of an admin.
  await act('block', members.own)
  expect((await act('block', cookie)).body.blocked).toMatchObject({ by_role: 'admin' })
  expect((await act('block', members.own)).body.blocked).toMatchObject({ by_role: 'admin' })
  expect(await act('unblock', members.own)).toMatchObject({
    status: 403,
    body: { detail: 'The key "leaky" was blocked by an admin. Ask an admin to unblock it.' },
  })
  expect((await act('unblock', cookie)).status).toBe(200)
  expect((await ask(fileKey)).status).toBe(200)
})

test('a member is refused a change of a key of the file without the path of the file', async () => {
  const { body: key } = await find(fileKey)
  const asMember = (method: string, path: string, body?: object) =>
    call(method, path, { cookie: members.own, ...(body && { body }) })
  for (const answer of [
    await asMember('POST', `keys/${key.id}/revoke`),
    await asMember('PATCH', `keys/${key.id}`, { name: 'other' }),
    await asMember('POST', 'keys', { tenant: 'blockable', name: 'leaky', group: 'default' }),
  ]) {
    expect(answer.status).toBe(409)
    expect(answer.body.detail).not.toMatch(/yaml|\//)
  }
  expect((await asOwner('POST', `keys/${key.id}/revoke`)).body.detail).toContain('.yaml:')
})

test('an imported key with a blocked secret is blocked, and a rotation lifts no block', async () => {
  const { id, secret } = await made()
  await asOwner('POST', `keys/${id}/block`, { reason: 'leaked' })
  const rotated = await asOwner('POST', `keys/${id}/rotate`, { grace_seconds: 600 })
  expect(rotated.body.blocked).toMatchObject({ reason: 'leaked' })
  expect(await isBlocked(rotated.body.secret)).toBe(true)
  expect(await isBlocked(secret)).toBe(true)
  await asOwner('POST', `keys/${id}/rotate`, { grace_seconds: 0 })
  const body = { tenant: 'blockable', group: 'default', name: randomUUID(), secret }
  const imported = await asOwner('POST', 'keys/import', body)
  expect(imported).toMatchObject({ status: 201, body: { blocked: { reason: 'leaked' } } })
  expect(await isBlocked(secret)).toBe(true)
})

test('a block says why, and compares the ETag', async () => {
  const key = await made()
  for (const body of [{}, { reason: ' ' }, { reason: 'x'.repeat(1_001) }])
    expect((await asOwner('POST', `keys/${key.id}/block`, body)).status).toBe(400)
  const stale = { 'if-match': '"another"' }
  const options = { cookie, body: { reason: 'x' }, headers: stale }
  expect((await call('POST', `keys/${key.id}/block`, options)).status).toBe(412)
  expect((await asOwner('POST', `keys/${randomUUID()}/block`, { reason: 'x' })).status).toBe(404)
})
