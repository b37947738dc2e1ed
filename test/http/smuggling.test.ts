import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { abortKey, freeKey } from '../support/gateway-yaml.ts'
import { heardFrom, idsOf, lastJsonOf, reasonIn, say, statusesOf } from '../support/raw-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { chatAnswer, chatStream } from '../support/upstream-plans.ts'

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ env: { UNAUTHENTICATED_ROWS_PER_MINUTE: '100000', HEADER_BYTES_MAX: '131072' } })
})
afterAll(() => bed.close())
beforeEach(() => {
  bed.upstream.requests.length = 0
  bed.upstream.script(() => chatAnswer())
})

const body = JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hello' }] })
const start = 'POST /v1/chat/completions HTTP/1.1\r\n'
const who = `authorization: Bearer ${freeKey}\r\n`
const length = `content-length: ${body.length}\r\n`
/** A good request. Behind a bad request, the gateway must not serve it. */
const good = `${start}host: x\r\n${who}${length}\r\n${body}`
const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

/** Bad headers of an otherwise good request. A body and a second request follow. */
const headers: [string, string, string?][] = [
  ['a length and chunks', `${length}transfer-encoding: chunked\r\n`, chunked],
  ['chunks and a length', `transfer-encoding: chunked\r\n${length}`, chunked],
  ['two lengths', `${length}content-length: 3\r\n`],
  ['the same length twice', length + length],
  ['a list of lengths', `content-length: ${body.length}, ${body.length}\r\n`],
  ['a signed length', `content-length: +${body.length}\r\n`],
  ['a negative length', 'content-length: -1\r\n'],
  ['a length in hex', `content-length: 0x${body.length.toString(16)}\r\n`],
  ['a length beyond 64 bits', 'content-length: 18446744073709551617\r\n'],
  ['an empty length', 'content-length: \r\n'],
  ['chunks, then identity', 'transfer-encoding: chunked, identity\r\n', chunked],
  ['identity, then chunks', 'transfer-encoding: identity, chunked\r\n', chunked],
  ['an encoding that nobody unpacks', 'transfer-encoding: gzip, chunked\r\n', chunked],
  ['chunks twice', 'transfer-encoding: chunked, chunked\r\n', chunked],
  ['chunks in two headers', 'transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n', chunked],
  ['an unknown encoding', 'transfer-encoding: xchunked\r\n', chunked],
  ['a vertical tab before the encoding', 'transfer-encoding: \x0bchunked\r\n', chunked],
  ['an empty encoding', 'transfer-encoding: \r\n', chunked],
  ['an encoding in quotes', 'transfer-encoding: "chunked"\r\n', chunked],
  ['a folded encoding', 'transfer-encoding:\r\n chunked\r\n', chunked],
  ['a folded header', `x-a: b\r\n c\r\n${length}`],
  ['a space before a colon', `transfer-encoding : chunked\r\n${length}`],
  ['a bare line feed', `x-a: b\ntransfer-encoding: chunked\r\n${length}`],
  ['a bare carriage return', `x-a: b\rtransfer-encoding: chunked\r\n${length}`],
  ['NUL in a value', `x-a: b\0c\r\n${length}`],
  ['a control character in a value', `x-a: b\x01c\r\n${length}`],
  ['DEL in a value', `x-a: b\x7fc\r\n${length}`],
  ['a byte above ASCII in a name', `x-\xe9: b\r\n${length}`],
  ['a space in a name', `x a: b\r\n${length}`],
  ['an empty name', `: b\r\n${length}`],
  ['a line without a colon', `transfer-encoding\r\n${length}`],
  ['a second host', `host: y\r\n${length}`],
  ['a second key', `authorization: Bearer another-key-of-someone\r\n${length}`],
  ['a second x-api-key', `x-api-key: one\r\nX-Api-Key: other\r\n${length}`],
  ['a second content type', `content-type: application/json\r\ncontent-type: text/plain\r\n${length}`],
  ['a second content encoding', `content-encoding: identity\r\ncontent-encoding: gzip\r\n${length}`],
  ['a second Idempotency-Key', `idempotency-key: a\r\nIdempotency-Key: b\r\n${length}`],
  [
    'another anthropic-version',
    `anthropic-version: 2023-06-01\r\nanthropic-version: 2024-01-01\r\n${length}`,
  ],
  ['the same key twice', `${who}${length}`],
  ['the same host twice', `host: x\r\n${length}`],
  ['the same content encoding twice', `content-encoding: gzip\r\ncontent-encoding: gzip\r\n${length}`],
  ['a second x-tollgate-strict', `x-tollgate-strict: true\r\nx-tollgate-strict: false\r\n${length}`],
  ['an expectation that nobody knows', `expect: 200-maybe\r\n${length}`],
]

test.each(headers)(
  '%s: one 400 with its row, a closed connection, and nothing upstream',
  async (_, lines, sent = body) => {
    const received = await say(bed.tollgate.port, `${start}host: x\r\n${who}${lines}\r\n${sent}${good}`)
    await isRefused(received, 'not_http', 'body_framing_invalid', 'header_repeated', 'expectation_unknown')
  },
)

test.each([
  ['a whole URL as target', 'POST http://x/v1/chat/completions HTTP/1.1'],
  ['a host and port as target', 'POST x:80 HTTP/1.1'],
  ['two slashes', 'POST //v1/chat/completions HTTP/1.1'],
  ['two slashes and a host', 'POST //x/v1/chat/completions HTTP/1.1'],
  ['a fragment', 'POST /v1/chat/completions#a HTTP/1.1'],
  ['a control character in the target', 'POST /v1/chat/completions\x01 HTTP/1.1'],
  ['a tab in the target', 'POST /v1/chat\t/completions HTTP/1.1'],
  ['a space in the target', 'POST /v1/chat /completions HTTP/1.1'],
  ['a byte above ASCII in the target', 'POST /v1/chat/completions\xe9 HTTP/1.1'],
  ['all of the server', 'OPTIONS * HTTP/1.1'],
  ['a tunnel', 'CONNECT x:443 HTTP/1.1'],
  ['HTTP/0.9', 'POST /v1/chat/completions'],
  ['HTTP/0.9 by name', 'POST /v1/chat/completions HTTP/0.9'],
  ['HTTP/1.2', 'POST /v1/chat/completions HTTP/1.2'],
  ['HTTP/2 by name', 'POST /v1/chat/completions HTTP/2.0'],
  ['the beginning of HTTP/2', 'PRI * HTTP/2.0'],
  ['a method in small letters', 'post /v1/chat/completions HTTP/1.1'],
  ['a method that nobody knows', 'SMUGGLE /v1/chat/completions HTTP/1.1'],
])('%s: one 400 with its row, a closed connection, and nothing upstream', async (_, line) => {
  const received = await say(bed.tollgate.port, `${line}\r\nhost: x\r\n${who}${length}\r\n${body}${good}`)
  await isRefused(received, 'not_http', 'request_target_invalid', 'not_a_proxy')
})

test.each([
  ['no host', ''],
  ['an empty host', 'host: \r\n'],
  ['a host with a path', 'host: x/y\r\n'],
  ['a host with a user', 'host: a@x\r\n'],
  ['a host with two ports', 'host: x:1:2\r\n'],
])('%s: one 400 with its row, and nothing upstream', async (_, host) => {
  const received = await say(bed.tollgate.port, `${start}${host}${who}${length}\r\n${body}${good}`)
  await isRefused(received, 'host_invalid')
})

test.each([
  ['a size beyond 64 bits', `10000000000000001\r\n${body}\r\n0\r\n\r\n`],
  ['a negative size', `-1\r\n${body}\r\n0\r\n\r\n`],
  ['a size with 0x', `0x${chunked}`],
  ['a size with a space', `${body.length.toString(16)} \r\n${body}\r\n0\r\n\r\n`],
  ['a bare line feed after a size', chunked.replace('\r\n', '\n')],
  ['a chunk longer than its size', `1\r\n${body}\r\n0\r\n\r\n`],
  ['20 kB of extensions', `${body.length.toString(16)};${'a'.repeat(20_000)}\r\n${body}\r\n0\r\n\r\n`],
  ['a length in the trailers', `${chunked.slice(0, -2)}content-length: 3\r\n\r\n`],
])('chunks with %s: one 400 of the call, and nothing upstream', async (_, sent) => {
  const received = await say(
    bed.tollgate.port,
    `${start}host: x\r\n${who}transfer-encoding: chunked\r\n\r\n${sent}${good}`,
  )
  const row = await isRefused(received, 'not_http')
  expect(row.endpoint).toBe('/v1/chat/completions')
})

test('too many headers: one 431 with its row, and nothing upstream', async () => {
  const many = [...Array(1001).keys()].map((i) => `x-${i}: a\r\n`).join('')
  const received = await say(bed.tollgate.port, `${start}host: x\r\n${who}${many}${length}\r\n${body}${good}`)
  expect(statusesOf(received)).toEqual([431])
  expect(reasonIn(received)).toBe('headers_too_large')
  expect(await bed.row(idsOf(received)[0] ?? null)).toMatchObject({ status: 431, outcome: 'refused' })
  expect(bed.upstream.requests).toEqual([])
})

test('HTTP/1.0 is refused with chunks, and served without a host if it has a length', async () => {
  const old = start.replace('1.1', '1.0')
  const received = await say(
    bed.tollgate.port,
    `${old}${who}transfer-encoding: chunked\r\n\r\n${chunked}${good}`,
  )
  await isRefused(received, 'body_framing_invalid')
  expect(statusesOf(await say(bed.tollgate.port, `${old}${who}${length}\r\n${body}`))).toEqual([200])
})

test('a refused request of the Messages format is answered in that format', async () => {
  const received = await say(
    bed.tollgate.port,
    `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: a\r\nx-api-key: b\r\n${length}\r\n${body}`,
  )
  expect(lastJsonOf(received)).toMatchObject({
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: 'The header "x-api-key" was sent more than once. Send it once.',
    },
  })
  expect(await bed.row(idsOf(received)[0] ?? null)).toMatchObject({
    endpoint: '/v1/messages',
    client_protocol: 'anthropic-messages',
  })
})

test('list headers may come in several lines, and odd but unambiguous requests are served', async () => {
  const fine = `${start}HOST:\tx:80 \r\n${who}accept: a/b\r\naccept: c/d\r\nanthropic-beta: a\r\nanthropic-beta: b\r\ntransfer-encoding:\tChunked\r\n\r\n1;a=b\r\n{\r\n${(body.length - 1).toString(16)}\r\n${body.slice(1)}\r\n0\r\nx-trailer: a\r\n\r\n`
  const socket = connect(bed.tollgate.port, '127.0.0.1', () =>
    socket.write(fine + good.replace(who, `${who}connection: close\r\n`)),
  )
  expect(statusesOf(await heardFrom(socket))).toEqual([200, 200])
  expect(bed.upstream.requests.map(({ body }) => body.toString())).toEqual([body, body])
})

test('a header that comes twice with the same value counts once', async () => {
  bed.upstream.script(() => chatAnswer())
  const twice = ['content-type: application/json', 'X-Tollgate-Strict: true', 'x-tollgate-strict: true']
  const received = await say(
    bed.tollgate.port,
    `${start}host: x\r\n${who}${[...twice, ...twice].join('\r\n')}\r\nconnection: close\r\n${length}\r\n${body}`,
  )
  expect(statusesOf(received)).toEqual([200])
})

test('a host with an empty port is served', async () => {
  const received = await say(
    bed.tollgate.port,
    `${start}host: x:\r\n${who}connection: close\r\n${length}\r\n${body}`,
  )
  expect(statusesOf(received)).toEqual([200])
})

test('a request to upgrade is answered in HTTP/1.1, and the bytes after it are not a request', async () => {
  const upgrade = 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n'
  const received = await say(bed.tollgate.port, good.replace(who, who + upgrade) + good)
  expect(statusesOf(received)).toEqual([200])
  expect(received.toLowerCase()).toContain('connection: close')
  expect(bed.upstream.requests.map(({ body }) => body.toString())).toEqual([body])
})

test('a tunnel whose client never closes its side is closed by the gateway', async () => {
  const socket = connect({ port: bed.tollgate.port, host: '127.0.0.1', allowHalfOpen: true }, () =>
    socket.write('CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n'),
  )
  // TCP reports a closed connection only to a client that sends bytes.
  const talking = setInterval(() => socket.write('tunnelled'.repeat(100_000)), 100)
  expect(statusesOf(await heardFrom(socket))).toEqual([400])
  clearInterval(talking)
})

test('a tunnel after a running request ends both: one row of a client that left, and one of the tunnel', async () => {
  const held = Promise.withResolvers<void>()
  bed.upstream.script((request) => {
    const plan = chatStream(request)
    const [first = '', ...rest] = plan.chunks as Iterable<string>
    return { ...plan, chunks: [first, { waitFor: held.promise }, ...rest] }
  })
  const asked = JSON.stringify({ ...JSON.parse(body), stream: true })
  const socket = connect(bed.tollgate.port, '127.0.0.1', () =>
    socket.write(
      `${start}host: x\r\nauthorization: Bearer ${abortKey}\r\ncontent-length: ${asked.length}\r\n\r\n${asked}`,
    ),
  )
  socket.once('data', () => socket.write('CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n'))
  const received = await heardFrom(socket)
  expect(statusesOf(received)).toEqual([200])
  const row = await bed.row(idsOf(received)[0] ?? null)
  expect(row).toMatchObject({ outcome: 'cancelled', stream_end: 'client_gone' })
  await expect
    .poll(async () => (await bed.rows()).filter(({ id }) => String(id) > String(row.id)))
    .toMatchObject([{ status: 400, endpoint: '(unreadable)' }])
  held.resolve()
})

test('a bad request after a good one: the good one is answered, the bad one refused, and the bytes after it are not a request', async () => {
  const received = await say(bed.tollgate.port, good + good.replace(length, length + length) + good)
  expect(statusesOf(received)).toEqual([200, 400])
  expect(bed.upstream.requests.map(({ body }) => body.toString())).toEqual([body])
  const [served, refused] = idsOf(received)
  expect(await bed.row(served ?? null)).toMatchObject({ status: 200, outcome: 'succeeded' })
  expect(await bed.row(refused ?? null)).toMatchObject({ status: 400, endpoint: '(unreadable)' })
})

/** Expects one 400 and nothing else, with a row of its own, and nothing upstream. */
async function isRefused(received: string, ...reasons: string[]): Promise<Record<string, unknown>> {
  expect(statusesOf(received)).toEqual([400])
  expect(received.toLowerCase()).toContain('connection: close')
  expect(lastJsonOf(received).error).toMatchObject({
    type: 'invalid_request_error',
    message: expect.any(String),
  })
  expect(reasons).toContain(lastJsonOf(received).error.code)
  const row = await bed.row(idsOf(received)[0] ?? null)
  expect(row).toMatchObject({
    status: 400,
    outcome: 'refused',
    error_kind: 'invalid_request',
  })
  expect(bed.upstream.requests).toEqual([])
  return row
}
