import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ChannelReport } from '../../src/routing/breaker-queries.ts'
import { Breakers, type BreakersOptions } from '../../src/routing/breakers.ts'
import { relayLog, silentLog } from '../../src/telemetry/relay-log.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'
import { holdsFor, until } from '../support/until.ts'

/** The breakers of one process. Two of them know nothing of each other, as two processes. */

const running: Breakers[] = []
let clock: ManualClock
beforeEach(() => {
  clock = manualClock()
})
afterEach(() => {
  for (const breakers of running.splice(0)) breakers.end()
})

const bounds = { breakerFailures: 3, breakerOpenMs: 200, breakerOpenMsMax: 1_000, breakerSilenceMs: 300 }

function start(more: Partial<BreakersOptions> = {}): Breakers {
  const breakers = new Breakers({
    bounds,
    channels: new Map(),
    instance: { id: 'a process' },
    report: async () => {},
    clock,
    log: silentLog,
    sweepMs: 10,
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

/** The time of a first opening. */
const passOpening = () => clock.pass(bounds.breakerOpenMs)

test('a breaker opens after the set number of failures in a row; another process goes by what it sees itself', () => {
  const [one, two] = [start(), start()]
  const channel = randomUUID()
  fail(one, channel)
  fail(one, channel)
  live(one, channel)
  fail(one, channel)
  fail(one, channel)
  expect(one.whyNot(channel)).toBeUndefined()
  fail(one, channel)
  expect(one.whyNot(channel)).toMatch(/^breaker open for 1 s: upstream_error$/)
  expect(one.isOpen(channel)).toBe(true)
  live(two, channel)
  expect(isClosed(two, channel)).toBe(true)
  open(two, channel)
  expect(isClosed(two, channel)).toBe(false)
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

test('a call that began before the breaker opened neither closes it nor keeps it open', () => {
  const breakers = start()
  const channel = randomUUID()
  const [early, late] = [breakers.begin(channel, 'main'), breakers.begin(channel, 'main')]
  open(breakers, channel)
  early.end('life', '')
  expect(isClosed(breakers, channel)).toBe(false)
  passOpening()
  live(breakers, channel)
  expect(isClosed(breakers, channel)).toBe(true)
  fail(breakers, channel)
  fail(breakers, channel)
  late.end('failure', 'upstream_timeout')
  expect(isClosed(breakers, channel)).toBe(true)
})

test('after the open time one request of each process is a probe, which decides for its own process', () => {
  const all = [start(), start()]
  const channel = randomUUID()
  for (const breakers of all) open(breakers, channel)
  clock.pass(bounds.breakerOpenMs - 1)
  for (const breakers of all) expect(breakers.whyNot(channel)).toMatch(/open for 1 s/)
  clock.pass(1)
  const probes = all.map((breakers) => breakers.begin(channel, 'main'))
  clock.pass(10_000)
  for (const breakers of all) expect(breakers.whyNot(channel)).toMatch(/half open/)
  probes[0]?.end('life', '')
  probes[1]?.end('failure', 'upstream_error')
  expect(all.map((breakers) => breakers.isOpen(channel))).toEqual([false, true])
})

test('a failed probe opens the breaker again, each time for twice as long, up to a bound', () => {
  const openMs: number[] = []
  const log = relayLog((level, fields) => {
    if (level === 'warn') openMs.push(Number(Object.entries(fields)[1]?.[1]))
  })
  const breakers = start({ log })
  const channel = randomUUID()
  open(breakers, channel)
  for (let i = 0; i < 3; i++) {
    clock.pass((openMs.at(-1) ?? 0) - 1)
    expect(isClosed(breakers, channel)).toBe(false)
    clock.pass(1)
    fail(breakers, channel)
  }
  expect(openMs).toEqual([200, 400, 800, 1_000])
})

test('if the client of a probe leaves, the next request is the probe', () => {
  const breakers = start()
  const channel = randomUUID()
  open(breakers, channel)
  passOpening()
  const probe = breakers.begin(channel, 'main')
  expect(isClosed(breakers, channel)).toBe(false)
  probe.end('nothing', '')
  expect(isClosed(breakers, channel)).toBe(true)
})

test('a long answer closes the breaker before its end, and its end counts as well', async () => {
  const breakers = start()
  const channel = randomUUID()
  open(breakers, channel)
  passOpening()
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
  clock.pass(bounds.breakerSilenceMs)
  await until(() => !isClosed(breakers, silent))
  expect(breakers.whyNot(silent)).toMatch(/no response to any of 3 calls/)
  // Two that wait are too few to say anything.
  expect(isClosed(breakers, slow)).toBe(true)
  // The breaker opened after these calls began: their late answers decide nothing.
  for (const call of calls) call.end('life', '')
  expect(isClosed(breakers, silent)).toBe(false)
})

test('clients that give up are no sign of life: the breaker opens all the same', async () => {
  const breakers = start()
  const channel = randomUUID()
  const waiting = [1, 2, 3].map(() => breakers.begin(channel, 'main'))
  for (let passed = 0; passed < bounds.breakerSilenceMs; passed += 100) {
    clock.pass(100)
    waiting.push(breakers.begin(channel, 'main'))
    waiting.shift()?.end('left', '')
  }
  await until(() => !isClosed(breakers, channel))
  expect(breakers.whyNot(channel)).toMatch(/no response to any of 3 calls/)
})

describe('a channel that answers nothing is reported before its breaker opens', () => {
  const slow = { ...bounds, breakerSilenceMs: 40_000 }
  let reported: readonly ChannelReport[]
  const listen = (more: Partial<BreakersOptions> = {}) => {
    reported = []
    return start({
      bounds: slow,
      async report(_id, reports) {
        reported = reports
      },
      ...more,
    })
  }

  test('with the calls that wait, since its last answer, and until the next one', async () => {
    const breakers = listen()
    const channel = randomUUID()
    breakers.begin(channel, 'main').end('life', '')
    clock.pass(5_000)
    const calls = [1, 2, 3].map(() => breakers.begin(channel, 'main'))
    clock.pass(9_999)
    await holdsFor(50, () => expect(reported).toEqual([]))
    clock.pass(1)
    await until(() => reported.length > 0)
    expect(reported).toEqual([
      {
        ...{ channelId: channel, kind: 'silent', openings: 0, reason: '', leftMs: 0 },
        ...{ lastsMs: 10_000, waiting: 3, oldestMs: 10_000 },
      },
    ])
    expect(isClosed(breakers, channel)).toBe(true)
    calls[1]?.answered(200)
    await until(() => reported.length === 0)
  })

  test('also while only few wait at once, because clients gave up after a long wait', async () => {
    const breakers = listen()
    const [hanging, hasty] = [randomUUID(), randomUUID()]
    for (let i = 0; i < 4; i++) {
      const call = breakers.begin(hanging, 'main')
      clock.pass(2_000)
      breakers.begin(hasty, 'main').end('left', '')
      clock.pass(1_000)
      call.end('left', '')
    }
    await until(() => reported.length > 0)
    expect(reported).toMatchObject([{ channelId: hanging, waiting: 0, lastsMs: 12_000 }])
    clock.pass(600_001)
    breakers.begin(hasty, 'main').end('failure', 'x', 60_000)
    await until(() => reported[0]?.kind === 'breaker')
    expect(reported).toHaveLength(1)
  })

  test('and not while answers usually take as long', async () => {
    const breakers = listen()
    const channel = randomUUID()
    const thinking = breakers.begin(channel, 'main')
    clock.pass(8_000)
    thinking.answered(200)
    for (let i = 0; i < 3; i++) breakers.begin(channel, 'main')
    clock.pass(15_999)
    await holdsFor(50, () => expect(reported).toEqual([]))
    clock.pass(1)
    await until(() => reported.length > 0)
  })

  test('a channel of which all credentials are refused is reported as that', async () => {
    const channel = randomUUID()
    const refusal = { channelId: channel, kind: 'refused' as const, openings: 0, reason: '401', leftMs: 0 }
    let refusals: ChannelReport[] = [{ ...refusal, lastsMs: 7 }]
    const breakers = listen({ refusals: () => refusals })
    await until(() => reported.length > 0)
    expect(reported).toEqual(refusals)
    // What is open says more.
    breakers.begin(channel, 'main').end('failure', 'x', 60_000)
    await until(() => reported[0]?.kind === 'breaker')
    expect(reported).toHaveLength(1)
    breakers.follow(new Map())
    refusals = []
    await until(() => reported.length === 0)
  })
})

test('a probe that does not end keeps no other request from probing, and counts when it ends', async () => {
  const breakers = start()
  const channel = randomUUID()
  open(breakers, channel)
  passOpening()
  const hanging = breakers.begin(channel, 'main')
  expect(isClosed(breakers, channel)).toBe(false)
  clock.pass(30_001)
  await until(() => isClosed(breakers, channel))
  hanging.end('life', '')
  expect(breakers.isOpen(channel)).toBe(false)
  fail(breakers, channel)
  expect(isClosed(breakers, channel)).toBe(true)
})

test('when another probe has decided, or an admin has reset the breaker, a hanging probe no longer counts', async () => {
  const channel = randomUUID()
  const breakers = start({ channels: new Map([[channel, { breakerResets: 0 }]]) })
  open(breakers, channel)
  passOpening()
  const hanging = breakers.begin(channel, 'main')
  clock.pass(30_001)
  await until(() => isClosed(breakers, channel))
  breakers.begin(channel, 'main').end('failure', 'again', 60_000)
  hanging.end('life', '')
  expect(breakers.whyNot(channel)).toBe('breaker open for 60 s: again')
  const late = breakers.begin(channel, 'main')
  breakers.follow(new Map([[channel, { breakerResets: 1 }]]))
  late.end('failure', 'upstream_error', 60_000)
  expect(isClosed(breakers, channel)).toBe(true)
})

test('a call has one result: later reports about it do not count', () => {
  const breakers = start()
  const channel = randomUUID()
  const calls = [1, 2, 3, 4].map(() => breakers.begin(channel, 'main'))
  for (const call of calls) call.end('life', '')
  for (const call of calls) call.end('failure', 'upstream_error', 60_000)
  expect(isClosed(breakers, channel)).toBe(true)
})

test('an upstream that names a time opens the breaker at once, for exactly this time', () => {
  const breakers = start()
  const channel = randomUUID()
  breakers.begin(channel, 'main').end('failure', 'upstream_overloaded, status 503', 40_000)
  expect(breakers.whyNot(channel)).toBe('breaker open for 40 s: upstream_overloaded, status 503')
})

test('calls as a last resort do not change the breaker', () => {
  const breakers = start()
  const channel = randomUUID()
  open(breakers, channel)
  live(breakers, channel)
  expect(isClosed(breakers, channel)).toBe(false)
})

test('a reset closes the breaker once, and other changes of the catalog leave it as it is', () => {
  const [channel, other] = [randomUUID(), randomUUID()]
  const resets = (of: number) =>
    new Map([
      [channel, { breakerResets: of }],
      [other, { breakerResets: 4 }],
    ])
  const breakers = start({ channels: resets(7) })
  const openForLong = (each: string) => breakers.begin(each, 'main').end('failure', 'x', 60_000)
  for (const each of [channel, other]) openForLong(each)
  breakers.follow(resets(7))
  expect([isClosed(breakers, channel), isClosed(breakers, other)]).toEqual([false, false])
  breakers.follow(resets(8))
  expect([isClosed(breakers, channel), isClosed(breakers, other)]).toEqual([true, false])
  openForLong(channel)
  breakers.follow(resets(8))
  expect(isClosed(breakers, channel)).toBe(false)
})

test('a process reports its breakers when one opens or closes, when a channel leaves the catalog, and under a new id', async () => {
  const said: string[] = []
  const instance = { id: 'one' }
  const report = async (id: string, breakers: readonly ChannelReport[]) => {
    said.push([id, ...breakers.map(({ reason, openings }) => `${reason} ${openings}`)].join(': '))
  }
  const channel = randomUUID()
  const channels = new Map([[channel, { breakerResets: 0 }]])
  const breakers = start({ instance, report, channels })
  const reports = async (line: string) => await until(() => said.at(-1) === line)
  open(breakers, channel)
  await reports('one: upstream_error 1')
  instance.id = 'two'
  await reports('two: upstream_error 1')
  passOpening()
  live(breakers, channel)
  await reports('two')
  open(breakers, channel)
  await reports('two: upstream_error 1')
  breakers.follow(new Map())
  await reports('two')
  const { length } = said
  await holdsFor(100, () => expect(said).toHaveLength(length))
})

test.each([
  ['refuses reports', () => Promise.reject(new Error('away'))],
  ['answers nothing', () => new Promise<void>(() => {})],
])('while Postgres %s a process opens, probes and closes as ever', (_how, report) => {
  const breakers = start({ report })
  const channel = randomUUID()
  open(breakers, channel)
  expect(isClosed(breakers, channel)).toBe(false)
  passOpening()
  const probe = breakers.begin(channel, 'main')
  expect(isClosed(breakers, channel)).toBe(false)
  probe.end('life', '')
  expect(isClosed(breakers, channel)).toBe(true)
})

test('after an outage of Postgres a process reports what it could not report meanwhile', async () => {
  let isAway = true
  let refused = 0
  let reported: readonly ChannelReport[] = []
  const breakers = start({
    async report(_id, opened) {
      if (isAway) throw new Error(`away ${refused++}`)
      reported = opened
    },
  })
  const channel = randomUUID()
  breakers.begin(channel, 'main').end('failure', 'x', 60_000)
  await until(() => refused > 1)
  isAway = false
  await until(() => reported.length > 0)
  expect(reported).toMatchObject([{ channelId: channel, openings: 1, reason: 'x' }])
})
