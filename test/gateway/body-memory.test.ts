import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'
import { chatAnswer } from '../support/upstream-plans.ts'

/** Bodies that clients send slowly take no more memory than the process and their key may use. */

let bed: Testbed
const keys = {
  asker: 'asker-key-for-tests-001',
  neighbour: 'neighbour-key-for-tests',
  third: 'third-key-for-tests-01',
}
const large = 60_000

beforeAll(async () => {
  bed = await startTestbed({
    env: { BODY_BYTES_MAX: '65536', KEY_BODIES_BYTES_MAX: '130000', BODIES_BYTES_MAX: '200000' },
    yaml: (url) => `
models: [ { id: main } ]
channels:
  - { name: scripted, protocols: { openai-chat: ${url} }, api_keys: [secret], models: [main], allow_private_address: true }
groups: [ { name: default, models: ['*'], channels: ['*'] } ]
tenants:
  - { name: one, keys: [ { name: asker, secret: ${keys.asker} } ] }
  - { name: two, keys: [ { name: neighbour, secret: ${keys.neighbour} } ] }
  - { name: three, keys: [ { name: third, secret: ${keys.third} } ] }
`,
  })
  bed.upstream.script(() => chatAnswer())
})
afterAll(() => bed.close())

/** A request whose body never comes whole. Resolves when the process waits for the body, whose memory then counts. */
function unfinished(key: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(bed.tollgate.port, '127.0.0.1', () => {
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-length: ${large}\r\nexpect: 100-continue\r\n\r\n`,
      )
    })
    socket.once('data', () => {
      socket.write('{')
      resolve(socket)
    })
    socket.on('error', () => {})
  })
}

const text = 'a'.repeat(large)
/** Resolves when the answer has come whole: the memory of its request is free by then. */
async function ask(key: string) {
  const answer = await bed.chat({ model: 'main', messages: [{ role: 'user', content: text }] }, { key })
  const { status, headers } = answer
  return { status, headers, json: await answer.json() }
}

test('unfinished bodies of one key are refused beyond its bound, others are served, and leaving clients free the memory', async () => {
  // A key that was not asked for before is looked up before its body counts.
  for (const key of Object.values(keys)) expect((await ask(key)).status).toBe(200)
  const sockets = [await unfinished(keys.asker), await unfinished(keys.asker)]
  const refused = await ask(keys.asker)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.json).toMatchObject({
    error: {
      code: 'rate_limit_exceeded',
      message: expect.stringContaining("The bodies of this key's running requests take up 130000 bytes"),
    },
  })
  expect(await bed.row(refused.headers.get('x-request-id'))).toMatchObject({
    status: 429,
    outcome: 'refused',
    error_kind: 'rate_limited',
    requested_model: null,
  })
  expect(
    await bed.database
      .sql`SELECT 1 FROM request_payloads WHERE request_id = ${refused.headers.get('x-request-id')}`,
  ).toHaveLength(0)
  expect((await ask(keys.neighbour)).status).toBe(200)

  sockets.push(await unfinished(keys.neighbour))
  const full = await ask(keys.third)
  expect(full.status).toBe(503)
  expect(full.headers.get('retry-after')).toBe('1')
  expect(full.headers.get('x-tollgate-reason')).toBe('body_memory_full')
  expect(await bed.row(full.headers.get('x-request-id'))).toMatchObject({
    status: 503,
    outcome: 'failed',
    error_kind: 'unavailable',
    requested_model: null,
  })

  for (const socket of sockets) socket.destroy()
  for (const key of Object.values(keys)) await until(async () => (await ask(key)).status === 200)
  const answers = await Promise.all([ask(keys.asker), ask(keys.neighbour), ask(keys.third)])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
})
