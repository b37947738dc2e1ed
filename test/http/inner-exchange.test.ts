import { once } from 'node:events'
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { clientAddressOf } from '../../src/http/client-address.ts'
import { innerExchange } from '../../src/http/inner-exchange.ts'

describe('an exchange in memory', () => {
  test('gives a handler the request, and its listener the answer', async () => {
    const { request, response, told } = exchange()

    expect(await text(request)).toBe('{"a":1}')
    expect(request).toMatchObject({ method: 'POST', url: '/v1/responses', complete: true })
    expect(request.headers).toEqual({ authorization: 'Bearer k', 'content-length': '7' })
    expect(clientAddressOf(request)).toBe('192.0.2.7')
    response.setHeader('x-early', 'yes')
    response.writeHead(201, { 'content-type': 'text/event-stream' })
    expect(response.headersSent).toBe(true)
    response.write(Buffer.from('one'))
    response.end(Buffer.from('two'))
    await once(response, 'close')

    expect(told).toEqual([
      [201, { 'x-early': 'yes', 'content-type': 'text/event-stream' }],
      'one',
      'two',
      'whole',
    ])
    expect(response).toMatchObject({ writableFinished: true, destroyed: true })
  })

  test.each(['utf8', 'latin1', 'base64'] as const)(
    'a text in %s is the bytes that it stands for',
    async (encoding) => {
      const { response, told } = exchange()
      response.write(Buffer.from('é你好').toString(encoding), encoding)
      response.end(Buffer.from('ü').toString(encoding), encoding)
      await once(response, 'close')
      expect(told).toEqual([[200, {}], 'é你好', 'ü', 'whole'])
    },
  )

  test('a listener that takes no more holds the handler until it is drained', async () => {
    const { response, told, inner } = exchange({ takes: () => false })

    expect(response.write(Buffer.from('much'))).toBe(false)
    expect(response.writableNeedDrain).toBe(true)
    const drained = once(response, 'drain')
    inner.drained()
    await drained

    expect(response.writableNeedDrain).toBe(false)
    expect(told).toEqual([[200, {}], 'much'])
  })

  test('a client that leaves closes the response before its end, and its listener is told nothing more', async () => {
    const { response, told, inner } = exchange()
    response.write('begun')
    const closed = once(response, 'close')

    inner.leave()
    await closed
    response.end('late')

    expect(response).toMatchObject({ destroyed: true, writableFinished: false })
    expect(told).toEqual([[200, {}], 'begun'])
  })

  test('a handler that destroys its response cuts the answer', async () => {
    const { response, told } = exchange()
    response.write('half')

    response.destroy()
    await once(response, 'close')

    expect(response.writableFinished).toBe(false)
    expect(told).toEqual([[200, {}], 'half', 'cut'])
  })

  test('leaving after the end changes nothing', async () => {
    const { response, told, inner } = exchange()
    response.end('all')
    inner.leave()
    await once(response, 'close')

    expect(response.writableFinished).toBe(true)
    expect(told).toEqual([[200, {}], 'all', 'whole'])
  })
})

type Told = string | [number, OutgoingHttpHeaders]

function exchange({ takes = () => true }: { takes?: () => boolean } = {}): {
  request: IncomingMessage
  response: ServerResponse
  told: Told[]
  inner: ReturnType<typeof innerExchange>
} {
  const told: Told[] = []
  const inner = innerExchange(
    {
      method: 'POST',
      path: '/v1/responses',
      headers: { authorization: 'Bearer k' },
      body: Buffer.from('{"a":1}'),
      clientAddress: '192.0.2.7',
    },
    {
      start: (status, headers) => void told.push([status, { ...headers }]),
      data(chunk) {
        told.push(Buffer.from(chunk).toString())
        return takes()
      },
      end: (isWhole) => void told.push(isWhole ? 'whole' : 'cut'),
    },
  )
  return { request: inner.request, response: inner.response, told, inner }
}
