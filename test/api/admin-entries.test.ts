import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { freeKey, gatewayYaml, paidKey } from '../support/gateway-yaml.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

const ownKey = 'own-scope-key-for-tests-01'
const tenantKey = 'tenant-scope-key-for-tests'
const tenants = `
  - name: budgeted
    budget: { month: "4.00" }
    keys:
      - { name: all, secret: ${tenantKey} }
      - { name: own, group: team, secret: ${ownKey}, usage_scope: key, budget: { day: "1.00", total: "10.00" } }
`
const yaml = (upstreamUrl: string) =>
  gatewayYaml(upstreamUrl, tenants).replace(
    'tenants:\n',
    "  - { name: team, models: ['*'], channels: ['*'], budget: { month: \"5.00\" } }\ntenants:\n",
  )

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken }, yaml })
})
afterAll(async () => {
  const { findings } = await verifyLedger(bed.database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  await bed.close()
})

async function admin(path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${bed.tollgate.url}/admin/v1/tenants/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    headers: response.headers,
  }
}

const chat = (key: string) =>
  bed.chat({ model: 'main', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }, { key })

/** Resolves when the rows of all former requests are in Postgres, which then holds nothing for them. */
const settled = () => until(async () => (await admin('paid/balance')).body.held_nano_usd === '0')

const answerOf = (model: unknown) => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  }),
})

describe('entries', () => {
  test('a top-up is booked once for its id, and can be spent at once', async () => {
    const id = randomUUID()
    const entry = { id, kind: 'top_up', amount_usd: '2.50', note: 'invoice 17' }
    const booked = await admin('paid/entries', entry)
    expect(booked.status).toBe(201)
    expect(booked.body).toMatchObject({
      entry: { id, kind: 'top_up', amount_usd: '2.5', amount_nano_usd: '2500000000', note: 'invoice 17' },
      tenant: 'paid',
      limited: true,
      balance_usd: '3.5',
      balance_nano_usd: '3500000000',
      held_usd: '0',
    })
    const repeated = await admin('paid/entries', entry)
    expect(repeated.status).toBe(200)
    expect(repeated.body).toEqual(booked.body)
    expect((await admin('paid/balance')).body).toMatchObject({ balance_usd: '3.5' })
    expect((await chat(paidKey)).status).toBe(200)
    const other = await admin('paid/entries', { ...entry, amount_usd: '2.51' })
    expect(other.status).toBe(422)
    expect(other.headers.get('x-tollgate-reason')).toBe('entry_id_taken')
    expect(other.body).toMatchObject({ code: 'idempotency_mismatch', detail: expect.stringContaining(id) })
  })

  test('each tenant can use an Idempotency-Key instead of an id', async () => {
    const entry = { kind: 'top_up', amount_usd: '0.000000001' }
    const key = { 'idempotency-key': 'invoice-18' }
    const first = await admin('free/entries', entry, key)
    const again = await admin('free/entries', entry, key)
    const elsewhere = await admin('paid/entries', entry, key)
    expect([first.status, again.status, elsewhere.status]).toEqual([201, 200, 201])
    expect(again.body).toEqual(first.body)
    expect(first.body).toMatchObject({ limited: false, entry: { amount_nano_usd: '1', note: null } })
    const unnamed = [await admin('free/entries', entry), await admin('free/entries', entry)]
    expect(unnamed.map(({ status }) => status)).toEqual([201, 201])
  })

  test('an adjustment can take money, but none that running requests hold', async () => {
    await settled()
    let release = () => {}
    bed.upstream.script(async () => {
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return { body: '{}', headers: { 'content-type': 'application/json' } }
    })
    const before = bed.upstream.requests.length
    const running = chat(paidKey)
    await bed.upstream.arrived(before + 1)
    const { body } = await admin('paid/balance')
    expect(body.held_nano_usd).not.toBe('0')
    const tooMuch = await admin('paid/entries', {
      kind: 'adjustment',
      amount_usd: `-${String(body.balance_usd)}`,
    })
    expect(tooMuch.status).toBe(400)
    expect(tooMuch.body).toMatchObject({
      detail: expect.stringContaining(`hold $${String(body.held_usd)}`),
      errors: [{ pointer: '#/amount_usd' }],
    })
    const free = BigInt(String(body.balance_nano_usd)) - BigInt(String(body.held_nano_usd))
    const decimal = `${free / 1_000_000_000n}.${String(free % 1_000_000_000n).padStart(9, '0')}`
    const taken = await admin('paid/entries', { kind: 'adjustment', amount_usd: `-${decimal}` })
    expect(taken.status).toBe(201)
    expect(taken.body.balance_nano_usd).toBe(body.held_nano_usd)
    release()
    await running
    bed.upstream.script(() => ({ status: 500, body: '' }))
  })

  test.each([
    [{ kind: 'top_up' }, 'amount_usd'],
    [{ kind: 'top_up', amount_usd: 5 }, 'amount_usd'],
    [{ kind: 'top_up', amount_usd: '5e3' }, 'amount_usd'],
    [{ kind: 'top_up', amount_usd: '0.0000000001' }, 'amount_usd'],
    [{ kind: 'top_up', amount_usd: '0' }, 'amount_usd'],
    [{ kind: 'top_up', amount_usd: '-1' }, 'amount_usd'],
    [{ kind: 'adjustment', amount_usd: '--1' }, 'amount_usd'],
    [{ kind: 'adjustment', amount_usd: '9999999999' }, 'amount_usd'],
    [{ kind: 'charge', amount_usd: '1' }, 'kind'],
    [{ kind: 'top_up', amount_usd: '1', id: 'one' }, 'id'],
    [{ kind: 'top_up', amount_usd: '1', note: 'a\0b' }, 'note'],
    [{ kind: 'top_up', amount_usd: '1', amount: '1' }, 'amount'],
    [['top_up'], 'body'],
    ['{', 'body'],
  ])('%j is refused by an error that names the fault', async (entry, field) => {
    const before = await admin('free/balance')
    const { status, body } = await admin('free/entries', entry)
    expect(status).toBe(400)
    expect(body).toMatchObject({
      code: 'invalid_request',
      ...(field === 'body' ? {} : { errors: [{ pointer: `#/${field}` }] }),
    })
    expect(body.detail).toContain(field)
    expect((await admin('free/balance')).body).toEqual(before.body)
  })

  test('an entry cannot have the id of a running or ended request, because the charge of that request has this id', async () => {
    await settled()
    let release = () => {}
    bed.upstream.script(async (request) => {
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return answerOf(request.model)
    })
    await admin('paid/entries', { kind: 'top_up', amount_usd: '1' })
    const before = bed.upstream.requests.length
    const running = chat(paidKey)
    await bed.upstream.arrived(before + 1)
    const [row] = await bed.database.sql<{ request_id: string }[]>`SELECT request_id FROM reservations`
    const id = row?.request_id
    const entry = { id, kind: 'top_up', amount_usd: '1' }
    const taken = await admin('free/entries', entry)
    release()
    const { status, headers } = await running
    expect([status, headers.get('x-request-id')]).toEqual([200, id])
    expect(taken.status).toBe(422)
    expect(taken.body).toMatchObject({
      detail: expect.stringContaining('a request'),
      errors: [{ pointer: '#/id' }],
    })
    await expect
      .poll(async () => (await bed.database.sql`SELECT kind FROM entries WHERE id = ${id ?? ''}`)[0]?.kind)
      .toBe('charge')
    expect((await admin('paid/entries', entry)).status).toBe(422)

    // A running request that holds no money and has no row yet.
    const open = chat(freeKey)
    await bed.upstream.arrived(before + 2)
    let openId: string | undefined
    await expect
      .poll(async () => {
        const [body] = await bed.database.sql<
          { request_id: string }[]
        >`SELECT request_id FROM request_payloads p
          WHERE NOT EXISTS (SELECT 1 FROM requests r WHERE r.id = p.request_id)`
        openId = body?.request_id
        return openId
      })
      .toBeDefined()
    const refusedWhileOpen = await admin('free/entries', { ...entry, id: openId })
    release()
    expect([(await open).headers.get('x-request-id'), refusedWhileOpen.status]).toEqual([openId, 422])

    // A request that was charged nothing has no entry. It is a request all the same.
    bed.upstream.script(() => ({ status: 400, body: '{"error":{"message":"no"}}' }))
    const refused = await chat(freeKey)
    const refusedId = refused.headers.get('x-request-id')
    await expect
      .poll(async () => (await bed.database.sql`SELECT id FROM requests WHERE id = ${refusedId}`).length)
      .toBe(1)
    const balance = await admin('free/balance')
    expect((await admin('free/entries', { ...entry, id: refusedId })).status).toBe(422)
    expect((await admin('free/balance')).body).toEqual(balance.body)
  })

  test('a tenant name that no database could hold is an unknown tenant', async () => {
    for (const path of ['a%00b/balance', '%00/balance']) expect((await admin(path)).status).toBe(404)
    expect((await admin('%00/entries', { kind: 'top_up', amount_usd: '1' })).status).toBe(404)
  })

  test('two entries at once with the same id are booked once', async () => {
    const entry = { id: randomUUID(), kind: 'top_up', amount_usd: '1' }
    const { body } = await admin('free/balance')
    const answers = await Promise.all(Array.from({ length: 10 }, () => admin('free/entries', entry)))
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201])
    const after = await admin('free/balance')
    expect(BigInt(String(after.body.balance_nano_usd)) - BigInt(String(body.balance_nano_usd))).toBe(
      1_000_000_000n,
    )
  })

  test('only a client with the admin token as bearer token can see or book entries', async () => {
    for (const authorization of [
      '',
      `Bearer ${freeKey}`,
      `Basic ${btoa(`a:${adminToken}`)}`,
      `Bearer ${adminToken}x`,
    ]) {
      for (const answer of [
        await admin('free/entries', { kind: 'top_up', amount_usd: '1' }, { authorization }),
        await admin('free/balance', undefined, { authorization }),
      ]) {
        expect(answer.status).toBe(401)
        expect(answer.body).toMatchObject({ detail: expect.stringContaining('ADMIN_TOKEN') })
      }
    }
    const { status } = await admin('nobody/balance')
    expect(status).toBe(404)
  })
})

describe('GET /v1/usage/budget', () => {
  async function budget(key: string) {
    const response = await fetch(`${bed.tollgate.url}/v1/usage/budget`, {
      headers: { authorization: `Bearer ${key}` },
    })
    expect(response.status).toBe(200)
    return (await response.json()) as {
      balance: Record<string, string> | null
      budgets: Record<string, string>[]
    }
  }

  test('shows a key what it and its group may still spend, its last request included, and when the budgets reset', async () => {
    bed.upstream.script((request) => answerOf(request.model))
    expect((await chat(ownKey)).status).toBe(200)
    const { balance, budgets } = await budget(ownKey)
    expect(balance).toBeNull()
    const now = new Date()
    const tomorrow = new Date(
      Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1),
    ).toISOString()
    const nextMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1)).toISOString()
    const spent = { spent_usd: '0.02', spent_nano_usd: '20000000', held_usd: '0', held_nano_usd: '0' }
    expect(budgets).toMatchObject([
      {
        of: 'key',
        period: 'day',
        limit_usd: '1',
        ...spent,
        left_usd: '0.98',
        free_usd: '0.98',
        resets_at: tomorrow,
      },
      { of: 'key', period: 'total', limit_usd: '10', ...spent, left_nano_usd: '9980000000', resets_at: null },
      { of: 'group', period: 'month', limit_usd: '5', ...spent, left_usd: '4.98', resets_at: nextMonth },
    ])
  })

  test("shows the tenant's budget to keys that see their tenant, with what its other keys have spent", async () => {
    const { budgets } = await budget(tenantKey)
    expect(budgets).toMatchObject([{ of: 'tenant', period: 'month', spent_usd: '0.02', left_usd: '3.98' }])
    const own = await fetch(`${bed.tollgate.url}/v1/key`, {
      headers: { authorization: `Bearer ${tenantKey}` },
    })
    expect(await own.json()).toMatchObject({ money: { balance: null, budgets } })
  })

  test('shows the balance to keys that see their tenant, if it is limited, and writes no row', async () => {
    await settled()
    const rows = (await bed.rows()).length
    expect((await budget(paidKey)).balance).toMatchObject({
      left_usd: expect.any(String),
      held_nano_usd: '0',
    })
    expect(await budget(freeKey)).toEqual({ balance: null, budgets: [] })
    expect((await bed.rows()).length).toBe(rows)
  })

  test('takes no parameters', async () => {
    const response = await fetch(`${bed.tollgate.url}/v1/usage/budget?day=1`, {
      headers: { authorization: `Bearer ${freeKey}` },
    })
    expect(response.status).toBe(400)
  })
})
