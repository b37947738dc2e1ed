import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SharedState } from '../../../src/process/measures/shared-state.ts'
import { declared } from '../../../src/telemetry/metrics/declarations.ts'
import { Metrics } from '../../../src/telemetry/metrics/store.ts'

/** How often Postgres is asked for what is there for all processes, and what is shown while it is down. */

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

function aState() {
  let isAway = false
  let asked = 0
  const answers: unknown[][] = [
    [{ kind: 'image', state: 'queued', jobs: 7, oldest_seconds: 90 }],
    [{ webhooks: 2, reservations: 3, held_nano: '5000000000' }],
  ]
  const state = new SharedState({
    log: {
      async ask<T>(): Promise<T> {
        asked++
        if (isAway) throw new Error('away')
        return answers[(asked - 1) % 2] as T
      },
    },
  })
  const look = async () => {
    const metrics = new Metrics()
    await state.show(metrics)
    const value = (of: 'webhooksDue' | 'reservedUsd' | 'sharedAge') => metrics.cells(declared[of]).at().value
    const jobs = metrics.cells(declared.jobs)
    return {
      value,
      queued: () => jobs.at('image', 'queued').value,
      running: () => jobs.at('answer', 'running').value,
    }
  }
  const goAway = () => {
    isAway = true
  }
  return { look, asked: () => asked, goAway }
}

test('many looks within ten seconds make one read, of two questions', async () => {
  const { look, asked } = aState()
  const [first] = await Promise.all([look(), look(), look()])
  expect(first?.queued()).toBe(7)
  expect(first?.running()).toBe(0)
  expect(first?.value('webhooksDue')).toBe(2)
  expect(first?.value('reservedUsd')).toBe(5e9)
  vi.advanceTimersByTime(9_000)
  expect((await look()).value('sharedAge')).toBe(9)
  expect(asked()).toBe(2)
  vi.advanceTimersByTime(2_000)
  expect((await look()).value('sharedAge')).toBe(0)
  expect(asked()).toBe(4)
})

test('while Postgres is down the last values are shown for a minute, with their age, and then none', async () => {
  const { look, goAway } = aState()
  await look()
  goAway()
  vi.advanceTimersByTime(50_000)
  const during = await look()
  expect(during.queued()).toBe(7)
  expect(during.value('sharedAge')).toBe(50)
  vi.advanceTimersByTime(11_000)
  const later = await look()
  expect(later.queued()).toBeNaN()
  expect(later.value('webhooksDue')).toBeNaN()
})
