import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { filterFrom, filterQuery } from '../../src/api/log-filter.ts'
import { archivePass } from '../../src/usage/archive/archive-pass.ts'
import type { TimedFilter } from '../../src/usage/queries.ts'
import { aBed } from './archive-bed.ts'
import { midnight, seedDay } from './seeded-log.ts'

test('30 days are archived and dropped: a list over the border has the same rows in the same order', async () => {
  const bed = await aBed()
  for (let day = 0; day <= 35; day++) await seedDay(bed.sql, midnight(day), 40, bed.seed)
  const matching = (query: object) => filterFrom(filterQuery.parse(query))
  const filters: Partial<TimedFilter>[] = [
    {},
    matching({ model: '模型' }),
    matching({ status: '400..599' }),
    matching({ tag: ['a', '標籤'] }),
    { conditions: [{ not: false, test: 'tagged', tags: [''] }, ...matching({ model: 'other' }).conditions] },
    matching({ end_user: 'ボブ', outcome: 'failed' }),
    matching({ session: 's1', endpoint: '/v1/messages' }),
    { from: new Date(midnight(20) + 3_600_000), to: new Date(midnight(10)) },
  ]
  const before = await Promise.all(filters.map((filter) => bed.all(filter)))
  const pass = await archivePass(bed.options)
  expect(pass).toMatchObject({ failed: [], postponed: 0 })
  expect(pass?.archived).toBe(4 * 30)
  const [left] = await bed.sql`SELECT min(created_at) AS at FROM requests`
  expect(left?.at.getTime()).toBeGreaterThanOrEqual(midnight(5))
  for (const [index, filter] of filters.entries()) {
    const after = await bed.all(filter)
    expect(after.length).toBeGreaterThan(0)
    expect(after, inspect(filter)).toEqual(before[index])
  }
})
