import { expect, test } from 'vitest'
import type { Row } from '../../console/src/pages/log/log-query.ts'
import { nextRows, type TailRows } from '../../console/src/pages/log/tail-rows.ts'

/** The order of live rows, of which some wait. */

const row = (id: string) => ({ id }) as Row
const ids = ({ shown, waiting }: TailRows) => [shown.map(({ id }) => id), waiting.map(({ id }) => id)]
const after = (steps: readonly Parameters<typeof nextRows>[1][]) =>
  ids(steps.reduce<TailRows>(nextRows, { shown: [], waiting: [] }))

test('rows come on top, and wait while the reader looks at something', () => {
  expect(
    after([
      { row: row('a'), isHeld: false },
      { row: row('b'), isHeld: true },
      { row: row('c'), isHeld: true },
    ]),
  ).toEqual([['a'], ['c', 'b']])
})

test('a row never overtakes one that still waits', () => {
  const steps = [
    { row: row('a'), isHeld: true },
    { row: row('b'), isHeld: false },
  ] as const
  expect(after(steps)).toEqual([[], ['b', 'a']])
  expect(after([...steps, 'release', { row: row('c'), isHeld: false }])).toEqual([['c', 'b', 'a'], []])
})

test('a row that comes again appears once', () => {
  expect(
    after([
      { row: row('a'), isHeld: false },
      { row: row('b'), isHeld: false },
      { row: row('a'), isHeld: false },
    ]),
  ).toEqual([['a', 'b'], []])
})
