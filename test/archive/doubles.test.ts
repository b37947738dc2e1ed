import { expect, test } from 'vitest'
import { systemClock } from '../../src/runtime/clock.ts'
import { archivePass } from '../../src/usage/archive/archive-pass.ts'
import { summariseOwn } from '../../src/usage/archive/own-log.ts'
import { foldRollups } from '../../src/usage/rollups.ts'
import { makePartition } from '../support/make-partition.ts'
import { aBed } from './archive-bed.ts'
import { dayMs, midnight, seedDay } from './seeded-log.ts'

/** Rows that come a second time when their day is in the archive, as from a journal that was down for long. */

test('they are deleted by the next pass, which corrects the sums, and other late rows of the day are kept', async () => {
  const bed = await aBed()
  const { sql } = bed
  const day = midnight(10)
  await seedDay(sql, day, 40, bed.seed)
  const sums = async () => {
    await foldRollups(sql, { rollupHoursDays: 400 })
    return await sql`SELECT sum(rows)::integer AS rows, sum(cost_nano)::text AS cost, sum(input_tokens)::text AS input FROM rollup_hours`
  }
  const own = () => {
    const needs = { database: bed.database, archive: bed.archive, clock: systemClock }
    return summariseOwn(
      needs,
      bed.scope,
      { conditions: [], from: new Date(day), to: new Date(day + dayMs) },
      {},
    )
  }
  const before = { all: await bed.all({}), sums: await sums(), own: await own(), counts: await bed.counts() }
  await sql`CREATE TABLE again AS SELECT * FROM requests ORDER BY id LIMIT 7`
  await sql`CREATE TABLE tried_again AS SELECT * FROM attempts WHERE request_id IN (SELECT id FROM again)`
  expect(await archivePass(bed.options)).toMatchObject({ failed: [], doubles: 0 })

  await sql`INSERT INTO requests SELECT * FROM again`
  await sql`INSERT INTO attempts SELECT * FROM tried_again`
  expect(await sums()).not.toEqual(before.sums)
  for (const table of ['requests', 'attempts'])
    await makePartition(sql, table, new Date(day).toISOString().slice(0, 10))
  expect(await archivePass(bed.options)).toMatchObject({ failed: [], postponed: 0, doubles: 7 })
  expect(await sums()).toEqual(before.sums)
  expect(await own()).toEqual(before.own)
  expect(await bed.all({})).toEqual(before.all)
  expect(await bed.counts()).toEqual(before.counts)

  const [late] =
    await sql`INSERT INTO requests SELECT * FROM (SELECT * FROM again ORDER BY id LIMIT 1) AS one RETURNING id`
  const fresh = late?.id.replace(/.{6}$/, 'abcdef')
  await sql`UPDATE requests SET id = ${fresh} WHERE id = ${late?.id}`
  await sql`INSERT INTO requests SELECT * FROM again ORDER BY id OFFSET 1 LIMIT 2`
  await makePartition(sql, 'requests', new Date(day).toISOString().slice(0, 10))
  expect(await archivePass(bed.options)).toMatchObject({ failed: [], doubles: 2 })
  expect((await bed.counts()).requests).toBe((before.counts.requests ?? 0) + 1)
})
