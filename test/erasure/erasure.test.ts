import { expect, test } from 'vitest'
import { contentOf } from '../../src/journal/column.ts'
import { requestColumns } from '../../src/journal/row.ts'
import { runErasure } from '../../src/usage/erasure/run-erasure.ts'
import { dayMs, erasureBed, markedRow } from './erasure-bed.ts'

const days = [0, 1, 3]

test('nothing of an erased tenant is found anywhere in the database; the other tenant, sums and money are untouched', async () => {
  const bed = await erasureBed()
  const [gone, kept] = [await bed.tenant('gone'), await bed.tenant('kept')]
  for (const tenant of [gone, kept]) await bed.seed(tenant, { days, count: 20 })
  const before = { money: await bed.money(), facts: await bed.facts(gone), other: await bed.all(kept) }
  const planted = await bed.found(gone.marker)
  for (const place of [
    'requests.tags',
    'request_payloads.body',
    'attempts.error_message',
    'jobs.body',
    'verdicts.evidence',
  ])
    expect(planted).toContain(place)
  for (const name of contentOf(requestColumns)) expect(planted).toContain(`requests.${name}`)
  expect(await bed.faults()).toEqual([])

  const id = await bed.ask(gone)
  await bed.work()

  expect(await bed.found(gone.marker)).toEqual([])
  expect(await bed.facts(gone)).toEqual(before.facts)
  expect(await bed.all(kept)).toEqual(before.other)
  expect(await bed.money()).toEqual(before.money)
  expect(await bed.faults()).toEqual([])
  const job = await bed.job(id)
  expect(job).toMatchObject({
    state: 'succeeded',
    end_user: null,
    counts: {
      rows: 60,
      attempts: 60,
      bodies: 60,
      answers: 60,
      tags: 120,
      jobs: 3,
      images: 6,
      held_answers: 3,
      key_networks: 3,
      key_uses: 1,
      verdicts: 3,
    },
  })
  expect(job.not_reached.join('\n')).toMatch(/Backups.*Upstream vendors.*Logs/s)
  expect(bed.removed).toHaveLength(6)
})

test('rows go with all that belongs to them; sums, balances and charges stay', async () => {
  const bed = await erasureBed()
  const [gone, kept] = [await bed.tenant('gone'), await bed.tenant('kept')]
  for (const tenant of [gone, kept]) await bed.seed(tenant, { days, count: 20 })
  const before = { money: await bed.money(), other: await bed.all(kept) }
  const id = await bed.ask(gone, { what: 'rows' })
  await bed.work()
  expect(await bed.facts(gone)).toEqual([])
  expect(await bed.found(gone.marker)).toEqual([])
  expect(await bed.all(kept)).toEqual(before.other)
  expect(await bed.money()).toEqual(before.money)
  expect(await bed.faults()).toEqual([])
  expect(await bed.job(id)).toMatchObject({
    state: 'succeeded',
    counts: { rows: 60, attempts: 60, bodies: 60 },
  })
  // A charge that no deleted row accounts for is still found.
  await bed.sql`UPDATE deleted_sums SET cost_nano = cost_nano - 1 WHERE cost_nano > 0`
  const [fault = ''] = (await bed.faults()).filter((each) => each.startsWith('every charge has its request'))
  const named = [...fault.matchAll(/ on (\d{4}-\d\d-\d\d): charged /g)].map(([, day]) => day)
  const seeded = days.map((day) => new Date(Date.now() - day * dayMs).toISOString().slice(0, 10))
  expect(named.toSorted()).toEqual(seeded.toSorted())
})

test('the end user of a big tenant goes alone, found by its index', async () => {
  const bed = await erasureBed()
  const tenant = await bed.tenant('big')
  await bed.seed(tenant, { days: [1], count: 60 })
  await bed.seed(tenant, { days: [2], count: 12, endUser: 'alice' })
  const id = await bed.ask(tenant, { endUser: 'alice' })
  await bed.work()
  expect(await bed.job(id)).toMatchObject({
    state: 'succeeded',
    end_user: null,
    counts: { rows: 12, bodies: 12, answers: 12 },
  })
  expect(await bed.found('alice')).toEqual([])
  const [left] = await bed.sql`
    SELECT count(*) FILTER (WHERE end_user IS NOT NULL)::integer AS named, count(*)::integer AS rows,
      (SELECT count(*)::integer FROM request_payloads) AS bodies FROM requests`
  expect(left).toEqual({ named: 60, rows: 72, bodies: 60 })
  expect(await bed.faults()).toEqual([])
})

test('a span of time is erased alone, and a dry run counts and changes nothing', async () => {
  const bed = await erasureBed()
  const tenant = await bed.tenant('gone')
  await bed.seed(tenant, { days, count: 20 })
  const before = await bed.all(tenant)
  const revision = async () => (await bed.sql`SELECT keys FROM revision`)[0]?.keys
  const keysBefore = await revision()
  const midnight = Math.floor(Date.now() / 86_400_000) * 86_400_000
  const span = { from: new Date(midnight - 3 * 86_400_000), to: new Date(midnight - 2 * 86_400_000) }
  const dry = await bed.ask(tenant, { ...span, dryRun: true })
  await bed.work()
  expect(await bed.job(dry)).toMatchObject({
    state: 'succeeded',
    counts: { rows: 20, bodies: 20, answers: 20, tags: 40 },
  })
  expect(await bed.all(tenant)).toEqual(before)
  expect(await revision()).toBe(keysBefore)
  const id = await bed.ask(tenant, span)
  await bed.work()
  // So every process forgets the conversations that the tenant's keys have sent.
  expect(await revision()).not.toBe(keysBefore)
  expect(await bed.job(id)).toMatchObject({ counts: { rows: 20, bodies: 20 } })
  const [left] = await bed.sql`SELECT count(*)::integer AS rows FROM requests WHERE end_user IS NOT NULL`
  expect(left).toEqual({ rows: 40 })
})

test('rows that come while the job works are erased when they are of its time, and stay when they are not', async () => {
  const bed = await erasureBed()
  const tenant = await bed.tenant('busy')
  await bed.seed(tenant, { days: [0, 1], count: 20 })
  const id = await bed.ask(tenant)
  const later = { ...tenant, marker: 'later-marker' }
  let calls = 0
  await bed.work({
    storage: {
      isShared: true,
      remove: async () => {
        // Within a pass, after the place that it has reached: a journal of yesterday is shipped.
        if (calls++ > 0) return
        await bed.sql`INSERT INTO requests ${bed.sql([markedRow(tenant, Date.now() - 86_400_000 * 1.9, 1)])}`
        await bed.sql`INSERT INTO requests ${bed.sql([markedRow(later, Date.now() + 1_000, 1)])}`
      },
    },
  })
  expect(await bed.found(tenant.marker)).toEqual([])
  expect(await bed.found('later-marker')).toContain('requests.error_message')
  expect(await bed.job(id)).toMatchObject({ state: 'succeeded', counts: { rows: 41 } })
})

test('the job waits for requests that may run, image jobs, silent processes and shipments, and says for which', async () => {
  const bed = await erasureBed()
  const tenant = await bed.tenant('slow')
  await bed.seed(tenant, { days: [0, 1], count: 20 })
  const id = await bed.ask(tenant)
  const stateOf = async () => {
    const { state, waits_for } = await bed.job(id)
    return `${state}: ${waits_for}`
  }
  const once = async (changes: Partial<typeof bed.needs>) => {
    expect(await runErasure({ ...bed.needs, ...changes })).toBe(true)
  }
  await once({ settleMs: 12 * 3_600_000 })
  expect(await stateOf()).toMatch(/^waiting: requests that may still be running until /)
  // What is old enough is gone by then.
  const [young] =
    await bed.sql`SELECT min(created_at) > now() - interval '12 hours 1 minute' AS young FROM requests WHERE end_user IS NOT NULL`
  expect(young?.young ?? true).toBe(true)

  await bed.sql`UPDATE jobs SET state = 'running' WHERE tenant_id = ${tenant.id}`
  await bed.sql`
    INSERT INTO jobs (id, tenant_id, key_id, group_id, state, priority, model, quote, opened, created_at)
    VALUES (gen_random_uuid(), ${tenant.id}, ${tenant.keyId}, ${tenant.groupId}, 'running', 0, 'm', '{}', '{}', now() - interval '1 minute')`
  await once({})
  expect(await stateOf()).toMatch(/^waiting: \d jobs of the tenant/)
  await bed.sql`UPDATE jobs SET state = 'succeeded'`

  await bed.sql`
    INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
    VALUES (gen_random_uuid(), 'h', 1, now() - interval '1 day', now() - interval '1 hour', 'live')`
  await once({})
  expect(await stateOf()).toMatch(/^waiting: the journals of silent processes/)
  await bed.sql`UPDATE instances SET state = 'lost'`

  await once({ shipAll: async () => false })
  expect(await stateOf()).toBe('waiting: a process that has not shipped its journal')
  await bed.work()
  expect(await stateOf()).toBe('succeeded: null')
  expect((await bed.job(id)).not_reached.join('\n')).toMatch(/The journal of process .*, which is lost/)
  expect(await bed.found(tenant.marker)).toEqual([])
})

test('rows of a day whose sums are not counted yet stay until they are', async () => {
  const bed = await erasureBed()
  const tenant = await bed.tenant('early')
  await bed.seed(tenant, { days: [1], count: 20 })
  await bed.sql`INSERT INTO rollup_backfill SELECT (now() AT TIME ZONE 'UTC')::date - 1`
  const id = await bed.ask(tenant, { what: 'rows' })
  await runErasure(bed.needs)
  expect(await bed.job(id)).toMatchObject({
    state: 'waiting',
    waits_for: 'the usage sums, which do not include 1 days yet',
  })
  expect(await bed.facts(tenant)).toHaveLength(20)
  await bed.sql`DELETE FROM rollup_backfill`
  await bed.work()
  expect(await bed.facts(tenant)).toHaveLength(0)
})

test('a job that is cancelled stops; one whose error passes goes on', async () => {
  const bed = await erasureBed()
  const tenant = await bed.tenant('gone')
  await bed.seed(tenant, { days: [1], count: 20 })
  const cancelled = await bed.ask(tenant)
  let calls = 0
  await bed.work({
    storage: {
      isShared: true,
      remove: async () => {
        if (calls++ === 0)
          await bed.sql`UPDATE erasures SET state = 'cancelled', end_user = NULL WHERE id = ${cancelled}`
      },
    },
  })
  expect(await bed.job(cancelled)).toMatchObject({ state: 'cancelled', counts: {} })
  expect(await bed.found(tenant.marker)).not.toEqual([])

  const id = await bed.ask(tenant)
  await runErasure({
    ...bed.needs,
    storage: {
      isShared: true,
      remove: async () => {
        throw new Error('the bucket is down')
      },
    },
  })
  expect(await bed.job(id)).toMatchObject({ state: 'waiting', error: 'the bucket is down' })
  await bed.work()
  expect(await bed.job(id)).toMatchObject({ state: 'succeeded', error: null })
  expect(await bed.found(tenant.marker)).toEqual([])
})

test('the archive is erased after Postgres, and the report counts it; while it is busy the job waits', async () => {
  const bed = await erasureBed()
  const tenant = await bed.tenant('gone')
  await bed.seed(tenant, { days: [1], count: 10 })
  const id = await bed.ask(tenant)
  await runErasure({ ...bed.needs, archive: async () => null })
  expect(await bed.job(id)).toMatchObject({ state: 'waiting', waits_for: 'the archive, which is busy' })
  const asked: unknown[] = []
  await bed.work({
    archive: async (_, removals) => {
      asked.push(...removals)
      expect(await bed.found(tenant.marker)).toEqual([])
      return { requests: 4 }
    },
  })
  expect(asked).toMatchObject([{ tenantIds: [tenant.id], what: 'content', endUser: null, from: null }])
  expect(await bed.job(id)).toMatchObject({ state: 'succeeded', counts: { archive_requests: 4, rows: 10 } })
})
