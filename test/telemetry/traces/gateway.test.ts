import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SeenSpan } from '../../support/otlp.ts'
import { paidKey, startTraced, type Traced, tracedKey } from '../../support/traced.ts'
import { until } from '../../support/until.ts'

const messages = [{ role: 'user', content: 'the-words-of-a-prompt' }]
const clientTrace = '0af7651916cd43dd8448eb211c80319c'
const clientSpan = 'b7ad6b7169203331'

describe('traces of requests', () => {
  let traced: Traced
  beforeAll(async () => {
    traced = await startTraced()
  })
  afterAll(async () => await traced?.close())

  /** The answer, read to its end, and the spans of the request. */
  async function ask(body: object, { path = '/v1/chat/completions', ...options }: AskOptions = {}) {
    const answer = await traced.post(path, body, options)
    const text = await answer.text()
    const id = answer.headers.get('x-request-id') ?? ''
    return { answer, text, id, spans: await traced.collector.traceOf(id) }
  }

  test('a streamed request with one retried attempt has a span for each step and each call', async () => {
    const { spans, id } = await ask({ model: 'retried', stream: true, messages })
    const root = only(spans, ({ kind }) => kind === 'server')
    expect(root.name).toBe('POST /v1/chat/completions')
    expect(root.parentId).toBe('')
    expect(root.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/v1/chat/completions',
      'http.response.status_code': 200,
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'retried',
      'gen_ai.request.stream': true,
      'gen_ai.response.finish_reasons': ['stop'],
      'tollgate.usage.input_tokens': 11,
      'tollgate.usage.output_tokens': 7,
      'tollgate.usage.cache_read.input_tokens': 3,
      'tollgate.request.id': id,
      'tollgate.outcome': 'succeeded',
      'tollgate.channel': 'scripted',
      'tollgate.attempts': 2,
    })
    const [first, second, ...more] = spans.filter(({ kind }) => kind === 'client')
    expect(more).toEqual([])
    expect(first).toMatchObject({ name: 'chat error-500', isError: true, parentId: root.spanId })
    expect(first?.attributes).toMatchObject({
      'tollgate.channel': 'failing',
      'http.response.status_code': 500,
      'error.type': 'upstream_error',
      'server.address': '127.0.0.1',
      'server.port': traced.upstream.port,
    })
    expect(second).toMatchObject({ name: 'chat retried', isError: false, parentId: root.spanId })
    expect(second?.attributes).toMatchObject({
      'tollgate.channel': 'scripted',
      'http.response.status_code': 200,
      'http.request.resend_count': 1,
      'gen_ai.usage.input_tokens': 11,
      'gen_ai.usage.output_tokens': 7,
      'gen_ai.usage.cache_read.input_tokens': 3,
      'tollgate.attempt.reason': expect.any(String),
    })
    // Adding up a trace counts its tokens once.
    expect(spans.flatMap(({ attributes }) => attributes['gen_ai.usage.output_tokens'] ?? [])).toEqual([7])
    expect(second?.events.map(({ name }) => name)).toEqual(['first byte', 'first token'])
    const steps = spans.filter(({ kind }) => kind === 'internal')
    expect(steps.map(({ name }) => name)).toEqual([
      'authenticate',
      'limits',
      'read',
      'route',
      'journal',
      'record',
    ])
    for (const span of spans) {
      expect(span.start).toBeGreaterThanOrEqual(root.start)
      expect(span.end).toBeGreaterThanOrEqual(span.start)
      expect(span.end).toBeLessThanOrEqual(root.end)
    }
    expect(root.resource).toMatchObject({ 'service.name': 'tollgate', 'tollgate.role': 'all' })
  })

  test('an upstream gets the place of its own call in the trace', async () => {
    const { spans } = await ask({ model: 'retried', messages })
    const calls = spans.filter(({ kind }) => kind === 'client')
    const seen = traced.upstream.requests.slice(-2).map(({ headers }) => headers.traceparent)
    expect(seen).toEqual(calls.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`))
  })

  test('a translated request has a span for its translation, and money one for its hold', async () => {
    const { spans } = await ask(
      { model: 'good', max_tokens: 10, messages },
      { path: '/v1/messages', key: paidKey, headers: { 'anthropic-version': '2023-06-01' } },
    )
    expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(['translate', 'hold money']))
    expect(only(spans, ({ name }) => name === 'translate').attributes).toEqual({
      'tollgate.upstream.protocol': 'openai-chat',
    })
    expect(only(spans, ({ kind }) => kind === 'server').attributes).toMatchObject({
      'tollgate.cost.usd': expect.any(Number),
      'tollgate.protocol': 'anthropic-messages',
    })
  })

  test('a request that is refused before its key is known has a trace, which says why', async () => {
    const { answer, spans } = await ask({ model: 'good', messages }, { key: 'no-key-of-anybody-0001' })
    expect(answer.status).toBe(401)
    expect(spans.map(({ name }) => name)).toEqual(['POST /v1/chat/completions', 'authenticate', 'record'])
    expect(spans[0]?.attributes).toMatchObject({
      'http.response.status_code': 401,
      'error.type': 'unauthenticated',
      'tollgate.outcome': 'refused',
    })
    expect(spans[0]?.isError).toBe(false)
  })

  test('a client that leaves ends its trace, with what had come until then', async () => {
    const leaving = new AbortController()
    const answer = await traced.post(
      '/v1/chat/completions',
      { model: 'paced-2000x20', stream: true, messages },
      { signal: leaving.signal },
    )
    let text = ''
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString('utf8')
      if (text.includes('token-2')) break
    }
    leaving.abort()
    const spans = await traced.collector.traceOf(answer.headers.get('x-request-id') ?? '')
    expect(only(spans, ({ kind }) => kind === 'server').attributes).toMatchObject({
      'tollgate.outcome': 'cancelled',
      'tollgate.stream_end': 'client_gone',
    })
    expect(only(spans, ({ kind }) => kind === 'client').events.map(({ name }) => name)).toContain(
      'first token',
    )
  })

  test('the trace of a client goes on here and at the upstream, its baggage does not', async () => {
    const { spans } = await ask(
      { model: 'good', messages },
      {
        headers: {
          traceparent: `00-${clientTrace}-${clientSpan}-01`,
          tracestate: 'vendor=value, other=1',
          baggage: 'user=secret-of-the-client',
        },
      },
    )
    const root = only(spans, ({ kind }) => kind === 'server')
    expect(root).toMatchObject({ traceId: clientTrace, parentId: clientSpan, state: 'vendor=value,other=1' })
    const { headers } = traced.upstream.requests.at(-1) ?? {}
    const call = only(spans, ({ kind }) => kind === 'client')
    expect(headers?.traceparent).toBe(`00-${clientTrace}-${call.spanId}-01`)
    expect(headers?.tracestate).toBe('vendor=value,other=1')
    expect(headers?.baggage).toBeUndefined()
  })

  test('a trace that the client does not sample is not recorded, and its upstream is told so', async () => {
    const notSampled = clientTrace.replace('0af', 'fff')
    const answer = await traced.post(
      '/v1/chat/completions',
      { model: 'good', messages },
      { headers: { traceparent: `00-${notSampled}-${clientSpan}-00` } },
    )
    await answer.text()
    expect(traced.upstream.requests.at(-1)?.headers.traceparent).toMatch(
      new RegExp(`^00-${notSampled}-[0-9a-f]{16}-00$`),
    )
    // A later request has its trace: so the one before it had none.
    await ask({ model: 'good', messages })
    expect(traced.collector.spans.filter(({ traceId }) => traceId === notSampled)).toEqual([])
  })

  test.for([
    'made up',
    `00-${clientTrace}-${clientSpan}`,
    `00-${'0'.repeat(32)}-${clientSpan}-01`,
    `00-${clientTrace}-${'0'.repeat(16)}-01`,
    `ff-${clientTrace}-${clientSpan}-01`,
    `00-${clientTrace.toUpperCase()}-${clientSpan}-01`,
    `00-${clientTrace}-${clientSpan}-01-more`,
  ])('a malformed traceparent begins a trace of our own: %s', async (traceparent) => {
    const { spans, answer } = await ask({ model: 'good', messages }, { headers: { traceparent } })
    expect(answer.status).toBe(200)
    const root = only(spans, ({ kind }) => kind === 'server')
    expect(root.parentId).toBe('')
    expect(root.traceId).not.toBe(clientTrace)
  })

  test('an unknown path is not a name of a span', async () => {
    const { spans } = await ask({}, { path: '/v1/made-up/by-a-client' })
    expect(spans[0]?.name).toBe('POST')
    expect(spans[0]?.attributes).toMatchObject({ 'url.path': '/v1/made-up/by-a-client' })
    expect(spans[0]?.attributes).not.toHaveProperty('http.route')
  })

  test('a line of the log about a request has the id of its trace', async () => {
    const { id, spans } = await ask({ model: 'error-500', messages })
    const line = await until(() => linesOf(traced).find(({ request }) => request === id))
    expect(line).toMatchObject({ trace_id: spans[0]?.traceId })
  })

  test('spans have no prompt, no answer, no key, no name of a tenant or a key', async () => {
    await ask({ model: 'retried', stream: true, messages })
    const headers = { 'anthropic-version': '2023-06-01' }
    await ask({ model: 'good', max_tokens: 10, messages }, { path: '/v1/messages', headers })
    const all = JSON.stringify(traced.collector.spans, (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    expect(all).toContain('tollgate.tenant.id')
    for (const text of [
      'the-words-of-a-prompt',
      'Hello there',
      tracedKey,
      'upstream-credential-of-traces',
      'a-name-that-no-span-has',
      'a-key-name-that-no-span-has',
    ])
      expect(all).not.toContain(text)
  })
})

describe('with no trace but those that clients ask for', () => {
  let traced: Traced
  beforeAll(async () => {
    traced = await startTraced({
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0',
    })
  })
  afterAll(async () => await traced?.close())

  test('a caller without a good key has none, whatever it asks for, and one with a key has', async () => {
    const asks = (id: string) => ({ traceparent: `00-${id}-${clientSpan}-01`, tracestate: 'vendor=value' })
    const stranger = clientTrace.replace('0af', 'fff')
    for (const key of ['no-key-of-anybody-0001', 'no-key-of-anybody-0002'])
      await (
        await traced.post(
          '/v1/chat/completions',
          { model: 'good', messages },
          { key, headers: asks(stranger) },
        )
      ).text()
    await (await traced.post('/v1/made-up', {}, { key: 'no-key', headers: asks(stranger) })).text()
    const answer = await traced.post(
      '/v1/chat/completions',
      { model: 'good', messages },
      { headers: asks(clientTrace) },
    )
    await answer.text()
    await traced.collector.traceOf(answer.headers.get('x-request-id') ?? '')
    expect([...new Set(traced.collector.spans.map(({ traceId }) => traceId))]).toEqual([clientTrace])
  })
})

describe('with other settings of traces', () => {
  let traced: Traced
  beforeAll(async () => {
    traced = await startTraced({
      TRACE_CLIENT_CONTEXT: 'link',
      TRACE_CONTEXT_WITHHELD: 'secretive, nobody',
      TRACE_CONTENT: 'captured',
      OTEL_SERVICE_NAME: 'our gateway',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,team=a%2Cb',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=a-key-of-the-collector',
    })
  })
  afterAll(async () => await traced?.close())

  test('the context of a client is a link, and does not decide', async () => {
    const answer = await traced.post(
      '/v1/chat/completions',
      { model: 'good', messages },
      { headers: { traceparent: `00-${clientTrace}-${clientSpan}-00`, tracestate: 'vendor=value' } },
    )
    await answer.text()
    const spans = await traced.collector.traceOf(answer.headers.get('x-request-id') ?? '')
    const root = only(spans, ({ kind }) => kind === 'server')
    expect(root.traceId).not.toBe(clientTrace)
    expect(root.links).toEqual([{ traceId: clientTrace, spanId: clientSpan }])
    expect(traced.upstream.requests.at(-1)?.headers.tracestate).toBeUndefined()
  })

  test('a channel that shall have no context gets none', async () => {
    await (await traced.post('/v1/chat/completions', { model: 'withheld', messages })).text()
    const { headers } = traced.upstream.requests.at(-1) ?? {}
    expect(headers?.authorization).toContain('-3')
    expect(headers?.traceparent).toBeUndefined()
  })

  test('with content, a span has of the body what the usage log keeps, redacted as there', async () => {
    const content = 'the-words-of-a-prompt and sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD'
    const answer = await traced.post('/v1/chat/completions', {
      model: 'good',
      messages: [{ role: 'user', content }],
    })
    await answer.text()
    const spans = await traced.collector.traceOf(answer.headers.get('x-request-id') ?? '')
    const body = String(only(spans, ({ kind }) => kind === 'server').attributes['tollgate.request.body'])
    expect(body).toContain('the-words-of-a-prompt')
    expect(body).not.toContain('abcdefghijklmnopqrstuvwxyz0123456789ABCD')
  })

  test('the collector gets the headers and the attributes that the operator has set', async () => {
    await until(() => traced.collector.spans.length > 0)
    const [first] = traced.collector.exports
    expect(first?.path).toBe('/v1/traces')
    expect(first?.headers).toMatchObject({
      'content-type': 'application/x-protobuf',
      'x-collector-key': 'a-key-of-the-collector',
    })
    expect(traced.collector.spans[0]?.resource).toMatchObject({
      'service.name': 'our gateway',
      'deployment.environment.name': 'test',
      team: 'a,b',
    })
  })
})

interface AskOptions {
  path?: string
  key?: string
  headers?: Record<string, string>
}

function only(spans: readonly SeenSpan[], isIt: (span: SeenSpan) => boolean): SeenSpan {
  const found = spans.filter(isIt)
  expect(found).toHaveLength(1)
  const [span] = found
  if (span === undefined) throw new Error('there is none')
  return span
}

function linesOf({ tollgate }: Traced): Record<string, unknown>[] {
  return tollgate
    .stderr()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []))
}
