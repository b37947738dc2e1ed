import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { SharedRuns } from '../../src/journal/shared-runs.ts'
import { systemClock } from '../../src/runtime/clock.ts'

/** Runs whose beginnings and ends, and the pauses between them, the test decides. */
function controlled(apartMs = 50) {
  const ends: PromiseWithResolvers<boolean>[] = []
  const pauses: (() => void)[] = []
  const begun = Promise.withResolvers<void>()
  const runs = new SharedRuns({
    apartMs,
    run: () => {
      const end = Promise.withResolvers<boolean>()
      ends.push(end)
      begun.resolve()
      return end.promise
    },
    clock: systemClock,
    pause: () => new Promise<void>((resolve) => pauses.push(resolve)),
  })
  return { runs, ends, pauses, begun: begun.promise }
}

test('a hundred callers in as many turns of the event loop cause two runs', async () => {
  const { runs, ends, pauses } = controlled()
  const callers: Promise<boolean>[] = []
  for (let caller = 0; caller < 100; caller++) {
    callers.push(runs.join())
    await turn()
    await turn()
  }
  expect(ends).toHaveLength(1)
  pauses[0]?.()
  await expect.poll(() => ends.length).toBe(2)
  for (const end of ends) end.resolve(true)
  expect(new Set(await Promise.all(callers))).toEqual(new Set([true]))
  expect(ends).toHaveLength(2)
})

test('a caller that comes after a run has begun gets another one, even when the first takes long', async () => {
  const { runs, ends, pauses, begun } = controlled()
  const first = runs.join()
  // In the turn in which the run begins.
  await begun
  const second = runs.join()
  pauses[0]?.()
  await expect.poll(() => ends.length).toBe(2)
  ends[1]?.resolve(true)
  expect(await second).toBe(true)
  ends[0]?.resolve(false)
  expect(await first).toBe(false)
})

test('without a time between them, each turn of the event loop has a run of its own', async () => {
  const { runs, ends, pauses } = controlled(0)
  void runs.join()
  void runs.join()
  await expect.poll(() => ends.length).toBe(1)
  void runs.join()
  await expect.poll(() => ends.length).toBe(2)
  expect(pauses).toHaveLength(0)
})
