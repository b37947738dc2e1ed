import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { repeatedly } from '../../src/runtime/repeatedly.ts'

const pauseMs = 1_000

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Work whose runs end when the test says so. */
function scripted() {
  const runs: PromiseWithResolvers<void>[] = []
  const work = () => {
    const run = Promise.withResolvers<void>()
    runs.push(run)
    return run.promise
  }
  return { runs, work }
}

test('the next run begins a pause after the former one has ended, however long that took', async () => {
  const { work, runs } = scripted()
  const repetition = repeatedly(work, { pauseMs, atOnce: true })
  await vi.advanceTimersByTimeAsync(10 * pauseMs)
  expect(runs).toHaveLength(1)
  runs[0]?.resolve()
  await vi.advanceTimersByTimeAsync(pauseMs - 1)
  expect(runs).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(runs).toHaveLength(2)
  runs[1]?.resolve()
  await repetition.stop()
})

test('the first run begins after a pause, or at once where that is asked for', async () => {
  const later = scripted()
  const now = scripted()
  const pausing = repeatedly(later.work, { pauseMs })
  const eager = repeatedly(now.work, { pauseMs, atOnce: true })
  expect([later.runs.length, now.runs.length]).toEqual([0, 1])
  await vi.advanceTimersByTimeAsync(pauseMs)
  expect(later.runs).toHaveLength(1)
  for (const { runs } of [later, now]) runs[0]?.resolve()
  await Promise.all([pausing.stop(), eager.stop()])
})

test('failures alike in a row are reported once, and again after a success', async () => {
  const outcomes = ['away', 'away', 'full', 'full', undefined, 'full', 'full']
  const told: string[] = []
  const work = async () => {
    const outcome = outcomes.shift()
    if (outcome !== undefined) throw new Error(outcome)
  }
  const repetition = repeatedly(work, { pauseMs, onFailure: (error) => told.push(String(error)) })
  await vi.advanceTimersByTimeAsync(outcomes.length * pauseMs)
  await repetition.stop()
  expect(outcomes).toEqual([])
  expect(told).toEqual(['Error: away', 'Error: full', 'Error: full'])
})

test('stop waits for the current run, lets no other begin, and tells nothing of its failure', async () => {
  const { work, runs } = scripted()
  const told: unknown[] = []
  const repetition = repeatedly(work, { pauseMs, atOnce: true, onFailure: (error) => told.push(error) })
  const stopped = vi.fn()
  const stopping = repetition.stop().then(stopped)
  await vi.advanceTimersByTimeAsync(pauseMs)
  expect(stopped).not.toHaveBeenCalled()
  runs[0]?.reject(new Error('its connection is closed'))
  await stopping
  await vi.advanceTimersByTimeAsync(2 * pauseMs)
  expect(runs).toHaveLength(1)
  expect(told).toEqual([])
})
