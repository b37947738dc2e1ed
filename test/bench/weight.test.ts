import { describe, expect, test } from 'vitest'
import { functionsOf } from '../../bench/weight/functions.ts'
import { tablesOf } from '../../bench/weight/tables.ts'
import { weigh } from '../../bench/weight/weigh.ts'
import { sourceOf } from '../support/sources.ts'

const lines = (count: number) => 'x\n'.repeat(count)

describe('rooms', () => {
  test('are the folders of src one level down, those of the console, and the others of the root', () => {
    const { rooms } = weigh([
      sourceOf('src/server.ts', lines(1)),
      sourceOf('src/ledger/journal.ts', lines(9)),
      sourceOf('src/ledger/log/page.ts', lines(8)),
      sourceOf('console/src/pages/log/log-page.tsx', lines(7)),
      sourceOf('console/docs/build.ts', lines(6)),
      sourceOf('workers/main.ts', lines(5)),
      sourceOf('bench/sizing/rig.ts', lines(4)),
      sourceOf('packaging/pack.ts', lines(3)),
    ])
    expect(rooms.map(({ name, files, lines }) => [name, files, lines])).toEqual([
      ['src/ledger', 2, 17],
      ['console/src', 1, 7],
      ['console/docs', 1, 6],
      ['workers', 1, 5],
      ['bench', 1, 4],
      ['packaging', 1, 3],
      ['src/*', 1, 1],
    ])
  })

  test('have the median and the 90th percentile of the lines of their files', () => {
    const files = [10, 20, 30, 40].map((count) => sourceOf(`src/db/${count}.sql`, lines(count)))
    expect(weigh(files).total).toMatchObject({ files: 4, lines: 100, median: 25, p90: 40 })
  })

  test('leave out what is generated, and keep tests and migrations out of the total', () => {
    const { total, apart } = weigh([
      sourceOf('console/src/api/openapi.ts', lines(1_000)),
      sourceOf('src/app.ts', lines(2)),
      sourceOf('test/ledger/journal.test.ts', lines(30)),
      sourceOf('migrations/0000_init.sql', lines(4)),
    ])
    expect(total).toMatchObject({ files: 1, lines: 2 })
    expect(apart).toMatchObject([
      { name: 'test', files: 1, lines: 30 },
      { name: 'migrations', files: 1, lines: 4 },
    ])
  })
})

describe('functions', () => {
  test('have the lines from their first to their last, with the functions inside', () => {
    const text = 'const a = 1\n\nexport function outer() {\n  const inner = () => {\n    a\n  }\n}\n'
    expect(functionsOf('src/a.ts', text)).toEqual([
      { name: 'outer', file: 'src/a.ts', line: 3, lines: 5 },
      { name: 'inner', file: 'src/a.ts', line: 4, lines: 3 },
    ])
  })

  test.each([
    ['const read = async () => {}', 'read'],
    ['export default () => {}', 'default'],
    ['command({ run: async () => {} })', 'run'],
    ['const kinds = { read() {} }', 'read'],
    ['class Ledger { close() {} }', 'Ledger.close'],
    ['class Ledger { #write = () => {} }', 'Ledger.#write'],
    ['rows.filter(Boolean).map((row) => row.id)', '.map(...)'],
    ['new Promise((resolve) => {})', 'new Promise(...)'],
    ['server.close = () => {}', 'server.close'],
    ['const both = [() => {}]', 'anonymous'],
  ])('take their name from their place: %s', (text, name) => {
    expect(functionsOf('src/a.ts', text).map((one) => one.name)).toEqual([name])
  })

  test('are found among types and in JSX', () => {
    const text =
      'export const Page = <T,>(props: Props<T>) => (\n  <a onClick={() => go(props as Link)} />\n)\n'
    expect(functionsOf('console/src/page.tsx', text).map(({ lines }) => lines)).toEqual([3, 1])
  })

  test('come with the longest first, without those of tests', () => {
    const { functions } = weigh([
      sourceOf('src/a.ts', 'function short() {}\nfunction long() {\n\n}\n'),
      sourceOf('test/a.test.ts', 'function longest() {\n\n\n\n}\n'),
    ])
    expect(functions.map(({ name }) => name)).toEqual(['long', 'short'])
  })
})

test('a fan-out counts each file of the tree once, and no package', () => {
  const { fanOuts } = weigh([
    sourceOf('src/b/b.ts', "import { c } from './c.ts'\n"),
    sourceOf(
      'src/a.ts',
      "import { z } from 'zod'\nimport { b } from './b/b.ts'\nimport type { B } from './b/b.ts'\nimport { c } from './b/c.ts'\n",
    ),
    sourceOf('src/b/c.ts', 'export const c = 1\n'),
  ])
  expect(fanOuts).toEqual([
    { file: 'src/a.ts', imports: 2 },
    { file: 'src/b/b.ts', imports: 1 },
    { file: 'src/b/c.ts', imports: 0 },
  ])
})

describe('the tables', () => {
  const before = weigh([
    sourceOf('src/old/gone.ts', lines(3)),
    sourceOf('src/db/db.ts', 'export function open() {}\n'),
  ])
  const now = weigh([
    sourceOf('src/db/db.ts', "import { add } from './more.ts'\nexport function open() {\n  add()\n}\n"),
    sourceOf('src/db/more.ts', 'export function add() {}\n'),
  ])

  test('show the numbers of a tree', () => {
    expect(tablesOf(now)).toBe(
      `room                 files  lines  median  p90
src/db                   2      5       3    4

total without tests      2      5       3    4
test                     0      0       0    0
migrations               0      0       0    0

The 2 longest functions of 2; longer than 70 lines: 0
lines  function  where
    3  open      src/db/db.ts:2
    1  add       src/db/more.ts:1

The 2 highest fan-outs
files  imported by
    1  src/db/db.ts
    0  src/db/more.ts`,
    )
  })

  test('show those of a commit beside them, of a room that is gone too', () => {
    expect(tablesOf(now, before)).toBe(
      `room                 files  was  +/-  lines  was  +/-  median  was  p90  was
src/db                   2    1   +1      5    1   +4       3    1    4    1
src/old                  0    1   -1      0    3   -3       0    3    0    3

total without tests      2    2           5    4   +1       3    2    4    3
test                     0    0           0    0            0    0    0    0
migrations               0    0           0    0            0    0    0    0

The 2 longest functions of 2 (was 1); longer than 70 lines: 0 (was 0)
lines   was  function  where
    3     1  open      src/db/db.ts:2
    1  none  add       src/db/more.ts:1

The 2 highest fan-outs
files   was  imported by
    1     0  src/db/db.ts
    0  none  src/db/more.ts`,
    )
  })
})
