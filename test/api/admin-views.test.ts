import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Actor } from '../../src/access/actor.ts'
import { deleteUser } from '../../src/access/users/user-queries.ts'
import { viewsEndpoints } from '../../src/api/admin/views.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { callAs } from './call-as.ts'

/** Views that people keep of a page. */

let bed: Testbed
const tenants: string[] = []
beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken } })
  const rows = await bed.database.sql`select id from tenants order by name`
  tenants.push(...rows.map(({ id }) => String(id)))
})
afterAll(() => bed.close())

const userOf = (tenantId: string | null): Actor => {
  const id = randomUUIDv7()
  const role = tenantId === null ? ('admin' as const) : ('member' as const)
  return { kind: 'user', id, userId: id, name: `user ${id}`, role, tenantId, scopes: undefined }
}

async function call(
  actor: Actor,
  method: string,
  path = '',
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const endpoint = viewsEndpoints(bed.tollgate.context).find(
    (each) => each.method === method && each.path.includes('{id}') === path.startsWith('/'),
  )
  if (endpoint === undefined) throw new Error(`no ${method}`)
  return await callAs(bed.tollgate.context, endpoint, actor, `/admin/v1/views${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

async function names(actor: Actor, query = ''): Promise<unknown[]> {
  const { data } = (await call(actor, 'GET', query)).body
  return Array.isArray(data) ? data.map(({ name }) => name) : []
}

const view = { name: 'Errors', page: 'log', query: { status: ['5xx', '429'], tenant: 'acme' } }

test('a view is made, read, changed and deleted, each with a line in the audit log', async () => {
  const mine = userOf(null)
  const made = await call(mine, 'POST', '', view)
  expect(made.status, made.text).toBe(201)
  expect(made.body).toMatchObject({ ...view, shared: false, own: true, user: mine.name, tenant_id: null })
  const path = `/${made.body.id}`
  const etag = made.headers.get('etag') ?? ''
  expect((await call(mine, 'GET', path)).body).toEqual(made.body)
  const changed = await call(mine, 'PATCH', path, { name: 'Faults' }, { 'if-match': etag })
  expect(changed.body).toMatchObject({ ...view, name: 'Faults' })
  expect((await call(mine, 'PATCH', path, { name: 'x' }, { 'if-match': etag })).status).toBe(412)
  expect((await call(mine, 'DELETE', path)).body).toMatchObject({ name: 'Faults' })
  expect((await call(mine, 'GET', path)).status).toBe(404)
  const lines = await bed.database
    .sql`select action from audit_log where resource_id = ${String(made.body.id)} order by id`
  expect(lines.map(({ action }) => action)).toEqual(['view.create', 'view.change', 'view.delete'])
})

test('only shared views are seen by others, and only by those of the same tenant', async () => {
  const [here = '', there = ''] = tenants
  const [one, colleague, stranger, admin] = [userOf(here), userOf(here), userOf(there), userOf(null)]
  await call(one, 'POST', '', { ...view, name: 'private' })
  const shared = await call(one, 'POST', '', { ...view, name: 'shared', shared: true })
  await call(one, 'POST', '', { ...view, name: 'other page', page: 'keys', shared: true })
  expect(await names(one)).toEqual(['private', 'shared', 'other page'])
  expect(await names(colleague)).toEqual(['shared', 'other page'])
  expect(await names(colleague, '?page=log')).toEqual(['shared'])
  expect(await names(stranger)).toEqual([])
  expect(await names(admin)).not.toContain('shared')
  const path = `/${shared.body.id}`
  expect((await call(colleague, 'GET', path)).body).toMatchObject({ own: false })
  expect((await call(colleague, 'PATCH', path, { name: 'taken' })).status).toBe(403)
  expect((await call(colleague, 'DELETE', path)).status).toBe(403)
  expect((await call(stranger, 'GET', path)).status).toBe(404)
  expect((await call(stranger, 'DELETE', path)).status).toBe(404)
  const ofAdmin = await call(admin, 'POST', '', { ...view, name: 'of operators', shared: true })
  expect(await names(userOf(null))).toContain('of operators')
  expect((await call(one, 'GET', `/${ofAdmin.body.id}`)).status).toBe(404)
})

test('an owner changes and deletes what another one shares, which is audited, and nothing else', async () => {
  const [one, owner] = [userOf(null), { ...userOf(null), role: 'owner' as const }]
  const own = await call(one, 'POST', '', { ...view, name: 'private' })
  const shared = await call(one, 'POST', '', { ...view, name: 'shared', shared: true })
  const path = `/${shared.body.id}`
  expect((await call(userOf(null), 'GET', path)).body).toMatchObject({ own: false, changeable: false })
  expect((await call(owner, 'GET', path)).body).toMatchObject({
    own: false,
    changeable: true,
    user: one.name,
  })
  expect((await call(owner, 'PATCH', path, { name: 'better' })).body).toMatchObject({ name: 'better' })
  expect((await call(one, 'GET', path)).body).toMatchObject({ name: 'better', own: true, changeable: true })
  expect((await call(owner, 'DELETE', path)).status).toBe(200)
  expect((await call(owner, 'PATCH', `/${own.body.id}`, { name: 'taken' })).status).toBe(404)
  const lines = await bed.database
    .sql`select action, actor_name from audit_log where resource_id = ${String(shared.body.id)} order by id`
  expect(lines.slice(1)).toEqual([
    { action: 'view.change', actor_name: owner.name },
    { action: 'view.delete', actor_name: owner.name },
  ])
})

test('a token for one tenant has no views that its user, or ADMIN_TOKEN, made elsewhere', async () => {
  const [here = '', there = ''] = tenants
  const owner = userOf(null)
  // A token that ADMIN_TOKEN has made has no user.
  for (const userId of [owner.userId, null]) {
    const tokenFor = (tenantId: string | null): Actor => ({ ...userOf(tenantId), kind: 'token', userId })
    const [wide, token, other] = [tokenFor(null), tokenFor(here), tokenFor(there)]
    const page = userId === null ? 'of-operator' : 'of-owner'
    const made = await call(wide, 'POST', '', { ...view, name: 'wide', page, shared: true })
    await call(other, 'POST', '', { ...view, name: 'other', page })
    await call(token, 'POST', '', { ...view, name: 'own', page })
    expect(await names(token, `?page=${page}`)).toEqual(['own'])
    expect(await names(other, `?page=${page}`)).toEqual(['other'])
    expect(await names(wide, `?page=${page}`)).toEqual(['wide'])
    const path = `/${made.body.id}`
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect((await call(token, method, path, method === 'PATCH' ? { name: 'x' } : undefined)).status).toBe(
        404,
      )
  }
})

test('a user who changes the tenant leaves the views of the former one there', async () => {
  const [here = '', there = ''] = tenants
  const before = userOf(here)
  const made = await call(before, 'POST', '', { ...view, name: 'before', page: 'moved', shared: true })
  const after: Actor = { ...before, tenantId: there }
  expect(await names(after, '?page=moved')).toEqual([])
  expect((await call(after, 'PATCH', `/${made.body.id}`, { name: 'from elsewhere' })).status).toBe(404)
  expect(await names(userOf(here), '?page=moved')).toEqual(['before'])
})

test('the views of a user who is deleted go too: no one else could delete a shared one', async () => {
  const leaver = userOf(null)
  const page = 'of-leaver'
  await call(leaver, 'POST', '', { ...view, name: 'private', page })
  await call(leaver, 'POST', '', { ...view, name: 'shared', page, shared: true })
  const other = userOf(null)
  expect(await names(other, `?page=${page}`)).toEqual(['shared'])
  await bed.tollgate.context.database.admin.transact((tx) => deleteUser(tx, leaver.id ?? ''))
  expect(await names(other, `?page=${page}`)).toEqual([])
  expect(await names(leaver, `?page=${page}`)).toEqual([])
})

test('the operator has views too, and pages follow each other', async () => {
  const operator: Actor = { ...userOf(null), kind: 'operator', id: null, userId: null, role: 'owner' }
  for (const name of ['a', 'b', 'c']) await call(operator, 'POST', '', { ...view, name, page: 'pages' })
  const first = await call(operator, 'GET', '?page=pages&limit=2')
  expect(first.body).toMatchObject({ data: [{ name: 'a' }, { name: 'b' }] })
  const second = await call(operator, 'GET', `?page=pages&limit=2&cursor=${first.body.next_cursor}`)
  expect(second.body).toMatchObject({ data: [{ name: 'c' }], next_cursor: null })
})

test('a malformed view is refused by its field', async () => {
  const mine = userOf(null)
  for (const [body, field] of [
    [{ ...view, page: 'No Page' }, '/page'],
    [{ ...view, query: { status: 5 } }, '/query'],
    [{ ...view, name: 'a\0b' }, '/name'],
    [{ ...view, colour: 'red' }, 'colour'],
  ] as const) {
    const refused = await call(mine, 'POST', '', body)
    expect(refused.status).toBe(400)
    expect(refused.text).toContain(field)
  }
})
