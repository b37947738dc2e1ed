import { afterAll, beforeAll, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import {
  answerBytes,
  chunkBytes,
  chunkedHead,
  type RawRequest,
  type RawUpstream,
  startRawUpstream,
} from '../support/raw-upstream.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { chatAnswer, chatStream, frame } from '../support/upstream-plans.ts'

/** Upstreams that break the rules of HTTP, or use its rare features: real sockets, exact bytes, one row each. */

const messages = [{ role: 'user', content: 'Hello' }]
const json = String(chatAnswer().body)
const events = [...(chatStream({ includeUsage: true }).chunks as Iterable<string>)]
const sse = 'text/event-stream'

interface Case {
  /** Called when the request has come whole. */
  act(request: RawRequest): void
  /** Called when its head has come. */
  onHead?(request: RawRequest): void
  stream?: true
  status: number
  says: string | RegExp
  row: Record<string, unknown>
  reason?: string | RegExp
  attempt?: { status?: number | null; error?: RegExp | null }
}

const write = (bytes: string | Buffer) => (request: RawRequest) => void request.socket.write(bytes)
const end = (bytes: string | Buffer) => (request: RawRequest) => void request.socket.end(bytes)
const whole = { status: 200, says: 'Hello there.', row: { outcome: 'succeeded', usage_source: 'upstream' } }
const broke = (reason: string | RegExp, attemptStatus: number | null = null): Omit<Case, 'act'> => ({
  status: 502,
  says: /"message"/,
  reason,
  row: { outcome: 'failed', error_kind: 'upstream_error', cost_nano: null, stream_end: null },
  attempt: { status: attemptStatus },
})
const late = (reason: string, attemptStatus: number | null = null): Omit<Case, 'act'> => ({
  status: 504,
  says: /"message"/,
  reason,
  row: { outcome: 'failed', error_kind: 'upstream_timeout', cost_nano: null, stream_end: null },
  attempt: { status: attemptStatus },
})

const cases: Record<string, Case> = {
  'silence instead of headers': { act: () => {}, ...late('upstream_answer_late') },
  'silence within the headers': {
    act: write('HTTP/1.1 200 OK\r\ncontent-ty'),
    ...late('upstream_answer_late'),
  },
  'headers that never end': {
    act({ socket }) {
      socket.write('HTTP/1.1 200 OK\r\n')
      const drip = setInterval(() => socket.write('x: y\r\n'), 50)
      socket.on('close', () => clearInterval(drip))
    },
    ...late('upstream_answer_late'),
  },
  'interim answers that never end, slowly': {
    act({ socket }) {
      const drip = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 100)
      socket.on('close', () => clearInterval(drip))
    },
    ...late('upstream_answer_late'),
  },
  'silence within the body': {
    act: write(answerBytes(json).subarray(0, -20)),
    ...late('upstream_stalled', 200),
  },
  'a body shorter than declared': {
    act: end(answerBytes(json).subarray(0, -20)),
    ...broke(/^upstream_(length_wrong|connection_broke)$/, 200),
  },
  'a chunk that is cut': {
    act: end(chunkedHead('application/json') + chunkBytes(json).subarray(0, 90).toString()),
    ...broke('upstream_connection_broke', 200),
  },
  'what is not HTTP': { act: end('SSH-2.0-OpenSSH_9.9\r\n'), ...broke('upstream_http_invalid') },
  'a tunnel that no one asked for': {
    act: write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    ...broke('upstream_connection_broke'),
  },
  'two lengths that differ': {
    act: write(answerBytes(json, { headers: 'content-length: 5\r\n' })),
    ...broke('upstream_http_invalid'),
  },
  'an end without a word': { act: ({ socket }) => void socket.end(), ...broke('upstream_connection_broke') },
  'a reset': { act: ({ socket }) => void socket.resetAndDestroy(), ...broke('upstream_connection_broke') },
  'what is not JSON': {
    act: write(answerBytes('<html>hello</html>')),
    ...broke('upstream_not_json', 200),
  },
  'an empty answer': { act: write('HTTP/1.1 204 No Content\r\n\r\n'), ...broke('upstream_not_json', 204) },
  'headers that are too large': {
    act: write(answerBytes(json, { headers: `x-large: ${'y'.repeat(100_000)}\r\n` })),
    ...broke('upstream_http_invalid'),
  },
  'a flood of interim answers': {
    act: ({ socket }) => void socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(200)),
    ...broke('upstream_http_invalid'),
  },
  'HTTP/1.0 without a length': {
    act: end(`HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n${json}`),
    ...whole,
  },
  'interim answers': {
    act({ socket }) {
      socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hi')
      setImmediate(() => {
        socket.write('nts\r\nlink: </a.css>\r\n\r')
        setImmediate(() =>
          socket.write(Buffer.concat([Buffer.from('\nHTTP/1.1 100 Continue\r\n\r\n'), answerBytes(json)])),
        )
      })
    },
    ...whole,
  },
  'trailers after the last chunk': {
    act: write(
      `${chunkedHead('application/json')}${chunkBytes(json)}0\r\nx-checksum: 1\r\nset-cookie: a=b\r\n\r\n`,
    ),
    ...whole,
  },
  'chunks with extensions': {
    act: write(
      `${chunkedHead('application/json')}${json.length.toString(16)};a="b";c\r\n${json}\r\n0\r\n\r\n`,
    ),
    ...whole,
  },
  'no reason in the status line': {
    act: write(answerBytes(json).toString().replace('200 OK', '200')),
    ...whole,
  },
  'an end of the connection with the answer': {
    act: end(answerBytes(json, { headers: 'connection: close\r\n' })),
    ...whole,
  },
  'a refusal before the body was read': {
    act: () => {},
    onHead({ socket }) {
      socket.pause()
      const error = { message: 'Too much.', type: 'invalid_request_error', param: null, code: null }
      socket.end(
        answerBytes(JSON.stringify({ error }), {
          status: '413 Too Large',
          headers: 'connection: close\r\n',
        }),
      )
    },
    status: 413,
    says: 'Too much.',
    row: { outcome: 'refused', error_kind: 'request_too_large', cost_nano: '0' },
    attempt: { status: 413, error: /Too much/ },
  },
  'a refusal that never ends': {
    act({ socket }) {
      socket.write('HTTP/1.1 500 Oops\r\ncontent-type: text/plain\r\n\r\n')
      const more = () => {
        while (socket.writable && socket.write('x'.repeat(10_000)));
      }
      socket.on('drain', more)
      more()
    },
    status: 502,
    says: /failed with status 500/,
    row: { outcome: 'failed', error_kind: 'upstream_error', error_upstream_status: 500, cost_nano: '0' },
    attempt: { status: 500, error: /status 500/ },
  },
  'a stream that is cut within a chunk': {
    act: end(
      chunkedHead(sse) +
        events.slice(0, 3).map(chunkBytes).join('') +
        chunkBytes(events[3] ?? '').subarray(0, 60),
    ),
    stream: true,
    status: 200,
    says: /token-1[\s\S]*"error":\{"message":"The connection to the upstream was lost/,
    row: {
      outcome: 'failed',
      error_kind: 'upstream_error',
      usage_source: 'estimated',
      stream_end: 'upstream_cut',
    },
    attempt: { status: 200, error: /was lost/ },
  },
  'a stream that falls silent': {
    act: write(chunkedHead(sse) + events.slice(0, 3).map(chunkBytes).join('')),
    stream: true,
    status: 200,
    says: /token-1[\s\S]*stopped sending in the middle/,
    row: { outcome: 'failed', error_kind: 'upstream_timeout', stream_end: 'timeout' },
    attempt: { status: 200, error: /stopped/ },
  },
  'a stream of what is not an event': {
    act: end(`${chunkedHead(sse)}${chunkBytes('<html>\n\n{"a":1}\n\nhello')}0\r\n\r\n`),
    stream: true,
    status: 200,
    says: /ended its answer before it was complete/,
    row: { outcome: 'failed', error_kind: 'upstream_error', stream_end: 'upstream_cut' },
    attempt: { status: 200, error: /ended its answer/ },
  },
  'an event larger than is held': {
    act: write(
      chunkedHead(sse) +
        [frame({ id: 'x', choices: [{ index: 0, delta: { content: 'z'.repeat(50_000) } }] }), ...events]
          .map(chunkBytes)
          .join('') +
        '0\r\n\r\n',
    ),
    stream: true,
    status: 200,
    says: /zzzz[\s\S]*token-6[\s\S]*\[DONE\]/,
    row: { outcome: 'succeeded', stream_end: 'complete' },
  },
  'a stream of HTTP/1.0': {
    act: end(`HTTP/1.0 200 OK\r\ncontent-type: ${sse}\r\n\r\n${events.join('')}`),
    stream: true,
    status: 200,
    says: /token-6[\s\S]*\[DONE\]/,
    row: { outcome: 'succeeded', stream_end: 'complete' },
  },
}

const names = Object.keys(cases)
let raw: RawUpstream
let bed: Testbed

beforeAll(async () => {
  raw = await startRawUpstream({
    onHead: (request) => cases[caseOf(request)]?.onHead?.(request),
    onRequest: (request) => (cases[caseOf(request)] ?? others[caseOf(request)])?.act(request),
  })
  bed = await startTestbed({
    yaml,
    env: {
      UPSTREAM_FIRST_BYTE_MS: '1500',
      UPSTREAM_IDLE_MS: '1500',
      SSE_FRAME_BYTES_MAX: '4096',
      BREAKER_FAILURES: '1000',
    },
  })
})
afterAll(async () => {
  await bed.close()
  await raw.close()
})

/** Each has a channel of its own: the failures of one do not affect the breaker of the next. */
function yaml(goodUrl: string): string {
  const places = [...names, ...Object.keys(others)]
  const channels = places.map((name, index) => {
    const models = name in others ? `[ "c${index}", "${name}" ]` : `[ "c${index}" ]`
    return `  - { name: "c${index}", protocols: { openai-chat: "${raw.url}/${index}/v1" }, api_keys: [ upstream-key-0001 ], models: ${models}, priority: 1, allow_private_address: true }`
  })
  const good = `  - { name: good, protocols: { openai-chat: "${goodUrl}" }, api_keys: [ upstream-key-0002 ], models: [ ${Object.keys(others).join(', ')} ], allow_private_address: true }`
  const models = [...places.map((_, index) => `c${index}`), ...Object.keys(others)]
  return `
models: [ ${models.map((id) => `{ id: ${id} }`).join(', ')} ]
channels:
${channels.join('\n')}
${good}
groups: [ { name: default, models: ['*'], channels: ['*'] } ]
tenants: [ { name: t, keys: [ { name: k, group: default, secret: ${freeKey} } ] } ]
`
}

function caseOf({ path }: RawRequest): string {
  const places = [...names, ...Object.keys(others)]
  return places[Number(path.split('/')[1])] ?? ''
}

const modelOf = (name: string) => `c${[...names, ...Object.keys(others)].indexOf(name)}`

test.for(names)('%s: the client gets the right answer or error, and one row agrees', async (name) => {
  const { stream, status, says, reason, row: expected, attempt } = cases[name] as Case
  const body = { model: modelOf(name), messages, ...(stream ? { stream } : {}) }
  // So large that its end is still unsent when an early answer comes.
  const padding = cases[name]?.onHead === undefined ? {} : { user: 'x'.repeat(8_000_000) }
  const response = await bed.chat({ ...body, ...padding })
  const text = await response.text()
  expect(text).toMatch(says)
  expect(response.status).toBe(status)
  if (reason !== undefined) expect(response.headers.get('x-tollgate-reason')).toMatch(reason)
  if (status >= 400)
    // An upstream's own refusal passes as it came, without the id of the row.
    expect(Object.keys(JSON.parse(text).error)).toEqual(
      expect.arrayContaining(['code', 'message', 'param', 'type']),
    )
  const row = await bed.row(response.headers.get('x-request-id'))
  expect(row).toMatchObject({ status, ...expected })
  const rows = (await bed.rows()).filter(({ requested_model: model }) => model === modelOf(name))
  expect(rows).toHaveLength(1)
  const attempts = await bed.database
    .sql`SELECT status, error_message FROM attempts WHERE request_id = ${String(row.id)}`
  expect(attempts).toHaveLength(1)
  if (attempt?.status !== undefined) expect(attempts[0]?.status).toBe(attempt.status)
  if (attempt?.error) expect(attempts[0]?.error_message).toMatch(attempt.error)
  expect(raw.requests.filter((request) => caseOf(request) === name)).toHaveLength(1)
})

const others: Record<string, Pick<Case, 'act'>> = {
  moved: {
    act: ({ socket, body }) => {
      const { user } = JSON.parse(body.toString())
      socket.write(answerBytes('', { status: `${user} Moved`, headers: `location: ${raw.url}/0/v1\r\n` }))
    },
  },
  reused: {
    act({ socket, turn }) {
      if (turn === 1) socket.write(answerBytes(json, { headers: 'connection: keep-alive\r\n' }))
      else socket.resetAndDestroy()
    },
  },
  unasked: {
    act: ({ socket }) => {
      const other = JSON.stringify({ ...JSON.parse(json), id: 'of-somebody-else' })
      socket.write(Buffer.concat([answerBytes(json), answerBytes(other)]))
    },
  },
  headers: {
    act: ({ socket }) => {
      const headers = [
        'set-cookie: session=upstream',
        'x-ratelimit-remaining-tokens: 5',
        'openai-organization: org-secret',
        'openai-version: 2020-10-01',
        'openai-processing-ms: 12',
        'server: nginx',
        'via: 1.1 inner.host',
        'x-internal-host: inner.host',
        'x-request-id: upstream-1',
        'strict-transport-security: max-age=1',
      ]
      socket.write(answerBytes(json, { headers: `${headers.join('\r\n')}\r\n` }))
    },
  },
}

test.for([301, 302, 303, 307, 308])(
  'a redirect (%i) is not followed, and the next channel answers',
  async (status) => {
    const before = raw.requests.length
    const response = await bed.chat({ model: 'moved', messages, user: String(status) })
    expect(response.status).toBe(200)
    await response.text()
    const row = await bed.row(response.headers.get('x-request-id'))
    expect(row).toMatchObject({ outcome: 'succeeded', channel: 'good' })
    const [first] = await bed.database
      .sql`SELECT * FROM attempts WHERE request_id = ${String(row.id)} ORDER BY ordinal`
    expect(first).toMatchObject({ status, error_kind: 'upstream_error' })
    expect(first?.error_message).toMatch(/redirect .* never follows/)
    const alone = await bed.chat({ model: modelOf('moved'), messages, user: String(status) })
    expect(alone.status).toBe(502)
    expect(alone.headers.get('x-tollgate-reason')).toBe('upstream_redirected')
    await alone.body?.cancel()
    expect(raw.requests).toHaveLength(before + 2)
  },
)

test('a kept connection that is reset at its next request is an error, and this upstream is not called twice', async () => {
  const model = modelOf('reused')
  const asked = () => raw.requests.filter((request) => caseOf(request) === 'reused')
  const first = await bed.chat({ model, messages })
  expect(first.status).toBe(200)
  await first.text()
  const second = await bed.chat({ model, messages })
  expect(second.status).toBe(502)
  expect(await second.text()).toMatch(/connection to the upstream was lost/)
  expect(asked().map(({ turn }) => turn)).toEqual([1, 2])
  expect(await bed.row(second.headers.get('x-request-id'))).toMatchObject({
    outcome: 'failed',
    cost_nano: null,
    attempt_count: 1,
  })
  const third = await bed.chat({ model: 'reused', messages })
  await third.text()
  const fourth = await bed.chat({ model: 'reused', messages })
  expect([third.status, fourth.status]).toEqual([200, 200])
  await fourth.text()
  expect(asked().map(({ turn }) => turn)).toEqual([1, 2, 1, 2])
  expect(await bed.row(fourth.headers.get('x-request-id'))).toMatchObject({
    channel: 'good',
    attempt_count: 2,
  })
})

test('a second, unasked answer after an answer reaches no client', async () => {
  for (let turn = 0; turn < 5; turn++) {
    const response = await bed.chat({ model: modelOf('unasked'), messages })
    expect(await response.json()).toMatchObject({ id: 'chatcmpl-scripted' })
  }
})

test('of the headers of an upstream a client gets four, and none that identifies anybody', async () => {
  const response = await bed.chat({ model: modelOf('headers'), messages })
  await response.text()
  const got = [...response.headers.keys()].filter((name) => !name.startsWith('x-tollgate-'))
  expect(got.sort()).toEqual(
    [
      'connection',
      'content-length',
      'content-type',
      'date',
      'keep-alive',
      'openai-processing-ms',
      'openai-version',
      'x-request-id',
    ].sort(),
  )
  expect(response.headers.get('x-request-id')).not.toBe('upstream-1')
})
