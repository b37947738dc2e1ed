import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFailed, onTestFinished, test } from 'vitest'
import { listJournals } from '../../src/journal/journal-directory.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { amount } from '../support/amount.ts'
import { startCountingUpstream } from '../support/counting-upstream.ts'
import { type Database, openDatabase } from '../support/database.ts'
import { flipBit } from '../support/flip-bit.ts'
import { gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { type Load, startLoad } from '../support/marked-load.ts'
import { type Random, seeded } from '../support/random.ts'
import { type Replicated, startReplicated } from '../support/replicated.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { anyMoment } from '../support/until.ts'

/**
 * The promise of the usage log on machines as operators have them: four processes with host names of their own on one
 * folder (DURABILITY=journal), and two with folders of their own that are deleted at random (DURABILITY=postgres), on a
 * Postgres that restarts and fails over.
 */

const events = amount('LONG_RUN_EVENTS', { test: 4, chaos: 200 })
const deadMs = 10_000
/** After a failover, the time until a journal has shipped again what Postgres lost. */
const shippedAgainMs = 15_000

/** A place for a process. */
interface Slot {
  name: string
  home: string
  isLosingDisks: boolean
  tollgate: TollgateProcess | undefined
  /** It was stopped by SIGSTOP, and goes on at this time of Date.now(). */
  stoppedUntil: number | undefined
}

/** What may be missing, and why. */
interface Excuses {
  /** Markers of requests with a frame that was flipped, and how many had no marker that could be read. */
  flipped: Set<string>
  unreadable: number
  failovers: { from: number; to: number }[]
  deletions: { slot: string; at: number }[]
}

test(`after ${events} kills, pauses, ends, starts, damages, restarts and failovers under load, every call that the upstream saw has exactly one row`, {
  timeout: 300_000 + events * 20_000,
}, async () => {
  const random = seeded(14)
  const postgres = await startReplicated()
  const upstream = await startCountingUpstream()
  const shared = mkdtempSync(join(tmpdir(), 'tollgate-long-'))
  const slots = ['a', 'b', 'c', 'd', 'e', 'f'].map((name): Slot => {
    const isLosingDisks = name >= 'e'
    const home = isLosingDisks ? mkdtempSync(join(tmpdir(), `tollgate-long-${name}-`)) : shared
    return { name, home, isLosingDisks, tollgate: undefined, stoppedUntil: undefined }
  })
  onTestFinished(async () => {
    for (const { tollgate } of slots) tollgate?.child.kill('SIGKILL')
    await upstream.stop()
    for (const home of new Set(slots.map(({ home }) => home))) rmSync(home, { recursive: true, force: true })
  })
  const start = async (slot: Slot) => {
    slot.tollgate = await startTollgate({
      host: `host-${slot.name}`,
      databaseUrl: postgres.url,
      dataDir: slot.home,
      gatewayYaml: gatewayYaml(upstream.url).replace('balance_usd: "1.00"', 'balance_usd: "100000"'),
      env: {
        SECRET_KEY: secretKey,
        ROLE: 'api',
        DURABILITY: slot.isLosingDisks ? 'postgres' : 'journal',
        INSTANCE_DEAD_MS: String(deadMs),
        JOURNAL_SEGMENT_BYTES: '262144',
        DRAIN_ON_SHUTDOWN_MS: '5000',
      },
    })
    onTestFailed(() => console.log(`${slot.name}: ${slot.tollgate?.stderr().slice(-20_000)}`))
  }
  await start(slots[0] ?? never())
  await Promise.all(slots.slice(1).map(start))
  const load = startLoad(random, () =>
    slots.filter(isServing).map(({ name, tollgate }) => ({ name, url: tollgate?.url ?? '' })),
  )

  const excuses: Excuses = { flipped: new Set(), unreadable: 0, failovers: [], deletions: [] }
  const happened = new Map<string, number>()
  const unexpected: string[] = []
  for (let count = 0; count < events; ) {
    const event = await happen(random, slots, { postgres, start, excuses, unexpected })
    if (event === undefined) continue
    count += 1
    happened.set(event, (happened.get(event) ?? 0) + 1)
    await load.more(10)
    await anyMoment(random, 1_500)
    wake(slots, Date.now())
    for (const { name, tollgate } of slots) {
      const code = tollgate?.child.exitCode ?? tollgate?.child.signalCode
      if (tollgate !== undefined && code !== null)
        unexpected.push(`${name} ended with ${code} after ${event}: ${tollgate.stderr().slice(-2_000)}`)
    }
    expect(unexpected).toEqual([])
  }
  wake(slots, Number.POSITIVE_INFINITY)
  for (const slot of slots) if (slot.tollgate === undefined) await start(slot)
  await load.more(20)
  await load.stop()

  const database = openDatabase(postgres.url)
  onTestFinished(() => database.close())
  const { sql } = database
  const waiting = async () => {
    const live =
      await sql`SELECT id FROM instances WHERE state = 'live' AND heartbeat_at > now() - interval '20 seconds'`
    const ids = new Set(live.map(({ id }) => String(id)))
    const journals = [...new Set(slots.map(({ home }) => home))]
      .flatMap((home) => listJournals(join(home, 'journal')))
      .filter(({ instance, directory }) => !ids.has(instance) && !existsSync(join(directory, 'shipped')))
    const [open] = await sql`SELECT count(*)::int AS n FROM open_requests`
    return { journals: journals.length, open: open?.n, live: ids.size }
  }
  await expect
    .poll(waiting, { timeout: 120_000, interval: 500 })
    .toEqual({ journals: 0, open: 0, live: slots.length })
  const codes = await Promise.all(slots.map(({ tollgate }) => tollgate?.stop()))
  expect(codes).toEqual(slots.map(() => 0))
  await expectOneRowEach(sql, load, (await upstream.count()).ids, excuses)
  const { findings } = await verifyLedger(sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  console.log(`events: ${JSON.stringify(Object.fromEntries(happened))}`)
})

/** One event, after which the caller goes on; undefined: it was not possible now. */
async function happen(
  random: Random,
  slots: readonly Slot[],
  {
    postgres,
    start,
    excuses,
    unexpected,
  }: { postgres: Replicated; start(slot: Slot): Promise<void>; excuses: Excuses; unexpected: string[] },
): Promise<string | undefined> {
  const slot = random.pick(slots)
  const { tollgate, stoppedUntil } = slot
  if (tollgate === undefined) {
    await start(slot)
    return 'start'
  }
  const others = slots.filter((other) => other !== slot && isServing(other)).length
  const kind = random.pick(kinds)
  switch (kind) {
    case 'restart of Postgres':
      await postgres.restart()
      return kind
    case 'failover':
      excuses.failovers.push(await postgres.failOver())
      return kind
    case 'folder deleted':
      if (!slot.isLosingDisks) return undefined
      deleteFolder(slot, excuses)
      return kind
  }
  // Somebody must serve.
  if (others < 2) return undefined
  switch (kind) {
    case 'kill -9':
      await tollgate.kill9()
      slot.tollgate = undefined
      slot.stoppedUntil = undefined
      return kind
    case 'machine lost':
      if (!slot.isLosingDisks) return undefined
      await tollgate.kill9()
      slot.tollgate = undefined
      slot.stoppedUntil = undefined
      deleteFolder(slot, excuses)
      return kind
    case 'bit flipped': {
      if (slot.isLosingDisks) return undefined
      const journals = () => listJournals(join(slot.home, 'journal')).map(({ directory }) => directory)
      const own = journals().filter(
        (directory) => existsSync(directory) && isOf(directory, `host-${slot.name}`),
      )
      await tollgate.kill9()
      slot.tollgate = undefined
      slot.stoppedUntil = undefined
      const [directory] = random.shuffle(own)
      const flipped = directory === undefined ? undefined : flipBit(directory, random)
      if (flipped === undefined) return 'kill -9'
      if (flipped.marker === undefined) excuses.unreadable += 1
      else excuses.flipped.add(flipped.marker)
      return kind
    }
    case 'SIGTERM': {
      if (stoppedUntil !== undefined) return undefined
      slot.tollgate = undefined
      const code = await tollgate.stop()
      if (code !== 0)
        unexpected.push(`${slot.name} ended with ${code} after SIGTERM: ${tollgate.stderr().slice(-2_000)}`)
      return kind
    }
    case 'SIGSTOP':
      if (stoppedUntil !== undefined) return undefined
      tollgate.child.kill('SIGSTOP')
      slot.stoppedUntil = Date.now() + 20_000 + random.upTo(40_000)
      return kind
  }
}

const kinds = [
  ...Array(4).fill('kill -9'),
  ...Array(3).fill('SIGTERM'),
  ...Array(3).fill('SIGSTOP'),
  ...Array(3).fill('bit flipped'),
  ...Array(6).fill('folder deleted'),
  ...Array(3).fill('machine lost'),
  'restart of Postgres',
  'failover',
] as const

function deleteFolder({ name, home }: Slot, excuses: Excuses): void {
  rmSync(join(home, 'journal'), { recursive: true, force: true })
  excuses.deletions.push({ slot: name, at: Date.now() })
}

function isServing({ tollgate, stoppedUntil }: Slot): boolean {
  return tollgate !== undefined && stoppedUntil === undefined
}

function wake(slots: readonly Slot[], now: number): void {
  for (const slot of slots) {
    if (slot.stoppedUntil === undefined || slot.stoppedUntil > now) continue
    slot.tollgate?.child.kill('SIGCONT')
    slot.stoppedUntil = undefined
  }
}

/** The journal's owner runs, or ran, on this host. */
function isOf(directory: string, host: string): boolean {
  try {
    return JSON.parse(readFileSync(join(directory, 'owner.json'), 'utf8')).host === host
  } catch {
    return false
  }
}

async function expectOneRowEach(
  sql: Database['sql'],
  load: Load,
  seen: readonly string[],
  excuses: Excuses,
): Promise<void> {
  const rows = await sql<{ marker: string | null; outcome: string; count: number }[]>`
    SELECT end_user AS marker, min(outcome) AS outcome, count(*)::int AS count FROM requests GROUP BY end_user`
  const byMarker = new Map(rows.map((row) => [row.marker ?? '(none)', row]))
  const twice = rows.filter(({ marker, count }) => marker !== null && count > 1)
  expect(twice).toEqual([])

  const isExcused = (marker: string) => excuses.flipped.has(marker) || isLostTwice(load, marker, excuses)
  const missing = [...new Set(seen)].filter((marker) => !byMarker.has(marker))
  const untrue = [...load.calls.values()].filter(
    ({ marker, isAnswered }) => isAnswered && byMarker.get(marker)?.outcome !== 'succeeded',
  )
  const faults = [
    ...missing.map((marker) => ({ marker, fault: 'no row' })),
    ...untrue.map(({ marker }) => ({ marker, fault: `answered, but ${byMarker.get(marker)?.outcome}` })),
  ]
  const unexcused = faults.filter(({ marker }) => !isExcused(marker))
  for (const { marker, fault } of faults.filter(({ marker }) => isExcused(marker)))
    console.log(
      `excepted: ${marker}: ${fault}, ${excuses.flipped.has(marker) ? 'a bit of its frame was flipped' : 'Postgres lost it, and its folder was deleted'}`,
    )
  expect(
    unexcused.slice(excuses.unreadable).map((fault) => ({ ...fault, call: load.calls.get(fault.marker) })),
  ).toEqual([])
  const orphaned = rows.filter(({ outcome }) => outcome === 'orphaned').length
  console.log(
    `${seen.length} calls seen upstream, ${rows.length} rows, ${orphaned} orphaned, ${missing.length} without a row, ` +
      `${excuses.flipped.size + excuses.unreadable} frames flipped, ${excuses.failovers.length} failovers, ${excuses.deletions.length} folders deleted`,
  )
}

/** Its row was of a second that Postgres lost, and its journal was deleted before it could be shipped again. */
function isLostTwice(load: Load, marker: string, { failovers, deletions }: Excuses): boolean {
  const call = load.calls.get(marker)
  if (call === undefined) return false
  return failovers.some(({ from, to }) => {
    const isOfIt = call.begun <= to && call.ended >= from
    return (
      isOfIt && deletions.some(({ slot, at }) => slot === call.at && at >= from && at <= to + shippedAgainMs)
    )
  })
}

function never(): never {
  throw new Error('there is no such slot')
}
