import { connect } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI, { type ClientOptions } from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Reason } from '../../src/canonical/reasons/catalogue.ts'
import { addLimitHeaders } from '../../src/pipeline/limit-headers.ts'
import { manualClock } from '../support/manual-clock.ts'
import { idsOf, statusesOf } from '../support/raw-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { patienceMs, until } from '../support/until.ts'
import { chatAnswer, chatStream, errorAnswer } from '../support/upstream-plans.ts'
import { body, keys, messages, yaml } from './limited-keys.ts'

let bed: Testbed
/** At the beginning of a second, since headers have whole ones. */
const clock = manualClock(Math.floor(Date.now() / 1_000) * 1_000)

async function refusalOf(response: Response, reason: Reason = 'request_rate_reached'): Promise<string> {
  const { error } = (await response.json()) as { error: { type: string; code: string; message: string } }
  expect(response.status).toBe(429)
  expect(error.code).toBe('rate_limit_exceeded')
  expect(response.headers.get('x-tollgate-reason')).toBe(reason)
  return error.message
}

function openai(key: string, options: ClientOptions = { maxRetries: 0 }): OpenAI {
  return new OpenAI({ baseURL: `${bed.tollgate.url}/v1`, apiKey: key, ...options })
}

describe('one process', () => {
  beforeAll(async () => {
    bed = await startTestbed({ yaml, clock })
  })
  afterAll(() => bed.close())
  beforeEach(() => {
    bed.upstream.script(() => chatAnswer())
    bed.upstream.requests.length = 0
  })

  test("a key's own limits replace those of its group; the refusal says whose limit it is, which one and how long to wait", async () => {
    for (let i = 0; i < 2; i++) expect((await bed.chat(body, { key: keys.own })).status).toBe(200)
    const refused = await bed.chat(body, { key: keys.own })
    const { headers } = refused
    expect(await refusalOf(refused)).toBe(
      'This key has reached the limit of 2 requests per minute. Wait for the time given in the retry-after header.',
    )
    expect(headers.get('retry-after')).toBe('30')
    expect(headers.get('x-ratelimit-limit-requests')).toBe('2')
    expect(headers.get('x-ratelimit-remaining-requests')).toBe('0')
    expect(headers.get('x-ratelimit-reset-requests')).toBe('1m0s')
    expect(headers.get('x-ratelimit-limit-tokens')).toBe('6000')
    expect(await bed.row(headers.get('x-request-id'))).toMatchObject({
      status: 429,
      outcome: 'refused',
      error_kind: 'rate_limited',
    })
    expect(bed.upstream.requests).toHaveLength(2)
  })

  test("keys of a group share its total, keys of a tenant share the tenant's, and headers show the scarcest limit", async () => {
    const answer = await bed.chat(body, { key: keys.first })
    expect(answer.headers.get('x-ratelimit-limit-requests')).toBe('3')
    expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe('2')
    expect(answer.headers.get('x-ratelimit-limit-tokens')).toBeNull()
    const large = { ...body, max_completion_tokens: 490 }
    const held = await bed.chat(large, { key: keys.second })
    expect(held.status).toBe(200)
    expect(Number(held.headers.get('x-ratelimit-remaining-tokens'))).toBeLessThan(10)
    expect((await bed.chat(body, { key: keys.second })).status).toBe(200)
    expect(await refusalOf(await bed.chat(body, { key: keys.second }))).toContain(
      "The keys of this key's group together have reached the limit of 3 requests per minute",
    )
    expect(await refusalOf(await bed.chat(body, { key: keys.first }))).toContain("this key's group together")
  })

  test('tokens are held by estimate and charged by usage; a refused request charges nothing, a failed one charges one request', async () => {
    const ask = (more = {}) => bed.chat({ ...body, ...more }, { key: keys.tokens })
    const left = (response: Response, what: string) =>
      Number(response.headers.get(`x-ratelimit-remaining-${what}`))
    expect(left(await ask({ max_completion_tokens: 900 }), 'tokens')).toBeLessThan(100)
    // 18 tokens of about 900 were used.
    const refused = await ask({ max_completion_tokens: 985 })
    expect(await refusalOf(refused, 'token_rate_reached')).toContain(
      'reached the limit of 1000 tokens per minute',
    )
    expect(left(refused, 'tokens')).toBeGreaterThan(980 - 1)
    expect(left(refused, 'requests')).toBe(19)

    bed.upstream.script(() => errorAnswer(400, { message: 'No.' }))
    const failed = await ask({ max_completion_tokens: 800 })
    expect(failed.status).toBe(400)
    expect(left(failed, 'requests')).toBe(18)
    bed.upstream.script(() => chatAnswer())
    const next = await ask({ max_completion_tokens: 900 })
    expect(next.status).toBe(200)
    expect(left(next, 'requests')).toBe(17)
  })

  test('a running answer counts until it ends or its client leaves', async () => {
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    bed.upstream.script(async (request) => {
      if (request.stream) return chatStream(request, { tokens: 10_000, paceMs: 20 })
      await ended
      return chatAnswer()
    })
    const key = keys.single
    const running = bed.chat(body, { key })
    await bed.upstream.arrived(1)
    const refused = await bed.chat(body, { key })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refusalOf(refused, 'concurrency_reached')).toBe(
      'This key has 1 request running, which is the limit. Wait for one of them to finish.',
    )
    end()
    expect((await running).status).toBe(200)
    expect((await bed.chat(body, { key })).status).toBe(200)

    const leaving = new AbortController()
    await bed.chat({ ...body, stream: true }, { key, signal: leaving.signal })
    expect((await bed.chat(body, { key })).status).toBe(429)
    leaving.abort()
    await expect.poll(async () => (await bed.chat(body, { key })).status, { timeout: patienceMs }).toBe(200)
  })

  test('a request without room is refused before its body is read: its row has neither, and its Idempotency-Key is not claimed', async () => {
    expect((await bed.chat(body, { key: keys.unread })).status).toBe(200)
    const head = [
      'POST /v1/chat/completions HTTP/1.1',
      'host: x',
      `authorization: Bearer ${keys.unread}`,
      'idempotency-key: of-a-refused-request',
      'content-length: 100000',
      'connection: close',
    ]
    const socket = connect(bed.tollgate.port, '127.0.0.1', () =>
      socket.write(`${head.join('\r\n')}\r\n\r\n{`),
    )
    // The answer comes although the body never does.
    const heard = await new Promise<string>((resolve) => {
      let text = ''
      socket.setEncoding('latin1').on('data', (data: string) => {
        text += data
        if (text.includes('"rate_limit_exceeded"')) resolve(text)
      })
    })
    socket.destroy()
    expect(statusesOf(heard)).toEqual([429])
    const [id = ''] = idsOf(heard)
    expect(await bed.row(id)).toMatchObject({
      status: 429,
      outcome: 'refused',
      error_kind: 'rate_limited',
      requested_model: null,
    })
    expect(await bed.database.sql`SELECT 1 FROM request_payloads WHERE request_id = ${id}`).toEqual([])
    expect(await bed.database.sql`SELECT 1 FROM idempotency_keys`).toEqual([])
  })

  test('a repeat that is answered from what was kept counts against no limit', async () => {
    const ask = (headers = {}) => bed.chat(body, { key: keys.repeating, headers })
    const keyed = { 'idempotency-key': 'of-a-repeated-request' }
    expect((await ask(keyed)).status).toBe(200)
    for (let repeat = 0; repeat < 3; repeat++) {
      const answer = await until(async () => {
        const repeated = await ask(keyed)
        return repeated.headers.get('idempotency-replayed') === 'true' ? repeated : undefined
      })
      expect(answer.status).toBe(200)
    }
    expect((await ask()).status).toBe(200)
    expect((await ask()).status).toBe(429)
    expect((await ask(keyed)).headers.get('idempotency-replayed')).toBe('true')
  })

  test("OpenAI's SDK raises RateLimitError, reads the time to wait, and its own retry succeeds", async () => {
    for (let i = 0; i < 120; i++) expect((await bed.chat(body, { key: keys.rapid })).status).toBe(200)
    const asked = openai(keys.rapid).chat.completions.create(body)
    const error = await asked.catch((raised: unknown) => raised)
    if (!(error instanceof OpenAI.RateLimitError)) throw error
    expect(error.headers.get('retry-after')).toBe('1')
    expect(error.headers.get('retry-after-ms')).toBe('500')
    const statuses: number[] = []
    const passing = async (...of: Parameters<typeof fetch>) => {
      const response = await fetch(...of)
      statuses.push(response.status)
      clock.pass(500)
      return response
    }
    const retrying = openai(keys.rapid, { maxRetries: 1, fetch: passing })
    const { data, response } = await retrying.chat.completions.create(body).withResponse()
    expect(statuses).toEqual([429, 200])
    expect(data.choices[0]?.message.content).toBe('Hello there.')
    expect(response.headers.get('x-ratelimit-limit-requests')).toBe('120')
    expect(response.headers.get('x-ratelimit-remaining-requests')).toBe('0')
  })

  test("Anthropic's SDK raises RateLimitError and finds the headers of its vendor", async () => {
    const client = new Anthropic({ baseURL: bed.tollgate.url, apiKey: keys.messages, maxRetries: 0 })
    const ask = () => client.messages.create({ model: 'main', max_tokens: 10, messages }).withResponse()
    const { response } = await ask()
    const { headers } = response
    expect(headers.get('anthropic-ratelimit-requests-limit')).toBe('2')
    expect(headers.get('anthropic-ratelimit-requests-remaining')).toBe('1')
    expect(headers.get('anthropic-ratelimit-tokens-limit')).toBe('6000')
    expect(headers.get('x-ratelimit-limit-requests')).toBeNull()
    const reset = headers.get('anthropic-ratelimit-requests-reset') ?? ''
    expect(reset).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    expect(Date.parse(reset) - clock.now()).toBe(30_000)
    await client.messages.countTokens({ model: 'main', messages })
    const error = await ask().catch((raised: unknown) => raised)
    if (!(error instanceof Anthropic.RateLimitError)) throw error
    expect(error.message).toContain('rate_limit_error')
    expect(error.message).toContain('This key has reached the limit of 2 requests per minute')
    expect(error.headers.get('retry-after')).toBe('30')
    expect(error.headers.get('anthropic-ratelimit-requests-remaining')).toBe('0')
  })

  test('without Redis, /readyz reports local limits', async () => {
    const ready = await fetch(`${bed.tollgate.url}/readyz`)
    expect(await ready.json()).toMatchObject({ status: 'ready', limits: 'local' })
  })
})

test.each([
  [0, '0ms'],
  [6, '6ms'],
  [999, '999ms'],
  [1_000, '1s'],
  [1_201, '1.3s'],
  [59_900, '59.9s'],
  [59_901, '1m0s'],
  [62_000, '1m2s'],
  [7_205_000, '2h0m5s'],
])('a reset in %i ms is written %s', (resetMs, written) => {
  const headers: Record<string, string> = {}
  const standing = { requests: { limit: 1, remaining: 0, resetMs }, tokens: undefined }
  addLimitHeaders(headers, 'openai-chat', standing, 0)
  expect(headers['x-ratelimit-reset-requests']).toBe(written)
})
