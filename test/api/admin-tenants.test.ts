import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { groupShown } from '../../src/api/admin/group-json.ts'
import { tenantShown } from '../../src/api/admin/tenants.ts'
import { groupSettings, tenantSettings } from '../../src/catalog/gateway-file.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { adminToken, operatorClient, rowsOf } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

/** Tenants, their money, and groups. */

let bed: Testbed
let admin: ReturnType<typeof operatorClient>
beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken } })
  admin = operatorClient(`http://127.0.0.1:${bed.tollgate.port}`)
})
afterAll(async () => {
  const { findings } = await verifyLedger(bed.database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  await bed.close()
})

async function make(kind: 'tenants' | 'groups', settings: object = {}) {
  const answer = await admin('POST', kind, { name: randomUUID(), ...settings })
  expect(answer.status, answer.text).toBe(201)
  return { ...answer, id: String(answer.body.id), name: String(answer.body.name) }
}

const sqlOf = (id: string) =>
  bed.database.sql`SELECT action, before, after FROM audit_log WHERE resource_id = ${id} ORDER BY id`

describe('tenants', () => {
  test('show what is left of their limits, budgets and balance', async () => {
    const { id } = await make('tenants', {
      balance_usd: '5',
      budget: { day: '1', month: '2.5' },
      limits: { requests_per_minute: 7 },
    })
    const { status, body } = await admin('GET', `tenants/${id}/usage`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      limits: [{ of: 'tenant', limit: 'requests_per_minute', allowed: 7, left: 7 }],
      budgets: [
        { of: 'tenant', period: 'day', limit_usd: '1', spent_usd: '0', free_usd: '1' },
        { of: 'tenant', period: 'month', limit_usd: '2.5', spent_usd: '0' },
      ],
      balance: { left_usd: '5' },
    })
    const { id: open } = await make('tenants')
    expect((await admin('GET', `tenants/${open}/usage`)).body).toEqual({
      limits: [],
      budgets: [],
      balance: null,
    })
    expect((await admin('GET', `tenants/${randomUUID()}/usage`)).status).toBe(404)
  })

  test('have each setting that gateway.yaml has, in the same words', async () => {
    // Keys have resources of their own, and each request changes the balance.
    const settings = Object.keys(tenantSettings.shape).filter(
      (name) => !['keys', 'balance_usd'].includes(name),
    )
    expect(Object.keys(tenantShown.shape)).toEqual(expect.arrayContaining(settings))
    const limits = { requests_per_minute: 1, tokens_per_minute: 2, concurrency: 3 }
    const { id, name, body, etag } = await make('tenants', { limits, disabled: true })
    expect(body).toMatchObject({ limits, disabled: true, limited: false, managed_by: 'admin' })
    expect((await admin('GET', `tenants/${name}`)).body).toEqual(body)
    expect((await admin('GET', `tenants/${id}`)).etag).toBe(etag)
    const changed = await admin('PATCH', `tenants/${name}`, {
      limits: { tokens_per_minute: null },
      disabled: null,
    })
    expect(changed.body).toMatchObject({ limits: { ...limits, tokens_per_minute: null }, disabled: false })
    expect(await sqlOf(id)).toMatchObject([
      { action: 'tenant.make', after: body },
      { action: 'tenant.change', before: body, after: changed.body },
    ])
  })

  test('get another name, which no one else may have', async () => {
    const [one, other] = [await make('tenants'), await make('tenants')]
    const taken = await admin('PATCH', `tenants/${one.id}`, { name: other.name })
    expect([taken.status, taken.body.code]).toEqual([409, 'conflict'])
    expect(taken.reason).toBe('name_taken')
    expect((await admin('PATCH', `tenants/${one.id}`, { name: `${one.name} & co` })).status).toBe(200)
    expect((await admin('GET', `tenants/${encodeURIComponent(`${one.name} & co`)}`)).body.id).toBe(one.id)
    expect((await admin('GET', `tenants/${one.name}`)).status).toBe(404)
  })

  test('that are disabled have keys that are refused', async () => {
    const { name } = await make('tenants')
    const { body } = await admin('POST', 'keys', { tenant: name, name: 'one' })
    const status = (wanted: number) =>
      until(async () => {
        const headers = { authorization: `Bearer ${String(body.secret)}` }
        return (
          (await fetch(`http://127.0.0.1:${bed.tollgate.port}/v1/models`, { headers })).status === wanted ||
          undefined
        )
      })
    await status(200)
    await admin('PATCH', `tenants/${name}`, { disabled: true })
    await status(403)
  })

  test('are limited from their opening balance on, and from the balance that a later limit names', async () => {
    const { id, name, body } = await make('tenants', { balance_usd: '5.00' })
    expect(body.limited).toBe(true)
    const balance = async () => (await admin('GET', `tenants/${name}/balance`)).body
    expect(await balance()).toMatchObject({ tenant: name, limited: true, balance_usd: '5' })
    const again = await admin('PATCH', `tenants/${id}`, { balance_usd: '7' })
    expect([again.status, again.body.code]).toEqual([409, 'conflict'])
    expect((await admin('PATCH', `tenants/${id}`, { balance_usd: null })).body.limited).toBe(false)
    expect((await admin('PATCH', `tenants/${id}`, { balance_usd: '7' })).body.limited).toBe(true)
    expect(await balance()).toMatchObject({ limited: true, balance_usd: '7' })
    expect(rowsOf(await admin('GET', `tenants/${id}/entries?sort=created_at`))).toMatchObject([
      { kind: 'opening', amount_usd: '5' },
      { kind: 'adjustment', amount_usd: '2' },
    ])
  })

  test('list their entries page by page, with charges where asked for', async () => {
    const { id, name } = await make('tenants')
    const booked = []
    for (const amount_usd of ['1', '2', '3'])
      booked.push(
        await admin('POST', `tenants/${name}/entries`, { kind: 'top_up', amount_usd, note: 'by hand' }),
      )
    expect(booked.map(({ status }) => status)).toEqual([201, 201, 201])
    const first = await admin('GET', `tenants/${id}/entries?limit=2`)
    const second = await admin(
      'GET',
      `tenants/${id}/entries?limit=2&cursor=${String(first.body.next_cursor)}`,
    )
    expect([...rowsOf(first), ...rowsOf(second)].map(({ amount_usd }) => amount_usd)).toEqual(['3', '2', '1'])
    expect(second.body.next_cursor).toBeNull()
    const { entry } = booked[0]?.body ?? {}
    const entryId = String((entry as { id: string }).id)
    expect(await sqlOf(entryId)).toMatchObject([
      { action: 'entry.book', after: { amount_usd: '1', balance_usd: '1' } },
    ])

    bed.upstream.script(() => ({
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        id: 'chatcmpl-1',
        object: 'chat.completion',
        created: 1,
        model: 'main',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
      }),
    }))
    const chat = await fetch(`http://127.0.0.1:${bed.tollgate.port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'main', messages: [{ role: 'user', content: 'Hello' }] }),
    })
    expect(chat.status).toBe(200)
    const requestId = chat.headers.get('x-request-id')
    await bed.row(requestId ?? undefined)
    await admin('POST', 'tenants/free/entries', { kind: 'top_up', amount_usd: '4' })
    const all = rowsOf(await admin('GET', 'tenants/free/entries?charges=true'))
    expect(all).toMatchObject([
      { kind: 'top_up', amount_usd: '4' },
      { kind: 'charge', id: requestId, amount_usd: '-0.02' },
    ])
    const [charge] = await bed.database
      .sql`SELECT amount_nano::text AS nano FROM entries WHERE id = ${requestId}`
    expect(charge?.nano).toBe(all[1]?.amount_nano_usd)
    expect(rowsOf(await admin('GET', 'tenants/free/entries'))).toHaveLength(1)
    expect(rowsOf(await admin('GET', 'tenants/free/entries?kind=charge'))).toHaveLength(1)
  })

  test('have their entries in an index, in every month, soon after the gateway has started', async () => {
    const indexesOf = () =>
      bed.database.sql`
          SELECT i.inhrelid::regclass::text AS partition, (
            SELECT count(*)::int FROM pg_index x
            WHERE x.indrelid = i.inhrelid AND pg_get_expr(x.indpred, x.indrelid) LIKE '%charge%' AND x.indisvalid
          ) AS indexes FROM pg_inherits i WHERE i.inhparent = 'entries'::regclass`
    // The upkeep builds them while requests run, and tries again within a minute when something was in its way.
    const partitions = await until(async () => {
      const found = await indexesOf()
      return found.every(({ indexes }) => indexes !== 0) && found
    })
    expect(partitions.length).toBeGreaterThan(2)
    expect(partitions.filter(({ indexes }) => indexes !== 1)).toEqual([])
  })

  test('are listed by parts of their names, and by what limits them', async () => {
    const { name } = await make('tenants', { balance_usd: '0' })
    const part = name.slice(0, 13).toUpperCase()
    expect(rowsOf(await admin('GET', `tenants?search=${part}`)).map((row) => row.name)).toEqual([name])
    expect(rowsOf(await admin('GET', `tenants?name=${name}&limited=false`))).toEqual([])
    expect(rowsOf(await admin('GET', 'tenants?managed_by=file')).map((row) => row.name)).toEqual([
      'free',
      'paid',
    ])
  })
})

describe('groups', () => {
  test('have each setting that gateway.yaml has, in the same words', async () => {
    const settings = Object.keys(groupSettings.shape)
    expect(Object.keys(groupShown.shape)).toEqual(expect.arrayContaining(settings))
    const full = {
      description: 'For everybody.',
      public: true,
      models: ['main'],
      channels: ['scripted'],
      price_multiplier: '1.2',
      image_priority: 7,
      capture_answers: true,
      responses: { store: true, days: 7 },
      client_gone: { policy: 'abort', seconds: 0 },
      limits: { requests_per_minute: 1, tokens_per_minute: null, concurrency: null },
      total_limits: { requests_per_minute: null, tokens_per_minute: 9, concurrency: null },
      budget: { day: null, month: '10', total: null },
    }
    const { id, name, body } = await make('groups', full)
    expect(body).toMatchObject(full)
    const changed = await admin('PATCH', `groups/${name}`, {
      client_gone: { policy: null },
      budget: { day: '1' },
    })
    expect(changed.body).toMatchObject({
      ...full,
      client_gone: { policy: 'drain', seconds: 0 },
      budget: { day: '1', month: '10', total: null },
    })
    const defaults = Object.fromEntries(Object.keys(full).map((member) => [member, null]))
    expect((await admin('PATCH', `groups/${id}`, defaults)).body).toMatchObject({
      description: null,
      public: false,
      models: ['*'],
      channels: ['*'],
      price_multiplier: '1',
      image_priority: 0,
      client_gone: { policy: 'drain', seconds: 30 },
      budget: null,
    })
    expect((await sqlOf(id)).map(({ action }) => action)).toEqual([
      'group.make',
      'group.change',
      'group.change',
    ])
  })

  test('name models and channels that are there', async () => {
    for (const [settings, pointer] of [
      [{ models: ['main', 'gone'] }, '#/models/1'],
      [{ channels: ['gone'] }, '#/channels/0'],
    ] as const) {
      const answer = await admin('POST', 'groups', { name: randomUUID(), ...settings })
      expect(answer.body).toMatchObject({ code: 'invalid_request', errors: [{ pointer }] })
    }
  })

  test('are deleted when no key is in them', async () => {
    const { id, name } = await make('groups')
    const tenant = await make('tenants')
    const key = await admin('POST', 'keys', { tenant: tenant.name, name: 'one', group: name })
    const used = await admin('DELETE', `groups/${name}`)
    expect([used.status, used.reason]).toEqual([409, 'in_use'])
    await admin('PATCH', `keys/${String(key.body.id)}`, { group: null })
    expect((await admin('DELETE', `groups/${name}`)).body).toEqual({ id, deleted: true })
    expect((await admin('GET', `groups/${id}`)).status).toBe(404)
  })

  test('bound the spending of their keys: a new budget counts what they have spent', async () => {
    const key = rowsOf(await admin('GET', 'keys?tenant=free&name=abort'))[0]
    const { name } = await make('groups')
    const tenant = await make('tenants')
    const made = await admin('POST', 'keys', { tenant: tenant.name, name: 'spender', group: name })
    const id = String(made.body.id)
    const chat = await until(async () => {
      const answer = await fetch(`http://127.0.0.1:${bed.tollgate.port}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${String(made.body.secret)}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'main', messages: [{ role: 'user', content: 'Hello' }] }),
      })
      return answer.status === 200 ? answer : undefined
    })
    await bed.row(chat.headers.get('x-request-id') ?? undefined)
    await admin('PATCH', `groups/${name}`, { budget: { total: '1' } })
    // Both at once: the account is locked after the charges.
    const capped = await admin('PATCH', `tenants/${tenant.id}`, { budget: { month: '2' }, balance_usd: '3' })
    expect(capped.body).toMatchObject({ budget: { day: null, month: '2', total: null }, limited: true })
    await admin('PATCH', `keys/${id}`, {
      budget: { day: '0.5' },
      limits: { requests_per_minute: 10, concurrency: 4 },
    })
    const usage = await admin('GET', `keys/${id}/usage`)
    expect(usage.body).toMatchObject({
      budgets: [
        { of: 'key', period: 'day', spent_usd: '0.02', left_usd: '0.48' },
        { of: 'group', period: 'total', spent_usd: '0.02', left_usd: '0.98' },
        { of: 'tenant', period: 'month', spent_usd: '0.02', left_usd: '1.98' },
      ],
      limits: [
        { of: 'key', limit: 'requests_per_minute', allowed: 10, left: 10 },
        { of: 'key', limit: 'concurrency', allowed: 4, left: null },
      ],
      balance: { left_usd: '3' },
    })
    expect((await admin('GET', `keys/${id}/usage`)).body).toMatchObject({ limits: [{ left: 10 }, {}] })
    expect(key?.managed_by).toBe('file')
  })
})

describe('what gateway.yaml manages', () => {
  const file = () => bed.tollgate.context.config.gatewayConfig ?? ''
  const lineOf = (text: string) =>
    readFileSync(file(), 'utf8')
      .split('\n')
      .findIndex((line) => line.includes(text)) + 1

  test('is refused here with the line that manages it', async () => {
    const keys = rowsOf(await admin('GET', 'keys?tenant=paid'))
    const id = String(keys[0]?.id)
    for (const [method, path, body, text, what] of [
      ['PATCH', 'tenants/paid', { disabled: true }, '- name: paid', 'tenant "paid"'],
      ['PATCH', 'groups/abort', { public: true }, '- { name: abort, models', 'group "abort"'],
      ['DELETE', 'groups/abort', undefined, '- { name: abort, models', 'group "abort"'],
      ['PATCH', `keys/${id}`, { strict: true }, '- { name: paid,', 'key "paid"'],
      ['POST', `keys/${id}/rotate`, {}, '- { name: paid,', 'key "paid"'],
      ['POST', `keys/${id}/revoke`, undefined, '- { name: paid,', 'key "paid"'],
      ['POST', 'tenants', { name: 'paid' }, '- name: paid', 'tenant "paid"'],
      ['POST', 'groups', { name: 'abort' }, '- { name: abort, models', 'group "abort"'],
      ['POST', 'keys', { tenant: 'paid', name: 'paid' }, '- { name: paid,', 'key "paid"'],
    ] as const) {
      const answer = await admin(method, path, body)
      expect(answer.body).toMatchObject({
        status: 409,
        code: 'conflict',
        detail: `${what} is managed by ${file()}:${lineOf(text)}. Change it there.`,
      })
    }
  })

  test('leaves the keys of admins alone, in tenants of the file too, when the file is applied again', async () => {
    const own = await make('tenants')
    const { body } = await admin('POST', 'keys', { tenant: 'free', name: 'by an admin' })
    const before = [await admin('GET', `tenants/${own.id}`), await admin('GET', `keys/${String(body.id)}`)]
    await bed.tollgate.context.gatewayFile?.apply()
    const lines = await bed.database
      .sql`SELECT actor_kind, actor_name, after FROM audit_log WHERE action = 'file.apply'`
    const changes = { tenants: { added: ['free', 'paid'] }, groups: { added: ['default', 'abort'] } }
    expect(lines).toMatchObject([{ actor_kind: 'file', actor_name: file(), after: { changes } }])
    expect(JSON.stringify(lines)).not.toContain(freeKey)
    expect([await admin('GET', `tenants/${own.id}`), await admin('GET', `keys/${String(body.id)}`)]).toEqual(
      before,
    )
  })
})
