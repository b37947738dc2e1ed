import { expect, test } from 'vitest'
import { type FileTime, timesOf } from './file-times.ts'

const fileOf = (name: string, seconds: number, other: Partial<FileTime> = {}): FileTime => ({
  file: `test/${name}.test.ts`,
  tier: 'fast',
  tests: 2,
  ms: seconds * 1_000,
  loadMs: 100,
  endMs: 60_000,
  ...other,
})
const filesOf = (count: number, seconds: (n: number) => number) =>
  Array.from({ length: count }, (_, n) => fileOf(`n${n}`, seconds(n)))

test('a run without files has no report', () => {
  expect(timesOf([])).toBe('')
})

test('a run of a few files has one line, with the slowest of them and the budget that it exceeds', () => {
  expect(timesOf([fileOf('a', 0.5)])).toBe('test/a.test.ts took 0.5 s.')
  expect(timesOf([fileOf('a', 1.5)])).toBe('test/a.test.ts took 1.5 s, over its budget of 1 s.')
  expect(timesOf([fileOf('a', 0.2), fileOf('b', 0.9), fileOf('c', 0.4)])).toBe(
    '3 files took 1.5 s in sum, test/b.test.ts the most: 0.9 s.',
  )
})

test('a run of more files shows its tiers, its slowest files, and those over their budget', () => {
  const files = [
    fileOf('bodies', 0.4, { endMs: 5_400 }),
    fileOf('docs', 2.3, { tests: 141, loadMs: 2_000, endMs: 9_000 }),
    fileOf('ledger', 10.1, { tier: 'contract', endMs: 20_100 }),
    fileOf('limits', 9.9, { tier: 'contract', endMs: 19_900 }),
    fileOf('kills', 107, { tier: 'system', endMs: 130_000 }),
  ]
  expect(timesOf(files)).toBe(
    `Seconds of each tier: the sum of its files, and the wall time from first start to last end
tier      files  tests    sum   wall
system        1      2  107.0  107.0
contract      2      4   20.0   10.1
fast          2    143    2.7    4.0

The 5 slowest of 5 files: seconds, and how many of them were loading
  all  load  tier      tests  file
107.0   0.1  system        2  test/kills.test.ts
 10.1   0.1  contract      2  test/ledger.test.ts
  9.9   0.1  contract      2  test/limits.test.ts
  2.3   2.0  fast        141  test/docs.test.ts
  0.4   0.1  fast          2  test/bodies.test.ts

Over the budget of 1 s for a fast file: 1 of 2
2.3  test/docs.test.ts

Over the budget of 10 s for a contract file: 1 of 2
10.1  test/ledger.test.ts`,
  )
})

test('a report within the budgets does not name them', () => {
  expect(timesOf(filesOf(5, () => 1))).not.toContain('budget')
})

test('a long list ends after its first 20 files, and says how many more there are', () => {
  const report = timesOf(filesOf(30, (n) => 2 + n))
  expect(report).toContain('The 20 slowest of 30 files')
  expect(report).toContain('30 of 30')
  expect(report.match(/n29\.test/g)).toHaveLength(2)
  expect(report.match(/n10\.test/g)).toHaveLength(2)
  expect(report).not.toContain('n9.test')
  expect(report.endsWith('and 10 more')).toBe(true)
})
