import { describe, expect, test } from 'vitest'
import { alignedTo, isFailing, measuredIn, termsOf } from '../../console/src/pages/overview/overview-query.ts'

const hour = {
  from: '2026-11-24T10:30:00.000Z',
  to: '2026-11-24T13:30:00.000Z',
  stepMs: 3_600_000,
}

describe('a timeline in buckets', () => {
  test('has a bucket for each step that the time touches, empty ones too', () => {
    const { at, values } = alignedTo(hour, [{ at: '2026-11-24T12:00:00.000Z', value: 7 }])
    expect(at.map((ms) => new Date(ms).toISOString().slice(11, 16))).toEqual([
      '10:00',
      '11:00',
      '12:00',
      '13:00',
    ])
    expect(values).toEqual([0, 0, 7, 0])
  })

  test('adds what falls into the same bucket, and drops what lies outside', () => {
    const points = [
      { at: '2026-11-24T11:00:00.000Z', value: 2 },
      { at: '2026-11-24T11:30:00.000Z', value: 3 },
      { at: '2026-11-24T18:00:00.000Z', value: 9 },
    ]
    expect(alignedTo(hour, points).values).toEqual([0, 5, 0, 0])
  })

  test('has one bucket at least', () => {
    expect(alignedTo({ ...hour, to: hour.from, stepMs: 1_800_000 }, []).values).toEqual([0])
  })

  test('of something measured has a gap, never a 0, where nothing was', () => {
    const points = [
      { at: '2026-11-24T11:00:00.000Z', value: 120 },
      { at: '2026-11-24T12:00:00.000Z', value: undefined },
    ]
    expect(measuredIn(hour, points).values).toEqual([null, 120, null, null])
  })
})

test('bars are minutes only where the gateway has sums of minutes: of two days, and of all tenants', () => {
  const now = new Date('2026-11-24T12:00:00Z')
  const stepOf = (search: Record<string, string>, isMember = false) => termsOf(search, now, isMember).step
  expect(stepOf({ last: '1h' })).toBe('minute')
  expect(stepOf({ last: '1h', tenant_id: 'a' })).toBe('hour')
  expect(stepOf({ last: '1h' }, true)).toBe('hour')
  expect(stepOf({ from: '2026-11-23T10:00:00Z', to: '2026-11-23T11:00:00Z' })).toBe('minute')
  expect(stepOf({ from: '2026-11-20T10:00:00Z', to: '2026-11-20T11:00:00Z' })).toBe('hour')
  expect(stepOf({ last: '30d' })).toBe('day')
})

test('a time is failing by its share of errors, also against the time before it', () => {
  const of = (errors: number, requests: number) => ({ errors, requests })
  for (const [now, before, expected] of [
    [of(0, 0), of(0, 0), false],
    [of(0, 100), of(90, 100), false],
    [of(15, 21), of(0, 0), true],
    [of(15, 21), of(16, 21), true],
    [of(1, 1), undefined, true],
    [of(5, 100), of(5, 100), false],
    [of(6, 100), of(6, 100), true],
    [of(40, 1000), of(1, 1000), true],
    [of(40, 1000), of(20, 1000), false],
    [of(40, 1000), of(0, 0), false],
    [of(40, 1000), of(0, 10), true],
    [of(4, 100), of(0, 1000), false],
    [of(10, 2000), of(0, 2000), false],
  ] as const)
    expect(isFailing(now, before), JSON.stringify([now, before])).toBe(expected)
})
