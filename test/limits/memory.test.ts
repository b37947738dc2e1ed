import { expect, test } from 'vitest'
import { memoryLimits } from '../../src/limits/memory.ts'
import { manualClock } from '../support/manual-clock.ts'
import { granted, scopeOf } from './scopes.ts'

const second = 1_000

test('memory is bounded: idle scopes are forgotten, and scopes with running requests are not', async () => {
  const clock = manualClock()
  const limits = memoryLimits(clock, 10)
  const one = scopeOf({ concurrency: 1, requestsPerMinute: 1 })
  const named = (id: string) => [{ ...one, id }]
  const running = await granted(limits.take(named('running'), 0))
  for (let ms = 0; ms < 100; ms++) {
    ;(await granted(limits.take(named(`idle ${ms}`), 0))).settle(0)
    clock.pass(1)
  }
  await granted(limits.take(named('idle 0'), 0))
  expect(limits.take(named('idle 99'), 0)).toMatchObject({ granted: false, limit: 'requests' })
  clock.pass(60 * second - 100)
  expect(limits.take(named('running'), 0)).toMatchObject({ granted: false, limit: 'concurrency' })
  running.settle(0)
  clock.pass(second)
  await granted(limits.take(named('running'), 0))
})

test('requests that another backend granted count, but never fill a limit beyond its size', async () => {
  const clock = manualClock()
  const limits = memoryLimits(clock)
  const one = [scopeOf({ concurrency: 3, requestsPerMinute: 2, tokensPerMinute: 100 })]
  const noted = [limits.note(one, 60), limits.note(one, 60), limits.note(one, 60)]
  expect(limits.take(one, 0)).toMatchObject({ limit: 'requests', retryAfterMs: 30 * second })
  clock.pass(30 * second)
  expect(limits.take(one, 0)).toMatchObject({ limit: 'concurrency', tokens: { remaining: 50 } })
  for (const lease of noted) lease.settle(0)
  expect(limits.take(one, 0)).toMatchObject({ granted: true, tokens: { remaining: 100 } })
})
