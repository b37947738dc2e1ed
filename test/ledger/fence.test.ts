import { expect, onTestFinished, test } from 'vitest'
import { firstIdAt } from '../../src/db/first-id.ts'
import { Fence } from '../../src/shipping/fence.ts'
import { manualClock } from '../support/manual-clock.ts'

/** What a process does that was frozen: until Postgres has answered, its older requests send nothing. */

const pauseMs = 20_000
const startMs = 1_800_000_000_000

function aFence() {
  const [wall, steady] = [manualClock(startMs), manualClock()]
  const asked: number[] = []
  const fence = new Fence({
    pauseMs,
    waitMs: 60_000,
    clock: { now: wall.now, elapsed: steady.elapsed },
    ask: (token) => void asked.push(token),
    onUnanswered: () => {},
  })
  onTestFinished(() => fence.stop())
  return { wall, steady, asked, fence }
}

test.each(['wall', 'steady'] as const)('a jump of the %s clock alone puts it in doubt', (which) => {
  const { asked, fence, ...clocks } = aFence()
  clocks[which].pass(pauseMs - 1)
  expect(fence.doubt()).toBeUndefined()
  clocks[which].pass(pauseMs - 1)
  expect(fence.doubt()).toBeUndefined()
  clocks[which].pass(pauseMs)
  expect(fence.doubt()).toBeInstanceOf(Promise)
  expect(fence.doubt()).toBeInstanceOf(Promise)
  expect(asked).toEqual([1])
})

test('a request that began after the pause is in no doubt, and none is once Postgres has answered', async () => {
  const { wall, asked, fence } = aFence()
  wall.pass(pauseMs)
  const [before, after] = [firstIdAt(startMs), firstIdAt(startMs + pauseMs + 3)]
  const doubt = fence.doubtOf(before)
  expect(doubt).toBeInstanceOf(Promise)
  expect(fence.doubtOf(after)).toBeUndefined()
  fence.confirm(asked[0] ?? 0)
  await doubt
  expect(fence.doubtOf(before)).toBeUndefined()
})

test('an answer to the question of an earlier pause ends no doubt', () => {
  const { steady, asked, fence } = aFence()
  for (let pause = 0; pause < 2; pause++) {
    steady.pass(pauseMs)
    void fence.doubt()
  }
  expect(asked).toEqual([1, 2])
  fence.confirm(1)
  expect(fence.doubt()).toBeInstanceOf(Promise)
  fence.confirm(2)
  expect(fence.doubt()).toBeUndefined()
})
