import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { noAdoption } from '../../src/shipping/adoption.ts'
import { Backlog } from '../../src/shipping/backlog.ts'
import { LedgerWatch } from '../../src/shipping/ledger-watch.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { manualClock } from '../support/manual-clock.ts'

/** What a process knows of its own lag. Time is an argument here. */

const instance = '01920000-0000-7000-8000-000000000001'

test('the age is that of the oldest bytes that Postgres does not have, and the rows are those after them', () => {
  const backlog = new Backlog(0)
  const known = (now: number) => ({ ageMs: backlog.ageMs(now), rows: backlog.rows, bytes: backlog.bytes })
  expect(known(5_000)).toEqual({ ageMs: 0, rows: 0, bytes: 0 })
  backlog.look({ written: 0, shipped: 0, rows: 0 }, 1_000)
  backlog.look({ written: 100, shipped: 0, rows: 2 }, 2_000)
  backlog.look({ written: 300, shipped: 0, rows: 5 }, 3_000)
  expect(known(4_000)).toEqual({ ageMs: 3_000, rows: 5, bytes: 300 })
  // A part of the first bytes does not make them younger.
  backlog.look({ written: 300, shipped: 60, rows: 5 }, 4_000)
  expect(known(4_000)).toEqual({ ageMs: 3_000, rows: 5, bytes: 240 })
  backlog.look({ written: 300, shipped: 100, rows: 5 }, 5_000)
  expect(known(5_000)).toEqual({ ageMs: 3_000, rows: 3, bytes: 200 })
  backlog.look({ written: 300, shipped: 300, rows: 5 }, 6_000)
  expect(known(60_000)).toEqual({ ageMs: 0, rows: 0, bytes: 0 })
  // What is written after a long silence is young.
  backlog.look({ written: 300, shipped: 300, rows: 5 }, 70_000)
  backlog.look({ written: 400, shipped: 300, rows: 6 }, 71_000)
  expect(known(71_000)).toEqual({ ageMs: 1_000, rows: 1, bytes: 100 })
  // A new journal begins at 0.
  backlog.look({ written: 50, shipped: 0, rows: 8 }, 72_000)
  expect(known(72_000)).toEqual({ ageMs: 1_000, rows: 2, bytes: 50 })
})

test('after a day without Postgres the age is exact still', () => {
  const backlog = new Backlog(0)
  for (let second = 1; second <= 86_400; second++)
    backlog.look({ written: second * 10, shipped: 0, rows: second }, second * 1_000)
  expect(backlog.ageMs(86_400_000)).toBe(86_400_000)
  expect(backlog.rows).toBe(86_400)
  backlog.look({ written: 864_000, shipped: 432_000, rows: 86_400 }, 86_400_000)
  const halfMs = backlog.ageMs(86_400_000) - 43_200_000
  expect(halfMs).toBeGreaterThanOrEqual(0)
  // As coarse as the marks that were merged.
  expect(halfMs).toBeLessThan(86_400_000 / 1_000)
})

test('a process lags alone while others move; where no one moves, or no one knows, it is degraded; one alarm and its end', async () => {
  const bed = aWatch()
  expect(bed.watch.state()).toMatchObject({ status: 'ready', others: undefined })
  bed.progress = { written: 500, shipped: 0, rows: 3 }
  await bed.pass(10_000)
  // Half of the bound has not passed: no one asks Postgres.
  expect(bed.asked).toBe(0)
  expect(bed.watch.state()).toMatchObject({
    status: 'ready',
    unshipped: { rows: 3, bytes: 500, oldestMs: 10_000 },
  })

  await bed.pass(51_000)
  expect(bed.asked).toBeGreaterThan(2)
  expect(bed.watch.state()).toMatchObject({ status: 'degraded', others: 'standing' })
  const alarm = 'rows of this process wait for Postgres for longer than LEDGER_LAG_MS_MAX'
  expect(bed.logged).toEqual([alarm])

  bed.positions = () => new Map([['other', String(bed.clock.elapsed())]])
  await bed.pass(10_000)
  expect(bed.watch.state()).toMatchObject({ status: 'lagging', others: 'moving' })
  bed.positions = () => {
    throw new Error('Postgres is down')
  }
  await bed.pass(20_000)
  expect(bed.watch.state()).toMatchObject({ status: 'degraded', others: 'standing' })
  expect(bed.logged).toEqual([alarm])

  bed.progress = { written: 500, shipped: 500, rows: 3 }
  await bed.pass(1_000)
  expect(bed.watch.state()).toMatchObject({ status: 'ready', unshipped: { rows: 0, bytes: 0, oldestMs: 0 } })
  expect(bed.logged).toEqual([alarm, 'Postgres has caught up with the rows of this process'])
  const { asked } = bed
  await bed.pass(60_000)
  expect(bed.asked).toBe(asked)
})

test('a journal near its bound is reported before requests are refused', async () => {
  const bed = aWatch()
  bed.journalBytes = 899
  expect(bed.watch.state().status).toBe('ready')
  bed.journalBytes = 900
  expect(bed.watch.state().status).toBe('near_bound')
})

test('it knows the journals of its disk, and what was set aside there and not put back', async () => {
  const bed = aWatch()
  for (const name of [instance, `set-aside-${instance}-0-77`, `replayed-${instance}-0-88`, 'else'])
    mkdirSync(join(bed.dataDir, 'journal', name))
  await bed.pass(6_000)
  await expect
    .poll(() => bed.watch.state())
    .toMatchObject({ journals: [instance], setAside: [`${instance}-0-77`], adoption: { failed: [] } })
})

function aWatch() {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-watch-'))
  mkdirSync(join(dataDir, 'journal'))
  const bed = {
    dataDir,
    clock: manualClock(),
    asked: 0,
    journalBytes: 0,
    progress: { written: 0, shipped: 0, rows: 0 },
    positions: (): ReadonlyMap<string, string> => new Map([['other', 'as before']]),
    logged: [] as string[],
    /** Let so much time pass, second by second. */
    async pass(ms: number) {
      for (const end = bed.clock.elapsed() + ms; bed.clock.elapsed() < end; ) {
        bed.clock.pass(1_000)
        bed.watch.look()
        // An answer of Postgres comes in a later turn.
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    watch: undefined as unknown as LedgerWatch,
  }
  bed.watch = new LedgerWatch({
    dataDir,
    ledger: {
      get progress() {
        return bed.progress
      },
      adoption: noAdoption,
      health: () => ({ journalBytes: bed.journalBytes }),
    },
    async othersPositions() {
      bed.asked += 1
      return bed.positions()
    },
    bounds: { ledgerLagMsMax: 60_000, journalBytesMax: 1_000 },
    log: relayLog((_level, _fields, message) => void bed.logged.push(message)),
    clock: bed.clock,
  })
  onTestFinished(() => {
    bed.watch.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
  return bed
}
