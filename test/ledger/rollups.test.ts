import { Client } from 'pg'
import type postgres from 'postgres'
import { expect, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { bucketStarts, latencyOf } from '../../src/usage/latency-histogram.ts'
import { rollPartitions } from '../../src/usage/partitions.ts'
import { countBackfill, foldRollups, rollUp } from '../../src/usage/rollups.ts'
import type { Granularity, Part } from '../../src/usage/summary-range.ts'
import { tenantSummary } from '../../src/usage/tenant-summary.ts'
import { makePartition } from '../support/make-partition.ts'
import { wholeReads } from '../support/whole-reads.ts'
import {
  aRow,
  comparable,
  hoursDays,
  pick,
  random,
  startRollupsBed,
  tenants,
  totalOf,
} from './rollups-bed.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const now = Date.now()
const midnight = Math.floor(now / dayMs) * dayMs
const plan = { rollupFoldMs: 2, rollupHoursDays: hoursDays }
const hourTables = ['rollup_hours', 'rollup_hour_cuts']

test('a summary equals plain SQL over the usage log, for any parts, filters and ranges, folded or not', async () => {
  const { insert, fold, ask, truth } = await startRollupsBed()
  const rows = Array.from({ length: 3_000 }, (_, n) =>
    aRow(n % 3 === 0 ? now - 3 * hourMs : midnight - 4 * dayMs, now),
  )
  await insert(rows.slice(0, 1_500))
  await fold()
  await insert(rows.slice(1_500))
  const parts: Part[] = ['tenant', 'key', 'group', 'model', 'channel', 'outcome']
  for (let turn = 0; turn < 60; turn++) {
    const from = pick([
      midnight - 4 * dayMs,
      midnight - 2 * dayMs,
      now - 2 * hourMs,
      now - 3 * dayMs - 1_234_567,
      now - 90_000,
    ])
    const to = pick([now + hourMs, Math.ceil(now / hourMs) * hourMs, now - 60_001, midnight + dayMs])
    const question = {
      from,
      to,
      parts: parts.filter(() => random.next() < 0.3),
      step: pick<{ step?: Granularity }>([{}, {}, { step: 'hour' }, { step: 'day' }]).step,
      filter: pick([
        {},
        {},
        { tenant: pick(tenants) },
        { channel: 'eu' },
        { outcome: 'succeeded' },
        { model: 'gpt-main' },
      ]),
    }
    const label = JSON.stringify(question)
    const found = await ask(question)
    expect(found.exact, label).toBe(true)
    expect(comparable(found.groups), label).toEqual(
      comparable((await truth(question)).filter(({ requests }) => requests !== null)),
    )
    if (turn === 30) await fold()
  }
  for (const group of [[], ['channel'], ['outcome', 'channel']] satisfies Part[][]) {
    const question = { from: now - 5 * hourMs, to: now + 61_000, parts: group, step: 'minute' as const }
    expect(comparable((await ask(question)).groups)).toEqual(comparable(await truth(question)))
  }
})

test('a range of many months equals plain SQL, from sums by month for one part and by day for two', async () => {
  const { database, insert, fold, ask, truth } = await startRollupsBed()
  const start = midnight - 200 * dayMs
  await insert(Array.from({ length: 2_000 }, () => aRow(start, midnight)))
  await fold()
  // Late rows of a month that was summed long ago.
  await insert(Array.from({ length: 50 }, () => aRow(start, midnight)))
  const months = () => database.sql`SELECT DISTINCT month FROM rollup_months`
  expect((await months()).length).toBeGreaterThanOrEqual(7)
  for (const parts of [
    [],
    ['tenant'],
    ['model', 'outcome'],
    ['channel'],
    ['group'],
    ['key'],
    ['tenant', 'model'],
  ] satisfies Part[][]) {
    for (const [from, to] of [
      [start, midnight],
      [start + 40 * dayMs + 5 * hourMs, midnight - 33 * dayMs + 2 * hourMs],
      [midnight - 20 * dayMs, midnight],
    ] as const) {
      const question = { from, to, parts, filter: parts.length === 0 ? { channel: 'eu' } : {} }
      const found = await ask(question)
      expect(comparable(found.groups), JSON.stringify(question)).toEqual(comparable(await truth(question)))
    }
  }
  await fold()
  await database.sql`UPDATE rollup_days SET requests = requests + 1000000`
  const whole = await ask({ from: start, to: midnight, parts: ['model'] })
  const [found] = await database.sql<{ days: string }[]>`
    SELECT count(*) AS days FROM rollup_days WHERE cut = 'model' AND day < ${new Date(midnight)}`
  // Whole months are read from their own sums alone.
  expect(Number(whole.total.requests)).toBeLessThan(Number(found?.days) * 1_000_000 * 0.5)
})

test('hours by one part are read from their own sums, but not those from before there were such sums', async () => {
  const { database, insert, fold, ask, truth } = await startRollupsBed()
  const { sql } = database
  const range = { from: Math.floor(now / hourMs - 3) * hourMs, to: Math.ceil(now / hourMs) * hourMs }
  await insert(Array.from({ length: 200 }, () => aRow(range.from, now)))
  await fold()
  await sql`UPDATE rollup_hour_cuts SET requests = requests + 1000000`
  const questions: { parts: Part[]; step?: Granularity }[] = [
    { parts: [] },
    { parts: ['model', 'outcome'], step: 'hour' },
    { parts: ['tenant'] },
    { parts: ['group'] },
  ]
  for (const question of questions)
    expect(totalOf(await ask({ ...range, ...question })).requests, String(question.parts)).toBeGreaterThan(
      1e6,
    )
  const byKey = { ...range, parts: ['key'] satisfies Part[] }
  expect(comparable((await ask(byKey)).groups)).toEqual(comparable(await truth(byKey)))

  // As an earlier release left it.
  await sql`DELETE FROM rollup_hour_cuts`
  await sql`DELETE FROM rollup_hour_cuts_since`
  await insert([aRow(range.from, now)])
  for (const _ of ['not folded', 'folded']) {
    for (const question of questions)
      expect(comparable((await ask({ ...range, ...question })).groups), String(question.parts)).toEqual(
        comparable(await truth({ ...range, ...question })),
      )
    await fold()
  }
  expect((await broken(sql)).filter((rule) => rule.includes('sum'))).toEqual([])
  const [since] = await sql<{ hour: Date }[]>`SELECT hour FROM rollup_hour_cuts_since`
  expect(since?.hour.getTime()).toBeGreaterThan(now + hourMs)
})

test('the totals of a tenant are those of its rows, folded or not, by any ends', async () => {
  const { database, insert, fold } = await startRollupsBed()
  const rows = Array.from({ length: 2_000 }, () => aRow(midnight - 20 * dayMs, now))
  await insert(rows.slice(0, 1_500))
  await fold()
  await insert(rows.slice(1_500))
  const times = { nowMs: Date.now(), hoursDays }
  for (const tenant of tenants)
    for (const [from, to] of [
      [midnight - 30 * dayMs, times.nowMs],
      [midnight - 7 * dayMs - 12_345, midnight - dayMs + 1_234_567],
      [midnight - 3 * dayMs, midnight + dayMs],
      [times.nowMs - 40 * 60_000, times.nowMs],
    ] as const) {
      const stored = await tenantSummary(database.sql, tenant, { from, to }, times)
      const own = rows.filter(
        ({ tenant_id, created_at }) => tenant_id === tenant && +created_at >= from && +created_at < to,
      )
      const groups = Object.groupBy(
        own,
        ({ created_at, error_kind, requested_model: model }) =>
          `${created_at.toISOString().slice(0, 10)} ${error_kind === 'model_not_found' ? null : model}`,
      )
      const shown = stored?.rows.map((row) => [
        `${row.day} ${row.model}`,
        ...[row.requests, row.failed, row.input_tokens, row.images, row.cost_nano, row.charged_nano],
      ])
      const truth = Object.entries(groups).map(([name, of = []]) => {
        const sum = (value: (row: (typeof rows)[number]) => string | number | null) =>
          String(of.reduce((all, row) => all + BigInt(value(row) ?? 0), 0n))
        return [
          name,
          sum(({ folded }) => folded),
          sum(({ folded, outcome }) => (outcome === 'succeeded' ? 0 : folded)),
          sum(({ input_tokens }) => input_tokens),
          sum(({ images }) => images),
          sum(({ cost_nano }) => cost_nano),
          sum(({ charged_nano, cost_nano }) => charged_nano ?? cost_nano),
        ]
      })
      expect(shown?.toSorted(), `${from} ${to}`).toEqual(truth.toSorted())
      expect(shown?.map(([name]) => name?.slice(0, 10))).toEqual(
        shown?.map(([name]) => name?.slice(0, 10)).toSorted((one = '', other = '') => (one < other ? 1 : -1)),
      )
      expect(stored, `${from} ${to}`).toMatchObject({ from, to })
    }
  await database.sql`INSERT INTO rollup_backfill VALUES ((now() AT TIME ZONE 'UTC')::date)`
  expect(
    await tenantSummary(database.sql, tenants[0] ?? '', { from: midnight, to: times.nowMs }, times),
  ).toBeUndefined()
})

test('groups after the limit are one other, pages follow each other, and the total is that of all', async () => {
  const { insert, fold, ask } = await startRollupsBed()
  await insert(Array.from({ length: 400 }, () => aRow(midnight - 2 * dayMs, midnight)))
  await fold()
  const range = { from: midnight - 2 * dayMs, to: midnight, parts: ['key'] satisfies Part[] }
  const all = await ask(range)
  const first = await ask({ ...range, limit: 3 })
  const second = await ask({ ...range, limit: 3, skip: 3 })
  expect(all.other).toBeUndefined()
  expect([...first.groups, ...second.groups].map(({ key_id }) => key_id)).toEqual(
    all.groups.slice(0, 6).map(({ key_id }) => key_id),
  )
  expect(first.total).toEqual(all.total)
  expect(first.other?.groups).toBe(all.groups.length - 3)
  const sum = first.groups.reduce((requests, group) => requests + Number(group.requests), 0)
  expect(sum + Number(first.other?.requests)).toBe(Number(all.total.requests))
  for (const sort of ['cost', 'errors', 'tokens', 'latency'] as const) {
    const values = (await ask({ ...range, sort })).groups.map((group) => {
      if (sort === 'cost') return Number(group.cost_nano)
      if (sort === 'errors') return Number(group.refused) + Number(group.failed) + Number(group.orphaned)
      if (sort === 'tokens') return Number(group.input_tokens) + Number(group.output_tokens)
      return group.total?.p95 ?? 0
    })
    expect(values, sort).toEqual([...values].sort((a, b) => b - a))
  }
})

test('many writers, folds between them and folds that die: nothing is lost and nothing counts twice', async () => {
  const { url, database, insert, fold, ask, leftOver } = await startRollupsBed()
  const rows = Array.from({ length: 2_400 }, () => aRow(midnight - dayMs, now))
  const range = { from: midnight - dayMs, to: midnight + dayMs }
  let isDone = false
  /** What each of them sees: two that ask at once may tell in any order. */
  const all: number[][] = []
  const folder = async () => {
    const seen: number[] = []
    all.push(seen)
    while (!isDone) {
      await fold()
      seen.push(totalOf(await ask(range)).requests)
    }
  }
  const dying = async () => {
    while (!isDone) {
      const session = new Client(url)
      session.on('error', () => {})
      await session.connect()
      const own = await session.query('SELECT pg_backend_pid() AS pid')
      await session.query('BEGIN')
      const step = session.query('SELECT fold_rollups(50000, 9600, 2880)').catch(() => {})
      if (random.next() < 0.5) await step
      // As kill -9 of the process: its session ends inside its transaction.
      await database.sql`SELECT pg_terminate_backend(${own.rows[0].pid})`
      await step
      await session.end().catch(() => {})
    }
  }
  const writer = async (part: number) => {
    for (let at = part * 300; at < (part + 1) * 300; at += 50) {
      await database.sql.begin(async (tx) => {
        await insert(rows.slice(at, at + 50), tx)
        // As a batch that Postgres refuses after its deltas.
        await tx
          .savepoint(
            async (refused) => await insert([aRow(midnight, now), ...rows.slice(at, at + 3)], refused),
          )
          .catch(() => {})
      })
    }
  }
  const others = [folder(), folder(), dying()]
  await Promise.all(Array.from({ length: 8 }, (_, part) => writer(part)))
  isDone = true
  await Promise.all(others)
  await fold()
  expect(await leftOver()).toBe(0)
  for (const seen of all) expect(seen).toEqual([...seen].sort((a, b) => a - b))
  const wanted = {
    requests: rows.reduce((sum, row) => sum + row.folded, 0),
    cost: rows.reduce((sum, row) => sum + BigInt(row.cost_nano ?? 0), 0n),
  }
  expect(totalOf(await ask(range))).toEqual(wanted)
  expect(totalOf(await ask({ ...range, parts: ['key', 'model', 'channel'] }))).toEqual(wanted)
})

test('a row that is replaced counts once, as replay does it, and rows that move to their partition count once', async () => {
  const { database, insert, fold, ask } = await startRollupsBed()
  const { sql } = database
  const moved = aRow(midnight - 9 * dayMs, midnight - 8 * dayMs)
  const replaced = aRow(midnight - dayMs, midnight, { outcome: 'orphaned', folded: 1 })
  await insert([moved, replaced])
  await fold()
  await makePartition(sql, 'requests', moved.created_at.toISOString().slice(0, 10))
  await sql.begin(async (tx) => {
    await tx`DELETE FROM requests WHERE id = ${replaced.id} AND created_at = ${replaced.created_at}`
    await insert([{ ...replaced, outcome: 'succeeded', cost_nano: '77', folded: 1 }], tx)
  })
  const range = { from: midnight - 9 * dayMs, to: midnight }
  for (const step of [async () => {}, fold]) {
    await step()
    const { groups } = await ask({ ...range, parts: ['outcome'], from: midnight - dayMs })
    expect(groups).toMatchObject([
      { outcome: 'succeeded', requests: '1', cost_nano: '77', total: { count: 1 } },
    ])
    expect((await ask(range)).total.requests).toBe(String(moved.folded + 1))
  }
  expect((await broken(sql)).filter((rule) => rule.includes('sum'))).toEqual([])
})

test('rows from before the sums are counted once, while others arrive', async () => {
  const { database, insert, fold, ask, truth } = await startRollupsBed()
  const { sql } = database
  const range = { from: midnight - 3 * dayMs, to: midnight + dayMs, parts: ['key', 'model'] satisfies Part[] }
  await sql`ALTER TABLE requests DISABLE TRIGGER request_sums_added`
  // One of the current day at least, also in its first minutes.
  await insert([aRow(now, now), ...Array.from({ length: 900 }, () => aRow(midnight - 3 * dayMs, now))])
  await sql.begin(async (tx) => {
    await tx`ALTER TABLE requests ENABLE TRIGGER request_sums_added`
    await tx`INSERT INTO rollup_backfill SELECT DISTINCT (created_at AT TIME ZONE 'UTC')::date FROM requests`
  })
  expect(await ask(range)).toMatchObject({ waitingDays: 4, total: { requests: '0' } })
  let isDone = false
  const writing = Promise.all(
    Array.from({ length: 3 }, async () => {
      while (!isDone) await insert(Array.from({ length: 20 }, () => aRow(midnight - 3 * dayMs, now)))
    }),
  )
  const folding = (async () => {
    while (!isDone) await fold()
  })()
  // Rows that are not committed yet hold no one up, and are counted later.
  await sql.begin(async (tx) => {
    await insert([aRow(midnight, now)], tx)
    while ((await ask(range)).waitingDays > 0) await countBackfill(sql, plan)
  })
  isDone = true
  await Promise.all([writing, folding])
  for (const step of [async () => {}, fold]) {
    await step()
    expect(comparable((await ask(range)).groups)).toEqual(comparable(await truth(range)))
  }
})

test('sums outlive the rows of their day', async () => {
  const { database, insert, ask } = await startRollupsBed()
  const { sql } = database
  const old = Array.from({ length: 50 }, () => aRow(midnight - 100 * dayMs, midnight - 99 * dayMs))
  await insert(old)
  await rollUp(sql, plan)
  await rollPartitions(sql, {
    partitionsAheadDays: 4,
    requestRetentionDays: 90,
    payloadRetentionDays: 30,
    answerRetentionDays: 30,
  })
  expect(await sql`SELECT FROM requests`).toHaveLength(0)
  const range = {
    from: midnight - 100 * dayMs,
    to: midnight - 99 * dayMs,
    parts: ['tenant'] satisfies Part[],
  }
  expect(totalOf(await ask(range)).requests).toBe(old.reduce((sum, row) => sum + row.folded, 0))
  expect((await broken(sql)).filter((rule) => rule.includes('sum'))).toEqual([])
})

test('sums by minute and by hour are deleted past their time, and late rows do not bring them back', async () => {
  const { database, insert, ask } = await startRollupsBed()
  const { sql } = database
  await insert([
    aRow(now - 500 * dayMs, now - 499 * dayMs),
    aRow(now - 3 * dayMs, now - 2.5 * dayMs),
    aRow(now - hourMs, now),
  ])
  await foldRollups(sql, plan)
  expect(await sql`SELECT FROM rollup_minutes`).toHaveLength(1)
  await sql`UPDATE rollup_minutes SET minute = now() - interval '49 hours'`
  for (const table of hourTables) {
    expect(await sql`SELECT DISTINCT hour FROM ${sql(table)}`).toHaveLength(2)
    await sql`UPDATE ${sql(table)} SET hour = hour - interval '400 days'`
  }
  await sql`DELETE FROM sweeps`
  await rollUp(sql, plan)
  expect(await sql`SELECT FROM rollup_minutes`).toHaveLength(0)
  for (const table of hourTables) expect(await sql`SELECT FROM ${sql(table)}`).toHaveLength(0)
  expect(await sql`SELECT DISTINCT day FROM rollup_days`).toHaveLength(3)
  await expect(ask({ from: now - 500 * dayMs, to: now, parts: ['key', 'model'] })).rejects.toThrow(
    'expected whole days',
  )
})

test('a pass does not read all sums by hour in search of old ones', async () => {
  const { database } = await startRollupsBed()
  await database.sql`
    INSERT INTO rollup_hours
    SELECT date_trunc('hour', now()) - n % 500 * interval '1 hour', NULL, NULL, NULL, 'model-' || n, NULL, 'succeeded',
      1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    FROM generate_series(1, 20000) AS n`
  await database.sql`
    INSERT INTO rollup_hour_cuts
    SELECT hour, 'model', NULL, NULL, model, NULL, outcome, rows, requests, input_tokens, cache_read_tokens, cache_write_tokens,
      output_tokens, reasoning_tokens, images, cost_nano, unpriced, total_latency, first_token_latency
    FROM rollup_hours`
  await database.sql`ANALYZE rollup_hours, rollup_hour_cuts`
  const session = await database.sql.reserve()
  // The first fold of all looks whether there were sums before.
  await foldRollups(session, plan)
  const scans = () => Promise.all(hourTables.map((table) => wholeReads(session, table)))
  const before = await scans()
  await rollUp(session, plan)
  expect(await session`SELECT FROM sweeps WHERE name = 'rollups'`).toHaveLength(1)
  expect(await scans()).toEqual(before)
  session.release()
})

test('ledger:verify finds a sum that is wrong, in each table, and a delta that is missing', async () => {
  const { database, insert, fold } = await startRollupsBed()
  const { sql } = database
  // Sums by minute are checked for less than two days.
  await insert(Array.from({ length: 200 }, () => aRow(now - dayMs, now)))
  const about = async () => (await broken(sql)).filter((rule) => rule.includes('sum'))
  expect(await about()).toEqual([])
  await fold()
  expect(await about()).toEqual([])
  for (const table of [...hourTables, 'rollup_days', 'rollup_minutes', 'rollup_months']) {
    for (const change of [
      'cost_nano = cost_nano + 1',
      'total_latency = total_latency + 1e24',
      'requests = requests - 1',
    ]) {
      await sql.unsafe(`CREATE TABLE kept AS SELECT * FROM ${table}`)
      await sql.unsafe(`UPDATE ${table} SET ${change} WHERE ctid = (SELECT min(ctid) FROM ${table})`)
      // A month is compared with its days: it may differ from a wrong one as well.
      const found = (await about()).filter((rule) => table !== 'rollup_days' || !rule.includes('by month'))
      expect(found, `${table} ${change}`).toHaveLength(1)
      await sql.unsafe(`DELETE FROM ${table}`)
      await sql.unsafe(`INSERT INTO ${table} SELECT * FROM kept`)
      await sql.unsafe('DROP TABLE kept')
    }
  }
  expect(await about()).toEqual([])
  await insert([aRow(now - hourMs, now)])
  await sql`DELETE FROM rollup_deltas`
  expect(await about()).not.toEqual([])
})

test('a percentile is wrong by less than 10 %, and Postgres and we have the same buckets', async () => {
  const { database } = await startRollupsBed()
  for (const spread of [10, 1_000, 100_000]) {
    const values = Array.from({ length: 999 }, () => 1 + Math.floor(random.next() ** 2 * spread)).sort(
      (a, b) => a - b,
    )
    const [row] = await database.sql<{ histogram: string }[]>`
      SELECT sum(('1e' || 12 * latency_bucket(v))::numeric)::text AS histogram FROM unnest(${values}::integer[]) AS v`
    const found = latencyOf(row?.histogram ?? '0')
    for (const [name, place] of [
      ['p50', 499],
      ['p95', 949],
      ['p99', 989],
    ] as const) {
      const truth = values[place] ?? 0
      expect(Math.abs((found?.[name] ?? 0) - truth) / truth, `${name} of ${truth}`).toBeLessThan(0.1)
    }
    expect(found?.count).toBe(999)
  }
  const rows = await database.sql<{ at: number; before: number }[]>`
    SELECT latency_bucket(v) AS at, latency_bucket(v - 1) AS before FROM unnest(${[...bucketStarts]}::integer[]) AS v`
  expect(rows).toEqual(bucketStarts.map((_, n) => ({ at: n + 1, before: n })))
  expect(
    await database.sql`SELECT latency_bucket_at(0, 0.5) AS none, latency_bucket_at(1 + 3e24, 0.95) AS some`,
  ).toEqual([{ none: -1, some: 2 }])
})

async function broken(sql: postgres.Sql): Promise<string[]> {
  const { findings } = await verifyLedger(sql)
  return findings.filter(({ differences }) => differences > 0).map(({ rule }) => rule)
}

test('a time whose ends the usage log has no longer is widened to whole hours, which the sums have', async () => {
  const { insert, fold, ask, database } = await startRollupsBed()
  const day = midnight - 6 * dayMs
  const date = new Date(day).toISOString().slice(0, 10)
  const rows = Array.from({ length: 400 }, () => aRow(day + 12 * hourMs, day + 16 * hourMs))
  await database.sql`select make_partition('requests', ${date}::text::date)`
  await insert(rows)
  await fold()
  const asked = { from: day + 12.5 * hourMs, to: day + 15.5 * hourMs }
  expect((await ask(asked)).exact).toBe(true)
  const requests = rows.reduce((sum, { folded }) => sum + folded, 0)
  const whole = {
    from: day + 12 * hourMs,
    to: day + 16 * hourMs,
    exact: false,
    total: { requests: `${requests}` },
  }
  await database.sql.unsafe(`drop table requests_${date.replaceAll('-', '')}`)
  expect(await ask(asked)).toMatchObject(whole)
  // A late row makes the partition anew. The archive has the others.
  await database.sql`
    insert into archived_days (day, table_name, part, state, started_at) values (${date}::text::date, 'requests', 0, 'dropped', now())`
  await database.sql`select make_partition('requests', ${date}::text::date)`
  expect(await ask(asked)).toMatchObject(whole)
})
