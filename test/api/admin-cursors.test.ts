import { afterAll, beforeAll, expect, test } from 'vitest'
import { cursorAt } from '../../src/api/admin/list.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Cursors that no page gave. */

const adminToken = 'admin-token-of-the-cursors-0123456789'
const someId = '019ab0f1-7c3e-7000-8000-000000000000'

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken } })
})
afterAll(() => bed.close())

test('every list refuses a cursor that no page gave', async () => {
  const [tenant] = await bed.database.sql<{ id: string }[]>`SELECT id FROM tenants LIMIT 1`
  const [model] = await bed.database.sql<{ id: string }[]>`SELECT id FROM models LIMIT 1`
  const lists: [path: string, sort: string, values: (string | number | null)[], id: string][] = [
    ['keys', '-created_at', [], someId],
    ['keys', 'name', [7, '\0'], someId],
    ['keys', 'expires_at', ['x', 7, '0000-01-01T00:00:00Z', '+275760-09-13T00:00:00Z'], someId],
    ['groups', 'name', [7], someId],
    ['tenants', 'name', [7], someId],
    ['audit', '-created_at', [], someId],
    ['api-tokens', '-created_at', [], someId],
    ['image-jobs', '-created_at', [], someId],
    ['users', 'email', ['\0'], someId],
    [`tenants/${tenant?.id}/entries`, '-created_at', ['x', null, 7], someId],
    [`models/${model?.id}/prices`, '-created_at', ['x', 7], someId],
    ['archive', '-day', ['2026-02-31', 'x', 7, null], 'requests 0'],
  ]
  for (const [path, sort, values, id] of lists) {
    const forged = values.map((value) => ({ value, id }))
    const places = path === 'users' ? forged : [...forged, { value: '2026-02-03T00:00:00.000Z', id: 'x' }]
    for (const place of places) {
      const answer = await fetch(
        `${bed.tollgate.url}/admin/v1/${path}?sort=${sort}&cursor=${cursorAt(sort, place)}`,
        { headers: { authorization: `Bearer ${adminToken}` } },
      )
      expect([path, place, answer.status, await answer.text()]).toEqual([
        path,
        place,
        400,
        expect.stringContaining('next_cursor of the previous page'),
      ])
    }
  }
})
