import { describe, expect, test } from 'vitest'
import { isCostUnknown } from '../../console/src/format/money.ts'
import { causesOf } from '../../console/src/pages/overview/causes.ts'
import { changeOf, spanWords } from '../../console/src/pages/overview/comparison.ts'
import { alignedTo, isFailing, measuredIn, termsOf } from '../../console/src/pages/overview/overview-query.ts'
import { restColor, seriesColor } from '../../console/src/parts/chart-colors.ts'
import { ticksOf } from '../../console/src/parts/chart-ticks.ts'

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
  expect(stepOf({ last: '1h', model: 'a' })).toBe('hour')
  expect(stepOf({ last: '1h', channel: 'a' })).toBe('minute')
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

test('ticks are whole for whole values, few, and reach over the highest one', () => {
  expect(ticksOf(0, true)).toEqual([0])
  expect(ticksOf(1, true)).toEqual([0, 1])
  expect(ticksOf(3, true)).toEqual([0, 1, 2, 3])
  expect(ticksOf(10, true)).toEqual([0, 5, 10])
  expect(ticksOf(28_572, true)).toEqual([0, 10_000, 20_000, 30_000])
  expect(ticksOf(0.3, false)).toEqual([0, 0.1, 0.2, 0.3])
  for (const most of [1, 2, 5, 7, 41, 99, 100, 101, 12_345]) {
    const ticks = ticksOf(most, true)
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(most)
    expect(ticks.length).toBeLessThanOrEqual(5)
    expect(ticks.every(Number.isInteger)).toBe(true)
  }
})

test('each of eight series and all others have a colour of their own', () => {
  for (const scheme of ['light', 'dark'] as const) {
    const colors = [...Array.from({ length: 8 }, (_, at) => seriesColor(scheme, at)), restColor(scheme)]
    expect(new Set(colors).size).toBe(9)
  }
})

test('a change is against the time before, which is named', () => {
  const spanOf = (ms: number) =>
    spanWords({ from: new Date(0).toISOString(), to: new Date(ms).toISOString() })
  expect([900_000, 3_600_000, 86_400_000, 7 * 86_400_000].map(spanOf)).toEqual([
    '15 min',
    '1 h',
    '24 h',
    '7 days',
  ])
  expect(changeOf(103, 100, '24 h')).toEqual({ more: '+3%', before: 'vs previous 24 h' })
  expect(changeOf(3, 0, '24 h').before).toBe('none in previous 24 h')
})

test('a problem that is none of a channel has a line of its own, after what is worse', () => {
  const problem = (severity: 'bad' | 'warning', where: string) => ({
    severity,
    where,
    what: 'It broke',
    cause: null,
    since: null,
  })
  const health = {
    channels: [],
    problems: [problem('warning', 'ledger'), problem('warning', 'channel a'), problem('bad', 'channel b')],
  }
  expect(
    causesOf(health, { data: [], next_cursor: null }, undefined).map(({ title, tone }) => [tone, title]),
  ).toEqual([
    ['bad', 'Channel b is down.'],
    ['warning', 'Ledger: It broke.'],
    ['warning', 'Channel a is failing.'],
  ])
})

test('open alerts are counted, and where there are more than were read, the count says so', () => {
  const data = ['a', 'b', 'c', 'd', 'e'].map((name) => ({
    ...{ id: name, name: 'all', summary: 'It fires', at: '', opened_at: '', closed_at: null },
    ...{ acknowledged: null, unheld_since: null, rule: { id: name, name } },
  })) as never
  const titles = (next_cursor: string | null) =>
    causesOf(undefined, { data, next_cursor }, undefined).map(({ title }) => title)
  expect(titles(null)).toEqual(['5 alerts are open: a, b, c and 2 more.'])
  expect(titles('next')).toEqual(['5 or more alerts are open: a, b, c and others.'])
})

test.each([
  ['no requests', 0, 0, '0', false],
  ['free requests', 3, 0, '0', false],
  ['requests without a price', 3, 3, '0', true],
  ['such requests and one that was refused', 51, 50, '0', true],
  ['such requests and some that cost something', 3, 2, '5', false],
])(
  'the cost of %s is called unknown only where nothing of it is known',
  (_, requests, unpriced, cost, is) => {
    expect(isCostUnknown({ requests, unpriced_requests: unpriced, cost_nano_usd: cost })).toBe(is)
  },
)

describe('channels that do not answer', () => {
  type Health = NonNullable<Parameters<typeof causesOf>[0]>
  type Episode = Parameters<typeof causesOf>[1]['data'][number]
  const channel = (name: string, models: string[], again: string | null = null) =>
    ({
      ...{ id: name, name, silent: null, only_channel_for: { count: models.length, models } },
      recent: { answers_again_since: again },
    }) as Health['channels'][number]
  const problem = (name: string, cause: string, since: string | null) =>
    ({ severity: 'bad', where: `channel ${name}`, what: 'It broke', cause, since }) as const
  const episode = (name: string, unheld_since: string | null) =>
    ({
      ...{ id: name, rule: { id: 'r', name: 'A channel is down', kind: 'channel_down' }, name, unheld_since },
      ...{ summary: `${name}: its breaker is open`, opened_at: '', acknowledged: null },
    }) as Episode
  const listed = (...data: Episode[]) => ({ data, next_cursor: null })
  const [early, late] = ['2026-11-24T12:00:01', '2026-11-24T12:00:07']

  test('say at once why, since when, and which models have no other channel', () => {
    const one = causesOf(
      { channels: [channel('us', ['gpt-5'])], problems: [problem('us', 'status 500', late)] },
      listed(),
      undefined,
    )
    expect(one.map(({ title, why }) => [title, why])).toEqual([
      ['Channel us is down.', 'Status 500. Since Nov 24, 12:00:07. gpt-5 has no other channel that works.'],
    ])
    const several = causesOf(
      {
        channels: [channel('us', ['a']), channel('eu', []), channel('asia', ['b'])],
        problems: [
          problem('us', 'status 500', late),
          problem('eu', 'status 500', early),
          problem('asia', 'the vendor refuses its only credential', null),
        ],
      },
      listed(),
      undefined,
    )
    expect(several.map(({ why }) => why)).toEqual([
      'us, eu: status 500; asia: the vendor refuses its only credential. Since Nov 24, 12:00:01. a and b have no other channel that works.',
    ])
  })

  test('and are only silent do not fail: their clients give up', () => {
    const silent = { since: late, waiting: 2, oldest_ms: 9, reported_in: 1, processes: 1 }
    const cause = '2 requests wait for its answer, the oldest for 9 s'
    const health = {
      channels: [{ ...channel('us', []), silent }],
      problems: [{ ...problem('us', cause, late), severity: 'warning' as const }],
    }
    expect(causesOf(health, listed(), [])).toMatchObject([
      {
        tone: 'warning',
        title: 'Channel us does not answer.',
        why: '2 requests wait for its answer, the oldest for 9 s. Since Nov 24, 12:00:07.',
        effect: '',
      },
    ])
  })

  test('and answer again are no fault any more, though their alert is still open', () => {
    const health = { channels: [channel('us', [], early)], problems: [] }
    expect(
      causesOf(health, listed(episode('channel us', late)), undefined).map(({ tone, title }) => [
        tone,
        title,
      ]),
    ).toEqual([['good', 'Channel us answers again since Nov 24, 12:00:01.']])
    const both = causesOf(health, listed(episode('channel us', late), episode('channel eu', null)), undefined)
    expect(both.map(({ tone, title }) => [tone, title])).toEqual([
      ['warning', 'Alert A channel is down: channel eu: its breaker is open.'],
      ['good', 'Channel us answers again since Nov 24, 12:00:01.'],
    ])
  })
})
