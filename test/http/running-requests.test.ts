import { expect, test } from 'vitest'
import { RunningRequests } from '../../src/http/running-requests.ts'

test('holds the added requests that were not deleted, in any order, and deletes each once', () => {
  const running = new RunningRequests<{ name: string; place: number }>()
  const calls = ['a', 'b', 'c', 'd'].map((name) => ({ name, place: -1 }))
  const names = () =>
    running
      .all()
      .map(({ name }) => name)
      .sort()
  const [a, b, c, d] = calls as [(typeof calls)[0], (typeof calls)[0], (typeof calls)[0], (typeof calls)[0]]
  for (const call of calls) running.add(call)
  expect(names()).toEqual(['a', 'b', 'c', 'd'])
  running.delete(b)
  running.delete(b)
  expect(names()).toEqual(['a', 'c', 'd'])
  running.delete(d)
  running.delete(a)
  expect(names()).toEqual(['c'])
  running.add(b)
  running.delete(c)
  expect(names()).toEqual(['b'])
  expect(running.size).toBe(1)
  running.delete(b)
  expect(running.all()).toEqual([])
})

test('a caller can walk through all requests and delete each', () => {
  const running = new RunningRequests<{ place: number }>()
  for (let i = 0; i < 5; i++) running.add({ place: -1 })
  let seen = 0
  for (const call of running.all()) {
    running.delete(call)
    seen++
  }
  expect([seen, running.size]).toEqual([5, 0])
})
