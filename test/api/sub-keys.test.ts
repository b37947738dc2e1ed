import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { sql } from '../../src/db/drizzle.cjs'
import { gatewayYaml } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'
import { chatAnswer } from '../support/upstream-plans.ts'

const makerKey = 'key-that-makes-keys-0001'
const plainKey = 'key-that-makes-none-0001'
const busyKey = 'key-that-is-busy-0001'
const floodKey = 'key-that-makes-many-0001'
const messages = [{ role: 'user', content: 'Hello' }]

const yaml = (upstreamUrl: string) =>
  gatewayYaml(
    upstreamUrl,
    `
  - name: makers
    keys:
      - { name: maker, secret: ${makerKey}, sub_keys: 3, allowed_models: [main, priced], allowed_cidrs: [127.0.0.0/8],
          budget: { total: "2.00" }, limits: { requests_per_minute: 200 } }
      - { name: plain, secret: ${plainKey} }
      - { name: busy, secret: ${busyKey}, sub_keys: 1, limits: { requests_per_minute: 200 } }
      - { name: flood, secret: ${floodKey}, sub_keys: 100 }`,
  )

let bed: Testbed

beforeAll(async () => {
  bed = await startTestbed({ yaml })
  bed.upstream.script(() => chatAnswer())
})
afterAll(() => bed?.close())

async function call(key: string, method: string, path: string, body?: object) {
  const response = await fetch(`http://127.0.0.1:${bed.tollgate.port}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const reason = response.headers.get('x-tollgate-reason')
  return { status: response.status, reason, body: z.looseObject({}).parse(await response.json()) }
}

const chat = (key: string, more: object = {}) =>
  call(key, 'POST', '/v1/chat/completions', { model: 'main', messages, max_tokens: 10, ...more })

const made = z.object({ id: z.string(), secret: z.string() })

async function make(body: object): Promise<z.output<typeof made>> {
  const answer = await call(makerKey, 'POST', '/v1/keys', body)
  expect(answer).toMatchObject({ status: 201 })
  return made.parse(answer.body)
}

const revoke = (id: string) => call(makerKey, 'DELETE', `/v1/keys/${id}`)

test('a key that may make none is told so, and a sub-key makes none', async () => {
  expect(await call(plainKey, 'POST', '/v1/keys', { name: 'x' })).toMatchObject({
    status: 403,
    reason: 'sub_keys_not_allowed',
  })
  const { id, secret } = await make({ name: 'leaf' })
  expect((await call(secret, 'POST', '/v1/keys', { name: 'y' })).status).toBe(403)
  await revoke(id)
})

test('a sub-key works at once, and within a second of its revocation it is refused', async () => {
  const { id, secret } = await make({ name: 'short' })
  expect((await chat(secret)).status).toBe(200)
  expect(await revoke(id)).toMatchObject({ status: 200, body: { id, revoked_at: expect.any(String) } })
  // Some seconds more for a busy machine.
  await until(async () => (await chat(secret)).status === 401, 6_000)
})

test('of five calls at once only as many sub-keys are made as may be', async () => {
  const answers = await Promise.all(
    Array.from({ length: 5 }, (_, index) => call(makerKey, 'POST', '/v1/keys', { name: `many-${index}` })),
  )
  const ids = answers.flatMap(({ status, body }) => (status === 201 ? made.parse(body).id : []))
  expect(ids).toHaveLength(3)
  expect(answers.filter(({ reason }) => reason === 'sub_keys_max')).toHaveLength(2)
  const listed = z.object({ data: z.array(z.object({ id: z.string(), revoked_at: z.string().nullable() })) })
  const { data } = listed.parse((await call(makerKey, 'GET', '/v1/keys')).body)
  expect(new Set(data.flatMap((key) => (key.revoked_at === null ? key.id : [])))).toEqual(new Set(ids))
  for (const id of ids) await revoke(id)
})

test('a sub-key may use no model that its maker may not, and no name twice', async () => {
  expect(await call(makerKey, 'GET', '/v1/models/other')).toMatchObject({ reason: 'model_not_allowed' })
  expect(
    await call(makerKey, 'POST', '/v1/keys', { name: 'w', allowed_models: ['main', 'other'] }),
  ).toMatchObject({
    status: 400,
    body: { error: { param: 'allowed_models[1]' } },
  })
  const { id, secret } = await make({ name: 'narrow', allowed_models: ['priced'] })
  expect([403, 404]).toContain((await chat(secret)).status)
  expect((await chat(secret, { model: 'priced' })).status).toBe(200)
  expect(await call(makerKey, 'POST', '/v1/keys', { name: 'narrow' })).toMatchObject({
    status: 400,
    body: { error: { param: 'name' } },
  })
  await revoke(id)
})

test("what a sub-key spends counts against its maker's budget, and no sub-key passes it", async () => {
  const [one, other] = [await make({ name: 'one' }), await make({ name: 'other', budget: { total: '0.50' } })]
  const spentOf = async () => {
    const { body } = await call(makerKey, 'GET', '/v1/usage/budget')
    const { budgets } = z
      .object({ budgets: z.array(z.object({ of: z.string(), spent_usd: z.string() })) })
      .parse(body)
    return Number(budgets.find((budget) => budget.of === 'key')?.spent_usd)
  }
  const before = await spentOf()
  // The most that it may cost is held: the input of a token or so per character, and ten tokens of output.
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => chat(index % 2 === 0 ? one.secret : other.secret)),
  )
  const good = answers.filter(({ status }) => status === 200).length
  expect(good).toBeGreaterThan(0)
  expect(new Set(answers.map(({ status }) => status))).toEqual(
    new Set([200, 402, 429].filter((status) => answers.some((a) => a.status === status))),
  )
  await bed.rows()
  const after = await spentOf()
  expect(after).toBeGreaterThan(before)
  expect(after).toBeLessThanOrEqual(2)
  const shown = await call(other.secret, 'GET', '/v1/usage/budget')
  const owners = z.object({ budgets: z.array(z.object({ of: z.string() })) }).parse(shown.body)
  expect(owners.budgets.map((budget) => budget.of)).toEqual(['key', 'parent'])
  await revoke(one.id)
  await revoke(other.id)
})

test('a sub-key follows its maker to another group and capture, and its maker revokes one that an admin has disabled', async () => {
  const { state } = bed.tollgate.context.database
  const { id, secret } = await make({ name: 'follows' })
  expect((await chat(secret)).status).toBe(200)
  await state.ask(
    ({ sql }) => sql`INSERT INTO key_groups (id, name, models, channels, managed_by)
      VALUES (gen_random_uuid(), 'narrow', '{priced}', '{*}', 'admin')`,
  )
  await state.ask(
    ({
      sql,
    }) => sql`UPDATE keys SET capture = 'none', group_id = (SELECT id FROM key_groups WHERE name = 'narrow')
      WHERE name = 'maker'`,
  )
  const shown = () => call(secret, 'GET', '/v1/key')
  await expect.poll(async () => (await shown()).body).toMatchObject({ group: 'narrow', capture: 'none' })
  expect([403, 404]).toContain((await chat(secret)).status)
  await state.ask(
    ({
      sql,
    }) => sql`UPDATE keys SET capture = 'content', group_id = (SELECT id FROM key_groups WHERE name = 'default')
      WHERE name = 'maker'`,
  )
  await state.ask(({ sql }) => sql`UPDATE keys SET disabled_at = now() WHERE id = ${id}`)
  expect(await revoke(id)).toMatchObject({ status: 200, body: { revoked_at: expect.any(String) } })
  await revoke(id)
  const rows = await state.ask(({ sql }) => sql`SELECT revoked_at FROM keys WHERE id = ${id}`)
  expect(rows).toEqual([{ revoked_at: expect.any(Date) }])
  const lines = await state.ask(
    ({ sql }) => sql`SELECT FROM audit_log WHERE resource_id = ${id} AND action = 'key.revoke'`,
  )
  expect(lines).toHaveLength(1)
})

test('all sub-keys share the limits of their maker', async () => {
  const answer = await call(busyKey, 'POST', '/v1/keys', { name: 'busy-leaf' })
  const { secret } = made.parse(answer.body)
  const statuses = (key: string, times: number) =>
    Promise.all(Array.from({ length: times }, async () => (await call(key, 'GET', '/v1/key')).status))
  // More than what comes back in the meantime: 200 a minute.
  expect(await statuses(secret, 300)).toContain(429)
  expect(await statuses(busyKey, 60)).toContain(429)
})

test('a disabled maker stops its sub-keys, and the audit log names the maker', async () => {
  const { state } = bed.tollgate.context.database
  await state.ask(({ sql }) => sql`UPDATE keys SET requests_per_minute = NULL WHERE name = 'maker'`)
  await state.ask(({ sql }) => sql`UPDATE keys SET disabled_at = now() WHERE name = 'busy'`)
  await expect.poll(async () => (await call(makerKey, 'GET', '/v1/key')).status).toBe(200)
  const { id, secret } = await make({ name: 'child' })
  expect(await call(secret, 'GET', '/v1/key')).toMatchObject({
    status: 200,
    body: { name: 'child', tenant: 'makers', models: ['main', 'priced'], sub_keys_max: 0 },
  })
  await state.ask(({ sql }) => sql`UPDATE keys SET disabled_at = now() WHERE name = 'maker'`)
  await expect.poll(async () => (await call(secret, 'GET', '/v1/key')).status).toBe(401)
  const lines = await state.ask(
    ({ sql }) =>
      sql`SELECT action, actor_kind, actor_name, after ->> 'name' AS name FROM audit_log WHERE resource_id = ${id}`,
  )
  expect(lines).toEqual([{ action: 'key.create', actor_kind: 'key', actor_name: 'maker', name: 'child' }])
  expect(JSON.stringify(lines)).not.toContain(secret)
})

test('a key that makes many sub-keys at once leaves connections for admins, and is told when too many wait', async () => {
  const { admin } = bed.tollgate.context.database
  const held = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  // All of them wait for the row of their maker, so each that runs keeps its connection.
  const holder = admin.transact(
    async (tx) => {
      await tx.execute(sql`SELECT 1 FROM keys WHERE name = 'flood' FOR UPDATE`)
      locked.resolve()
      await held.promise
    },
    { withinMs: 30_000 },
  )
  await locked.promise
  let refused = 0
  const calls = Array.from({ length: 60 }, async (_, index) => {
    const answer = await call(floodKey, 'POST', '/v1/keys', { name: `flood-${index}` })
    if (answer.status === 429) refused++
    return answer
  })
  await until(() => refused > 0)
  const asked = await admin.transact((tx) => tx.execute<{ one: number }>(sql`SELECT 1 AS one`))
  expect(asked.rows).toEqual([{ one: 1 }])
  held.resolve()
  await holder
  const answers = await Promise.all(calls)
  expect(answers.find(({ status }) => status === 429)?.reason).toBe('sub_key_changes_full')
  expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(0)
})
