import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Actor } from '../../src/access/actor.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from '../../src/api/admin/endpoint.ts'
import { etagOf } from '../../src/api/admin/etag.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import { readConfig } from '../../src/config/config.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { sql } from '../../src/db/drizzle.cjs'
import { prepareDatabase } from '../../src/db/migrate.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { freshDatabase } from '../support/database.ts'
import { operator, type ServedAdmin, serveAdmin } from '../support/serve-admin.ts'

/** The framework of the admin API, with endpoints of this test. */

const owner: Actor = { ...operator, name: 'test' }

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let database: Database
let server: ServedAdmin
let actor: Actor = owner
let base: string
/** Called in each change, after its row was written. */
let within: () => Promise<void> = async () => {}

const counters = new Map<string, number>()

const endpoints: AdminEndpoint[] = [
  adminChange({
    method: 'POST',
    path: '/admin/v1/things',
    area: 'catalog',
    summary: 'Make a thing',
    body: z.strictObject({ name: z.string(), silent: z.boolean().default(false) }),
    statuses: [201],
    answer: z.object({ name: z.string(), secret: z.string() }),
    async change({ tx, body: { name, silent }, audit }) {
      await tx.execute(sql`INSERT INTO things VALUES (${name}, 1)`)
      counters.set(name, (counters.get(name) ?? 0) + 1)
      await within()
      if (!silent) await audit({ action: 'thing.make', resource: 'thing', id: name, after: { name } })
      return { status: 201, body: { name, secret: `secret-of-${randomUUID()}` } }
    },
  }),
  adminChange({
    method: 'PATCH',
    path: '/admin/v1/things/{name}',
    area: 'catalog',
    ifMatch: 'model',
    summary: 'Count a thing',
    params: z.object({ name: z.string() }),
    body: z.strictObject({ count: z.int() }),
    answer: z.object({ name: z.string(), count: z.int() }),
    async change({ tx, params: { name }, body: { count }, requireMatch, audit }) {
      const found = await tx.execute<{ count: number }>(
        sql`SELECT count FROM things WHERE name = ${name} FOR UPDATE`,
      )
      const before = { name, count: found.rows[0]?.count ?? 0 }
      requireMatch(etagOf(before))
      await tx.execute(sql`UPDATE things SET count = ${count} WHERE name = ${name}`)
      await audit({ action: 'thing.change', resource: 'thing', id: name, before, after: { name, count } })
      return { body: { name, count }, etag: etagOf({ name, count }) }
    },
  }),
  adminChange({
    method: 'PUT',
    path: '/admin/v1/things/{name}',
    area: 'catalog',
    ifMatch: 'model',
    summary: 'Count a thing, and forget to compare its ETag',
    params: z.object({ name: z.string() }),
    body: z.strictObject({ count: z.int() }),
    answer: z.object({ name: z.string(), count: z.int() }),
    async change({ tx, params: { name }, body: { count }, audit }) {
      await tx.execute(sql`UPDATE things SET count = ${count} WHERE name = ${name}`)
      await audit({ action: 'thing.change', resource: 'thing', id: name, after: { name, count } })
      return { body: { name, count } }
    },
  }),
  adminEndpoint({
    method: 'GET',
    path: '/admin/v1/things/{name}',
    area: 'catalog',
    summary: 'A thing',
    params: z.object({ name: z.string() }),
    answer: z.object({ name: z.string(), count: z.int() }),
    async handle({ params: { name } }) {
      const [row] = await database.reads.ask(({ sql }) => sql`SELECT count FROM things WHERE name = ${name}`)
      const shown = { name, count: Number(row?.count) }
      return { body: shown, etag: etagOf(shown) }
    },
  }),
]

beforeAll(async () => {
  fresh = await freshDatabase()
  await prepareDatabase(fresh.url)
  const { bounds } = readConfig({})
  database = openDatabase(fresh.url, bounds)
  await database.state.ask(({ sql }) => sql`CREATE TABLE things (name text PRIMARY KEY, count int)`)
  const keeper = new SecretKeeper('a-secret-key-for-tests-and-nothing-else')
  const answers = {
    encrypt: (answer: Buffer, id: string) => keeper.encryptAnswer(answer, id),
    decrypt: (sealed: Buffer, id: string) => keeper.decryptAnswer(sealed, id),
  }
  server = await serveAdmin({ database, answers }, endpoints, () => actor)
  base = `${server.url}/admin/v1/things`
})

afterAll(async () => {
  server?.close()
  await database?.close()
  await fresh?.drop()
})

function send(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
  return fetch(`${base}${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

const linesOf = (name: string) =>
  database.state.ask(
    ({ sql }) =>
      sql`SELECT action, actor_name, address, before, after FROM audit_log WHERE resource_id = ${name}`,
  )

test('a change and its line in the audit log are one transaction', async () => {
  const name = randomUUID()
  expect((await send('POST', '', { name })).status).toBe(201)
  expect(await linesOf(name)).toEqual([
    { action: 'thing.make', actor_name: 'test', address: '127.0.0.1', before: null, after: { name } },
  ])
})

test('a change that writes no line is a fault, and changes nothing', async () => {
  const name = randomUUID()
  const answer = await send('POST', '', { name, silent: true })
  expect(answer.status).toBe(500)
  expect(await database.state.ask(({ sql }) => sql`SELECT 1 FROM things WHERE name = ${name}`)).toEqual([])
})

test('a change that says it takes if-match and does not compare it is a fault, and changes nothing', async () => {
  const name = randomUUID()
  await send('POST', '', { name })
  expect((await send('PUT', `/${name}`, { count: 7 })).status).toBe(500)
  expect(await (await send('GET', `/${name}`)).json()).toEqual({ name, count: 1 })
})

test('of ten calls at once with one Idempotency-Key one runs, and all have its answer with its secret', async () => {
  const name = randomUUID()
  const headers = { 'idempotency-key': randomUUID() }
  const answers = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const answer = await send('POST', '', { name }, headers)
      return `${answer.status} ${await answer.text()}`
    }),
  )
  expect(new Set(answers).size).toBe(1)
  expect(answers[0]).toMatch(/^201 .*secret-of-/)
  expect(counters.get(name)).toBe(1)
  const kept = await database.state.ask(
    ({ sql }) => sql`SELECT encode(answer, 'escape') AS text FROM admin_answers`,
  )
  expect(JSON.stringify(kept)).not.toContain('secret-of-')
})

test('a key of another call is refused, and a key is one of its user only', async () => {
  const headers = { 'idempotency-key': randomUUID() }
  expect((await send('POST', '', { name: randomUUID() }, headers)).status).toBe(201)
  const other = await send('POST', '', { name: randomUUID() }, headers)
  expect(other.status).toBe(422)
  expect(await other.json()).toMatchObject({ code: 'idempotency_mismatch' })
  actor = { ...owner, kind: 'user', userId: randomUUIDv7() }
  expect((await send('POST', '', { name: randomUUID() }, headers)).status).toBe(201)
  actor = owner
})

test('a change that fails frees its Idempotency-Key', async () => {
  const name = randomUUID()
  const headers = { 'idempotency-key': randomUUID() }
  within = () => Promise.reject(new GatewayError('field_invalid', 'name: too silly', { field: 'name' }))
  const refused = await send('POST', '', { name }, headers)
  within = async () => {}
  expect(refused.status).toBe(400)
  expect((await send('POST', '', { name }, headers)).status).toBe(201)
})

test('a problem names its field by a JSON pointer, and the call by its request id', async () => {
  const answer = await send('POST', '', { name: 5 })
  expect(answer.status).toBe(400)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(await answer.json()).toEqual({
    type: 'urn:tollgate:problem:invalid_request',
    title: 'Invalid request',
    status: 400,
    code: 'invalid_request',
    detail: 'name: expected a string, got number',
    instance: `urn:uuid:${answer.headers.get('x-request-id')}`,
    errors: [{ pointer: '#/name', detail: 'expected a string, got number' }],
  })
})

test('of two that read the same ETag one may write, and a read that knows it gets 304', async () => {
  const name = randomUUID()
  await send('POST', '', { name })
  const read = await send('GET', `/${name}`)
  const etag = read.headers.get('etag') ?? ''
  expect(etag).toMatch(/^"[\w-]{22}"$/)
  const both = await Promise.all(
    [2, 3].map((count) => send('PATCH', `/${name}`, { count }, { 'if-match': etag })),
  )
  expect(both.map(({ status }) => status).sort()).toEqual([200, 412])
  expect((await send('GET', `/${name}`, undefined, { 'if-none-match': etag })).status).toBe(200)
  const now = (await send('GET', `/${name}`)).headers.get('etag') ?? ''
  const known = await send('GET', `/${name}`, undefined, { 'if-none-match': `W/"other", ${now}` })
  expect([known.status, await known.text()]).toEqual([304, ''])
})

test('a role without the right, a token without the scope and a member are refused', async () => {
  const refusalOf = async (other: Partial<Actor>) => {
    actor = { ...owner, ...other }
    const answer = await send('POST', '', { name: randomUUID() })
    actor = owner
    await answer.body?.cancel()
    return [answer.status, answer.headers.get('x-tollgate-reason')]
  }
  expect(await refusalOf({ role: 'viewer' })).toEqual([403, 'role_insufficient'])
  expect(await refusalOf({ scopes: ['catalog:read'] })).toEqual([403, 'scope_missing'])
  expect(await refusalOf({ role: 'member', tenantId: randomUUIDv7() })).toEqual([403, 'role_insufficient'])
})

test('changes that lock each other out run again', async () => {
  const [one, other] = [randomUUID(), randomUUID()]
  await database.state.ask(({ sql }) => sql`INSERT INTO things VALUES (${one}, 0), (${other}, 0)`)
  let arrived = 0
  const both = Promise.withResolvers<void>()
  const add = (first: string, second: string) =>
    database.admin.transact(async (tx) => {
      await tx.execute(sql`UPDATE things SET count = count + 1 WHERE name = ${first}`)
      if (++arrived === 2) both.resolve()
      await both.promise
      await tx.execute(sql`UPDATE things SET count = count + 1 WHERE name = ${second}`)
    })
  await Promise.all([add(one, other), add(other, one)])
  const rows = await database.state.ask(
    ({ sql }) => sql`SELECT count FROM things WHERE name IN (${one}, ${other})`,
  )
  expect(rows.map(({ count }) => count)).toEqual([2, 2])
})

test('when Postgres ends a connection inside of a change, that call gets 503 and the next one works', async () => {
  const name = randomUUID()
  within = async () => {
    await database.state.ask(
      ({ sql }) => sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = 'tollgate admin' AND datname = current_database()`,
    )
  }
  const cut = await send('POST', '', { name })
  within = async () => {}
  expect(cut.status).toBe(503)
  expect(cut.headers.get('retry-after')).toBe('2')
  expect(await linesOf(name)).toEqual([])
  expect((await send('POST', '', { name })).status).toBe(201)
})

test('a change that waits too long is given up, and holds nothing', async () => {
  const name = randomUUID()
  await database.state.ask(({ sql }) => sql`INSERT INTO things VALUES (${name}, 0)`)
  const never = database.admin.transact(
    async (tx) => {
      await tx.execute(sql`UPDATE things SET count = 7 WHERE name = ${name}`)
      await tx.execute(sql`SELECT pg_sleep(60)`)
    },
    { withinMs: 200 },
  )
  await expect(never).rejects.toMatchObject({ kind: 'unavailable' })
  await database.state.ask(
    ({ sql }) => sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE query LIKE 'SELECT pg_sleep%' AND datname = current_database()`,
  )
  await database.admin.transact((tx) => tx.execute(sql`UPDATE things SET count = 8 WHERE name = ${name}`))
  expect(await database.state.ask(({ sql }) => sql`SELECT count FROM things WHERE name = ${name}`)).toEqual([
    { count: 8 },
  ])
})
