import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type MarkedTenants, startMarkedTenants } from '../support/marked-tenants.ts'
import { until } from '../support/until.ts'

/** What a member of a tenant may give the keys of its tenant. */

let world: MarkedTenants
beforeAll(async () => {
  world = await startMarkedTenants()
})
afterAll(() => world?.close())

const group = async (settings: object = {}) => {
  const body = { name: randomUUID(), ...settings }
  expect((await world.call('POST', 'groups', { cookie: world.owner, body })).status).toBe(201)
  return body.name
}
const make = (cookie: string, settings: object) =>
  world.call('POST', 'keys', { cookie, body: { tenant: world.a.name, name: randomUUID(), ...settings } })
const change = (id: string, body: object) =>
  world.call('PATCH', `keys/${id}`, { cookie: world.a.cookie, body })
const wrongField = ({ status, body }: Awaited<ReturnType<typeof change>>) => [
  status,
  body.errors?.[0]?.pointer,
]

test('a member lowers limits and budgets, and does not raise or remove them', async () => {
  const bounds = { limits: { requests_per_minute: 10 }, budget: { day: '2' } }
  const { body: key } = await make(world.owner, { group: await group(), ...bounds })
  for (const [settings, field] of [
    [{ limits: { requests_per_minute: 11 } }, '#/limits/requests_per_minute'],
    [{ limits: { requests_per_minute: null } }, '#/limits/requests_per_minute'],
    [{ limits: null }, '#/limits/requests_per_minute'],
    [{ budget: { day: '2.01' } }, '#/budget/day'],
    [{ budget: null }, '#/budget/day'],
  ] as const)
    expect(wrongField(await change(key.id, settings))).toEqual([400, field])
  const lower = { limits: { requests_per_minute: 9, concurrency: 1 }, budget: { day: '1', total: '5' } }
  expect(await change(key.id, lower)).toMatchObject({ status: 200, body: { limits: lower.limits } })
  expect(wrongField(await change(key.id, bounds))).toEqual([400, '#/limits/requests_per_minute'])
  expect((await change(key.id, { name: randomUUID() })).status).toBe(200)
  // Its own limit too, of which it is not said that an admin set it.
  expect((await change(key.id, bounds)).body.detail).toBe(
    'limits.requests_per_minute: expected at most 9, which the key has now: a member can lower it, and not raise it again; ask an admin for more',
  )
})

test('limits of the key itself do not lift those of its group', async () => {
  const { body: key } = await make(world.owner, { group: await group({ limits: { concurrency: 3 } }) })
  const raised = { limits: { requests_per_minute: 1000 } }
  expect(wrongField(await change(key.id, raised))).toEqual([400, '#/limits/concurrency'])
  expect((await change(key.id, { limits: { concurrency: 2 } })).status).toBe(200)
})

test('a new key of a member has at most what the other keys of its tenant have in that group', async () => {
  const bounded = await group()
  await make(world.owner, { group: bounded, budget: { month: '3' } })
  await make(world.owner, { group: bounded, budget: { month: '4' } })
  for (const budget of [null, { month: '4.5' }, { day: '1' }])
    expect(wrongField(await make(world.a.cookie, { group: bounded, budget }))).toEqual([
      400,
      '#/budget/month',
    ])
  expect((await make(world.a.cookie, { group: bounded, budget: { month: '4' } })).status).toBe(201)
})

test('a group without a key of the tenant is refused as one that is not there', async () => {
  const foreign = await group()
  await world.call('POST', 'keys', {
    cookie: world.owner,
    body: { tenant: world.b.name, name: randomUUID(), group: foreign },
  })
  const left = await group()
  const { body: revoked } = await make(world.owner, { group: left })
  await world.call('POST', `keys/${revoked.id}/revoke`, { cookie: world.owner })
  for (const name of [foreign, left, 'none'])
    for (const answer of [
      await make(world.a.cookie, { group: name }),
      await change(world.a.keyId, { group: name }),
    ])
      expect([answer.status, answer.body.detail]).toEqual([
        400,
        `group: your tenant has no key in the group "${name}"; ask an admin for one`,
      ])
})

test('a member learns of no model, and of no alias, that keys of the group may not use', async () => {
  const model = `hidden-${randomUUID()}`
  const made = await world.call('POST', 'models', {
    cookie: world.owner,
    body: { id: model, aliases: [`${model}-alias`] },
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  const named = await group({ models: ['main'] })
  const { body: key } = await make(world.owner, { group: named })
  for (const allowed of [model, `${model}-alias`, 'none'])
    for (const answer of [
      await make(world.a.cookie, { group: named, allowed_models: [allowed] }),
      await change(key.id, { allowed_models: [allowed] }),
    ])
      expect([answer.status, answer.body.detail]).toEqual([
        400,
        `allowed_models[0]: there is no model "${allowed}"`,
      ])
  // Its own model, as soon as the process has the group.
  await until(async () => (await change(key.id, { allowed_models: ['main'] })).status === 200)
  // An admin may list a model that the group gets later.
  const admin = { cookie: world.owner, body: { allowed_models: [model] } }
  expect((await world.call('PATCH', `keys/${key.id}`, admin)).status).toBe(200)
  expect((await change(key.id, { name: randomUUID() })).status).toBe(200)
})

type Listed = { name: string; models: object[] }

test('a member reads the models and prices of the groups of its keys, and no channel', async () => {
  const priced = await group({ models: ['main'], price_multiplier: '1.5' })
  const foreign = await group()
  await make(world.owner, { group: priced })
  const read = (id: string) => world.call('GET', `tenants/${id}/models`, { cookie: world.a.cookie })
  const listed = await until(async () => {
    const { body } = await read(world.a.id)
    return body.groups.find((each: Listed) => each.name === priced && each.models.length > 0)
  })
  expect(listed.models).toMatchObject([{ id: 'main', pricing: { input: '1500.00' }, context_length: 1000 }])
  const { status, body } = await read(world.a.id)
  expect([status, JSON.stringify(body).includes('scripted')]).toEqual([200, false])
  expect(body.groups.map(({ name }: Listed) => name)).not.toContain(foreign)
  expect((await read(world.b.id)).status).toBe(404)
})

test('a member enables what a member has disabled, and not what an admin has', async () => {
  const named = await group()
  const { body: key } = await make(world.owner, { group: named })
  const admin = (body: object) => world.call('PATCH', `keys/${key.id}`, { cookie: world.owner, body })
  const stateOf = ({ body: { disabled, disabled_by } }: Awaited<ReturnType<typeof change>>) => [
    disabled,
    disabled_by,
  ]
  const isRefused = async (body: object) => {
    const { status, body: problem } = await change(key.id, body)
    expect([status, problem.code]).toEqual([403, 'permission_denied'])
    expect(problem.detail).toBe(`The key "${key.name}" was disabled by an admin. Ask an admin to enable it.`)
  }
  expect(stateOf(await change(key.id, { disabled: true }))).toEqual([true, 'member'])
  expect(stateOf(await admin({ name: key.name, strict: true }))).toEqual([true, 'member'])
  expect(stateOf(await change(key.id, { disabled: false }))).toEqual([false, null])

  expect(stateOf(await admin({ disabled: true }))).toEqual([true, 'admin'])
  await isRefused({ disabled: false })
  await isRefused({ disabled: null })
  expect(stateOf(await change(key.id, { disabled: true, strict: false }))).toEqual([true, 'admin'])
  await isRefused({ disabled: false })
  // Nor is it a reason to give a member another key like it.
  expect(wrongField(await make(world.a.cookie, { group: named }))).toEqual([400, '#/group'])
  expect(stateOf(await admin({ disabled: false }))).toEqual([false, null])

  // An admin takes over what a member has disabled.
  await change(key.id, { disabled: true })
  expect(stateOf(await admin({ disabled: true }))).toEqual([true, 'admin'])
  await isRefused({ disabled: false })
  const { body: own } = await make(world.owner, { group: named })
  const { body: made } = await make(world.a.cookie, { group: own.group, disabled: true })
  expect(stateOf(await change(made.id, { disabled: false }))).toEqual([false, null])
})

test('a key that was disabled before the column was there is enabled by an admin', async () => {
  const { body: key } = await make(world.owner, { group: await group() })
  await world.bed.database.sql`UPDATE keys SET disabled_at = now() WHERE id = ${key.id}`
  expect((await change(key.id, { disabled: false })).status).toBe(403)
})
