import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, inject, test } from 'vitest'
import { Random } from '../support/random.ts'
import { until } from '../support/until.ts'
import { erasureBed } from './erasure-bed.ts'

const random = new Random(160 + inject('seed'))

test.each(['content', 'rows'] as const)(
  'a process that is killed again and again erases %s once: nothing is left, nothing is counted twice',
  async (what) => {
    const bed = await erasureBed()
    const [gone, kept] = [await bed.tenant('gone'), await bed.tenant('kept')]
    await bed.seed(gone, { days: [1, 2], count: 90 })
    await bed.seed(kept, { days: [1], count: 20 })
    const before = { money: await bed.money(), other: await bed.all(kept) }
    const id = await bed.ask(gone, { what })
    const reached = async () => {
      const { counts, state } = await bed.job(id)
      return state === 'succeeded' ? Number.POSITIVE_INFINITY : Number(counts.rows ?? 0)
    }
    for (let kills = 0; kills < 6; kills++) {
      const aim = (await reached()) + 1 + Math.floor(random.next() * 30)
      const child = spawn(process.execPath, ['test/support/erasure-process.ts', bed.url], { stdio: 'ignore' })
      const exit = once(child, 'exit')
      await until(async () => ((await reached()) >= aim ? true : undefined))
      child.kill('SIGKILL')
      await exit
    }
    // No one holds the lease of a dead process indefinitely.
    await bed.sql`UPDATE erasures SET leased_until = now()`
    await bed.work()
    expect(await bed.job(id)).toMatchObject({
      state: 'succeeded',
      counts: { rows: 180, bodies: 180, answers: 180 },
    })
    expect(await bed.found(gone.marker)).toEqual([])
    expect(await bed.all(kept)).toEqual(before.other)
    expect(await bed.money()).toEqual(before.money)
    expect(await bed.faults()).toEqual([])
  },
  60_000,
)
