import { createServer } from 'node:http'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { listen, makeServer } from '../../src/http/http-server.ts'
import type { Intake } from '../../src/http/intake.ts'
import { adopt, breakOff, confined } from '../../src/runtime/confine.ts'
import { makeLog } from '../../src/telemetry/log.ts'

/** What throws where a request begins ends that request, and the server serves on. */

const broken = () => {
  throw new Error('planted')
}
const intake: Intake = {
  serve(request, response) {
    if (request.url === '/broken') broken()
    response.end('well')
  },
  refuse: broken,
  newestOn: () => undefined,
  refuseUnread: broken,
}

test('a request whose listener throws has its connection closed, and others are served', async () => {
  const lines: string[] = []
  const log = makeLog('info', { write: (line) => void lines.push(line) })
  const config = readConfig({ PLAIN_HTTP: 'allow', HOST: '127.0.0.1' })
  const server = makeServer({ bounds: config.bounds, config, log }, intake, () => true)
  await listen(server, { port: 0, host: '127.0.0.1' })
  onTestFinished(() => void server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const requests = [
    'GET /broken HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET /broken HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
    'POST /broken HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n',
    'POST / HTTP/1.1\r\nhost: x\r\nexpect: something\r\ncontent-length: 5\r\n\r\n',
    'GET http://elsewhere/ HTTP/1.1\r\nhost: x\r\n\r\n',
  ]
  for (const each of requests) {
    expect(await answerTo(address.port, each), each).toBe('')
    expect(await answerTo(address.port, 'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')).toMatch(
      /well$/,
    )
  }
  expect(lines.filter((line) => line.includes('could not begin a request'))).toHaveLength(requests.length)
})

test('a stream that is broken off gives its error to who reads it, and ends nothing where no one does', async () => {
  breakOff(new PassThrough(), new Error('unheard'))
  const read = adopt(new PassThrough())
  const reading = read.toArray()
  breakOff(read, new Error('heard'))
  await expect(reading).rejects.toThrow('heard')
})

test('a confined handler gives its error to its border', () => {
  const failed: unknown[] = []
  const handler = confined((error) => failed.push(error), broken)
  createServer().on('x', handler).emit('x')
  expect(failed).toEqual([new Error('planted')])
})

/** What comes until the connection closes. */
function answerTo(port: number, request: string): Promise<string> {
  return new Promise((resolve) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    socket.setEncoding('utf8').on('data', (text) => {
      received += text
    })
    socket.on('error', () => {}).once('close', () => resolve(received))
  })
}
