import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { decodeError, decodeStreamError } from '../../src/protocols/gemini/errors.ts'
import { seeded } from '../support/random.ts'
import { randomJson } from './random-json.ts'

const decoded = (code: number, message: string, status: string, details: unknown[] = []) =>
  decodeError(code, {}, Buffer.from(JSON.stringify({ error: { code, message, status, details } })))

describe('decodeError', () => {
  it('reads the delay of a recorded 429', () => {
    const body = readFileSync(new URL('../fixtures/gemini/google-429-retry-info.json', import.meta.url))
    expect(decodeError(429, {}, body)).toMatchObject({
      kind: 'rate_limited',
      fault: 'upstream',
      retryAfterSeconds: 35,
      upstreamStatus: 429,
    })
    expect(decodeError(429, { 'retry-after': '7' }, body).retryAfterSeconds).toBe(7)
  })

  it('keeps the upstream’s words if the request is at fault', () => {
    const words =
      'Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.'
    expect(decoded(400, words, 'INVALID_ARGUMENT')).toMatchObject({
      kind: 'invalid_request',
      message: words,
      fault: 'client',
    })
    const missing = 'models/x is not found for API version v1beta'
    expect(decoded(404, missing, 'NOT_FOUND')).toMatchObject({ kind: 'model_not_found', message: missing })
    const long = 'The input token count (1500000) exceeds the maximum number of tokens allowed (1048576).'
    expect(decoded(400, long, 'INVALID_ARGUMENT')).toMatchObject({
      message: long,
      code: 'context_length_exceeded',
    })
    // The search stops before this place, so that a hostile text costs no time.
    expect(decoded(400, `${'x'.repeat(2000)}${long}`, 'INVALID_ARGUMENT').code).toBeUndefined()
    expect(decodeError(404, {}, Buffer.from('<html>')).kind).toBe('upstream_error')
    expect(decodeError(413, {}, Buffer.from('')).kind).toBe('request_too_large')
  })

  it('treats a refused credential as the operator’s matter, even with status 400, and quotes nothing', () => {
    const secret = 'AIzaSyXXXX'
    const reason = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }]
    for (const error of [
      decoded(400, `API key not valid: ${secret}`, 'INVALID_ARGUMENT', reason),
      decoded(400, `API key expired. ${secret}`, 'INVALID_ARGUMENT'),
      decoded(400, `User location is not supported. ${secret}`, 'FAILED_PRECONDITION'),
      decoded(401, secret, 'UNAUTHENTICATED'),
      decoded(403, secret, 'PERMISSION_DENIED'),
    ]) {
      expect(error).toMatchObject({ kind: 'upstream_error', fault: 'upstream' })
      expect(error.message).toContain('Your key is valid')
      expect(error.message).not.toContain(secret)
    }
  })

  it('distinguishes overload, timeout and failure', () => {
    expect(decoded(503, 'The model is overloaded.', 'UNAVAILABLE').kind).toBe('upstream_overloaded')
    expect(decoded(504, 'Deadline', 'DEADLINE_EXCEEDED').kind).toBe('upstream_timeout')
    expect(decoded(500, 'An internal error has occurred.', 'INTERNAL')).toMatchObject({
      kind: 'upstream_error',
      message: expect.stringContaining('An internal error'),
    })
    const listed = Buffer.from('[{"error":{"code":400,"message":"in a list","status":"INVALID_ARGUMENT"}}]')
    expect(decodeError(400, {}, listed).message).toBe('in a list')
  })
})

describe('any error', () => {
  it('becomes a GatewayError', () => {
    const random = seeded(17)
    for (let round = 0; round < 5000; round++) {
      const json = randomJson(random)
      const status = random.pick([400, 401, 404, 413, 429, 500, 503])
      expect(decodeError(status, {}, Buffer.from(json)).name).toBe('GatewayError')
      expect(decodeError(status, {}, Buffer.from(`{"error":${json}}`)).name).toBe('GatewayError')
      expect(decodeStreamError(JSON.parse(json)).name).toBe('GatewayError')
    }
  })
})
