import { expect, test } from 'vitest'
import { contentOf } from '../../src/journal/column.ts'
import { requestColumns } from '../../src/journal/row.ts'
import { archiveBeside } from './archive-beside.ts'
import { erasureBed } from './erasure-bed.ts'

const days = [0, 8, 9, 12]

async function twoTenants() {
  const bed = await erasureBed()
  const [gone, kept] = [await bed.tenant('gone'), await bed.tenant('kept')]
  for (const tenant of [gone, kept]) await bed.seed(tenant, { days, count: 10 })
  await bed.seed(gone, { days: [11], count: 6, endUser: 'alice-of-gone' })
  await bed.seed(kept, { days: [11], count: 6, endUser: 'alice-of-gone' })
  const archive = await archiveBeside(bed)
  await archive.pass()
  expect(await archive.faults()).toEqual([])
  return { bed, gone, kept, archive }
}

test('no byte of an erased tenant is left in the archive; its money, the other tenant and the checks are as before', async () => {
  const { bed, gone, kept, archive } = await twoTenants()
  const planted = await archive.all(gone)
  expect(planted).toMatchObject({ requests: { length: 36 }, bodies: { length: 36 }, answers: { length: 36 } })
  for (const name of [...contentOf(requestColumns), 'requested_model'])
    expect(JSON.stringify(planted.requests.map((row) => row[name])), name).toContain(gone.marker)
  expect((await archive.holders(gone.marker)).length).toBeGreaterThan(0)
  const before = {
    facts: await archive.facts(gone),
    other: await archive.all(kept),
    money: await bed.money(),
  }

  const id = await bed.ask(gone)
  await bed.work({ archive: archive.remove })

  expect(await archive.holders(gone.marker)).toEqual([])
  expect(await bed.found(gone.marker)).toEqual([])
  expect(await archive.facts(gone)).toEqual(before.facts)
  expect(await archive.all(kept)).toEqual(before.other)
  expect((await archive.holders(kept.marker)).length).toBeGreaterThan(0)
  expect(await bed.money()).toEqual(before.money)
  expect(await bed.faults()).toEqual([])
  expect(await archive.faults()).toEqual([])
  expect(await bed.job(id)).toMatchObject({
    state: 'succeeded',
    counts: {
      rows: 10,
      archive_requests: 36,
      archive_attempts: 36,
      archive_payloads: 36,
      archive_answers: 36,
      archive_verdicts: 4,
    },
  })
}, 180_000)

test('an end user of one tenant goes from the archive, and one of the same name of another tenant stays', async () => {
  const { bed, gone, kept, archive } = await twoTenants()
  const before = { facts: await archive.facts(gone), other: await archive.all(kept) }
  // The row of an image job is archived, and the job itself is still in Postgres.
  await bed.sql`
    UPDATE jobs SET opened = '{"endUser":"alice-of-gone"}' WHERE created_at < now() - interval '10 days'`
  const id = await bed.ask(gone, { endUser: 'alice-of-gone' })
  await bed.work({ archive: archive.remove })
  const left = await archive.all(gone)
  expect(left.requests.filter((row) => row.end_user === null)).toHaveLength(6)
  expect(left).toMatchObject({ requests: { length: 36 }, bodies: { length: 30 }, answers: { length: 30 } })
  expect(await archive.facts(gone)).toEqual(before.facts)
  expect(await archive.all(kept)).toEqual(before.other)
  expect(await archive.faults()).toEqual([])
  expect(await bed.job(id)).toMatchObject({
    state: 'succeeded',
    counts: { archive_requests: 6, archive_payloads: 6, jobs: 2, images: 4 },
  })
  const jobs = await bed.sql`SELECT tenant_id FROM jobs WHERE strpos(opened, 'alice-of-gone') > 0`
  expect(jobs.map((job) => job.tenant_id)).toEqual([kept.id, kept.id])
  expect(await bed.sql`SELECT 1 FROM jobs WHERE tenant_id = ${gone.id}`).toHaveLength(3)
}, 180_000)

test('rows of a span go from the archive with all that belongs to them; money and checks stay', async () => {
  const { bed, gone, kept, archive } = await twoTenants()
  const before = {
    facts: await archive.facts(gone),
    other: await archive.all(kept),
    money: await bed.money(),
  }
  const midnight = Math.floor(Date.now() / 86_400_000) * 86_400_000
  const span = { from: new Date(midnight - 9 * 86_400_000), to: new Date(midnight - 7 * 86_400_000) }
  const id = await bed.ask(gone, { what: 'rows', ...span })
  await bed.work({ archive: archive.remove })
  const left = await archive.all(gone)
  expect(left).toMatchObject({
    requests: { length: 16 },
    attempts: { length: 16 },
    bodies: { length: 16 },
    answers: { length: 16 },
  })
  const outside = before.facts.filter((row) => Date.parse(String(row.created_at)) < span.from.getTime())
  expect(outside).toHaveLength(16)
  expect(await archive.facts(gone)).toEqual(outside)
  expect(await archive.all(kept)).toEqual(before.other)
  expect(await bed.money()).toEqual(before.money)
  expect(await bed.faults()).toEqual([])
  expect(await archive.faults()).toEqual([])
  const job = await bed.job(id)
  expect(job).toMatchObject({ state: 'succeeded', counts: { archive_requests: 20, archive_payloads: 20 } })
  expect(job.not_reached.join('\n')).not.toContain('Rows in the archive')
}, 180_000)

test('a day of which all rows go has no file any more', async () => {
  const bed = await erasureBed()
  const gone = await bed.tenant('gone')
  await bed.seed(gone, { days: [9], count: 10 })
  const archive = await archiveBeside(bed)
  await archive.pass()
  expect(archive.files()).toHaveLength(4)
  await bed.ask(gone, { what: 'rows' })
  await bed.work({ archive: archive.remove })
  expect(archive.files()).toEqual([])
  expect(await bed.faults()).toEqual([])
  await archive.pass()
  expect(await archive.faults()).toEqual([])
}, 180_000)
