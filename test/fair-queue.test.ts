import { expect, test } from 'vitest'
import { FairQueue } from '../src/fair-queue.ts'

test('owners take turns, and the items of one keep their order', () => {
  const queue = new FairQueue<string>()
  for (const item of ['a1', 'a2', 'a3', 'a4']) queue.add('a', item)
  queue.add('b', 'b1')
  queue.add('c', 'c1')
  queue.add('c', 'c2')
  expect([queue.size, queue.of('a'), queue.of('b'), queue.of('d')]).toEqual([7, 4, 1, 0])
  expect([queue.next(), queue.next()]).toEqual(['a1', 'b1'])
  // Who comes back waits behind all others.
  queue.add('b', 'b2')
  expect(Array.from({ length: 6 }, () => queue.next())).toEqual(['c1', 'a2', 'b2', 'c2', 'a3', 'a4'])
  expect(queue.next()).toBeUndefined()
  expect(queue.size).toBe(0)
})

test('an item can leave before its turn', () => {
  const queue = new FairQueue<string>()
  queue.add('a', 'a1')
  queue.add('a', 'a2')
  queue.add('b', 'b1')
  expect(queue.remove('a', 'a1')).toBe(true)
  expect(queue.remove('a', 'a1')).toBe(false)
  expect(queue.remove('b', 'b1')).toBe(true)
  expect([queue.size, queue.of('a'), queue.of('b')]).toEqual([1, 1, 0])
  expect([queue.next(), queue.next()]).toEqual(['a2', undefined])
})
