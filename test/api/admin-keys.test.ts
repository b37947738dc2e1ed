import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readHashes } from '../../src/access/queries.ts'
import { scanNetworks } from '../../src/alerts/scan-networks.ts'
import { keyShown } from '../../src/api/admin/key-json.ts'
import { keySettings } from '../../src/catalog/gateway-file.ts'
import { requestRow } from '../alerts/alerts-bed.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { adminToken, operatorClient, rowsOf } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

let bed: Testbed
let admin: ReturnType<typeof operatorClient>
beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken } })
  admin = operatorClient(`http://127.0.0.1:${bed.tollgate.port}`)
  expect((await admin('POST', 'tenants', { name: 'acme' })).status).toBe(201)
  expect((await admin('POST', 'groups', { name: 'team' })).status).toBe(201)
})
afterAll(() => bed?.close())

async function make(settings: object = {}) {
  const answer = await admin('POST', 'keys', {
    tenant: 'acme',
    name: randomUUID(),
    group: 'team',
    ...settings,
  })
  expect(answer.status, answer.text).toBe(201)
  return { ...answer, id: String(answer.body.id), secret: String(answer.body.secret) }
}

/** Status of a request with this secret, when it is the wanted one. */
function statusWith(secret: string, wanted: number) {
  return until(async () => {
    const { status } = await fetch(`http://127.0.0.1:${bed.tollgate.port}/v1/models`, {
      headers: { authorization: `Bearer ${secret}` },
    })
    return status === wanted ? status : undefined
  })
}

const audited = (id: string) =>
  bed.database
    .sql`SELECT action, tenant_id, before, after FROM audit_log WHERE resource_id = ${id} ORDER BY id`

test('the API has each setting that gateway.yaml has, in the same words', async () => {
  const settings = Object.keys(keySettings.shape).filter((name) => name !== 'secret')
  expect(Object.keys(keyShown.shape)).toEqual(expect.arrayContaining(settings))
  const full = {
    capture: 'none',
    capture_answers: false,
    responses: { store: true, days: 7 },
    sub_keys: 4,
    usage_scope: 'key',
    strict: true,
    expires_at: '2999-01-31T00:00:00.000Z',
    disabled: true,
    allowed_models: ['main'],
    allowed_cidrs: ['10.0.0.0/8'],
    limits: { requests_per_minute: 5, tokens_per_minute: null, concurrency: 2 },
    budget: { day: '1.5', month: null, total: null },
  }
  const { id, body } = await make(full)
  expect(body).toMatchObject({ ...full, tenant: 'acme', group: 'team', managed_by: 'admin' })
  const defaults = Object.fromEntries(Object.keys(full).map((name) => [name, null]))
  const reset = await admin('PATCH', `keys/${id}`, defaults)
  expect(reset.body).toMatchObject({
    capture: 'content',
    usage_scope: 'tenant',
    strict: false,
    expires_at: null,
    disabled: false,
    disabled_at: null,
    disabled_by: null,
    allowed_models: null,
    allowed_cidrs: null,
    limits: null,
    budget: null,
  })
})

test('a key works with the secret that is shown once, and neither lists nor the audit log have it', async () => {
  const { id, secret, body } = await make()
  await statusWith(secret, 200)
  const read = await admin('GET', `keys/${id}`)
  expect(read.body).toEqual({ ...body, secret: undefined })
  for (const path of [`keys/${id}`, 'keys?limit=200', 'audit?limit=200'])
    expect((await admin('GET', path)).text).not.toContain(secret)
  expect(await audited(id)).toMatchObject([{ action: 'key.make', tenant_id: body.tenant_id, before: null }])
})

test('a repeat with the same Idempotency-Key shows the same secret again, and makes no second key', async () => {
  const headers = { 'idempotency-key': randomUUID() }
  const body = { tenant: 'acme', name: randomUUID(), group: 'team' }
  const [first, again] = [
    await admin('POST', 'keys', body, headers),
    await admin('POST', 'keys', body, headers),
  ]
  expect(again).toEqual(first)
  expect(first.body.secret).toMatch(/^tg-/)
  expect(rowsOf(await admin('GET', `keys?name=${body.name}`))).toHaveLength(1)
})

test('of two calls at once that make a key of one name, one makes it', async () => {
  const body = { tenant: 'acme', name: randomUUID(), group: 'team' }
  const both = await Promise.all([admin('POST', 'keys', body), admin('POST', 'keys', body)])
  expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
  expect(both.find(({ status }) => status === 409)?.body).toMatchObject({
    code: 'conflict',
    errors: [{ pointer: '#/name' }],
  })
})

test('of two changes at once that know the same ETag one is made', async () => {
  const { id, etag } = await make()
  const both = await Promise.all(
    ['none', 'shape'].map((capture) => admin('PATCH', `keys/${id}`, { capture }, { 'if-match': etag })),
  )
  expect(both.map(({ status }) => status).sort()).toEqual([200, 412])
  const made = both.find(({ status }) => status === 200)
  const read = await admin('GET', `keys/${id}`)
  expect([read.body, read.etag]).toEqual([made?.body, made?.etag])
  expect((await audited(id)).map(({ action }) => action)).toEqual(['key.make', 'key.change'])
})

test.each([
  [{ secret: 'chosen-by-the-caller-01' }, 'secret'],
  [{ group: 'nowhere' }, 'group'],
  [{ tenant: 'nobody' }, 'tenant'],
  [{ tenant: undefined }, 'tenant'],
  [{ name: '' }, 'name'],
  [{ allowed_models: ['main', 'unknown'] }, 'allowed_models/1'],
  [{ allowed_cidrs: ['10.0.0.0/99'] }, 'allowed_cidrs/0'],
  [{ limits: { concurency: null } }, 'limits/concurency'],
  [{ limits: { concurrency: 0 } }, 'limits/concurrency'],
  [{ budget: { day: 'much' } }, 'budget/day'],
  [{ expires_at: 'tomorrow' }, 'expires_at'],
])('%j is refused by an error that names the field', async (settings, pointer) => {
  const { status, body } = await admin('POST', 'keys', {
    tenant: 'acme',
    name: randomUUID(),
    group: 'team',
    ...settings,
  })
  expect(body).toMatchObject({ code: 'invalid_request', errors: [{ pointer: `#/${pointer}` }] })
  expect(status).toBe(400)
})

describe('a rotation', () => {
  test('ends the former secret at once, or after its grace', async () => {
    const { id, secret } = await make()
    const kept = await admin('POST', `keys/${id}/rotate`, { grace_seconds: 3600 })
    expect(kept.body.former_secret_until).toEqual(expect.any(String))
    const second = String(kept.body.secret)
    await statusWith(second, 200)
    await statusWith(secret, 200)
    const ended = await admin('POST', `keys/${id}/rotate`, {})
    expect(ended.body.former_secret_until).toBeNull()
    await statusWith(String(ended.body.secret), 200)
    await statusWith(secret, 401)
    await statusWith(second, 401)
    expect((await audited(id)).map(({ action }) => action)).toEqual(['key.make', 'key.rotate', 'key.rotate'])
    expect(JSON.stringify(await audited(id))).not.toContain(second)
  })

  test('lets the former secret work until the end of its grace and no longer, without a change of the row', async () => {
    const { id, secret } = await make()
    const { body } = await admin('POST', `keys/${id}/rotate`, { grace_seconds: 3600 })
    await statusWith(String(body.secret), 200)
    await statusWith(secret, 200)
    const end = Date.parse(String(body.former_secret_until))
    const held = await bed.tollgate.context.keys.lookup(secret)
    const current = await bed.tollgate.context.keys.lookup(String(body.secret))
    expect([held?.keyId, held?.expiresAt]).toEqual([id, end])
    expect([current?.keyId, current?.expiresAt]).toEqual([id, undefined])
  })

  test('leaves the former secret known to processes that start meanwhile', async () => {
    const { id, secret } = await make()
    await admin('POST', `keys/${id}/rotate`, { grace_seconds: 3600 })
    const { keys, database } = bed.tollgate.context
    const { hashes } = await database.state.ask(({ db }) => readHashes(db, undefined))
    const start = keys.hashOf(secret).subarray(0, 8)
    expect(hashes.filter((hash) => hash.equals(start))).toHaveLength(1)
  })

  test('never makes a key live longer than its expiry', async () => {
    const soon = new Date(Date.now() + 60_000).toISOString()
    const { id, secret } = await make({ expires_at: soon })
    const rotated = await admin('POST', `keys/${id}/rotate`, { grace_seconds: 3600 })
    await statusWith(String(rotated.body.secret), 200)
    await statusWith(secret, 200)
    expect((await bed.tollgate.context.keys.lookup(secret))?.expiresAt).toBe(Date.parse(soon))
  })

  test('that comes twice at once with a grace is made once, so that no client is cut off', async () => {
    const { id, secret } = await make()
    const both = await Promise.all(
      [1, 2].map(() => admin('POST', `keys/${id}/rotate`, { grace_seconds: 60 })),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    await statusWith(secret, 200)
    await statusWith(String(both.find(({ status }) => status === 200)?.body.secret), 200)
  })
})

describe('a revoked key', () => {
  test('is refused permanently, and stays in the list', async () => {
    const { id, secret, body } = await make()
    const revoked = await admin('POST', `keys/${id}/revoke`)
    expect(revoked.body).toMatchObject({ disabled: true, revoked_at: expect.any(String) })
    await statusWith(secret, 401)
    for (const answer of [
      await admin('PATCH', `keys/${id}`, { disabled: false }),
      await admin('POST', `keys/${id}/rotate`, {}),
    ])
      expect([answer.status, answer.body.code]).toEqual([409, 'conflict'])
    const again = await admin('POST', `keys/${id}/revoke`)
    expect(again.body.revoked_at).toBe(revoked.body.revoked_at)
    expect(rowsOf(await admin('GET', `keys?revoked=true&name=${body.name}`))).toHaveLength(1)
  })

  test('keeps its name until it gets another one', async () => {
    const { id, body } = await make()
    await admin('POST', `keys/${id}/revoke`)
    const taken = await admin('POST', 'keys', { tenant: 'acme', name: body.name, group: 'team' })
    expect([taken.status, String(taken.body.detail)]).toEqual([409, expect.stringContaining('revoked key')])
    expect((await admin('PATCH', `keys/${id}`, { name: randomUUID() })).status).toBe(200)
    await make({ name: body.name })
  })
})

test('a key is disabled and enabled again', async () => {
  const { id, secret } = await make()
  await statusWith(secret, 200)
  await admin('PATCH', `keys/${id}`, { disabled: true })
  await statusWith(secret, 401)
  await admin('PATCH', `keys/${id}`, { disabled: false })
  await statusWith(secret, 200)
})

test('an imported key keeps its secret, which no other key may have', async () => {
  const secret = `sk-elsewhere-${randomUUID()}`
  const imported = await admin('POST', 'keys/import', {
    tenant: 'acme',
    name: randomUUID(),
    group: 'team',
    secret,
  })
  expect(imported.status).toBe(201)
  expect(imported.text).not.toContain(secret)
  await statusWith(secret, 200)
  const again = { tenant: 'acme', name: randomUUID(), group: 'team' }
  expect((await admin('POST', 'keys/import', { ...again, secret })).status).toBe(409)
  expect((await admin('POST', 'keys/import', { ...again, secret: freeKey })).status).toBe(409)
})

test('lists are filtered and paged, with nulls last', async () => {
  await admin('POST', 'tenants', { name: 'paged' })
  const days = ['2030-01-03', '2030-01-01', '2030-01-02', null, null]
  for (const [index, expires_at] of days.entries())
    await make({ tenant: 'paged', name: `Paged ${index}`, expires_at, disabled: index === 2 })
  async function pages(query: string): Promise<unknown[]> {
    const names: unknown[] = []
    let cursor = ''
    for (;;) {
      const page = await admin('GET', `keys?tenant=paged&limit=2&${query}${cursor}`)
      expect(page.status, page.text).toBe(200)
      names.push(...rowsOf(page).map(({ name }) => String(name).slice(-1)))
      if (page.body.next_cursor === null) return names
      cursor = `&cursor=${String(page.body.next_cursor)}`
    }
  }
  expect(await pages('')).toEqual(['4', '3', '2', '1', '0'])
  expect(await pages('sort=name')).toEqual(['0', '1', '2', '3', '4'])
  expect(await pages('sort=-name')).toEqual(['4', '3', '2', '1', '0'])
  expect(await pages('sort=expires_at')).toEqual(['1', '2', '0', '3', '4'])
  expect(await pages('sort=-expires_at')).toEqual(['0', '2', '1', '4', '3'])
  expect(await pages('expires_before=2030-01-02')).toEqual(['1'])
  expect(await pages('disabled=true')).toEqual(['2'])
  expect(await pages('search=aGED%203')).toEqual(['3'])
  expect(await pages('name=Paged%200')).toEqual(['0'])
  expect(await pages('group=team&managed_by=admin&sort=name')).toHaveLength(5)
  expect(await pages('managed_by=file')).toEqual([])
})

test('keys are listed by their last use and by their newest network, which the scan of the log notes', async () => {
  await admin('POST', 'tenants', { name: 'roaming' })
  const ids = new Map<string, string>()
  for (const name of ['home', 'roams', 'idle', 'late'])
    ids.set(name, (await make({ tenant: 'roaming', name })).id)
  const used = (name: string, client_address: string, secondsAgo: number) =>
    requestRow({ key_id: ids.get(name), client_address, at: Date.now() - secondsAgo * 1_000 })
  const etag = async (name: string) => (await admin('GET', `keys/${ids.get(name)}`)).etag
  const before = await etag('roams')
  const { database } = bed.tollgate.context
  const scan = (rows: object[]) =>
    database.upkeep.ask(async ({ sql }) => {
      await sql`INSERT INTO requests ${sql(rows)}`
      // It begins anew: to read a row twice changes nothing.
      await sql`DELETE FROM alert_scans`
      await scanNetworks(sql, Date.now())
    })
  await scan([
    used('home', '198.51.100.7', 300),
    used('home', '198.51.100.8', 200),
    used('late', '198.51.100.7', 290),
    used('late', '198.51.101.7', 280),
    used('roams', '198.51.100.7', 100),
  ])
  const list = async (query: string) => rowsOf(await admin('GET', `keys?tenant=roaming&${query}`))
  const names = async (query: string) => (await list(query)).map(({ name }) => name)
  expect(await names('sort=-last_used_at')).toEqual(['roams', 'home', 'late', 'idle'])
  expect(await names('sort=-last_used_at&limit=1')).toEqual(['roams'])
  expect(await list('name=roams')).toMatchObject([
    { last_network: '198.51.100.0/24', new_network: null, new_network_at: null },
  ])
  await scan([used('roams', '2001:db8:1:2::3', 20)])
  const [roams] = await list('sort=-new_network_at')
  expect(roams).toMatchObject({
    name: 'roams',
    last_network: '2001:db8:1::/48',
    new_network: '2001:db8:1::/48',
    last_used_at: roams?.new_network_at,
  })
  expect(await names('sort=-new_network_at')).toEqual(['roams', 'late', 'idle', 'home'])
  expect(await names('sort=last_used_at')).toEqual(['late', 'home', 'roams', 'idle'])
  const paged = await admin('GET', 'keys?tenant=roaming&sort=-new_network_at&limit=1')
  expect(await names(`sort=-new_network_at&limit=1&cursor=${paged.body.next_cursor}`)).toEqual(['late'])
  expect(await names(`new_network_since=${new Date(Date.now() - 60_000).toISOString()}`)).toEqual(['roams'])
  expect(await names('network=198.51.101.200')).toEqual(['late'])
  expect(await names('network=2001:db8:1::/48')).toEqual(['roams'])
  expect((await admin('GET', 'keys?network=nowhere')).status).toBe(400)
  // What the use of a key changes is nothing that somebody has edited.
  expect(await etag('roams')).toBe(before)
})

/** Its id. */
async function aSubKeyOf(parent: string): Promise<string> {
  const id = randomUUID()
  await bed.database
    .sql`INSERT INTO keys (id, tenant_id, group_id, name, secret_hash, hint, managed_by, parent_id)
      SELECT ${id}, tenant_id, group_id, ${id}, ${Buffer.from(id)}, 'tg-…', 'admin', id FROM keys WHERE id = ${parent}`
  return id
}

test('what is left of a sub-key has the limits and budgets of the key that made it', async () => {
  const { id } = await make({ limits: { concurrency: 7 }, budget: { total: '2' } })
  const child = await aSubKeyOf(id)
  const { status, body } = await admin('GET', `keys/${child}/usage`)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    limits: [{ of: 'parent', limit: 'concurrency', allowed: 7 }],
    budgets: [{ of: 'parent', period: 'total', left_usd: '2' }],
  })
})

test('a tenant that no name can be is refused, also for a new key', async () => {
  const answer = await admin('POST', 'keys', { tenant: 'acme\u0000', name: 'x' })
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '#/tenant' }] } })
})

test('the row of a sub-key follows the key that made it, and a change of what they share is refused', async () => {
  const { id } = await make({ capture: 'content' })
  const child = await aSubKeyOf(id)
  const changed = await admin('PATCH', `keys/${id}`, { group: 'default', capture: 'none', strict: true })
  expect(changed.status, changed.text).toBe(200)
  const shared = { group: 'default', capture: 'none', strict: true, parent_id: id }
  expect((await admin('GET', `keys/${child}`)).body).toMatchObject(shared)
  expect(await admin('PATCH', `keys/${child}`, { group: 'team' })).toMatchObject({ status: 409 })
  expect(await admin('PATCH', `keys/${child}`, { usage_scope: 'key' })).toMatchObject({ status: 200 })
})
