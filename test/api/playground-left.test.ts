import type { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { adminPlaygroundEndpoint } from '../../src/api/admin/playground.ts'
import { MemoryExchange } from '../../src/http/memory-exchange.ts'
import { identity } from './serve.ts'

test.each([
  ['has left already', AbortSignal.abort(), false],
  ['is still there', new AbortController().signal, true],
])('an admin who %s: the request of the playground begins accordingly', async (_, signal, begins) => {
  let hasBegun = false
  const clock = {
    now() {
      hasBegun = true
      throw new Error('this far and no further')
    },
  }
  const database = { reads: { ask: async () => identity() }, admin: { transact: async () => {} } }
  const log = { error() {} }
  const bounds = { keepAliveMs: 1_000, clientStallMs: 1_000 }
  const context = { clock, database, log, bounds, publicUrl: 'https://gateway.test', upstreams: {} }
  const endpoint = adminPlaygroundEndpoint(
    context as unknown as Parameters<typeof adminPlaygroundEndpoint>[0],
  )
  const { reply } = new MemoryExchange(
    { method: 'POST', path: '/', headers: {}, body: Buffer.alloc(0), clientAddress: '127.0.0.1' },
    { begin() {}, write: () => true, end() {} },
  )
  await endpoint.handle?.({
    actor: { kind: 'user', id: 'a', userId: 'a', name: 'a', role: 'admin', tenantId: null },
    request: { headers: {}, socket: new Socket() } as unknown as IncomingMessage,
    response: reply,
    requestId: 'r',
    signal,
    params: {},
    query: {},
    body: { key: { id: 'k' }, endpoint: '/v1/chat/completions', request: { model: 'm' } },
  } as unknown as Parameters<NonNullable<typeof endpoint.handle>>[0])
  expect(hasBegun).toBe(begins)
})
