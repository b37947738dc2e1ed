import { afterEach, expect, test, vi } from 'vitest'
import { momentsOf, rangeOf, rangeTitle } from '../../console/src/format/range.ts'

afterEach(() => vi.unstubAllEnvs())

test('yesterday is a day of the reader, and has 25 hours where the clocks went back', () => {
  vi.stubEnv('TZ', 'Europe/Berlin')
  // On October 25, 2026, at 3:00, the clocks of Berlin went back to 2:00.
  const now = new Date('2026-10-26T09:30:00+01:00')
  expect(momentsOf({ last: 'yesterday' }, now)).toEqual({
    from: '2026-10-24T22:00:00.000Z',
    to: '2026-10-25T23:00:00.000Z',
  })
  expect(momentsOf({ last: 'today' }, now)).toEqual({
    from: '2026-10-25T23:00:00.000Z',
    to: '2026-10-26T08:30:00.000Z',
  })
  vi.stubEnv('TZ', 'America/Los_Angeles')
  expect(momentsOf({ last: 'yesterday' }, new Date('2026-01-01T05:00:00Z'))).toEqual({
    from: '2025-12-30T08:00:00.000Z',
    to: '2025-12-31T08:00:00.000Z',
  })
})

test('an address names the day, and not its moments', () => {
  expect(rangeOf({ last: 'yesterday' })).toEqual({ last: 'yesterday' })
  expect(rangeTitle({ last: 'yesterday' }, 'Any time')).toBe('Yesterday')
  expect(rangeOf({ last: 'tomorrow' })).toEqual({})
})
