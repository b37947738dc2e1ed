import { createServer } from 'node:http'
import OpenAI, { APIError } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { GatewayError } from '../../src/canonical/error.ts'
import type { ErrorKind } from '../../src/canonical/reasons/kinds.ts'
import { encodeStreamError } from '../../src/protocols/openai-chat/errors.ts'
import { decodeError, decodeStreamError, encodeError } from '../../src/protocols/openai-errors.ts'
import { errorOfKind } from '../support/error-of-kind.ts'

const requestId = '019ab000-0000-7000-8000-000000000001'

describe('errors as the official SDK sees them', () => {
  const calls: string[] = []
  let reply = (): { status: number; headers: Record<string, string>; body: string } => ({
    status: 500,
    headers: {},
    body: '',
  })
  const server = createServer((request, response) => {
    calls.push(String(request.url))
    const { status, headers, body } = reply()
    response.writeHead(status, headers).end(body)
  })
  let client: OpenAI
  let retrying: OpenAI

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    const baseURL = `http://127.0.0.1:${address.port}/v1`
    client = new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 })
    retrying = new OpenAI({ apiKey: 'k', baseURL, maxRetries: 2 })
  })
  afterAll(() => void server.close())

  const failure = async (by: OpenAI, stream = false) => {
    calls.length = 0
    try {
      const answer = await by.chat.completions.create({ model: 'm', messages: [], stream })
      if (Symbol.asyncIterator in answer) for await (const _ of answer);
    } catch (error) {
      if (error instanceof APIError) return error
      throw error
    }
    throw new Error('the SDK saw no error')
  }
  const send = (error: GatewayError) => {
    const { status, headers, body } = encodeError(error, requestId)
    reply = () => ({
      status,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  }

  const table: [ErrorKind, number, string, string | null][] = [
    ['invalid_request', 400, 'BadRequestError', 'field_invalid'],
    ['unsupported_parameter', 400, 'BadRequestError', 'unsupported_parameter'],
    ['unauthenticated', 401, 'AuthenticationError', 'invalid_api_key'],
    ['permission_denied', 403, 'PermissionDeniedError', 'permission_denied'],
    ['insufficient_credit', 402, 'APIError', 'insufficient_quota'],
    ['unknown_path', 404, 'NotFoundError', 'unknown_url'],
    ['model_not_found', 404, 'NotFoundError', 'model_not_found'],
    ['endpoint_not_supported', 400, 'BadRequestError', 'endpoint_not_supported'],
    ['request_too_large', 413, 'APIError', 'request_too_large'],
    ['rate_limited', 429, 'RateLimitError', 'rate_limit_exceeded'],
    ['upstream_error', 502, 'InternalServerError', 'upstream_error'],
    ['upstream_overloaded', 503, 'InternalServerError', 'upstream_overloaded'],
    ['upstream_timeout', 504, 'InternalServerError', 'upstream_timeout'],
    ['content_filtered', 400, 'BadRequestError', 'content_filter'],
    ['unavailable', 503, 'InternalServerError', 'unavailable'],
    ['internal', 500, 'InternalServerError', 'internal_error'],
  ]

  it.each(table)('%s is status %i, class %s, code %s', async (kind, status, className, code) => {
    send(errorOfKind(kind, `about ${kind}`, { field: 'n' }))
    const error = await failure(client)
    expect(error.constructor.name).toBe(className)
    expect(error).toMatchObject({ status, code, param: 'n', requestID: requestId })
    // LiteLLM makes an error of a wrong key of these words alone.
    const words = kind === 'unauthenticated' ? 'Incorrect API key provided. ' : ''
    expect(error.message).toBe(`${status} ${words}about ${kind}`)
    // Clients that show no headers show this.
    expect(error.error).toMatchObject({ request_id: requestId })
  })

  it('has all four keys even if there is nothing to say', () => {
    const { body } = encodeError(errorOfKind('internal', 'x'), requestId)
    expect(body).toEqual({
      error: {
        message: 'x',
        type: 'server_error',
        param: null,
        code: 'internal_error',
        request_id: requestId,
      },
    })
  })

  it('stops the SDK from retrying when a retry cannot help', async () => {
    for (const kind of ['unauthenticated', 'insufficient_credit'] as const) {
      send(errorOfKind(kind, 'no'))
      await failure(retrying)
      expect(calls).toHaveLength(1)
    }
  })

  it('says when to retry', () => {
    const { headers } = encodeError(errorOfKind('rate_limited', 'wait', { retryAfterSeconds: 7 }), requestId)
    expect(headers).toMatchObject({ 'retry-after': '7', 'x-request-id': requestId })
  })

  it('raises an error that comes inside a stream', async () => {
    const bytes = encodeStreamError(errorOfKind('upstream_timeout', 'the upstream fell silent'), requestId)
    expect(bytes.toString()).toMatch(/^data: .*\n\n$/)
    reply = () => ({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: bytes.toString() })
    const error = await failure(client, true)
    expect(error).toMatchObject({ code: 'upstream_timeout', type: 'server_error' })
    expect(error.message).toMatch(/fell silent/)
  })
})

describe("an upstream's refusal", () => {
  const decode = (status: number, body: unknown, headers: Record<string, string> = {}) =>
    decodeError(status, headers, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))
  const refusal = (message: string, more: object = {}) => ({
    error: { message, type: 'x', param: null, code: null, ...more },
  })

  it.each([
    [
      400,
      refusal('messages.1.role: Input should be x'),
      'invalid_request',
      'messages.1.role: Input should be x',
    ],
    [422, { detail: [{ loc: ['body', 'n'], msg: 'too large' }] }, 'invalid_request', 'body.n: too large'],
    [
      400,
      { object: 'error', message: 'This model has a maximum context length' },
      'invalid_request',
      'This model has a maximum context length',
    ],
    [400, { error: 'plain words' }, 'invalid_request', 'plain words'],
    [400, [refusal('in a list')], 'invalid_request', 'in a list'],
    [400, refusal('filtered', { code: 'content_filter' }), 'content_filtered', 'filtered'],
    [
      404,
      refusal('The model `x` does not exist', { code: 'model_not_found' }),
      'model_not_found',
      'The model `x` does not exist',
    ],
    [404, refusal('No such file: f-1'), 'invalid_request', 'No such file: f-1'],
    [413, refusal('too much'), 'request_too_large', 'too much'],
  ])('with status %i keeps its own words in %j', (status, body, kind, message) => {
    expect(decode(status, body)).toMatchObject({ kind, message, upstreamStatus: status })
  })

  it('keeps the code and the field, which agents use', () => {
    const error = decode(400, refusal('too long', { code: 'context_length_exceeded', param: 'messages' }))
    expect(encodeError(error, requestId).body).toEqual({
      error: {
        message: 'too long',
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
        request_id: requestId,
      },
    })
  })

  it.each([401, 402, 403])(
    'with status %i is the operator’s matter, and shows none of its text',
    (status) => {
      const error = decode(status, refusal('Incorrect API key provided: sk-proj-1234'))
      expect(error).toMatchObject({ kind: 'upstream_error', fault: 'upstream', upstreamStatus: status })
      expect(error.message).not.toMatch(/sk-|Incorrect/)
      expect(encodeError(error, requestId).status).toBe(502)
    },
  )

  it.each([
    [408, 'upstream_timeout'],
    [504, 'upstream_timeout'],
    [429, 'rate_limited'],
    [503, 'upstream_overloaded'],
    [529, 'upstream_overloaded'],
    [500, 'upstream_error'],
    [502, 'upstream_error'],
    [418, 'upstream_error'],
    [301, 'upstream_error'],
  ])('with status %i is %s, the fault of the upstream', (status, kind) => {
    expect(decode(status, refusal('x'))).toMatchObject({ kind, fault: 'upstream', upstreamStatus: status })
  })

  it('about an exhausted quota is not a rate limit: waiting does not help', () => {
    expect(decode(429, refusal('x', { code: 'insufficient_quota' })).kind).toBe('upstream_error')
  })

  it.each([
    [{ 'retry-after': '3' }, 3],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 2],
    [{ 'retry-after': '0' }, 1],
    [{ 'retry-after': 'Sat, 21 Nov 2026 10:00:30 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' }, 30],
    [{ 'retry-after': '999999999' }, 86_400],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('reads the time of the next try from %j', (headers, seconds) => {
    expect(decode(429, refusal('x'), headers).retryAfterSeconds).toBe(seconds)
  })

  it('summarises an HTML page and does not quote it', () => {
    const page = `<html><body>${'nginx '.repeat(5000)}</body></html>`
    for (const status of [400, 404, 413, 500]) {
      const error = decode(status, page, { 'content-type': 'text/html' })
      expect(error.message.length).toBeLessThan(200)
      expect(error.message).not.toMatch(/nginx|<html/)
    }
    expect(decode(404, page).kind).toBe('upstream_error')
    expect(decode(500, refusal('x'.repeat(10_000))).message.length).toBeLessThan(400)
  })
})

describe('an error inside a stream', () => {
  it.each([
    [{ message: 'm', type: 'rate_limit_error' }, 'rate_limited'],
    [{ message: 'm', code: 429 }, 'rate_limited'],
    [{ message: 'm', type: 'overloaded_error' }, 'upstream_overloaded'],
    [{ message: 'm', code: 'content_filter' }, 'content_filtered'],
    [{ message: 'm', type: 'timeout' }, 'upstream_timeout'],
    [{ message: 'm', type: 'server_error' }, 'upstream_error'],
    ['words', 'upstream_error'],
    [true, 'upstream_error'],
  ])('%j is %s', (value, kind) => {
    expect(decodeStreamError(value)).toMatchObject({ kind, fault: 'upstream' })
  })
})
