import { expect, test } from 'vitest'
import { stateOf } from '../../console/src/pages/channels/channel-state.ts'

const enabled = { state: 'enabled', blocked: null, is_readable: true } as const
const calm = {
  breaker: null,
  cooldowns: [],
  credentials: 2,
  recent: { calls: 0, failed: 0, last_error: null, last_at: null },
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

test('nothing is claimed of a channel whose health is not known', () => {
  expect(stateOf(enabled, undefined)).toEqual({ tone: 'info', words: 'enabled' })
})
