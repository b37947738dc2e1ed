import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import WebSocket from 'ws'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { holdsFor, until } from '../support/until.ts'
import { chatStream } from '../support/upstream-plans.ts'

/** Named streams of one connection. https://developers.openai.com/api/docs/guides/websocket-mode, read 2026-11-28 */

interface Event {
  type: string
  stream_id?: string
  response?: { id: string }
  error?: { code?: string; param?: string; message: string }
}

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed()
})
afterAll(() => bed?.close())

let socket: WebSocket
let events: Event[] = []
/** Lets the upstream's answer to a text go on. */
const letGo = new Map<string, () => void>()

beforeEach(async () => {
  letGo.clear()
  bed.upstream.requests.length = 0
  bed.upstream.script((request) => {
    const held = /hold-\w+/.exec(String(request.body))?.[0]
    if (held === undefined) return chatStream(request, { tokens: 2 })
    const goesOn = new Promise<void>((resolve) => letGo.set(held, resolve))
    return chatStream(request, { tokens: 2, held: { tokens: 1, until: goesOn } })
  })
  events = []
  socket = new WebSocket(`${bed.tollgate.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${freeKey}` },
  })
  socket.on('message', (data) => events.push(JSON.parse(String(data))))
  await once(socket, 'open')
})
afterEach(() => {
  for (const go of letGo.values()) go()
  socket.terminate()
})

const send = (members: object) =>
  socket.send(JSON.stringify({ type: 'response.create', model: 'main', store: false, ...members }))
const of = (lane: string | undefined) => events.filter(({ stream_id }) => stream_id === lane)
const ended = (lane: string | undefined) =>
  of(lane).filter(({ type }) => type === 'response.completed' || type === 'error')

test('lanes run at once, and each in order', async () => {
  send({ stream_id: 'a', input: 'hold-a' })
  await until(async () => letGo.has('hold-a'))
  send({ stream_id: 'a', input: 'Second.' })
  send({ stream_id: 'b', input: 'Other lane.' })
  send({ input: 'No lane.' })
  await until(async () => ended('b').length === 1 && ended(undefined).length === 1)
  // What waits for its lane has not been sent.
  expect(bed.upstream.requests).toHaveLength(3)
  expect(ended('a')).toHaveLength(0)
  letGo.get('hold-a')?.()
  await until(async () => ended('a').length === 2)
  expect(ended('a').map(({ type }) => type)).toEqual(['response.completed', 'response.completed'])
  expect(events.every(({ stream_id }) => stream_id === undefined || 'ab'.includes(stream_id))).toBe(true)
})

test('a lane goes on from an answer of another, which no one else keeps', async () => {
  send({ stream_id: 'a', input: 'First question.' })
  await until(async () => ended('a').length === 1)
  const id = ended('a')[0]?.response?.id
  send({ stream_id: 'b', input: 'Second question.', previous_response_id: id })
  await until(async () => ended('b').length === 1)
  expect(ended('b')[0]?.type).toBe('response.completed')
  expect(String(bed.upstream.requests.at(-1)?.body)).toMatch(/First question.*token-0.*Second question/)
})

test.each([
  [{ stream_id: 'a' }, 'input'],
  [{ stream_id: 'a', input: 'x', background: true }, 'background'],
  [{ stream_id: 'a', input: 'x', model: 7 }, 'model'],
])('the error about %j names the lane', async (members, param) => {
  send(members)
  await until(async () => events.length > 0)
  expect(events).toMatchObject([{ type: 'error', stream_id: 'a', error: { param } }])
})

test('so does one that comes from the handler, and the lane goes on', async () => {
  send({ stream_id: 'a', input: 'x', previous_response_id: 'resp_of_nobody' })
  send({ stream_id: 'a', input: 'x' })
  await until(async () => ended('a').length === 2)
  expect(ended('a')).toMatchObject([
    { type: 'error', error: { code: 'previous_response_not_found' } },
    { type: 'response.completed' },
  ])
})

test('sixteen run and sixteen wait; one more of either is refused in its lane', async () => {
  for (let n = 0; n < 16; n++) send({ stream_id: `lane-${n}`, input: `hold-${n}` })
  await until(async () => letGo.size === 16)
  send({ stream_id: 'lane-16', input: 'x' })
  await until(async () => ended('lane-16').length === 1)
  expect(ended('lane-16')).toMatchObject([{ error: { code: 'response_in_progress' } }])
  for (let n = 0; n < 17; n++) send({ stream_id: 'lane-0', input: 'x' })
  await until(async () => ended('lane-0').length === 1)
  expect(ended('lane-0')).toMatchObject([{ error: { code: 'response_in_progress' } }])
  await holdsFor(100, () => expect(bed.upstream.requests).toHaveLength(16))
  for (const go of letGo.values()) go()
  await until(async () => ended('lane-0').length === 18)
})

test('a client that leaves ends all of them', async () => {
  for (const lane of ['a', 'b']) send({ stream_id: lane, input: `hold-${lane}` })
  await until(async () => letGo.size === 2)
  send({ stream_id: 'a', input: 'never asked' })
  socket.terminate()
  await until(async () => bed.tollgate.context.sockets.size === 0)
  for (const go of letGo.values()) go()
  const rows = await until(async () => {
    const all = await bed.rows()
    return all.filter(({ stream_end }) => stream_end === 'client_gone').length >= 2 ? all : undefined
  })
  expect(rows.length).toBeGreaterThan(1)
  expect(bed.upstream.requests).toHaveLength(2)
})
