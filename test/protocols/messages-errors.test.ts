import { createServer } from 'node:http'
import Anthropic, { APIError } from '@anthropic-ai/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { GatewayError } from '../../src/canonical/error.ts'
import type { ErrorKind } from '../../src/canonical/reasons/kinds.ts'
import { decodeError, encodeError, encodeStreamError } from '../../src/protocols/anthropic-messages/errors.ts'
import { errorOfKind } from '../support/error-of-kind.ts'

const requestId = '019ab000-0000-7000-8000-000000000001'

describe('errors as the official SDK sees them', () => {
  const calls: string[] = []
  let reply = { status: 500, headers: {}, body: '' }
  const server = createServer((request, response) => {
    calls.push(String(request.url))
    response.writeHead(reply.status, reply.headers).end(reply.body)
  })
  let baseURL = ''
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    baseURL = `http://127.0.0.1:${address.port}`
  })
  afterAll(() => void server.close())

  const failure = async (options: { maxRetries?: number; stream?: boolean } = {}) => {
    calls.length = 0
    const client = new Anthropic({ apiKey: 'k', baseURL, maxRetries: options.maxRetries ?? 0 })
    try {
      const answer = await client.messages.create({
        model: 'm',
        max_tokens: 5,
        messages: [],
        stream: options.stream ?? false,
      })
      if (Symbol.asyncIterator in answer) for await (const _ of answer);
    } catch (error) {
      if (error instanceof APIError) return error
      throw error
    }
    throw new Error('the SDK saw no error')
  }
  const send = (error: GatewayError) => {
    const { status, headers, body } = encodeError(error, requestId)
    reply = {
      status,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }
  }

  const table: [ErrorKind, number, string, string][] = [
    ['invalid_request', 400, 'BadRequestError', 'invalid_request_error'],
    ['unsupported_parameter', 400, 'BadRequestError', 'invalid_request_error'],
    ['unauthenticated', 401, 'AuthenticationError', 'authentication_error'],
    ['permission_denied', 403, 'PermissionDeniedError', 'permission_error'],
    ['insufficient_credit', 402, 'PaymentRequiredError', 'billing_error'],
    ['unknown_path', 404, 'NotFoundError', 'not_found_error'],
    ['model_not_found', 404, 'NotFoundError', 'not_found_error'],
    ['endpoint_not_supported', 400, 'BadRequestError', 'invalid_request_error'],
    ['request_too_large', 413, 'ContentTooLargeError', 'request_too_large'],
    ['rate_limited', 429, 'RateLimitError', 'rate_limit_error'],
    ['upstream_error', 502, 'InternalServerError', 'api_error'],
    ['upstream_overloaded', 529, 'OverloadedError', 'overloaded_error'],
    ['upstream_timeout', 504, 'GatewayTimeoutError', 'timeout_error'],
    ['content_filtered', 400, 'BadRequestError', 'invalid_request_error'],
    ['unavailable', 503, 'ServiceUnavailableError', 'api_error'],
    ['internal', 500, 'InternalServerError', 'api_error'],
  ]

  it.each(table)('%s is status %i, class %s, type %s', async (kind, status, className, type) => {
    send(errorOfKind(kind, `about ${kind}`))
    const error = await failure()
    expect(error.constructor.name).toBe(className)
    expect(error).toMatchObject({ status, type, requestID: requestId, apiMessage: `about ${kind}` })
  })

  it('stops the SDK from retrying when a retry cannot help', async () => {
    for (const kind of ['unauthenticated', 'insufficient_credit'] as const) {
      send(errorOfKind(kind, 'no'))
      await failure({ maxRetries: 2 })
      expect(calls).toHaveLength(1)
    }
  })

  it('says when to retry', () => {
    const { headers } = encodeError(errorOfKind('rate_limited', 'wait', { retryAfterSeconds: 7 }), requestId)
    expect(headers).toMatchObject({ 'retry-after': '7', 'request-id': requestId, 'x-request-id': requestId })
  })

  it('raises an error that comes inside a stream', async () => {
    const bytes = encodeStreamError(errorOfKind('upstream_timeout', 'it fell silent'), requestId)
    expect(bytes.toString()).toMatch(/^event: error\ndata: .*\n\n$/)
    reply = { status: 200, headers: { 'content-type': 'text/event-stream' }, body: bytes.toString() }
    const error = await failure({ stream: true })
    expect(error).toMatchObject({ type: 'timeout_error', message: expect.stringContaining('it fell silent') })
  })
})

describe('a context that is too long', () => {
  it.each([
    [
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
      ': 130000 tokens > 128000 maximum. ',
    ],
    [
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (1000 in the messages).",
      ': 9000 tokens > 8192 maximum. ',
    ],
    ['Your input exceeds the context window of this model.', '. '],
    // The search stops before this place, so that a hostile text costs no time.
    [`${'1'.repeat(2000)} maximum context length is 8192. You requested 9000 tokens.`, '. '],
  ])('has the words that make agents compact: %s', (message, words) => {
    const { body } = encodeError(
      errorOfKind('invalid_request', message, { code: 'context_length_exceeded' }),
      requestId,
    )
    expect(body).toMatchObject({ error: { message: `prompt is too long${words}${message}` } })
  })

  it('keeps the vendor’s own words, and the code that other formats use', () => {
    const message = 'prompt is too long: 201000 tokens > 200000 maximum'
    const error = decode(400, refusal('invalid_request_error', message))
    expect(error).toMatchObject({ kind: 'invalid_request', code: 'context_length_exceeded', message })
    expect(encodeError(error, requestId).body).toMatchObject({ error: { message } })
  })
})

describe("an upstream's refusal", () => {
  it.each([
    [400, 'invalid_request_error', 'messages.1.role: Input should be x', 'invalid_request'],
    [400, 'invalid_request_error', 'Output blocked by content filtering policy', 'content_filtered'],
    [404, 'not_found_error', 'model: claude-y', 'model_not_found'],
    [404, 'not_found_error', 'File not found: file_1', 'invalid_request'],
    [413, 'request_too_large', 'Request exceeds the maximum size', 'request_too_large'],
    [422, 'invalid_request_error', 'x', 'invalid_request'],
  ])('with status %i and %s keeps its own words: %s', (status, type, message, kind) => {
    expect(decode(status, refusal(type, message))).toMatchObject({ kind, message, upstreamStatus: status })
  })

  it('keeps the code that names the cause', () => {
    const error = {
      type: 'invalid_request_error',
      message: 'm',
      details: { error_code: 'tool_name_conflict' },
    }
    const decoded = decode(400, { type: 'error', error })
    expect(encodeError(decoded, requestId).body).toMatchObject({ error })
  })

  it.each([
    [401, refusal('authentication_error', 'invalid x-api-key sk-ant-1')],
    [402, refusal('billing_error', 'sk-ant-1')],
    [403, refusal('permission_error', 'sk-ant-1')],
    [
      400,
      refusal(
        'invalid_request_error',
        'Your credit balance is too low to access the Anthropic API. sk-ant-1',
      ),
    ],
  ])('with status %i and %j is the operator’s matter, and shows none of its text', (status, body) => {
    const error = decode(status, body)
    expect(error).toMatchObject({ kind: 'upstream_error', fault: 'upstream', upstreamStatus: status })
    expect(error.message).not.toMatch(/sk-|credit/)
  })

  it.each([
    [408, 'upstream_timeout'],
    [504, 'upstream_timeout'],
    [429, 'rate_limited'],
    [503, 'upstream_overloaded'],
    [529, 'upstream_overloaded'],
    [500, 'upstream_error'],
    [418, 'upstream_error'],
  ])('with status %i is %s, the fault of the upstream, and says when to retry', (status, kind) => {
    expect(decode(status, refusal('x', 'y'), { 'retry-after': '3' })).toMatchObject({
      kind,
      fault: 'upstream',
      upstreamStatus: status,
      retryAfterSeconds: 3,
    })
  })

  it('summarises an HTML page and does not quote it', () => {
    for (const status of [400, 404, 413, 500]) {
      const error = decode(status, '<html>nginx</html>', { 'content-type': 'text/html' })
      expect(error.message).not.toMatch(/nginx|<html/)
    }
    expect(decode(404, '<html>').kind).toBe('upstream_error')
  })
})

function decode(status: number, body: unknown, headers: Record<string, string> = {}): GatewayError {
  return decodeError(status, headers, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))
}

function refusal(type: string, message: string) {
  return { type: 'error', error: { type, message }, request_id: 'req_1' }
}
