import { expect, test } from 'vitest'
import { sweepTenants } from '../../src/usage/erasure/retention.ts'
import { type ErasureBed, erasureBed, markedRow, type SeededTenant } from './erasure-bed.ts'

const plan = { requestRetentionDays: 90, payloadRetentionDays: 30, answerRetentionDays: 30 }

const sweep = ({ database }: ErasureBed, changes: Partial<typeof plan> = {}) =>
  sweepTenants(
    (question) => database.jobs.ask(({ sql }) => question(sql)),
    { ...plan, ...changes },
    { batchRows: 7 },
  )

async function daysOf({ sql }: ErasureBed, tenant: SeededTenant) {
  const of = async (table: string) => {
    const rows = await sql<{ day: number }[]>`
      SELECT DISTINCT (now() AT TIME ZONE 'UTC')::date - (p.created_at AT TIME ZONE 'UTC')::date AS day
      FROM ${sql(table)} p JOIN requests r ON r.id = ${table === 'requests' ? sql`p.id` : sql`p.request_id`}
      WHERE r.tenant_id = ${tenant.id} ORDER BY 1`
    return rows.map(({ day }) => day)
  }
  return {
    rows: await of('requests'),
    bodies: await of('request_payloads'),
    answers: await of('request_answers'),
  }
}

test('a tenant with fewer days loses rows, bodies and answers past them; others, sums and money are untouched', async () => {
  const bed = await erasureBed()
  const [short, long] = [await bed.tenant('short'), await bed.tenant('long')]
  const days = [0, 2, 3, 4, 5, 6]
  for (const tenant of [short, long]) await bed.seed(tenant, { days, count: 12 })
  await bed.sql`UPDATE tenants SET rows_days = 5, bodies_days = 3, answers_days = 2 WHERE id = ${short.id}`
  // More than for all counts as none.
  await bed.sql`UPDATE tenants SET rows_days = 400, bodies_days = 30 WHERE id = ${long.id}`
  const before = { money: await bed.money(), other: await bed.all(long) }

  expect(await sweep(bed)).toBe(12 + 2 * 12 + 3 * 12)
  expect(await daysOf(bed, short)).toEqual({ rows: [0, 2, 3, 4, 5], bodies: [0, 2, 3], answers: [0, 2] })
  expect(await bed.all(long)).toEqual(before.other)
  expect(await bed.money()).toEqual(before.money)
  expect(await bed.faults()).toEqual([])
  const [sweeps] =
    await bed.sql`SELECT count(*)::integer AS n FROM tenant_sweeps WHERE tenant_id = ${long.id}`
  expect(sweeps).toEqual({ n: 0 })

  // Done days are not looked at again, until fewer days are set; then the newest done days are, for what came late.
  expect(await sweep(bed)).toBe(0)
  const late = markedRow(short, Date.now() - 6 * 86_400_000, 1)
  await bed.sql`INSERT INTO requests ${bed.sql([late])}`
  await bed.sql`UPDATE tenants SET rows_days = 4 WHERE id = ${short.id}`
  expect(await sweep(bed)).toBe(12 + 1)
  expect((await daysOf(bed, short)).rows).toEqual([0, 2, 3, 4])
})

test('rows of a day that is not counted yet stay, and go with the next sweep', async () => {
  const bed = await erasureBed()
  const tenant = await bed.tenant('short')
  await bed.seed(tenant, { days: [4, 6], count: 8 })
  await bed.sql`UPDATE tenants SET rows_days = 3 WHERE id = ${tenant.id}`
  await bed.sql`INSERT INTO rollup_backfill SELECT (now() AT TIME ZONE 'UTC')::date - 6`
  expect(await sweep(bed)).toBe(8)
  expect((await daysOf(bed, tenant)).rows).toEqual([6])
  await bed.sql`DELETE FROM rollup_backfill`
  expect(await sweep(bed)).toBe(8)
  expect(await bed.faults()).toEqual([])
})
