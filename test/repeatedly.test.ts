import { expect, test } from 'vitest'
import { repeatedly } from '../src/repeatedly.ts'

/** Work whose runs end when the test says so. */
function scripted() {
  const runs: PromiseWithResolvers<void>[] = []
  let announce = Promise.withResolvers<void>()
  return {
    runs,
    work: () => {
      const run = Promise.withResolvers<void>()
      runs.push(run)
      announce.resolve()
      announce = Promise.withResolvers<void>()
      return run.promise
    },
    /** The run of this number, as soon as it has begun. */
    async begun(number: number): Promise<PromiseWithResolvers<void>> {
      for (;;) {
        const run = runs[number - 1]
        if (run !== undefined) return run
        await announce.promise
      }
    },
  }
}

test('a run begins only when the former one has ended, however short the pause is', async () => {
  const { work, runs, begun } = scripted()
  const repetition = repeatedly(work, { pauseMs: 0, atOnce: true })
  const first = await begun(1)
  const tenTimers = Array.from({ length: 10 })
  for (const _ of tenTimers) await new Promise((resolve) => setTimeout(resolve))
  expect(runs).toHaveLength(1)
  first.resolve()
  const second = await begun(2)
  second.resolve()
  await begun(3).then((third) => third.resolve())
  await repetition.stop()
})

test('the first run begins after a pause, or at once where that is asked for', async () => {
  const later = scripted()
  const pausing = repeatedly(later.work, { pauseMs: 3_600_000 })
  expect(later.runs).toHaveLength(0)
  await pausing.stop()
  const now = scripted()
  const eager = repeatedly(now.work, { pauseMs: 3_600_000, atOnce: true })
  expect(now.runs).toHaveLength(1)
  now.runs[0]?.resolve()
  await eager.stop()
  expect([later.runs.length, now.runs.length]).toEqual([0, 1])
})

test('failures in a row with the same message are told once, and again after a success', async () => {
  const { work, begun } = scripted()
  const told: string[] = []
  const repetition = repeatedly(work, { pauseMs: 0, onFailure: (error) => told.push(String(error)) })
  const outcomes = ['away', 'away', 'full', 'full', undefined, 'full']
  for (const [index, outcome] of outcomes.entries()) {
    const run = await begun(index + 1)
    if (outcome === undefined) run.resolve()
    else run.reject(new Error(outcome))
  }
  const last = await begun(outcomes.length + 1)
  last.resolve()
  await repetition.stop()
  expect(told).toEqual(['Error: away', 'Error: full', 'Error: full'])
})

test('stop waits for the current run, lets no other begin, and tells nothing of a failure after it', async () => {
  const { work, runs, begun } = scripted()
  const told: unknown[] = []
  const repetition = repeatedly(work, {
    pauseMs: 0,
    atOnce: true,
    onFailure: (error) => told.push(error),
  })
  const run = await begun(1)
  let isStopped = false
  const stopping = repetition.stop().then(() => {
    isStopped = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isStopped).toBe(false)
  run.reject(new Error('its connection is closed'))
  await stopping
  await new Promise((resolve) => setTimeout(resolve))
  expect(runs).toHaveLength(1)
  expect(told).toEqual([])
})
