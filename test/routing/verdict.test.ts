import { expect, test } from 'vitest'
import { type GatewayErrorOptions, gatewayError } from '../../src/canonical/error.ts'
import type { ErrorKind } from '../../src/canonical/reasons/kinds.ts'
import { upstreamSide } from '../../src/protocols/index.ts'
import { verdictOn } from '../../src/routing/verdict.ts'
import { errorOfKind } from '../support/error-of-kind.ts'

const chat = upstreamSide('openai-chat')
const messages = upstreamSide('anthropic-messages')
const gemini = upstreamSide('gemini')
const json = (value: unknown) => Buffer.from(JSON.stringify(value))
const refusal = (status: number, code: string | null = null, headers: Record<string, string> = {}) =>
  chat.decodeError(status, headers, json({ error: { message: 'No.', type: 'x', param: null, code } }))

test.each([400, 404, 409, 413, 415, 422])(
  "a %i is the client's fault: no other channel is called, and it counts as success of the channel",
  (status) => {
    expect(verdictOn(refusal(status))).toEqual({ next: 'none', breaker: 'life' })
  },
)

test.each([408, 500, 501, 502, 503, 504, 520, 529, 302])(
  'after a %i the next channel is called, and it counts as failure of the channel',
  (status) => {
    expect(verdictOn(refusal(status))).toEqual({ next: 'channel', breaker: 'failure' })
  },
)

test.each([405, 406, 410, 414, 418, 431, 451])(
  'after a %i the next channel is called, and it counts as success of the channel',
  (status) => {
    expect(verdictOn(refusal(status))).toEqual({ next: 'channel', breaker: 'life' })
  },
)

test("if the upstream does not have a model, it is the client's fault only if the client named the model", () => {
  const unknown = refusal(404, 'model_not_found')
  expect(verdictOn(unknown, 'client')).toEqual({ next: 'none', breaker: 'life' })
  expect(verdictOn(unknown, 'operator')).toEqual({ next: 'channel', breaker: 'life' })
  for (const status of [400, 404, 422])
    expect(verdictOn(refusal(status), 'operator')).toEqual({ next: 'none', breaker: 'life' })
})

test('a forbidden credential rests for that model, and the next credential is used', () => {
  expect(verdictOn(refusal(403))).toEqual({ next: 'credential', breaker: 'life', cooldown: 'forbidden' })
})

test('a request that could not be signed rests the credential, the next one is used, and the channel has shown nothing', () => {
  expect(verdictOn(gatewayError('upstream_request_unsigned'))).toEqual({
    next: 'credential',
    breaker: 'nothing',
    cooldown: 'refused',
  })
})

test('a rate limit rests the credential, and the next one is used', () => {
  expect(verdictOn(refusal(429))).toEqual({ next: 'credential', breaker: 'life', cooldown: 'limited' })
})

test.each([
  ['401', refusal(401)],
  ['402', refusal(402)],
  ['an account without quota, with status 429', refusal(429, 'insufficient_quota')],
  [
    'an account without money, with status 400',
    messages.decodeError(
      400,
      {},
      json({
        type: 'error',
        error: { type: 'invalid_request_error', message: 'Your credit balance is too low.' },
      }),
    ),
  ],
  [
    'a bad key, with status 400',
    gemini.decodeError(
      400,
      {},
      json({ error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } }),
    ),
  ],
])('a refused credential rests, and the next one is used: %s', (_name, error) => {
  expect(verdictOn(error)).toEqual({ next: 'credential', breaker: 'life', cooldown: 'refused' })
})

test.each([503, 529])('a %i with retry-after opens the breaker for this time', (status) => {
  expect(verdictOn(refusal(status, null, { 'retry-after': '7' }))).toEqual({
    next: 'channel',
    breaker: 'failure',
    openSeconds: 7,
  })
})

const own = (kind: ErrorKind, options: GatewayErrorOptions = {}) => errorOfKind(kind, 'x', options)

test.each([
  ['the upstream cannot be reached', own('upstream_error'), { next: 'channel', breaker: 'failure' }],
  ['it is silent for too long', own('upstream_timeout'), { next: 'channel', breaker: 'failure' }],
  [
    'its address is wrong',
    chat.decodeError(404, {}, Buffer.from('not here')),
    { next: 'channel', breaker: 'failure' },
  ],
  ['the client left', gatewayError('upstream_call_abandoned'), { next: 'none', breaker: 'left' }],
  ['this process ends', own('unavailable'), { next: 'none', breaker: 'nothing' }],
  ['our own fault', own('internal'), { next: 'none', breaker: 'nothing' }],
  ['a context that is too long, inside a stream', own('invalid_request'), { next: 'none', breaker: 'life' }],
  [
    'a filter, inside a stream',
    own('content_filtered', { fault: 'upstream' }),
    { next: 'channel', breaker: 'life' },
  ],
  [
    'a limit, inside a stream',
    own('rate_limited', { fault: 'upstream' }),
    { next: 'credential', breaker: 'life', cooldown: 'limited' },
  ],
])('%s', (_name, error, verdict) => {
  expect(verdictOn(error)).toEqual(verdict)
})
