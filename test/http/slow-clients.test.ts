import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import { heardFrom, idsOf, lastJsonOf, statusesOf } from '../support/raw-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

const messages = [{ role: 'user', content: 'Hello' }]
const body = JSON.stringify({ model: 'any', messages })
const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${freeKey}\r\n`

describe('a client that is slow', () => {
  let bed: Testbed
  beforeAll(async () => {
    bed = await startTestbed({
      env: { HEADER_READ_MS: '1000', REQUEST_READ_MS: '2500', UNAUTHENTICATED_ROWS_PER_MINUTE: '100000' },
    })
  })
  afterAll(() => bed?.close())

  test('in its headers, a byte at a time, gets one 408, whose row has no key', async () => {
    const received = await heardFrom(drip(bed, `${head}x-slow: ${'a'.repeat(2000)}`))
    expect(statusesOf(received)).toEqual([408])
    expect(lastJsonOf(received).error.code).toBe('headers_late')
    expect(await bed.row(idsOf(received)[0] ?? null)).toMatchObject({
      status: 408,
      outcome: 'refused',
      endpoint: '(unreadable)',
      key_id: null,
      client_address: '127.0.0.1',
    })
  })

  test.concurrent.each([
    ['of a known length', 'content-length: 5000\r\n\r\n', `{"a":"${'a'.repeat(4000)}`],
    ['in chunks', 'transfer-encoding: chunked\r\n\r\n', '1\r\na\r\n'.repeat(1000)],
    ['in the size of a chunk', 'transfer-encoding: chunked\r\n\r\n', '0'.repeat(1000)],
    ['in the extension of a chunk', 'transfer-encoding: chunked\r\n\r\n', `1;${'a'.repeat(1000)}`],
    ['in its trailers', 'transfer-encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n', `x-a: ${'a'.repeat(1000)}`],
  ])('in a body %s, a byte at a time, is one 408 of its key', async (_, framing, text) => {
    const socket = drip(bed, text, head + framing)
    const received = await heardFrom(socket)
    expect(statusesOf(received)).toEqual([408])
    const [own] = await bed.database.sql`SELECT id FROM keys WHERE name = 'free'`
    expect(await bed.row(idsOf(received)[0] ?? null)).toMatchObject({
      status: 408,
      outcome: 'refused',
      endpoint: '/v1/chat/completions',
      key_id: own?.id,
    })
  })

  test('to send anything is disconnected without an answer and without a row', async () => {
    const before = (await bed.rows()).length
    const silent = [1, 2, 3].map(() => connect(bed.tollgate.port, '127.0.0.1'))
    expect(await Promise.all(silent.map(heardFrom))).toEqual(['', '', ''])
    const later = await bed.chat({ model: 'any', messages })
    await bed.row(later.headers.get('x-request-id'))
    expect((await bed.rows()).length).toBe(before + 1)
  })

  test('does not delay other clients, even 500 of them, and each gets a row', async () => {
    const [before] = await bed.database.sql<{ now: Date }[]>`SELECT now()`
    const halves = Array.from({ length: 250 }, () => [
      drip(bed, 'x-slow: a', head),
      drip(bed, '{"model":"a', `${head}content-length: 5000\r\n\r\n`),
    ]).flat()
    const endings = Promise.all(halves.map(heardFrom))
    await Promise.all(halves.map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
    for (let i = 0; i < 20; i++) {
      const answer = await bed.chat({ model: 'any', messages })
      expect(answer.status).toBe(200)
      expect(await answer.json()).toMatchObject({ choices: [{}] })
    }
    const received = await endings
    expect(received.map(statusesOf)).toEqual(received.map(() => [408]))
    const ids = received.flatMap(idsOf)
    expect(new Set(ids).size).toBe(500)
    await bed.row((await bed.chat({ model: 'any', messages })).headers.get('x-request-id'))
    const rows = await bed.database.sql`
      SELECT endpoint, count(*)::int AS rows FROM requests
      WHERE created_at >= ${before?.now ?? null} AND status = 408 GROUP BY 1 ORDER BY 1`
    expect(rows).toEqual([
      { endpoint: '(unreadable)', rows: 250 },
      { endpoint: '/v1/chat/completions', rows: 250 },
    ])
  })
})

describe('connections beyond CONNECTIONS_MAX', () => {
  let bed: Testbed
  beforeAll(async () => {
    bed = await startTestbed({ env: { CONNECTIONS_MAX: '10', HEADER_READ_MS: '1000' } })
  })
  afterAll(() => bed?.close())

  test('are closed at once; open ones are served; there is room again when some have closed', async () => {
    const open = Array.from({ length: 10 }, () => connect(bed.tollgate.port, '127.0.0.1'))
    const [worker, ...idle] = open
    await Promise.all(open.map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
    const ended = Promise.all(idle.map(heardFrom))
    // We do not know which of them the process has accepted. This one is behind the rest in the queue.
    expect(await heardFrom(connect(bed.tollgate.port, '127.0.0.1'))).toBe('')
    worker?.write(`${head}connection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    expect(worker === undefined ? [] : statusesOf(await heardFrom(worker))).toEqual([200])
    expect(bed.tollgate.stderr()).toContain('dropping connections')
    expect(await ended).toEqual(idle.map(() => ''))
    expect((await bed.chat({ model: 'any', messages })).status).toBe(200)
  })
})

/** A connection that sends `start` at once, and then a byte of `text` every 20 ms. */
function drip(bed: Testbed, text: string, start = ''): Socket {
  let at = 0
  const socket = connect(bed.tollgate.port, '127.0.0.1', () => {
    if (start !== '') socket.write(start)
    const timer = setInterval(() => {
      if (at < text.length && socket.writable) socket.write(text.charAt(at++))
    }, 20)
    socket.once('close', () => clearInterval(timer))
  })
  return socket
}
