import { expect, test } from 'vitest'
import { memoryLimits } from '../../src/limits/memory.ts'
import { granted, scopeOf } from './scopes.ts'

const second = 1_000

test('memory is bounded: idle scopes are forgotten, and scopes with running requests are not', async () => {
  let nowMs = 0
  const limits = memoryLimits({ scopesMax: 10, clock: () => nowMs })
  const one = scopeOf({ concurrency: 1, requestsPerMinute: 1 })
  const named = (id: string) => [{ ...one, id }]
  const running = await granted(limits.take(named('running'), 0))
  for (nowMs = 0; nowMs < 100; nowMs++) (await granted(limits.take(named(`idle ${nowMs}`), 0))).settle(0)
  await granted(limits.take(named('idle 0'), 0))
  expect(limits.take(named('idle 99'), 0)).toMatchObject({ granted: false, limit: 'requests' })
  nowMs = 60 * second
  expect(limits.take(named('running'), 0)).toMatchObject({ granted: false, limit: 'concurrency' })
  running.settle(0)
  nowMs += second
  await granted(limits.take(named('running'), 0))
})

test('requests that another backend granted count, but never fill a limit beyond its size', async () => {
  let nowMs = 0
  const limits = memoryLimits({ clock: () => nowMs })
  const one = [scopeOf({ concurrency: 3, requestsPerMinute: 2, tokensPerMinute: 100 })]
  const noted = [limits.note(one, 60), limits.note(one, 60), limits.note(one, 60)]
  expect(limits.take(one, 0)).toMatchObject({ limit: 'requests', retryAfterMs: 30 * second })
  nowMs = 30 * second
  expect(limits.take(one, 0)).toMatchObject({ limit: 'concurrency', tokens: { remaining: 50 } })
  for (const lease of noted) lease.settle(0)
  expect(limits.take(one, 0)).toMatchObject({ granted: true, tokens: { remaining: 100 } })
})
