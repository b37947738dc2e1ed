import { expect, test } from 'vitest'
import { availableDays, toneOfDay } from '../../console/src/pages/traffic/available-days.ts'

const point = (day: string, requests: number) => ({ at: `2026-11-${day}T00:00:00.000Z`, requests })
const series = (outcome: string, ...points: ReturnType<typeof point>[]) =>
  ({ outcome, other: false, points }) as unknown as Parameters<typeof availableDays>[0][number]

test('a day is good as far as its requests did not fail, and those that clients cancelled do not count', () => {
  const days = availableDays(
    [
      series('succeeded', point('28', 97), point('29', 90)),
      // Another name of the same model.
      series('succeeded', point('28', 1)),
      series('refused', point('29', 5)),
      series('failed', point('28', 1), point('29', 4)),
      series('orphaned', point('28', 1), point('29', 1)),
      series('cancelled', point('27', 8), point('28', 50)),
    ],
    new Date('2026-11-29T23:30:00Z'),
    3,
  )
  expect(days).toEqual([
    { day: '2026-11-27', requests: 0, good: 0 },
    { day: '2026-11-28', requests: 100, good: 98 },
    { day: '2026-11-29', requests: 100, good: 95 },
  ])
  expect(days.map(toneOfDay)).toEqual([undefined, 'warning', 'warning'])
  expect(toneOfDay({ day: '', requests: 1000, good: 990 })).toBe('good')
  expect(toneOfDay({ day: '', requests: 1000, good: 949 })).toBe('bad')
})
