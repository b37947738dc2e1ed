import { expect, test } from 'vitest'
import { aRow, hoursDays, startRollupsBed } from './rollups-bed.ts'

/** When the ends of a range can be read from the usage log. */

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const midnight = Math.floor(Date.now() / dayMs) * dayMs

test('a part of an hour is exact only where the sums or a partition say how many rows there were', async () => {
  const { insert, fold, ask, database } = await startRollupsBed()
  const half = (hour: number) => ({ from: hour + 0.25 * hourMs, to: hour + 0.75 * hourMs })
  // No partition, and sums that are kept: there was no request.
  const kept = midnight - 100 * dayMs
  expect(await ask(half(kept))).toMatchObject({ exact: true, total: { requests: '0' } })
  // Neither: no one knows.
  const old = midnight - (hoursDays + 5) * dayMs
  await expect(ask(half(old))).rejects.toThrow('finer sums are only kept from then on')
  const withDay = { from: old - 0.5 * hourMs, to: old + dayMs, parts: ['model' as const] }
  await expect(ask(withDay)).rejects.toThrow('finer sums are only kept from then on')
  expect(await ask({ ...withDay, from: old })).toMatchObject({ exact: true })
  // Its rows are there longer than its sums.
  await database.sql`select make_partition('requests', ${new Date(old).toISOString().slice(0, 10)}::text::date)`
  await insert([aRow(old, old + 0.2 * hourMs), aRow(old + 0.3 * hourMs, old + 0.7 * hourMs, { folded: 7 })])
  await fold()
  await database.sql`delete from rollup_hours where hour < ${new Date(old + dayMs)}`
  expect(await ask(half(old))).toMatchObject({ exact: true, total: { requests: '7' } })
})

test('a late row beside the rows that are gone does not make a part of an hour exact', async () => {
  const { insert, fold, ask, database } = await startRollupsBed()
  const hour = midnight - 50 * dayMs
  const date = new Date(hour).toISOString().slice(0, 10)
  await database.sql`select make_partition('requests', ${date}::text::date)`
  await insert(Array.from({ length: 10 }, () => aRow(hour, hour + hourMs, { folded: 1 })))
  await fold()
  await database.sql.unsafe(`drop table requests_${date.replaceAll('-', '')}`)
  await insert([aRow(hour, hour + hourMs, { folded: 1 })])
  await fold()
  expect(await ask({ from: hour + 60_000, to: hour + hourMs - 60_000 })).toMatchObject({
    ...{ from: hour, to: hour + hourMs, exact: false, total: { requests: '11' } },
  })
})
