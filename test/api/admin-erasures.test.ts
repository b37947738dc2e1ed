import { createHash } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import type { Actor } from '../../src/access/actor.ts'
import { erasuresEndpoints } from '../../src/api/admin/erasures.ts'
import { erasureBed } from '../erasure/erasure-bed.ts'
import { adminClient } from '../support/admin-client.ts'
import { operator, serveAdmin } from '../support/serve-admin.ts'

async function started() {
  const bed = await erasureBed()
  const current = { actor: operator }
  const { database } = bed
  const server = await serveAdmin({ database }, erasuresEndpoints({ database }), () => current.actor)
  onTestFinished(() => server.close())
  return {
    bed,
    call: adminClient(server.url),
    as: (actor: Partial<Actor>) => {
      current.actor = { ...operator, kind: 'user', ...actor }
    },
  }
}

test('an owner asks for an erasure, follows it and reads its report, which forgets the end user', async () => {
  const { bed, call } = await started()
  const tenant = await bed.tenant('acme')
  await bed.seed(tenant, { days: [1], count: 10, endUser: 'alice@example.com' })
  const made = await call('POST', 'erasures', {
    body: { tenant: 'acme', end_user: 'alice@example.com', what: 'content' },
  })
  const hash = createHash('sha256').update('alice@example.com').digest('hex')
  expect(made).toMatchObject({
    status: 202,
    body: {
      tenant_id: tenant.id,
      state: 'queued',
      end_user: 'alice@example.com',
      end_user_sha256: hash,
      counts: {},
    },
  })
  await bed.work()
  const { body } = await call('GET', `erasures/${made.body.id}`)
  expect(body).toMatchObject({
    state: 'succeeded',
    end_user: null,
    end_user_sha256: hash,
    counts: { rows: 10 },
    waits_for: null,
  })
  expect(body.not_reached.length).toBeGreaterThan(3)
  expect(body.ended_at).not.toBeNull()
  expect(await bed.found('alice@example.com')).toEqual([])
  const [line] = await bed.sql`SELECT action, tenant_id FROM audit_log`
  expect(line).toEqual({ action: 'erasure.make', tenant_id: tenant.id })
})

test('erasures are listed page by page, and one that has not ended can be cancelled once', async () => {
  const { bed, call } = await started()
  const tenant = await bed.tenant('acme')
  const ids: string[] = []
  for (const what of ['content', 'rows', 'content'])
    ids.unshift(
      (await call('POST', 'erasures', { body: { tenant: tenant.id, what, dry_run: true } })).body.id,
    )
  const first = await call('GET', 'erasures?limit=2')
  expect(first.body.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2))
  const next = await call('GET', `erasures?limit=2&cursor=${first.body.next_cursor}`)
  expect(next.body).toMatchObject({ data: [{ id: ids[2] }], next_cursor: null })
  expect((await call('POST', `erasures/${ids[0]}/cancel`)).body).toMatchObject({ state: 'cancelled' })
  expect((await call('POST', `erasures/${ids[0]}/cancel`)).status).toBe(409)
})

test('only owners may erase; admins and viewers read, members see nothing', async () => {
  const { bed, call, as } = await started()
  const tenant = await bed.tenant('acme')
  const body = { tenant: 'acme', what: 'content' }
  const { id } = (await call('POST', 'erasures', { body })).body
  for (const [role, read] of [
    ['admin', 200],
    ['viewer', 200],
    ['member', 403],
  ] as const) {
    as({ role, tenantId: role === 'member' ? tenant.id : null })
    expect((await call('GET', 'erasures')).status, role).toBe(read)
    expect((await call('GET', `erasures/${id}`)).status, role).toBe(read)
    expect((await call('POST', 'erasures', { body })).status, role).toBe(403)
    expect((await call('POST', `erasures/${id}/cancel`)).status, role).toBe(403)
  }
})

test('a wrong question is refused with the field', async () => {
  const { bed, call } = await started()
  await bed.tenant('acme')
  for (const [body, field] of [
    [{ tenant: 'nobody', what: 'content' }, 'tenant'],
    [{ tenant: 'acme', what: 'all' }, 'what'],
    [{ tenant: 'acme', what: 'rows', from: '2026-05-01T00:00:00Z', to: '2026-04-01T00:00:00Z' }, 'from'],
    [{ tenant: 'acme', what: 'rows', to: 'yesterday' }, 'to'],
  ] as const) {
    const { status, body: problem } = await call('POST', 'erasures', { body })
    expect(status).toBe(400)
    expect(JSON.stringify(problem)).toContain(field)
  }
  expect((await call('GET', 'erasures/00000000-0000-7000-8000-000000000000')).status).toBe(404)
})
