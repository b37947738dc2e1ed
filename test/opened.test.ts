import { afterEach, expect, test, vi } from 'vitest'
import { Opened, openAll } from '../src/runtime/opened.ts'
import type { Log } from '../src/telemetry/log.ts'

afterEach(() => {
  vi.useRealTimers()
})

function bed() {
  const lines: object[] = []
  const log: Log = {
    info: () => {},
    warn: () => {},
    error: (fields) => void lines.push(fields),
    fatal: () => {},
    child: () => log,
  }
  return { lines, log, opened: new Opened(log), closed: [] as string[] }
}

test('parts are closed in reverse order, one after the other', async () => {
  const { opened, closed } = bed()
  const slow = Promise.withResolvers<void>()
  opened.add('first', () => closed.push('first'))
  opened.add('second', async () => {
    await slow.promise
    closed.push('second')
  })
  opened.add('third', () => closed.push('third'))
  const closing = opened.close()
  await Promise.resolve()
  expect(closed).toEqual(['third'])
  slow.resolve()
  await Promise.all([closing, opened.close()])
  expect(closed).toEqual(['third', 'second', 'first'])
})

test('a part that cannot be closed keeps no other open: each has a line, and all are reported together', async () => {
  const { opened, closed, lines } = bed()
  const stuck = new Error('stuck')
  opened.add('first', () => closed.push('first'))
  opened.add('second', () => Promise.reject(stuck))
  opened.add(
    'third',
    () => {
      throw new Error('broken')
    },
    () => closed.push('beside'),
  )
  opened.add('fourth', () => closed.push('fourth'))
  await expect(opened.close()).rejects.toMatchObject({ errors: [new Error('broken'), stuck] })
  expect(closed).toEqual(['fourth', 'beside', 'first'])
  expect(lines).toEqual([
    { part: 'third', cause: 'Error: broken' },
    { part: 'second', cause: 'Error: stuck' },
  ])
})

test('what could not be closed within a part has one line, and counts as its own', async () => {
  const { opened, log, lines } = bed()
  const inner = new Opened(log)
  inner.add('within', () => Promise.reject(new Error('stuck')))
  opened.add('whole', () => inner.close())
  await expect(opened.close()).rejects.toMatchObject({ errors: [new Error('stuck')] })
  expect(lines).toEqual([{ part: 'within', cause: 'Error: stuck' }])
})

test('an opening that fails halfway closes what it has opened, and rejects with its own reason', async () => {
  const { opened, closed } = bed()
  const opening = openAll(opened, async () => {
    opened.add('first', () => closed.push('first'))
    opened.add('second', () => Promise.reject(new Error('stuck')))
    throw new Error('no port')
  })
  await expect(opening).rejects.toThrow('no port')
  expect(closed).toEqual(['first'])
})

test('an opening that fails rejects in the end, even where closing hangs', async () => {
  vi.useFakeTimers()
  const { opened } = bed()
  const opening = openAll(opened, async () => {
    opened.add('first', () => new Promise(() => {}))
    throw new Error('no port')
  })
  const rejected = expect(opening).rejects.toThrow('no port')
  await vi.runAllTimersAsync()
  await rejected
})
