import { expect, test } from 'vitest'
import { Backoff, pauseAfter } from '../src/runtime/backoff.ts'

const pauses = { least: 100, most: 1_000 }

test('a pause doubles with each failure in a row, up to the longest, and is the shortest again after a success', () => {
  const backoff = new Backoff(pauses)
  const next = () => backoff.next()
  expect([1, 2, 3, 4, 5, 6].map(next)).toEqual([100, 200, 400, 800, 1_000, 1_000])
  backoff.reset()
  expect([1, 2].map(next)).toEqual([100, 200])
})

test('a pause is as long as the other side asks for, but never longer than the longest', () => {
  const backoff = new Backoff(pauses)
  expect([backoff.next(150), backoff.next(150), backoff.next(60_000)]).toEqual([150, 200, 1_000])
})

test('thousands of failures in a row are no trouble, nor is a shortest pause of nothing', () => {
  expect(pauseAfter(5_000, pauses)).toBe(1_000)
  expect(pauseAfter(5_000, { least: 0, most: 1_000 })).toBe(0)
})
