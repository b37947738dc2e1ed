import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { archivePass } from '../../src/usage/archive/archive-pass.ts'
import { type ArchiverOptions, archivedTables } from '../../src/usage/archive/options.ts'
import { killSteps } from '../support/kill-steps.ts'
import { aBed } from './archive-bed.ts'
import { midnight, seedDay } from './seeded-log.ts'

const steps = killSteps(archivedTables.length, 7)

test('an archiver that is killed after any step loses no row and doubles none', async () => {
  const bed = await aBed({ rowDays: 400, payloadDays: 400, answerDays: 400 })
  const counts = { requests: 0, attempts: 0, request_payloads: 0, request_answers: 0 }
  for (const step of steps) {
    const ids = await seedDay(bed.sql, midnight(9 + step), 30, bed.seed)
    for (const table of archivedTables) counts[table] += await bed.countOf(table, midnight(9 + step))
    const before = await bed.all({}, 200)
    expect(await runArchiver(bed.options, step), `step ${step}`).toBe('SIGKILL')
    expect(await bed.all({}, 200), `killed after step ${step}`).toEqual(before)
    expect(await bed.counts(), `killed after step ${step}`).toEqual(counts)

    expect(await archivePass(bed.options)).toMatchObject({ failed: [], postponed: 0 })
    expect(await bed.all({}, 200), `after step ${step} and a second archiver`).toEqual(before)
    expect(await bed.counts(), `after step ${step} and a second archiver`).toEqual(counts)
    expect(await bed.body(ids[0] ?? '')).toContain('語'.repeat(1000))
  }
  const [left] = await bed.sql`SELECT count(*)::integer AS rows FROM requests`
  expect(left?.rows).toBe(0)
  expect(bed.files()).toEqual(await bed.locations())
}, 240_000)

function runArchiver(options: ArchiverOptions, step: number): Promise<NodeJS.Signals | number | null> {
  const file = resolve(import.meta.dirname, '../support/archiver-process.ts')
  const child = spawn(process.execPath, [file, JSON.stringify(options), String(step)], { stdio: 'inherit' })
  return new Promise((ended) => child.once('exit', (code, signal) => ended(signal ?? code)))
}
