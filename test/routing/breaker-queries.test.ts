import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  type ChannelReport,
  readChannelReports,
  reportBreakers,
  resetBreaker,
} from '../../src/routing/breaker-queries.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'

/** What processes report of their breakers. */

let database: Database
let drop: () => Promise<void>
let channel: string
beforeAll(async () => {
  const fresh = await freshDatabase()
  drop = fresh.drop
  database = openDatabase(fresh.url)
})
afterAll(async () => {
  await database.close()
  await drop()
})
beforeEach(async () => {
  channel = randomUUID()
  await database.sql`DELETE FROM instances`
  await database.sql`INSERT INTO channels (id, name, protocols, managed_by) VALUES (${channel}, ${channel}, '{}', 'admin')`
})

async function aProcess(state = 'live', silentSeconds = 0): Promise<string> {
  const id = randomUUID()
  await database.sql`
    INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
    VALUES (${id}, 'h', 1, now(), now() - ${silentSeconds}::integer * interval '1 second', ${state})`
  return id
}

const open = (more: Partial<ChannelReport> = {}): ChannelReport => ({
  ...{ channelId: channel, kind: 'breaker', openings: 1, reason: 'upstream_error', lastsMs: 1_000 },
  leftMs: 10_000,
  ...more,
})
const read = () => readChannelReports(database.db)
const report = (instanceId: string, ...breakers: ChannelReport[]) =>
  reportBreakers(database, instanceId, breakers)

test('the reports of all live processes say where a breaker is open, since when and why', async () => {
  const [one, two] = [await aProcess(), await aProcess(), await aProcess()]
  await report(one, open({ openings: 3, lastsMs: 3_600_000, leftMs: 0, reason: 'upstream_timeout' }))
  await report(two, open())
  const [found, ...others] = await read()
  expect(others).toEqual([])
  expect(found).toMatchObject({ channelId: channel, channel, openIn: 2, processes: 3, openings: 3 })
  expect(found?.reason).toBe('upstream_error')
  const [clock] = await database.sql<{ now: Date }[]>`SELECT now()`
  const now = clock?.now.getTime() ?? 0
  expect(now - (found?.since.getTime() ?? 0)).toBeGreaterThanOrEqual(3_600_000)
  expect(found?.openUntil).toBeInstanceOf(Date)
})

test('processes that ended, were taken for dead or are silent for a minute do not count', async () => {
  const dead = [await aProcess('closed'), await aProcess('adopted'), await aProcess('lost')]
  for (const each of [...dead, await aProcess('live', 61)]) await report(each, open())
  expect(await read()).toEqual([])
  await report(await aProcess(), open())
  expect(await read()).toMatchObject([{ openIn: 1, processes: 1 }])
})

test('a report replaces the one before it of the same process, and ends with its process', async () => {
  const [one, two] = [await aProcess(), await aProcess()]
  await report(one, open(), open({ channelId: randomUUID() }))
  await report(one, open({ openings: 2, reason: 'again' }))
  await report(two, open())
  const rows = () => database.sql`SELECT openings, instance_id FROM breaker_reports ORDER BY openings DESC`
  expect(await rows()).toEqual([
    { openings: 2, instance_id: one },
    { openings: 1, instance_id: two },
  ])
  await report(one)
  expect(await rows()).toEqual([{ openings: 1, instance_id: two }])
  await database.sql`DELETE FROM instances WHERE id = ${two}`
  expect(await rows()).toEqual([])
})

test('the reason of an upstream is kept as Postgres can keep it', async () => {
  await report(await aProcess(), open({ reason: `a\0b\ud800${'x'.repeat(500)}` }))
  const [found] = await read()
  expect(found?.reason).toBe(`ab\ufffd${'x'.repeat(196)}`)
})

test('a reset is a change of the catalog, and ends all reports of the channel', async () => {
  await report(await aProcess(), open())
  const revision = async () => (await database.sql`SELECT catalog FROM revision`)[0]?.catalog
  const before = await revision()
  await resetBreaker(database.db, channel)
  expect(await read()).toEqual([])
  expect(Number(await revision())).toBe(Number(before) + 1)
})
