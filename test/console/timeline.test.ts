import { expect, test } from 'vitest'
import { passedOver, timelineOf } from '../../console/src/pages/log/timeline.ts'

const candidate = {
  channel: 'spare',
  upstream_protocol: 'gemini',
  upstream_model: 'large',
  reason: 'only candidate',
  passed_over: true,
  status: null,
  error: null,
  latency_ms: { first_byte: null, total: null },
  upstream_request_id: null,
  credential: null,
}

test('a candidate that could not take the request was passed over for what its error says', () => {
  const error = { kind: 'unsupported_parameter', message: 'logprobs: not here.', upstream_status: null }
  const attempts = [
    { ...candidate, error },
    { ...candidate, reason: 'breaker open' },
  ]
  expect(passedOver({ attempts })).toEqual([
    { channel: 'spare', reason: 'logprobs: not here.' },
    { channel: 'spare', reason: 'breaker open' },
  ])
  expect(passedOver({ attempts: [{ ...candidate, passed_over: false }] })).toEqual([])
})

test('a channel that was called although it should rest says why, and is not also said to be passed over', () => {
  const whole = {
    latency_ms: { queue: 1, first_token: null, total: 9 },
    stream: false,
    channel: 'eu',
    attempts: [
      { ...candidate, channel: 'eu', reason: 'breaker open for 4 s: 5 failures in a row' },
      {
        ...candidate,
        channel: 'eu',
        passed_over: false,
        reason: 'last resort (breaker open for 4 s: 5 failures in a row), only candidate',
        status: 200,
        latency_ms: { first_byte: 3, total: 8 },
      },
    ],
  }
  expect(passedOver(whole)).toEqual([])
  const words = timelineOf(whole).map((span) => span.words)
  expect(words[1]).toContain(
    'eu was tried although its breaker is open: no other channel has this model (5 failures in a row)',
  )
  const [, called] = whole.attempts
  const limited = {
    ...candidate,
    ...called,
    reason: 'last resort (rate limit: cooling down for 10 s), priority 1',
  }
  expect(timelineOf({ ...whole, attempts: [limited] })[1]?.words).toContain(
    'eu was tried although it is to rest: no other was left (rate limit: cooling down for 10 s)',
  )
})

test('a wait before the first attempt is not said to be before the next', () => {
  const attempt = { ...candidate, passed_over: false, status: 200, latency_ms: { first_byte: 3, total: 4 } }
  const row = { latency_ms: { queue: 1, first_token: null, total: 90 }, stream: false, channel: 'spare' }
  const waits = (attempts: (typeof attempt)[]) =>
    timelineOf({ ...row, attempts }).flatMap(({ kind, words }) => (kind === 'waiting' ? [words] : []))
  expect(waits([attempt])).toEqual(['before the first attempt'])
  expect(waits([attempt, attempt])).toEqual(['before the next attempt'])
})

test('a member, who sees no channel, sees that the upstream was called, or that nothing was', () => {
  const hidden = { stream: true, channel: null, attempts: [] }
  const answered = timelineOf({ ...hidden, latency_ms: { queue: 3, first_token: 40, total: 90 } })
  expect(answered.map(({ name, from, to, mark }) => [name, from, to, mark?.at])).toEqual([
    ['Admission', 0, 3, undefined],
    ['Upstream', 3, 90, 40],
  ])
  expect(JSON.stringify(answered)).not.toContain('it ended here')
  const refused = timelineOf({ ...hidden, latency_ms: { queue: null, first_token: null, total: 2 } })
  expect(refused.map(({ words }) => words)).toEqual(['it ended here: no model was called'])
})
