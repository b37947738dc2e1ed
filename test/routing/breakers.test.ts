import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type BreakerTable, breakerTable } from '../../src/routing/breaker-table.ts'
import { Breakers, type BreakersOptions } from '../../src/routing/breakers.ts'
import { relayLog, silentLog } from '../../src/telemetry/relay-log.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { holdsFor, until } from '../support/until.ts'

/** The breakers of two processes on one Postgres. Like processes, each has a database object of its own. */

let drop: () => Promise<void>
let databases: [Database, Database]
let away: string
beforeAll(async () => {
  const { url, drop: dropIt } = await freshDatabase()
  drop = dropIt
  databases = [openDatabase(url), openDatabase(url)]
  away = 'postgres://nobody@127.0.0.1:9/nowhere'
})
const running: Breakers[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((breakers) => breakers.end()))
})
afterAll(async () => {
  await Promise.all(databases.map((database) => database.close()))
  await drop()
})

const bounds = { breakerFailures: 3, breakerOpenMs: 200, breakerOpenMsMax: 1_000, breakerSilenceMs: 300 }

function start(process: 0 | 1 = 0, more: Partial<BreakersOptions> = {}): Breakers {
  const database = databases[process]
  const breakers = new Breakers({
    bounds,
    table: breakerTable(database),
    database,
    log: silentLog,
    sweepMs: 50,
    chance: () => 0.5,
    ...more,
  })
  running.push(breakers)
  return breakers
}

const fail = (breakers: Breakers, channel: string) =>
  breakers.begin(channel, 'main').end('failure', 'upstream_error')
const live = (breakers: Breakers, channel: string) => breakers.begin(channel, 'main').end('life', '')
const isClosed = (breakers: Breakers, channel: string) => breakers.whyNot(channel) === undefined

function open(breakers: Breakers, channel: string): void {
  for (let i = 0; i < bounds.breakerFailures; i++) fail(breakers, channel)
}

test('a breaker opens after the set number of failures in a row, here at once and in other processes soon', async () => {
  const [one, two] = [start(0), start(1)]
  const channel = randomUUID()
  fail(one, channel)
  fail(one, channel)
  live(one, channel)
  fail(one, channel)
  fail(one, channel)
  expect(one.whyNot(channel)).toBeUndefined()
  fail(one, channel)
  expect(one.whyNot(channel)).toMatch(/^breaker open for 1 s: upstream_error$/)
  await until(() => !isClosed(two, channel))
})

test('a breaker opens when half of at least ten calls failed, and not for fewer calls', () => {
  const breakers = start()
  const channel = randomUUID()
  for (let i = 0; i < 4; i++) {
    live(breakers, channel)
    fail(breakers, channel)
  }
  live(breakers, channel)
  expect(isClosed(breakers, channel)).toBe(true)
  fail(breakers, channel)
  expect(isClosed(breakers, channel)).toBe(false)
})

test('a call whose client left counts neither as success nor as failure', () => {
  const breakers = start()
  const channel = randomUUID()
  for (let i = 0; i < 50; i++) breakers.begin(channel, 'main').end('nothing', '')
  fail(breakers, channel)
  fail(breakers, channel)
  breakers.begin(channel, 'main').end('nothing', '')
  expect(isClosed(breakers, channel)).toBe(true)
  fail(breakers, channel)
  expect(isClosed(breakers, channel)).toBe(false)
})

test('a call that began before the breaker opened neither closes it nor keeps it open', async () => {
  const breakers = start()
  const channel = randomUUID()
  const [early, late] = [breakers.begin(channel, 'main'), breakers.begin(channel, 'main')]
  open(breakers, channel)
  early.end('life', '')
  expect(isClosed(breakers, channel)).toBe(false)
  await until(() => isClosed(breakers, channel))
  live(breakers, channel)
  await until(() => isClosed(breakers, channel))
  fail(breakers, channel)
  fail(breakers, channel)
  late.end('failure', 'upstream_timeout')
  expect(isClosed(breakers, channel)).toBe(true)
})

test('after the open time one request of all processes is the probe, and its success closes the breaker everywhere', async () => {
  const all = [start(0), start(1)]
  const channel = randomUUID()
  const [one, two] = all
  if (one === undefined || two === undefined) throw new Error('two processes')
  open(one, channel)
  await until(() => !isClosed(two, channel))
  let probing: Breakers | undefined
  await until(() => {
    probing = all.find((breakers) => isClosed(breakers, channel))
    return probing !== undefined
  })
  if (probing === undefined) throw new Error('a probe')
  const probe = probing.begin(channel, 'main')
  // The probe is held for longer than a claim lasts without renewal.
  await holdsFor(5_500, () => {
    for (const breakers of all) expect(breakers.whyNot(channel)).toMatch(/half open/)
  })
  probe.end('life', '')
  for (const breakers of all) await until(() => isClosed(breakers, channel))
  const left = () => databases[0].sql`SELECT 1 FROM channel_breakers WHERE channel_id = ${channel}`
  await expect.poll(left).toHaveLength(0)
})

test('a failed probe opens the breaker again, each time for twice as long, up to a bound', async () => {
  const openMs: number[] = []
  const log = relayLog((level, fields) => {
    if (level === 'warn') openMs.push(Number(Object.entries(fields)[1]?.[1]))
  })
  const breakers = start(0, { log })
  const channel = randomUUID()
  open(breakers, channel)
  for (let i = 0; i < 3; i++) {
    await until(() => isClosed(breakers, channel))
    fail(breakers, channel)
  }
  expect(openMs).toEqual([200, 400, 800, 1_000])
})

test('if the client of a probe leaves, the next request is the probe', async () => {
  const breakers = start()
  const channel = randomUUID()
  open(breakers, channel)
  await until(() => isClosed(breakers, channel))
  const probe = breakers.begin(channel, 'main')
  expect(isClosed(breakers, channel)).toBe(false)
  probe.end('nothing', '')
  expect(isClosed(breakers, channel)).toBe(true)
})

test('a long answer closes the breaker before its end, and its end counts as well', async () => {
  const breakers = start()
  const channel = randomUUID()
  open(breakers, channel)
  await until(() => isClosed(breakers, channel))
  const probe = breakers.begin(channel, 'main')
  expect(isClosed(breakers, channel)).toBe(false)
  probe.answered(200)
  await until(() => isClosed(breakers, channel))
  fail(breakers, channel)
  fail(breakers, channel)
  probe.end('failure', 'upstream_error')
  expect(isClosed(breakers, channel)).toBe(false)
})

test('a breaker opens when several calls wait and none is answered for long; an answered call does not count', async () => {
  const breakers = start()
  const [silent, slow] = [randomUUID(), randomUUID()]
  const calls = [1, 2, 3].map(() => breakers.begin(silent, 'silent'))
  const [first] = [1, 2, 3].map(() => breakers.begin(slow, 'slow'))
  first?.answered(500)
  await until(() => !isClosed(breakers, silent))
  expect(breakers.whyNot(silent)).toMatch(/no answer to any of 3 calls/)
  // Two that wait are too few to say anything.
  expect(isClosed(breakers, slow)).toBe(true)
  // The breaker opened after these calls began: their late answers decide nothing.
  for (const call of calls) call.end('life', '')
  expect(isClosed(breakers, silent)).toBe(false)
})

test('a probe that does not end keeps no other request from probing, and counts when it ends', async () => {
  const [one, two] = [start(0, { probeMsMax: 100 }), start(1)]
  const channel = randomUUID()
  open(one, channel)
  await until(() => !isClosed(two, channel))
  await until(() => isClosed(one, channel))
  const hanging = one.begin(channel, 'main')
  expect(isClosed(one, channel)).toBe(false)
  // The claim runs out, because the process no longer renews it: either process may probe next.
  await until(() => isClosed(one, channel) || isClosed(two, channel), 10_000)
  hanging.end('life', '')
  await until(() => isClosed(one, channel) && isClosed(two, channel))
  fail(one, channel)
  expect(isClosed(one, channel)).toBe(true)
})

test('when another process opens or closes the breaker, the probe of this process no longer counts', async () => {
  const breakers = start()
  const channel = randomUUID()
  open(breakers, channel)
  await until(() => isClosed(breakers, channel))
  const hanging = breakers.begin(channel, 'main')
  await databases[1].sql`SELECT close_breaker(${channel})`
  await until(() => isClosed(breakers, channel))
  await databases[1].sql`SELECT open_breaker(${channel}, 1, 100, 'elsewhere')`
  await until(() => !isClosed(breakers, channel))
  // The hanging request is no longer the probe.
  await until(() => isClosed(breakers, channel))
  const probe = breakers.begin(channel, 'main')
  await databases[1].sql`SELECT open_breaker(${channel}, 2, 60000, 'elsewhere again')`
  await until(() => breakers.whyNot(channel)?.includes('again') === true)
  for (const late of [hanging, probe]) late.end('life', '')
  expect(isClosed(breakers, channel)).toBe(false)
})

test('a call has one result: later reports about it do not count', () => {
  const breakers = start()
  const channel = randomUUID()
  const calls = [1, 2, 3, 4].map(() => breakers.begin(channel, 'main'))
  for (const call of calls) call.end('life', '')
  for (const call of calls) call.end('failure', 'upstream_error', 60_000)
  expect(isClosed(breakers, channel)).toBe(true)
})

test('opening a breaker deletes old rows, without waiting for a locked one', async () => {
  const [old, held, opened] = [randomUUID(), randomUUID(), randomUUID()]
  const [one, two] = databases
  for (const channel of [old, held])
    await one.sql`INSERT INTO channel_breakers (channel_id, openings, open_until, probe_at, reason, changed_at)
      VALUES (${channel}, 1, now(), now(), 'old', now() - interval '2 days')`
  const left = await one.sql.begin(async (sql) => {
    await sql`SELECT 1 FROM channel_breakers WHERE channel_id = ${held} FOR UPDATE`
    await two.sql.begin(async (other) => {
      await other`SET LOCAL statement_timeout = 5000`
      await other`SELECT open_breaker(${opened}, 1, 1000, 'x')`
    })
    return sql`SELECT channel_id FROM channel_breakers WHERE channel_id = ANY (${[old, held, opened]}::uuid[])`
  })
  expect(left.map(({ channel_id }) => channel_id).sort()).toEqual([held, opened].sort())
  await one.sql`SELECT close_breaker(${held})`
})

test('an upstream that names a time opens the breaker at once, for exactly this time', async () => {
  const [one, two] = [start(0), start(1)]
  const channel = randomUUID()
  one.begin(channel, 'main').end('failure', 'upstream_overloaded, status 503', 40_000)
  expect(one.whyNot(channel)).toBe('breaker open for 40 s: upstream_overloaded, status 503')
  await until(() => two.whyNot(channel) !== undefined)
  expect(two.whyNot(channel)).toMatch(/^breaker open for (39|40) s/)
})

test('calls as a last resort do not change the breaker', () => {
  const breakers = start()
  const channel = randomUUID()
  open(breakers, channel)
  live(breakers, channel)
  expect(isClosed(breakers, channel)).toBe(false)
})

test('a starting process knows the open channels, and notices closed ones even without notifications', async () => {
  const one = start(0)
  const channel = randomUUID()
  one.begin(channel, 'main').end('failure', 'x', 60_000)
  const deaf = start(1, {
    database: { listen: () => async () => {} },
  })
  await until(() => !isClosed(deaf, channel))
  await databases[0].sql`SELECT close_breaker(${channel})`
  await until(() => isClosed(one, channel) && isClosed(deaf, channel))
})

test('while Postgres is away each process opens, probes and closes by itself', async () => {
  const database = openDatabase(away)
  try {
    const [one, two] = [0, 1].map(() => start(0, { database, table: breakerTable(database) }))
    if (one === undefined || two === undefined) throw new Error('two processes')
    const channel = randomUUID()
    for (const breakers of [one, two]) {
      open(breakers, channel)
      expect(isClosed(breakers, channel)).toBe(false)
    }
    for (const breakers of [one, two]) {
      await until(() => isClosed(breakers, channel))
      const probe = breakers.begin(channel, 'main')
      expect(isClosed(breakers, channel)).toBe(false)
      probe.end('life', '')
      expect(isClosed(breakers, channel)).toBe(true)
    }
  } finally {
    await database.close()
  }
})

test('after an outage of Postgres each process writes what it could not write meanwhile', async () => {
  const database = databases[0]
  let isAway = true
  const real = breakerTable(database)
  const orAway = <T>(work: () => Promise<T>) => (isAway ? Promise.reject(new Error('away')) : work())
  const table: BreakerTable = {
    read: () => orAway(() => real.read()),
    open: (...args) => orAway(() => real.open(...args)),
    close: (...args) => orAway(() => real.close(...args)),
    claimProbe: (...args) => orAway(() => real.claimProbe(...args)),
    holdProbe: (...args) => orAway(() => real.holdProbe(...args)),
  }
  const [one, two] = [start(0, { table }), start(1)]
  const channel = randomUUID()
  one.begin(channel, 'main').end('failure', 'x', 60_000)
  isAway = false
  await until(() => !isClosed(two, channel))
  expect(isClosed(one, channel)).toBe(false)
})
