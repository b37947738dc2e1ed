import { expect, test } from 'vitest'
import { FairQueue } from '../../src/runtime/fair-queue.ts'

test('owners take turns, and the items of one keep their order', () => {
  const queue = new FairQueue<string>()
  for (const item of ['a1', 'a2', 'a3', 'a4']) queue.add('a', item)
  queue.add('b', 'b1')
  queue.add('c', 'c1')
  queue.add('c', 'c2')
  expect(queue.size).toBe(7)
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
  expect(queue.size).toBe(1)
  expect([queue.next(), queue.next()]).toEqual(['a2', undefined])
})

test('an item that may not have its turn keeps its place, and the next one that may goes first', () => {
  const queue = new FairQueue<string>()
  for (const item of ['a1', 'a2', 'b1', 'b2']) queue.add(item.slice(0, 1), item)
  expect(queue.next((item) => item.startsWith('b'))).toBe('b1')
  expect(queue.next((item) => item === 'a2')).toBe('a2')
  expect(queue.next(() => false)).toBeUndefined()
  expect([queue.next(), queue.next(), queue.size]).toEqual(['b2', 'a1', 0])
})
