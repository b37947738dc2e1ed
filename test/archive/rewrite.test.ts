import { expect, test } from 'vitest'
import { archivePass, withArchiver } from '../../src/usage/archive/archive-pass.ts'
import { rewriteWithout } from '../../src/usage/archive/rewrite-day.ts'
import { startRewrite } from '../../src/usage/archive/start-archiver.ts'
import { condition } from '../../src/usage/archive/where.ts'
import { aBed } from './archive-bed.ts'
import { dayOf, midnight, seedDay } from './seeded-log.ts'

test('the content of an end user goes from the archive; the rows and the money stay', async () => {
  const bed = await aBed()
  const ids = await seedDay(bed.sql, midnight(9), 60, bed.seed)
  await archivePass(bed.options)
  const before = await bed.all({})
  const bodies = await bed.bodiesOf(ids)
  const answers = new Map<string, unknown>()
  for (const id of ids) {
    const answer = await bed.archive.answer(id)
    if (answer !== undefined) answers.set(id, answer)
  }
  const named = before.filter((row) => row.end_user === 'ボブ')
  expect(named.length).toBeGreaterThan(2)

  const day = dayOf(midnight(9))
  const removals = { content: condition('tenant_id = ? AND end_user = ?', bed.scope.tenantId, 'ボブ') }
  const report = await startRewrite(bed.options, { from: day, to: day, removals }).done
  expect(report).toMatchObject({ requests: named.length })
  expect(report?.payloads).toBeGreaterThan(0)

  const gone = new Set(named.map(({ id }) => id))
  const content = {
    end_user: null,
    session: null,
    tags: null,
    notes: null,
    error_message: null,
    upstream_request_id: null,
  }
  expect(await bed.all({})).toEqual(before.map((row) => (gone.has(row.id) ? { ...row, ...content } : row)))
  expect(report?.answers).toBeGreaterThan(0)
  expect(answers.size).toBeGreaterThan(report?.answers ?? 0)
  for (const id of ids)
    expect(await bed.archive.answer(id)).toEqual(gone.has(id) ? undefined : answers.get(id))
  const left = await bed.bodiesOf(ids)
  for (const id of ids) expect(left.get(id), id).toBe(gone.has(id) ? '' : bodies.get(id))
  expect(bed.files()).toEqual(await bed.locations())
  // Again: nothing matches any more.
  expect(await startRewrite(bed.options, { from: day, to: day, removals }).done).toEqual({
    requests: 0,
    attempts: 0,
    payloads: 0,
    answers: 0,
    verdicts: 0,
  })
})

test('a rewrite that ends before its file is in force leaves the former file, and the next pass clears it away', async () => {
  const bed = await aBed()
  await seedDay(bed.sql, midnight(9), 60, bed.seed)
  await archivePass(bed.options)
  const before = await bed.all({})
  const locations = await bed.locations()
  const day = dayOf(midnight(9))
  for (const step of ['extracted', 'stored', 'fetched', 'summed'] as const) {
    const broken = withArchiver(bed.options, (archiver) =>
      rewriteWithout(
        {
          ...archiver,
          reached(at) {
            if (at === step) throw new Error(`ended at ${step}`)
          },
        },
        day,
        { content: condition('end_user = ?', 'ボブ') },
      ),
    )
    await expect(broken).rejects.toThrow(`ended at ${step}`)
    expect(await bed.all({})).toEqual(before)
    expect(await bed.locations()).toEqual(locations)
  }
  expect(await archivePass(bed.options)).toMatchObject({ failed: [] })
  expect(bed.files()).toEqual(locations)
  expect(await bed.all({})).toEqual(before)
})
