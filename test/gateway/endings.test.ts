import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { abortKey, freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { patienceMs } from '../support/until.ts'
import { chatAnswer, chatStream, frame, planByModel } from '../support/upstream-plans.ts'

let bed: Testbed

beforeAll(async () => {
  bed = await startTestbed({
    env: { UPSTREAM_FIRST_BYTE_MS: '1500', UPSTREAM_IDLE_MS: '1500', UPSTREAM_TOTAL_MS: '8000' },
  })
})
afterAll(() => bed.close())
beforeEach(() => {
  bed.upstream.requests.length = 0
  bed.upstream.script(planByModel)
})

const messages = [{ role: 'user', content: 'Hello' }]
const never = new Promise<void>(() => {})

/** The newest row, when it has come: for clients that left before they could see an id. */
async function onlyRow(model: string): Promise<Record<string, unknown>> {
  const read = () => bed.database.sql`SELECT * FROM requests WHERE requested_model = ${model}`
  await expect.poll(async () => (await read()).length, { timeout: patienceMs }).toBe(1)
  const [row] = await read()
  return row ?? {}
}

test.for([
  ['truncated', { stream_end: 'upstream_cut', usage_source: 'estimated' }],
  ['cut', { stream_end: 'upstream_cut', usage_source: 'estimated' }],
  ['reset', { stream_end: 'upstream_cut', usage_source: 'estimated' }],
  ['stall', { stream_end: 'timeout', usage_source: 'estimated' }],
] as const)('a stream that ends by %s has an error in the stream and one row', async ([model, expected]) => {
  const response = await bed.chat({ model, messages, stream: true })
  const text = await response.text()
  expect(response.status).toBe(200)
  expect(text).toContain('token-6')
  const frames = text.trim().split('\n\n')
  const last = JSON.parse(frames.at(-1)?.replace(/^data: /, '') ?? '')
  expect(last.error).toMatchObject({ message: expect.any(String), type: expect.any(String) })
  expect(text).not.toContain('[DONE]')
  const row = await bed.row(response.headers.get('x-request-id'))
  expect(row).toMatchObject({ status: 200, outcome: 'failed', ...expected })
  expect(Number(row.output_tokens)).toBeGreaterThanOrEqual(7)
})

test('an error frame in the stream is forwarded unchanged, and the row is a failure', async () => {
  const response = await bed.chat({ model: 'error-frame', messages, stream: true })
  expect(await response.text()).toContain('The server had an error.')
  expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
    outcome: 'failed',
    error_kind: 'upstream_error',
  })
})

test.for([true, false])(
  'without usage from the upstream, the row has an estimate, and is marked so (stream %s)',
  async (stream) => {
    const response = await bed.chat({ model: 'no-usage', messages, stream })
    await response.text()
    const row = await bed.row(response.headers.get('x-request-id'))
    expect(row).toMatchObject({ outcome: 'succeeded', usage_source: 'estimated', stream_end: 'complete' })
    expect(Number(row.output_tokens)).toBeGreaterThan(0)
  },
)

test.for([true, false])('an upstream that never begins to answer is a 504 (stream %s)', async (stream) => {
  const response = await bed.chat({ model: 'silent-headers', messages, stream })
  bed.upstream.script(() => never as never)
  const late = await bed.chat({ model: 'never', messages, stream })
  expect(response.status).toBe(200)
  await response.text()
  expect(late.status).toBe(504)
  await late.text()
  expect(await bed.row(late.headers.get('x-request-id'))).toMatchObject({
    status: 504,
    error_kind: 'upstream_timeout',
    cost_nano: null,
    outcome: 'failed',
  })
})

test('a connection refused is a 502 that cost nothing', async () => {
  const own = await startTestbed({
    yaml: () => `
channels: [ { name: dead, protocols: { openai-chat: 'http://127.0.0.1:9/v1' }, api_keys: [ k ], models: '*', allow_private_address: true } ]
models: [ { id: '*' } ]
groups: [ { name: default, models: ['*'], channels: ['*'] } ]
tenants: [ { name: t, keys: [ { name: k, group: default, secret: ${freeKey} } ] } ]
`,
  })
  try {
    const response = await own.chat({ model: 'm', messages })
    expect(response.status).toBe(502)
    expect(await own.row(response.headers.get('x-request-id'))).toMatchObject({
      status: 502,
      error_kind: 'upstream_error',
      cost_nano: '0',
    })
  } finally {
    await own.close()
  }
})

test('when a client leaves before the first byte, the upstream is read to its end: the row has the usage of that answer', async () => {
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  bed.upstream.script((request) => ({
    ...chatStream(request),
    chunks: [{ waitFor: begun }, ...(chatStream({ includeUsage: true }).chunks as Iterable<string>)],
  }))
  const leaving = new AbortController()
  const asked = bed
    .chat({ model: 'leave-at-0', messages, stream: true }, { signal: leaving.signal })
    .catch(() => 'left')
  await bed.upstream.arrived(1)
  leaving.abort()
  expect(await asked).toBe('left')
  await noticed()
  begin()
  expect(await onlyRow('leave-at-0')).toMatchObject({
    status: 499,
    outcome: 'cancelled',
    stream_end: 'client_gone',
    usage_source: 'upstream',
    input_tokens: 8,
  })
})

test('when a client leaves mid-stream and its group says drain, the upstream is read to the usage at its end', async () => {
  bed.upstream.script((request) => chatStream(request, { tokens: 30, paceMs: 20 }))
  await leaveAfter('token-2', 'leave-mid')
  expect(await onlyRow('leave-mid')).toMatchObject({
    status: 200,
    outcome: 'cancelled',
    stream_end: 'client_gone',
    usage_source: 'upstream',
    output_tokens: 5,
  })
  expect(bed.upstream.requests[0]?.closedEarly).toBe(false)
})

test('when a client leaves mid-stream and its group says abort, the upstream call ends, and the client pays an estimate', async () => {
  bed.upstream.script((request) => chatStream(request, { tokens: 10_000, paceMs: 20 }))
  await leaveAfter('token-2', 'leave-abort', abortKey)
  expect(await onlyRow('leave-abort')).toMatchObject({
    status: 200,
    outcome: 'cancelled',
    stream_end: 'client_gone',
    usage_source: 'estimated',
  })
  await bed.upstream.requests[0]?.closed
  expect(bed.upstream.requests[0]?.closedEarly).toBe(true)
})

test('a drain lasts no longer than the group says', async () => {
  const endless = (function* () {
    for (;;) {
      yield frame({ choices: [{ index: 0, delta: { content: 'token-x ' } }] })
      yield { waitMs: 100 }
    }
  })()
  bed.upstream.script(() => ({ chunks: endless, ending: 'end' }))
  await leaveAfter('token-x', 'leave-endless')
  expect(await onlyRow('leave-endless')).toMatchObject({
    outcome: 'cancelled',
    stream_end: 'client_gone',
    usage_source: 'estimated',
  })
  await bed.upstream.requests[0]?.closed
  expect(bed.upstream.requests[0]?.closedEarly).toBe(true)
})

test('a client that leaves after the last token, before the end, has one row with the usage', async () => {
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const steps = [...(chatStream({ includeUsage: true }).chunks as Iterable<string>)]
  bed.upstream.script(() => ({
    chunks: [...steps.slice(0, -1), { waitFor: finished }, ...steps.slice(-1)],
    ending: 'end',
  }))
  await leaveAfter('token-6', 'leave-last')
  finish()
  expect(await onlyRow('leave-last')).toMatchObject({
    outcome: 'cancelled',
    stream_end: 'client_gone',
    usage_source: 'upstream',
    finish_reason: 'stop',
  })
})

test('when a client leaves before a whole answer has come, the upstream is read to its end, too', async () => {
  bed.upstream.script(() => ({ ...chatAnswer(), delayMs: 300 }))
  const leaving = new AbortController()
  const asked = bed.chat({ model: 'leave-whole', messages }, { signal: leaving.signal }).catch(() => 'left')
  await bed.upstream.arrived(1)
  leaving.abort()
  await asked
  expect(await onlyRow('leave-whole')).toMatchObject({
    status: 499,
    outcome: 'cancelled',
    usage_source: 'upstream',
    output_tokens: 5,
  })
})

test('bytes that are not an HTTP request get a 400 and a row', async () => {
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(bed.tollgate.port, '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'))
    let text = ''
    socket.on('data', (data) => {
      text += data
    })
    socket.on('close', () => resolve(text))
  })
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  const id = /x-request-id: (\S+)/.exec(answer)?.[1] ?? ''
  expect(await bed.row(id)).toMatchObject({
    status: 400,
    endpoint: '(unreadable)',
    error_kind: 'invalid_request',
  })
})

async function leaveAfter(text: string, model: string, key = freeKey): Promise<void> {
  const leaving = new AbortController()
  const response = await bed.chat({ model, messages, stream: true }, { signal: leaving.signal, key })
  const reader = response.body?.getReader()
  let seen = ''
  while (!seen.includes(text)) {
    const { value, done } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done) throw new Error(`the stream ended before ${text}`)
    seen += Buffer.from(value).toString()
  }
  leaving.abort()
  await noticed()
}

/** Waits until the gateway knows that the client has left. */
async function noticed(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await (await fetch(`${bed.tollgate.url}/healthz`)).text()
}
