import { expect, test } from 'vitest'
import { stateOf } from '../../console/src/pages/channels/channel-state.ts'
import { onlyChannelWords } from '../../console/src/pages/channels/only-channel.ts'

const enabled = { state: 'enabled', blocked: null, is_readable: true } as const
const calm = {
  breaker: null,
  refused: null,
  silent: null,
  cooldowns: [],
  credentials: 2,
  recent: { calls: 0, failed: 0, last_error: null, unanswered: 0, answers_again_since: null },
} as unknown as NonNullable<Parameters<typeof stateOf>[1]>
const rest = (credential: string) =>
  ({ credential, why: 'limited', model: null, left_ms: 30_000 }) as (typeof calm.cooldowns)[number]

test('a channel is described by the worst that is known of it', () => {
  expect(stateOf({ ...enabled, state: 'disabled' }, calm)).toEqual({ tone: 'quiet', words: 'disabled' })
  expect(stateOf({ ...enabled, is_readable: false }, calm).tone).toBe('bad')
  const blocked = { at: '2026-11-29T14:00:00.000Z', by: 'ada', reason: 'bad answers' }
  expect(stateOf({ ...enabled, state: 'disabled', blocked }, calm)).toEqual({
    tone: 'bad',
    words: expect.stringMatching(/^blocked since .* by ada: bad answers$/),
  })
  const open = { ...calm, breaker: { state: 'open' } } as typeof calm
  expect(stateOf(enabled, { ...open, cooldowns: [rest('a')] })).toEqual({
    tone: 'bad',
    words: 'breaker open',
  })
})

test('credentials that rest are a warning while another one is left', () => {
  const one = stateOf(enabled, { ...calm, cooldowns: [rest('a'), rest('a')] })
  expect(one).toEqual({ tone: 'warning', words: '1 of 2 credentials rest, the first for 30 s more' })
  expect(stateOf(enabled, { ...calm, cooldowns: [rest('a'), rest('b')] }).tone).toBe('bad')
})

test('failures count against all calls', () => {
  const failed = (calls: number, count: number) =>
    stateOf(enabled, { ...calm, recent: { ...calm.recent, calls, failed: count } })
  expect(failed(10, 1)).toEqual({ tone: 'warning', words: '1 of the last 10 calls failed' })
  expect(failed(10, 5).tone).toBe('bad')
  expect(failed(10, 0)).toEqual({ tone: 'good', words: 'answers well' })
})

test('a channel that answers nothing, or whose vendor refuses its key, does not answer well', () => {
  const ok = { ...calm, recent: { ...calm.recent, calls: 9 } }
  const silent = { since: '', waiting: 73, oldest_ms: 55_000, reported_in: 1, processes: 1 }
  expect(stateOf(enabled, { ...ok, silent })).toEqual({
    tone: 'warning',
    words: 'does not answer: 73 requests wait for its answer, the oldest for 55 s',
  })
  expect(stateOf(enabled, { ...ok, silent: { ...silent, waiting: 0, oldest_ms: null } }).words).toBe(
    'does not answer: clients gave up waiting for its answer',
  )
  const refused = { since: '', reason: 'status 401', reported_in: 1, processes: 1 }
  expect(stateOf(enabled, { ...ok, refused, credentials: 1 })).toEqual({
    tone: 'bad',
    words: 'the vendor refuses its only credential',
  })
  expect(stateOf(enabled, { ...ok, refused }).words).toBe('the vendor refuses all of its 2 credentials')
})

test('a channel that failed and answers again says so, and is well', () => {
  const recent = { ...calm.recent, calls: 573, failed: 348, answers_again_since: '2026-11-29T23:37:52.000Z' }
  const state = stateOf(enabled, { ...calm, recent })
  expect(state.tone).toBe('good')
  expect(state.words).toMatch(/^answers again since Nov \d+, \d\d:\d\d:52$/)
})

test('models without another channel are named, few of many', () => {
  const of = (...models: string[]) => ({ count: models.length, models })
  expect(onlyChannelWords([])).toBe('')
  expect(onlyChannelWords([of(), of()])).toBe('')
  expect(onlyChannelWords([of('gpt-5')])).toBe('gpt-5 has no other channel that works.')
  expect(onlyChannelWords([of('b', 'a'), of('b', '*')])).toBe(
    'any other model, a and b have no other channel that works.',
  )
  expect(onlyChannelWords([{ count: 40, models: ['a', 'b', 'c', 'd', 'e', 'f'] }])).toBe(
    'a, b, c, d and 36 others have no other channel that works.',
  )
})

test('nothing is claimed of a channel whose health is not known', () => {
  expect(stateOf(enabled, undefined)).toEqual({ tone: 'info', words: 'enabled' })
})
