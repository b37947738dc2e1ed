import { randomUUIDv7 } from 'node:crypto'
import { expect, test } from 'vitest'
import type { CloseRecord, OpenRecord } from '../../src/journal/record.ts'
import { RefusalAggregator } from '../../src/journal/refusal-aggregator.ts'
import { manualClock } from '../support/manual-clock.ts'
import { aClose, anOpen } from '../support/records.ts'

const refused = aClose({
  status: 503,
  error: { kind: 'unavailable', reason: 'internal_fault', message: 'no', upstreamStatus: null },
  attempts: [],
})

function startAggregator(options: { rowsPerMinute: number; mayWrite?: boolean }) {
  const written: { open: OpenRecord; close: CloseRecord }[] = []
  const clock = manualClock()
  const aggregator = new RefusalAggregator({
    rowsPerMinute: options.rowsPerMinute,
    mayWrite: () => options.mayWrite ?? true,
    write: async (open, close) => void written.push({ open, close }),
    clock,
  })
  return {
    aggregator,
    clock,
    written,
    counted: () => written.reduce((sum, { close }) => sum + close.folded, 0),
  }
}

test('the first rows of a caller are written one by one, and one row counts all others', async () => {
  const { aggregator, written, counted } = startAggregator({ rowsPerMinute: 3 })
  for (let i = 0; i < 100; i++) await aggregator.add(anOpen(), refused)
  expect(written).toHaveLength(3)
  await aggregator.end()
  expect(written).toHaveLength(4)
  expect(counted()).toBe(100)
})

test('a caller begins anew a minute after its first row', async () => {
  const { aggregator, clock, written } = startAggregator({ rowsPerMinute: 1 })
  await aggregator.add(anOpen(), refused)
  clock.pass(60_000)
  await aggregator.add(anOpen(), refused)
  expect(written).toHaveLength(2)
  clock.pass(59_999)
  await aggregator.add(anOpen(), refused)
  expect(written).toHaveLength(2)
  await aggregator.end()
})

test('while no row may be written, the rows of known callers become one counted row for each key, without bodies', async () => {
  const { aggregator, written, counted } = startAggregator({ rowsPerMinute: 60, mayWrite: false })
  const keys = [randomUUIDv7(), randomUUIDv7()]
  for (let i = 0; i < 100; i++)
    await aggregator.add(anOpen({ keyId: keys[i % 2] ?? null, tenantId: keys[i % 2] ?? null }), refused)
  expect(written).toHaveLength(0)
  await aggregator.end()
  expect(written.map(({ open }) => open.tenantId).sort()).toEqual([...keys].sort())
  expect(written.map(({ open }) => open.body)).toEqual([null, null])
  expect(counted()).toBe(100)
})

test('callers that cannot be counted one by one share one row without a key', async () => {
  const { aggregator, written, counted } = startAggregator({ rowsPerMinute: 0 })
  for (let i = 0; i < 10_050; i++) {
    const id = randomUUIDv7()
    await aggregator.add(anOpen({ keyId: id, tenantId: id, groupId: id }), refused)
  }
  await aggregator.end()
  const shared = written.filter(({ open }) => open.keyId === null)
  expect(shared).toMatchObject([{ open: { tenantId: null, groupId: null }, close: { folded: 50 } }])
  expect(counted()).toBe(10_050)
})
