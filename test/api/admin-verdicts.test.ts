import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { putProbeVerdicts, rememberRefusal } from '../../src/catalog/verdict-queries.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

let bed: Testbed
let channelId: string

beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken } })
  const [row] = await bed.database.sql`SELECT id FROM channels`
  channelId = String(row?.id)
})
afterAll(() => bed.close())

async function admin(method: 'GET' | 'DELETE', path: string, token = adminToken) {
  const response = await fetch(`${bed.tollgate.url}/admin/v1/verdicts${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

test('an operator lists verdicts by page, by channel and by model, and drops one', async () => {
  const offer = { channelId, upstreamModel: 'vendor/upstream-main', protocol: 'openai-chat' as const }
  const requestIds = [randomUUID(), randomUUID()]
  for (const requestId of requestIds) {
    await rememberRefusal(bed.database.db, {
      ...offer,
      ...{
        subject: 'reasoning_effort=none',
        traits: { effortLevels: ['low'] },
        evidence: 'It does not.',
        requestId,
      },
    })
  }
  await putProbeVerdicts(bed.database.db, [
    {
      ...offer,
      ...{ subject: 'tools', verdict: 'unknown', traits: undefined, evidence: 'no answer', requestIds: [] },
      ...{ costNano: 1_500_000n, decidedAt: new Date(1_800_000_000_000), expiresAt: undefined },
    },
  ])
  const all = await admin('GET', '')
  expect(all.status).toBe(200)
  expect(all.body).toEqual({
    data: [
      {
        id: expect.any(String),
        channel: 'scripted',
        model: 'vendor/upstream-main',
        protocol: 'openai-chat',
        subject: 'reasoning_effort=none',
        origin: 'refusal',
        verdict: 'no',
        in_force: true,
        traits: { effort_levels: ['low'] },
        evidence: 'It does not.',
        request_ids: requestIds,
        cost_usd: null,
        decided_at: expect.any(String),
        expires_at: expect.any(String),
      },
      {
        id: expect.any(String),
        channel: 'scripted',
        model: 'vendor/upstream-main',
        protocol: 'openai-chat',
        subject: 'tools',
        origin: 'probe',
        verdict: 'unknown',
        in_force: false,
        traits: null,
        evidence: 'no answer',
        request_ids: [],
        cost_usd: '0.0015',
        decided_at: new Date(1_800_000_000_000).toISOString(),
        expires_at: null,
      },
    ],
    next_cursor: null,
  })
  const [refusal, probe] = all.body.data
  const first = await admin('GET', '?limit=1')
  expect(first.body.data).toEqual([refusal])
  const second = await admin('GET', `?limit=1&cursor=${first.body.next_cursor}`)
  expect(second.body).toEqual({ data: [probe], next_cursor: null })
  expect((await admin('GET', '?channel=scripted&model=vendor/upstream-main')).body.data).toHaveLength(2)
  expect((await admin('GET', '?model=other')).body.data).toEqual([])
  expect((await admin('GET', '?channel=other')).body.data).toEqual([])
  expect(await admin('DELETE', `/${refusal.id}`)).toEqual({
    status: 200,
    body: { id: refusal.id, deleted: true },
  })
  expect((await admin('DELETE', `/${refusal.id}`)).status).toBe(404)
  const lines = await bed.database.sql`
    SELECT action, actor_kind, resource_name, before, after FROM audit_log WHERE resource_id = ${refusal.id}`
  expect(lines).toEqual([
    {
      action: 'verdict.delete',
      actor_kind: 'operator',
      resource_name: 'scripted vendor/upstream-main reasoning_effort=none',
      before: refusal,
      after: null,
    },
  ])
  expect((await admin('GET', '')).body.data).toEqual([probe])
})

test('a stranger, a wrong id and a wrong parameter are refused', async () => {
  expect((await admin('GET', '', 'wrong')).status).toBe(401)
  expect((await admin('DELETE', '/x', 'wrong')).status).toBe(401)
  expect((await admin('DELETE', '/x')).status).toBe(404)
  const nul = Buffer.from(JSON.stringify([randomUUID(), 'a\0', 'b', 'c', 'd'])).toString('base64url')
  expect((await admin('DELETE', `/${nul}`)).status).toBe(404)
  for (const query of ['?limit=0', '?limit=1001', '?cursor=x', '?colour=red', '?channel=']) {
    expect((await admin('GET', query)).status, query).toBe(400)
  }
})
