import { expect, test } from 'vitest'
import { sweepArchive } from '../../src/usage/erasure/archived-retention.ts'
import { sweepTenants } from '../../src/usage/erasure/retention.ts'
import type { RemoveArchived } from '../../src/usage/erasure/work.ts'
import { archiveBeside } from './archive-beside.ts'
import { dayMs, type ErasureBed, erasureBed, markedRow, type SeededTenant } from './erasure-bed.ts'

const plan = { requestRetentionDays: 400, payloadRetentionDays: 400, answerRetentionDays: 400 }

async function sweep({ database }: ErasureBed, remove: RemoveArchived, daysAtOnce = 2) {
  const ask: Parameters<typeof sweepTenants>[0] = (question) => database.jobs.ask(({ sql }) => question(sql))
  await sweepTenants(ask, plan, { batchRows: 50 })
  return await sweepArchive(ask, remove, { daysAtOnce })
}

type Archive = Awaited<ReturnType<typeof archiveBeside>>

/** The days before today that the archive has of a tenant. */
async function daysOf(archive: Archive, tenant: SeededTenant) {
  const all = await archive.all(tenant)
  const today = Math.floor(Date.now() / dayMs)
  const of = (rows: readonly Record<string, unknown>[]) =>
    [...new Set(rows.map((row) => today - Math.floor(Date.parse(String(row.created_at)) / dayMs)))].sort(
      (a, b) => a - b,
    )
  return {
    rows: of(all.requests),
    attempts: of(all.attempts),
    bodies: of(all.bodies),
    answers: of(all.answers),
  }
}

test('fewer days of one tenant reach archived days: its rows, bodies and answers go, those of others and all money stay', async () => {
  const bed = await erasureBed()
  const [short, long] = [await bed.tenant('short'), await bed.tenant('long')]
  for (const tenant of [short, long]) await bed.seed(tenant, { days: [2, 8, 9, 10, 11, 12], count: 6 })
  const archive = await archiveBeside(bed)
  await archive.pass()
  const days = [8, 9, 10, 11, 12]
  expect(await daysOf(archive, short)).toEqual({ rows: days, attempts: days, bodies: days, answers: days })
  await bed.sql`UPDATE tenants SET rows_days = 10, bodies_days = 9, answers_days = 8 WHERE id = ${short.id}`
  const before = {
    other: await archive.all(long),
    money: await bed.money(),
    facts: await archive.facts(short),
  }

  const asked: number[] = []
  const counting: RemoveArchived = async (span, ...rest) => {
    asked.push((Date.parse(span.to) - Date.parse(span.from)) / dayMs + 1)
    return await archive.remove(span, ...rest)
  }
  // Two days of rows and of their attempts, three of bodies, four of answers; and the words of a verdict on each day of rows.
  expect(await sweep(bed, counting)).toEqual({ gone: 6 * (2 + 2 + 3 + 4) + 2, isBusy: false })
  // Files of no more days at once than asked for.
  expect(asked).toEqual([2, 2])

  const rows = [8, 9, 10]
  expect(await daysOf(archive, short)).toEqual({ rows, attempts: rows, bodies: [8, 9], answers: [8] })
  const kept = new Set((await archive.all(short)).requests.map((row) => row.id))
  expect(await archive.facts(short)).toEqual(before.facts.filter((row) => kept.has(row.id)))
  expect(await archive.all(long)).toEqual(before.other)
  expect(await bed.money()).toEqual(before.money)
  expect(await bed.faults()).toEqual([])
  expect(await archive.faults()).toEqual([])

  // Days that are done are not looked at again.
  asked.length = 0
  expect(await sweep(bed, counting)).toEqual({ gone: 0, isBusy: false })
  expect(asked).toEqual([])

  // With fewer days still, the next days go, and what has come late for the last ones.
  await bed.sql`INSERT INTO requests ${bed.sql([markedRow(short, Date.now() - 11 * dayMs, 1)])}`
  // Its day gets a partition again.
  await bed.seed(short, { days: [11], count: 0 })
  await archive.pass()
  expect((await daysOf(archive, short)).rows).toEqual([8, 9, 10, 11])
  await bed.sql`UPDATE tenants SET rows_days = 8 WHERE id = ${short.id}`
  expect(await sweep(bed, counting)).toMatchObject({ isBusy: false })
  expect((await daysOf(archive, short)).rows).toEqual([8])
  expect(await archive.all(long)).toEqual(before.other)
}, 240_000)

test('while the archive is busy nothing counts as done, and a sweep that stops in the middle goes on there', async () => {
  const bed = await erasureBed()
  const tenant = await bed.tenant('short')
  await bed.seed(tenant, { days: [8, 9, 10, 11], count: 4 })
  const archive = await archiveBeside(bed)
  await archive.pass()
  await bed.sql`UPDATE tenants SET bodies_days = 7 WHERE id = ${tenant.id}`
  expect(await sweep(bed, async () => null)).toEqual({ gone: 0, isBusy: true })
  expect((await daysOf(archive, tenant)).bodies).toEqual([8, 9, 10, 11])

  const spans: string[] = []
  const dying: RemoveArchived = async (span, ...rest) => {
    spans.push(span.from)
    if (spans.length === 3) throw new Error('the disk is full')
    return await archive.remove(span, ...rest)
  }
  await expect(sweep(bed, dying, 1)).rejects.toThrow('the disk is full')
  expect((await daysOf(archive, tenant)).bodies).toEqual([8, 9])
  expect(await sweep(bed, archive.remove, 1)).toEqual({ gone: 2 * 4, isBusy: false })
  const after = await daysOf(archive, tenant)
  expect(after).toEqual({
    rows: [8, 9, 10, 11],
    attempts: [8, 9, 10, 11],
    bodies: [],
    answers: [8, 9, 10, 11],
  })
  expect(await archive.faults()).toEqual([])
}, 180_000)
