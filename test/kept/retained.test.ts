import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeLeftovers } from '../../src/usage/erasure/other-places.ts'
import { endKept } from '../../src/usage/erasure/retention.ts'
import { type FourUpstreams, keepingKey, startFourUpstreams } from '../support/four-upstreams.ts'

/** Kept answers and files follow the days of their tenant, and the end users that requests name. */

let bed: FourUpstreams
let tenantId = ''
beforeAll(async () => {
  bed = await startFourUpstreams()
  const [tenant] = await bed.database.sql<{ id: string }[]>`SELECT id FROM tenants WHERE name = 'a'`
  tenantId = tenant?.id ?? ''
})
afterAll(() => bed?.close())

const ask = async <T>(question: (sql: typeof bed.database.sql) => PromiseLike<T>): Promise<T> =>
  await question(bed.database.sql)

async function answer(user: string) {
  const { id } = await bed.openai().responses.create({ model: 'openai-chat', input: 'Hello', user })
  return id
}

async function upload(user: string) {
  const form = new FormData()
  form.set('purpose', 'user_data')
  form.set('user', user)
  form.set('file', new File(['some words'], 'a.txt'))
  const response = await fetch(`${bed.tollgate.url}/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keepingKey}` },
    body: form,
  })
  expect(response.status).toBe(200)
  return ((await response.json()) as { id: string }).id
}

const left = async () => {
  const { sql } = bed.database
  const rows = await sql<{ id: string }[]>`
    SELECT id FROM kept_answers WHERE tenant_id = ${tenantId} UNION ALL SELECT id FROM files WHERE tenant_id = ${tenantId}`
  return rows.map(({ id }) => id)
}

test('the erasure of an end user takes the answers and files that name it, and no others', async () => {
  const gone = [await answer('ann'), await upload('ann')]
  const kept = [await answer('bob'), await upload('bob')]
  expect((await left()).toSorted()).toEqual([...gone, ...kept].toSorted())

  const counts: Record<string, number>[] = []
  const storage = { remove: async () => {} }
  const subject = { tenantId, endUser: 'ann', from: null, to: new Date(Date.now() + 60_000) }
  await removeLeftovers({ ask, storage, files: storage }, subject, async (each) => {
    counts.push(each)
  })
  expect(counts).toEqual([{ files: 1 }, { kept_answers: 1 }])
  expect((await left()).toSorted()).toEqual(kept.toSorted())
})

test('nothing is kept for longer than its tenant keeps rows and bodies', async () => {
  const { sql } = bed.database
  const days = async (id: string) => {
    const rows = await sql<{ days: number }[]>`
      SELECT (extract(epoch FROM expires_at - created_at) / 86400)::float8 AS days FROM (
        SELECT id, expires_at, created_at FROM kept_answers UNION ALL SELECT id, expires_at, created_at FROM files) AS all_kept
      WHERE id = ${id}`
    return Math.round(rows[0]?.days ?? Number.NaN)
  }
  const before = [await answer('eve'), await upload('eve')] as const
  expect(await days(before[0])).toBe(30)
  const next = await bed.openai().responses.create({
    model: 'openai-chat',
    input: 'Again',
    previous_response_id: before[0],
  })
  await sql`UPDATE tenants SET bodies_days = 5, answers_days = 3 WHERE id = ${tenantId}`
  expect([await days(await answer('eve')), await days(await upload('eve'))]).toEqual([3, 5])

  // Days that were set later reach what is there, also turns that others continue.
  await sql`UPDATE kept_answers SET created_at = now() - interval '4 days' WHERE id = ${before[0]}`
  await endKept(ask)
  expect(await left()).not.toContain(before[0])
  expect(await left()).toContain(next.id)
  expect(await days(before[1])).toBe(5)
})
