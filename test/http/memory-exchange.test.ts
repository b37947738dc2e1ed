import { once } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http'
import { describe, expect, test } from 'vitest'
import { BodyMemory } from '../../src/http/body-memory.ts'
import { MemoryExchange } from '../../src/http/memory-exchange.ts'
import { memoryFetch } from '../../src/http/memory-fetch.ts'
import { keepShared } from '../../src/runtime/shared-memory.ts'
import { until } from '../support/until.ts'

const body = Buffer.from('{"a":1}')
const memory = () =>
  new BodyMemory({
    bodiesBytesMax: 1_000,
    keyBodiesBytesMax: 500,
    decodedBytesMax: 500,
    bodyBytesMax: 500,
  })

describe('an exchange in memory', () => {
  test('gives a handler the request, and its listener the answer', async () => {
    const { exchange, reply, heard } = anExchange()
    const bodies = memory()

    const read = await exchange.readBody(500, bodies.begin('key'))
    expect(read?.bytes.toString()).toBe('{"a":1}')
    expect(bodies.bytes).toBe(body.length)
    expect(exchange).toMatchObject({ method: 'POST', path: '/v1/responses', clientAddress: '192.0.2.7' })
    expect(exchange.headers).toEqual({ authorization: 'Bearer k', 'content-length': '7' })
    reply.writeHead(201, { 'content-type': 'text/event-stream' })
    expect(reply.headersSent).toBe(true)
    reply.write(Buffer.from('one'))
    reply.end(Buffer.from('two'))
    await once(reply, 'close')

    expect(heard).toEqual([[201, { 'content-type': 'text/event-stream' }], 'one', 'two', 'whole'])
    expect(reply).toMatchObject({ statusCode: 201, writableFinished: true, destroyed: true })
  })

  test.each(['utf8', 'latin1', 'base64'] as const)(
    'a text in %s is the bytes that it stands for',
    async (encoding) => {
      const { reply, heard } = anExchange()
      reply.write(Buffer.from('é你好').toString(encoding), encoding)
      reply.end(Buffer.from('ü').toString(encoding), encoding)
      await once(reply, 'close')
      expect(heard).toEqual([[200, {}], 'é你好', 'ü', 'whole'])
    },
  )

  test('a body that is too long is refused, and counts nothing', async () => {
    const bodies = memory()
    const share = bodies.begin('key')
    await expect(anExchange().exchange.readBody(6, share)).rejects.toMatchObject({ reason: 'body_too_large' })
    expect(bodies.bytes).toBe(0)
  })

  test('a large body is in memory that other threads can read', async () => {
    const paced: number[] = []
    const large = {
      fromBytes: 7,
      pace: (bytes: number) => {
        paced.push(bytes)
        return undefined
      },
    }
    const read = await anExchange().exchange.readBody(500, memory().begin('key'), large)
    expect(read?.bytes.buffer).toBeInstanceOf(SharedArrayBuffer)
    expect(read?.bytes.toString()).toBe('{"a":1}')
    expect(paced).toEqual([7])
    if (read !== undefined) keepShared(read.bytes)
  })

  test('the share that counts the body is released at the end, also where nothing reads the body', async () => {
    const bodies = memory()
    const share = bodies.begin('key')
    share.grow(body.length)
    const { reply } = anExchange({ share })
    reply.end('done')
    await once(reply, 'close')
    expect(bodies.bytes).toBe(0)
  })

  test('a body that was read stays counted when its client leaves, until the reader releases it', async () => {
    const bodies = memory()
    const share = bodies.begin('key')
    const { exchange } = anExchange({ share })
    await exchange.readBody(500, share)
    exchange.leave()
    expect(bodies.bytes).toBe(body.length)
    share.release()
    expect(bodies.bytes).toBe(0)
  })

  test('a listener that takes no more holds the handler until it is drained', async () => {
    const { exchange, reply, heard } = anExchange({ takes: () => false })

    expect(reply.write(Buffer.from('much'))).toBe(false)
    expect(reply.writableNeedDrain).toBe(true)
    const drained = once(reply, 'drain')
    exchange.drained()
    await drained

    expect(reply.writableNeedDrain).toBe(false)
    expect(heard).toEqual([[200, {}], 'much'])
  })

  test('a client that leaves closes the reply before its end, and its listener hears nothing more', async () => {
    const { exchange, reply, heard } = anExchange()
    reply.write('begun')
    const closed = once(reply, 'close')
    exchange.leave()
    await closed
    reply.end('late')

    expect(reply).toMatchObject({ destroyed: true, writableFinished: false })
    expect(heard).toEqual([[200, {}], 'begun'])
    expect(await exchange.readBody(500, memory().begin('key'))).toBeUndefined()
  })

  test('a handler that destroys its reply cuts the answer', async () => {
    const { reply, heard } = anExchange()
    reply.write('half')
    reply.destroy()
    await once(reply, 'close')

    expect(reply.writableFinished).toBe(false)
    expect(heard).toEqual([[200, {}], 'half', 'cut'])
  })

  test('leaving after the end changes nothing', async () => {
    const { exchange, reply, heard } = anExchange()
    reply.end('all')
    exchange.leave()
    await once(reply, 'close')

    expect(reply.writableFinished).toBe(true)
    expect(heard).toEqual([[200, {}], 'all', 'whole'])
  })
})

describe('a fetch in memory', () => {
  const call = {
    method: 'POST',
    headers: { 'X-Named': 'yes' },
    body: '{}',
    signal: new AbortController().signal,
  }

  test('answers with what the handler of the path sends', async () => {
    const ask = memoryFetch(
      new Map([
        [
          '/echo',
          async ({ headers, reply }) => {
            reply.writeHead(202, { 'x-got': String(headers['x-named']) })
            reply.write('one,')
            reply.end('two', 'utf8')
          },
        ],
      ]),
      'http://base',
    )
    const response = await ask('http://base/echo', call)
    expect([response.status, response.headers.get('x-got'), await response.text()]).toEqual([
      202,
      'yes',
      'one,two',
    ])
    expect((await ask('http://base/other', call)).status).toBe(404)
    expect((await ask('http://base/echo', { ...call, method: 'GET', body: null })).status).toBe(404)
  })

  test.each([
    [205, {}, 'an empty answer'],
    [99, {}, 'an error'],
    [200, { 'x-odd': 'line\nend' }, 'an error'],
  ])(
    'a status %i with headers %j is %s, and neither hangs nor throws at the handler',
    async (status, headers, is) => {
      let isClosed = false
      const ask = memoryFetch(
        new Map([
          [
            '/odd',
            async ({ reply }) => {
              reply.once('close', () => {
                isClosed = true
              })
              reply.writeHead(status, headers)
              reply.end('body', 'utf8')
            },
          ],
        ]),
        '',
      )
      const text = ask('/odd', call).then((response) => response.text())
      if (is === 'an error') await expect(text).rejects.toThrow()
      else expect(await text).toBe('')
      await until(() => isClosed)
    },
  )

  test('an answer that is cut rejects while it is read', async () => {
    const ask = memoryFetch(
      new Map([
        [
          '/cut',
          async ({ reply }) => {
            reply.write('half')
            reply.destroy()
          },
        ],
      ]),
      '',
    )
    const response = await ask('/cut', call)
    await expect(response.text()).rejects.toThrow('the answer was cut off')
  })

  test('a caller that aborts has left, before the answer and in the middle of it', async () => {
    for (const begins of [false, true]) {
      const leaving = new AbortController()
      let hasLeft = false
      const ask = memoryFetch(
        new Map([
          [
            '/slow',
            async ({ reply }) => {
              reply.once('close', () => {
                hasLeft = !reply.writableFinished
              })
              if (begins) reply.write('begun')
            },
          ],
        ]),
        '',
      )
      const asked = ask('/slow', { ...call, signal: leaving.signal })
      const read = begins ? asked.then((response) => response.text()) : asked
      leaving.abort(new Error('no longer wanted'))
      await expect(read).rejects.toThrow('no longer wanted')
      await until(() => hasLeft)
    }
  })
})

type Heard = string | [number, OutgoingHttpHeaders]

function anExchange({
  takes = () => true,
  share,
}: {
  takes?: () => boolean
  share?: ReturnType<BodyMemory['begin']>
} = {}) {
  const heard: Heard[] = []
  const exchange = new MemoryExchange(
    {
      method: 'POST',
      path: '/v1/responses',
      headers: { authorization: 'Bearer k' },
      body,
      ...(share === undefined ? {} : { share }),
      clientAddress: '192.0.2.7',
    },
    {
      begin: (status, headers) => void heard.push([status, { ...headers }]),
      write(chunk) {
        heard.push(Buffer.from(chunk).toString())
        return takes()
      },
      end: (isWhole) => void heard.push(isWhole ? 'whole' : 'cut'),
    },
  )
  return { exchange, reply: exchange.reply, heard }
}
