import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { archivedTables } from '../../src/usage/archive/options.ts'
import { killSteps } from '../support/kill-steps.ts'
import { until } from '../support/until.ts'
import { archiveBeside } from './archive-beside.ts'
import { dayMs, erasureBed } from './erasure-bed.ts'

const steps = killSteps(archivedTables.length, 5)
const dayOf = (step: number) => 9 + step

test('a process that is killed after any step of an erasure in the archive loses nothing, and the next one ends it', async () => {
  const bed = await erasureBed()
  const [gone, kept] = [await bed.tenant('gone'), await bed.tenant('kept')]
  for (const tenant of [gone, kept]) await bed.seed(tenant, { days: steps.map(dayOf), count: 5 })
  const archive = await archiveBeside(bed)
  await archive.pass()
  const before = { facts: await archive.facts(gone), other: await archive.all(kept) }
  expect(before.facts).toHaveLength(5 * steps.length)
  for (const step of steps) {
    const day = new Date(Date.now() - dayOf(step) * dayMs).toISOString().slice(0, 10)
    expect(await rewriteUntil(step, [JSON.stringify(archive.options), day, gone.id]), `step ${step}`).toBe(
      'SIGKILL',
    )
    expect(await archive.facts(gone), `killed after step ${step}`).toEqual(before.facts)
    expect(await archive.all(kept), `killed after step ${step}`).toEqual(before.other)

    // Postgres notices a moment later that the session of the killed one has ended.
    const removal = {
      what: 'content',
      tenantIds: [gone.id],
      endUser: null,
      from: null,
      to: new Date(),
    } as const
    await until(async () => (await archive.remove({ from: day, to: day }, [removal])) ?? undefined)
    expect(
      await archive.read(
        'requests',
        'id',
        `tenant_id = '${gone.id}' AND day = '${day}' AND end_user IS NOT NULL`,
      ),
    ).toEqual([])
    expect(await archive.facts(gone), `after step ${step} and a second process`).toEqual(before.facts)
    expect(await archive.all(kept), `after step ${step} and a second process`).toEqual(before.other)
    expect(await archive.faults(), `after step ${step} and a second process`).toEqual([])
  }
  expect(await archive.holders(gone.marker)).toEqual([])
}, 480_000)

function rewriteUntil(step: number, args: readonly string[]): Promise<NodeJS.Signals | number | null> {
  const file = resolve(import.meta.dirname, '../support/rewrite-process.ts')
  const child = spawn(process.execPath, [file, ...args, String(step)], { stdio: 'inherit' })
  return new Promise((ended) => child.once('exit', (code, signal) => ended(signal ?? code)))
}
