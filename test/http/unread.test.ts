import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { abortKey, freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { chatStream } from '../support/upstream-plans.ts'

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ env: { REQUEST_READ_MS: '1000', IN_FLIGHT_MAX: '2', KEY_IN_FLIGHT_MAX: '2' } })
})
afterAll(() => bed.close())

const messages = [{ role: 'user', content: 'Hello' }]

test('a body that does not come in time is one 408 of its request, with its key, in the format of its client', async () => {
  const answer = await say(post('content-length: 100', '{"model":'))
  expect(answer).toMatch(/^HTTP\/1\.1 408 /)
  expect(answer).toContain('connection: close')
  const { error } = JSON.parse(answer.split('\r\n\r\n')[1] ?? '')
  expect(error).toEqual({
    message: 'The request did not arrive within 1000 ms.',
    type: 'invalid_request_error',
    param: null,
    code: 'request_late',
    request_id: expect.any(String),
  })
  const [own] = await bed.database.sql`SELECT id AS key_id FROM keys WHERE name = 'free'`
  expect(await onlyRowOf(answer)).toMatchObject({
    status: 408,
    outcome: 'refused',
    error_kind: 'invalid_request',
    endpoint: '/v1/chat/completions',
    key_id: own?.key_id,
  })
})

test('a body with wrong chunks is one 400 of its request', async () => {
  // More often than the key may have requests at once: none of them stays counted.
  for (let round = 0; round < 4; round++) {
    const answer = await say(post('transfer-encoding: chunked', 'zzz\r\n'))
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(await onlyRowOf(answer)).toMatchObject({
      status: 400,
      outcome: 'refused',
      endpoint: '/v1/chat/completions',
    })
  }
  expect((await bed.chat({ model: 'any', messages })).status).toBe(200)
})

test.each([
  ['of a known length', 'content-length: 100', '{"model":', 'free', freeKey, '/v1/chat/completions'],
  ['in chunks', 'transfer-encoding: chunked', '9\r\n{"model":\r\n', 'free', freeKey, '/v1/chat/completions'],
  ['of a key not asked for before', 'content-length: 100', '{', 'abort', abortKey, '/v1/chat/completions'],
  ['to a path of our own', 'content-length: 100', '{', 'free', freeKey, '/v1/translate'],
])(
  'a client that leaves in the middle of a body %s has one row that says so',
  async (_, framing, body, name, key, path) => {
    const before = (await bed.rows()).map(({ id }) => String(id))
    const request = post(framing, body, key).replace('/v1/chat/completions', path)
    expect(await say(request, true)).toBe('')
    // If the key is not in memory, the gateway still asks Postgres for it when the connection closes.
    const rows = async () =>
      await bed.database.sql<{ id: string }[]>`
        SELECT r.*, k.name FROM requests r LEFT JOIN keys k ON k.id = r.key_id
        WHERE NOT r.id = ANY (${before}::uuid[])`
    await expect.poll(rows).not.toEqual([])
    const later = await bed.chat({ model: 'any', messages })
    const ofLater = await bed.row(later.headers.get('x-request-id'))
    expect((await rows()).filter(({ id }) => id !== ofLater.id)).toMatchObject([
      {
        status: 499,
        outcome: 'cancelled',
        stream_end: 'client_gone',
        error_kind: null,
        cost_nano: '0',
        endpoint: path,
        name,
      },
    ])
  },
)

test('a request that was answered before its body came has one row, even when the body never comes', async () => {
  const answer = await say(post('content-length: 100', '{"model":', 'no-such-key-anywhere'))
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401'])
  expect(await onlyRowOf(answer)).toMatchObject({ status: 401, error_kind: 'unauthenticated' })
})

test('headers that do not come in time are one 408 without a key, also after an answered request', async () => {
  const body = JSON.stringify({ model: 'any', messages })
  const answer = await say(`${post(`content-length: ${body.length}`, body)}POST /v1/chat`)
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 408'])
  const ids = [...answer.matchAll(/x-request-id: ([0-9a-f-]{36})/g)].map(([, id]) => id ?? null)
  expect(await bed.row(ids[0] ?? null)).toMatchObject({ status: 200 })
  expect(await bed.row(ids[1] ?? null)).toMatchObject({
    status: 408,
    endpoint: '(unreadable)',
    tenant_id: null,
  })
})

test('beyond IN_FLIGHT_MAX the next request is a 503 that says so, and passes when one has ended', async () => {
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  bed.upstream.requests.length = 0
  bed.upstream.script((request) => ({
    ...chatStream(request),
    chunks: [{ waitFor: finished }, ...(chatStream(request).chunks as Iterable<string>)],
  }))
  const running = [1, 2].map(() => bed.chat({ model: 'any', messages, stream: true }))
  await bed.upstream.arrived(2)
  const refused = await bed.chat({ model: 'any', messages })
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.headers.get('x-tollgate-reason')).toBe('process_full')
  expect(await refused.json()).toMatchObject({ error: { code: 'unavailable' } })
  expect(await bed.row(refused.headers.get('x-request-id'))).toMatchObject({
    status: 503,
    error_kind: 'unavailable',
    attempt_count: 0,
  })
  finish()
  for (const response of await Promise.all(running)) expect(await response.text()).toContain('[DONE]')
  expect((await bed.chat({ model: 'any', messages })).status).toBe(200)
})

function post(framing: string, body: string, key = freeKey): string {
  return `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n${framing}\r\n\r\n${body}`
}

/** All bytes until the gateway closed the connection. `leave`: close ours as soon as the text is sent. */
function say(text: string, leave = false): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(bed.tollgate.port, '127.0.0.1', () => {
      if (leave) socket.end(text)
      else socket.write(text)
    })
    let received = ''
    socket.setEncoding('utf8').on('data', (data: string) => {
      received += data
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}

/** The row of the request of this answer. Expects that no other row came with it. */
async function onlyRowOf(answer: string): Promise<Record<string, unknown>> {
  const row = await bed.row(/x-request-id: (\S+)/.exec(answer)?.[1] ?? null)
  const later = await bed.chat({ model: 'any', messages })
  await bed.row(later.headers.get('x-request-id'))
  const since = await bed.database
    .sql`SELECT id FROM requests WHERE created_at >= ${row.created_at as Date} ORDER BY created_at`
  expect(since.map(({ id }) => id)).toEqual([row.id, later.headers.get('x-request-id')])
  return row
}
