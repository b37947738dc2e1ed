import { expect, test } from 'vitest'
import { passedOver } from '../../console/src/pages/log/timeline.ts'

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
