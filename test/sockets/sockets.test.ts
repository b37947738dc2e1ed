import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import WebSocket from 'ws'
import { isRecord, type Json } from '../../src/canonical/json.ts'
import { sentenceOf } from '../../src/canonical/reasons/catalogue.ts'
import {
  type FourUpstreams,
  forgettingKey,
  keepingKey,
  startFourUpstreams,
  upstreamModels,
} from '../support/four-upstreams.ts'
import { tools } from '../support/loop.ts'
import { startTestbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

let bed: FourUpstreams
beforeAll(async () => {
  bed = await startFourUpstreams()
})
afterAll(() => bed?.close())

const opened: WebSocket[] = []
afterEach(() => {
  for (const socket of opened.splice(0)) socket.terminate()
})

/** A connection, and the events that come on it. */
interface Line {
  socket: WebSocket
  events: Json[]
  /** Send a request and wait for its last event. */
  create(members: Json): Promise<Json[]>
  next(count: number): Promise<void>
  closed: Promise<number>
}

async function open(url: string, key: string = forgettingKey): Promise<Line> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${key}` },
  })
  opened.push(socket)
  const events: Json[] = []
  socket.on('message', (data) => {
    const event: unknown = JSON.parse(String(data))
    if (isRecord(event)) events.push(event)
  })
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  socket.on('error', () => {})
  await once(socket, 'open')
  const next = async (count: number) => {
    await until(async () => events.length >= count)
  }
  return {
    socket,
    events,
    closed,
    next,
    async create(members) {
      const before = events.length
      socket.send(JSON.stringify({ type: 'response.create', ...members }))
      await until(async () => isLast(events.slice(before).at(-1)))
      return events.slice(before)
    },
  }
}

function isLast(event: Json | undefined): boolean {
  return ['response.completed', 'response.incomplete', 'response.failed', 'error'].includes(
    String(event?.type),
  )
}

function responseIn(events: readonly Json[]): Json {
  const response = events.at(-1)?.response
  return isRecord(response) ? response : {}
}

function textIn(events: readonly Json[]): string {
  return events
    .filter(({ type }) => type === 'response.output_text.delta')
    .map(({ delta }) => String(delta))
    .join('')
}

const refusedWith = async (url: string, headers: Record<string, string>, path = '/v1/responses') => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers })
  socket.on('error', () => {})
  const [, response] = await once(socket, 'unexpected-response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return {
    status: response.statusCode as number,
    id: String(response.headers['x-request-id']),
    body: JSON.parse(Buffer.concat(chunks).toString()),
  }
}

describe.each(upstreamModels)('a connection over %s', (model) => {
  test('gives one event a frame, in order and without gaps, and its request has a row', async () => {
    const line = await open(bed.tollgate.url)
    const events = await line.create({ model, input: 'Hello there.', store: false })

    expect(events[0]?.type).toBe('response.created')
    expect(events.at(-1)?.type).toBe('response.completed')
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at))
    expect(textIn(events)).toContain('You said: "Hello there."')
    const id = String(responseIn(events).id)
    await expect
      .poll(() => bed.database.sql`SELECT status, stream FROM requests ORDER BY id DESC LIMIT 1`)
      .toMatchObject([{ status: 200, stream: true }])
    expect(id).toMatch(/^resp_/)
  })

  test('takes one turn after the other, with tools, by what it remembers of the last one', async () => {
    const line = await open(bed.tollgate.url)
    const functions = Object.entries(tools).map(([name, { description, schema }]) => ({
      type: 'function',
      name,
      description,
      parameters: schema,
      strict: true,
    }))
    const asked = { model, tools: functions, store: false, include: ['reasoning.encrypted_content'] }
    let previous: unknown
    for (const turn of [1, 2, 3]) {
      const call = await line.create({
        ...asked,
        input: `Turn ${turn}: ask get_time.`,
        ...(previous === undefined ? {} : { previous_response_id: previous }),
      })
      const { id, output } = responseIn(call)
      const found = Array.isArray(output) ? output.find(({ type }) => type === 'function_call') : undefined
      expect(found).toMatchObject({ name: 'get_time' })
      const results = await line.create({
        ...asked,
        input: [{ type: 'function_call_output', call_id: found.call_id, output: `noon ${turn}` }],
        previous_response_id: id,
      })
      expect(textIn(results)).toContain(`The tools answered: noon ${turn}`)
      previous = responseIn(results).id
    }
  })

  test('remembers nothing on another connection, nor after a request that continues it was refused', async () => {
    const first = await open(bed.tollgate.url)
    const second = await open(bed.tollgate.url)
    const { id } = responseIn(await first.create({ model, input: 'Remember.', store: false }))

    const elsewhere = await second.create({ model, input: 'On.', store: false, previous_response_id: id })
    expect(elsewhere).toMatchObject([
      { type: 'error', status: 400, error: { code: 'previous_response_not_found' } },
    ])
    const refused = await first.create({
      model: 'no-such-model',
      input: 'On.',
      store: false,
      previous_response_id: id,
    })
    expect(refused).toMatchObject([{ type: 'error', status: 404, error: { code: 'model_not_found' } }])
    const evicted = await first.create({ model, input: 'On.', store: false, previous_response_id: id })
    expect(evicted).toMatchObject([{ type: 'error', error: { code: 'previous_response_not_found' } }])
    // The connection goes on.
    expect(textIn(await first.create({ model, input: 'Anew.', store: false }))).toContain('Anew.')
  })

  test('continues what a request prepared', async () => {
    const line = await open(bed.tollgate.url)
    const text = `Prepared for ${model}.`
    const warm = await line.create({ model, input: text, store: false, generate: false })
    expect(warm.map(({ type }) => type)).toEqual(['response.created', 'response.completed'])
    const { id } = responseIn(warm)
    const events = await line.create({
      model,
      input: [{ role: 'user', content: 'Go.' }],
      store: false,
      previous_response_id: id,
    })

    expect(textIn(events)).toContain('Go.')
    const bodies = () => bed.database.sql`SELECT body FROM request_payloads WHERE strpos(body, ${text}) > 0`
    await expect.poll(bodies).toMatchObject([{ body: expect.stringContaining('Go.') }])
  })
})

test('an answer that the gateway keeps goes on over a connection and over HTTP alike', async () => {
  const line = await open(bed.tollgate.url, keepingKey)
  const one = responseIn(await line.create({ model: 'gemini', input: 'One.' }))
  expect(one.store).toBe(true)
  const two = await bed
    .openai()
    .responses.create({ model: 'gemini', input: 'Two.', previous_response_id: String(one.id) })
  const again = await open(bed.tollgate.url, keepingKey)
  const three = await again.create({ model: 'gemini', input: 'Three.', previous_response_id: two.id })

  const items = await bed.openai().responses.inputItems.list(String(responseIn(three).id), { order: 'asc' })
  expect(items.data.filter((item) => 'role' in item && item.role === 'user')).toHaveLength(3)
})

test('after a kept answer, a prepared request and one that nothing keeps go on with all of it', async () => {
  const long = 'A long beginning. '.repeat(200)
  const first = await bed.openai().responses.create({ model: 'gemini', input: long })
  const line = await open(bed.tollgate.url, keepingKey)
  const tokens = (events: readonly Json[]) => {
    const { usage } = responseIn(events)
    return isRecord(usage) ? Number(usage.input_tokens) : 0
  }
  const warm = await line.create({
    model: 'gemini',
    input: 'Prepared.',
    generate: false,
    previous_response_id: first.id,
  })
  const next = { model: 'gemini', store: false }
  const second = await line.create({ ...next, input: 'On.', previous_response_id: responseIn(warm).id })
  expect(tokens(second)).toBeGreaterThan(first.usage?.input_tokens ?? 0)
  const third = await line.create({ ...next, input: 'On.', previous_response_id: responseIn(second).id })
  expect(tokens(third)).toBeGreaterThan(tokens(second))
})

test('the SDK that speaks WebSocket gets its events', async () => {
  const { ResponsesWS } = await import('openai/resources/responses/ws')
  const sdk = new ResponsesWS(bed.openai(forgettingKey))
  const types: string[] = []
  sdk.on('event', (event) => types.push(event.type))
  const over = new Promise<void>((resolve) => sdk.on('response.completed', () => resolve()))
  sdk.send({ type: 'response.create', model: 'openai-chat', input: 'Hello.', store: false })
  await over
  sdk.close()

  expect(types[0]).toBe('response.created')
  expect(types).toContain('response.output_text.delta')
})

describe('an upgrade', () => {
  test('with a bad key is refused in JSON before it becomes a WebSocket, and has a row', async () => {
    const { status, body, id } = await refusedWith(bed.tollgate.url, {
      authorization: 'Bearer wrong-key-0000001',
    })
    expect(status).toBe(401)
    expect(body).toMatchObject({ error: { code: 'invalid_api_key' } })
    expect(await bed.row(id)).toMatchObject({ status: 401 })
  })

  test('of another path is refused with 426, and one of no path with 404', async () => {
    const headers = { authorization: `Bearer ${keepingKey}` }
    expect(await refusedWith(bed.tollgate.url, headers, '/v1/chat/completions')).toMatchObject({
      status: 426,
    })
    expect(await refusedWith(bed.tollgate.url, headers, '/v1/nothing')).toMatchObject({ status: 404 })
  })

  test('is refused with 426 where WebSockets are off', async () => {
    const off = await startFourUpstreams({ env: { RESPONSES_WEBSOCKET: 'off' } })
    onTestFinished(off.close)
    const headers = { authorization: `Bearer ${keepingKey}` }
    expect(await refusedWith(off.tollgate.url, headers)).toMatchObject({ status: 426 })
  })
})

describe('a frame', () => {
  test.each([
    ['that is not JSON', 'not json', { status: 400, error: { type: 'invalid_request_error' } }],
    ['of an unknown type', '{"type":"response.cancel","model":"gemini"}', { error: { param: 'type' } }],
    ['without a model', '{"type":"response.create","input":"x"}', { error: { param: 'model' } }],
    [
      'for an answer in the background',
      '{"type":"response.create","model":"gemini","input":"x","background":true}',
      { error: { param: 'background' } },
    ],
    [
      'whose lane has a wrong name',
      '{"type":"response.create","model":"gemini","input":"x","stream_id":7}',
      { error: { param: 'stream_id' } },
    ],
  ])('%s is refused by name, and the connection goes on', async (_what, frame, expected) => {
    const line = await open(bed.tollgate.url)
    line.socket.send(frame)
    await line.next(1)
    expect(line.events).toMatchObject([{ type: 'error', ...expected }])

    expect(textIn(await line.create({ model: 'gemini', input: 'Still here.', store: false }))).toContain(
      'Still',
    )
  })

  test('with bytes is refused by name', async () => {
    const line = await open(bed.tollgate.url)
    line.socket.send(Buffer.from('{"type":"response.create"}'))
    await line.next(1)
    expect(line.events).toMatchObject([
      { type: 'error', error: { code: 'frame_binary', message: expect.stringContaining('text frames') } },
    ])
  })
})

describe('a frame that prepares the next one', () => {
  const prepares = (input: string) => ({ model: 'gemini', input, store: false, generate: false })

  test('takes from the limits of its key as any other, and a refused one has a row', async () => {
    const limited = 'key-with-limits-of-a-01'
    const small = await startFourUpstreams({
      groups: "  - { name: few, models: ['*'], channels: ['*'], limits: { requests_per_minute: 2 } }",
      extra: `  - { name: few, keys: [ { name: few, group: few, secret: ${limited} } ] }`,
    })
    onTestFinished(small.close)
    const line = await open(small.tollgate.url, limited)
    for (const at of [1, 2]) expect(await line.create(prepares(`${at}`))).toHaveLength(2)
    for (const _ of Array.from({ length: 20 })) {
      expect(await line.create(prepares('More.'))).toMatchObject([
        { type: 'error', status: 429, error: { code: 'rate_limit_exceeded' } },
      ])
    }
    expect(await line.create({ model: 'gemini', input: 'Go.', store: false })).toMatchObject([
      { type: 'error', status: 429 },
    ])
    await expect
      .poll(() => small.database.sql`SELECT count(*)::int AS rows FROM requests WHERE status = 429`)
      .toEqual([{ rows: 21 }])
    expect(await small.rows()).toHaveLength(21)
  })

  test('is read in a thread where it is large, and keeps its items all the same', async () => {
    const threads = await startFourUpstreams({ env: { BODY_THREAD_BYTES: '1000' } })
    onTestFinished(threads.close)
    const line = await open(threads.tollgate.url)
    const text = 'Prepared. '.repeat(1_000)
    const warm = await line.create(prepares(text))
    expect(warm.map(({ type }) => type)).toEqual(['response.created', 'response.completed'])
    const go = { model: 'gemini', input: 'Go.', store: false, previous_response_id: responseIn(warm).id }
    const { usage } = responseIn(await line.create(go))
    expect(isRecord(usage) ? Number(usage.input_tokens) : 0).toBeGreaterThan(1_000)
  })
})

describe('bounds', () => {
  test('each closes or refuses with its name', async () => {
    const small = await startFourUpstreams({
      env: { KEY_SOCKETS_MAX: '1', SOCKET_FRAME_BYTES_MAX: '2000', SOCKET_STATE_BYTES_MAX: '1024' },
    })
    onTestFinished(small.close)
    const line = await open(small.tollgate.url)
    const headers = { authorization: `Bearer ${forgettingKey}` }
    expect(await refusedWith(small.tollgate.url, headers)).toMatchObject({ status: 429 })
    const { id } = responseIn(await line.create({ model: 'gemini', input: 'x'.repeat(1_500), store: false }))
    expect(
      await line.create({ model: 'gemini', input: 'On.', store: false, previous_response_id: id }),
    ).toMatchObject([{ type: 'error', error: { code: 'previous_response_not_found' } }])
    line.socket.send(JSON.stringify({ type: 'response.create', model: 'gemini', input: 'x'.repeat(3_000) }))
    expect(await line.closed).toBe(1009)
    // Its place is free again.
    await until(() =>
      open(small.tollgate.url).then(
        () => true,
        () => false,
      ),
    )
  })

  test('a connection without requests ends, and so does one that is old', async () => {
    const idle = await startFourUpstreams({ env: { SOCKET_IDLE_MS: '300' } })
    onTestFinished(idle.close)
    expect(await (await open(idle.tollgate.url)).closed).toBe(1000)
    const old = await startFourUpstreams({ env: { SOCKET_AGE_MS: '300' } })
    onTestFinished(old.close)
    const line = await open(old.tollgate.url)
    expect(await line.closed).toBe(1000)
    expect(line.events).toMatchObject([{ error: { code: 'websocket_connection_limit_reached' } }])
  })
})

describe('an answer that runs', () => {
  const paced = (tokens: number, ms: number) => ({
    model: `paced-${tokens}x${ms}`,
    input: 'Go.',
    store: false,
  })

  async function scripted(env: Record<string, string> = {}) {
    const { planByModel } = await import('../support/upstream-plans.ts')
    const { freeKey } = await import('../support/gateway-yaml.ts')
    const testbed = await startTestbed({ env })
    testbed.upstream.script(planByModel)
    onTestFinished(testbed.close)
    return { testbed, line: await open(testbed.tollgate.url, freeKey) }
  }

  test('lets no second one begin beside it', async () => {
    const { line } = await scripted()
    line.socket.send(JSON.stringify({ type: 'response.create', ...paced(50, 20) }))
    await line.next(1)
    line.socket.send(JSON.stringify({ type: 'response.create', ...paced(1, 0) }))
    await until(async () => line.events.at(-1)?.type === 'response.completed')

    expect(line.events.filter(({ type }) => type === 'error')).toMatchObject([
      { status: 409, error: { code: 'response_in_progress' } },
    ])
  })

  test('ends when its client closes, and the row says so', async () => {
    const { line, testbed } = await scripted()
    line.socket.send(JSON.stringify({ type: 'response.create', ...paced(1_000, 20) }))
    await line.next(3)
    line.socket.terminate()

    await expect.poll(async () => (await testbed.rows()).map(({ outcome }) => outcome)).toEqual(['cancelled'])
  })

  test('fails with an event when its upstream breaks off, and the connection goes on', async () => {
    const { line, testbed } = await scripted()
    const events = await line.create({ model: 'cut', input: 'Go.', store: false })
    expect(['response.failed', 'error']).toContain(events.at(-1)?.type)
    expect(textIn(await line.create(paced(3, 0)))).not.toBe('')
    await expect
      .poll(async () => (await testbed.rows()).map(({ outcome }) => outcome))
      .toEqual(['failed', 'succeeded'])
  })

  test('comes to its end before the process does, unlike what waits for it, and idle connections close at once', async () => {
    const { line, testbed } = await scripted({ DRAIN_ON_SHUTDOWN_MS: '30000' })
    const { freeKey } = await import('../support/gateway-yaml.ts')
    const idle = await open(testbed.tollgate.url, freeKey)
    const inLane = { type: 'response.create', stream_id: 'a' }
    line.socket.send(JSON.stringify({ ...inLane, ...paced(60, 20) }))
    line.socket.send(JSON.stringify({ ...inLane, ...paced(1, 0) }))
    await line.next(2)
    const stopped = testbed.tollgate.stop()

    expect(await idle.closed).toBe(1012)
    expect(await line.closed).toBe(1012)
    expect(line.events.at(-1)?.type).toBe('response.completed')
    expect(line.events.filter(({ type }) => type === 'error')).toMatchObject([
      { stream_id: 'a', error: { message: sentenceOf('socket_closing', {}) } },
    ])
    await stopped
    await expect.poll(async () => (await testbed.rows()).map(({ outcome }) => outcome)).toEqual(['succeeded'])
  })
})

test('a key that is revoked gets no further request, and its connection closes', async () => {
  const revocable = await startFourUpstreams({
    extra: `  - { name: gone, keys: [ { name: gone, group: default, secret: revocable-key-000001 } ] }`,
  })
  onTestFinished(revocable.close)
  const line = await open(revocable.tollgate.url, 'revocable-key-000001')
  await line.create({ model: 'gemini', input: 'One.', store: false })
  await revocable.database.sql`UPDATE keys SET disabled_at = now() WHERE name = 'gone'`

  await until(async () => {
    if (line.socket.readyState !== line.socket.OPEN) return true
    const events = await line.create({ model: 'gemini', input: 'Two.', store: false })
    return events.at(-1)?.type === 'error'
  })
  expect(line.events.at(-1)).toMatchObject({ type: 'error', status: 401 })
  expect(await line.closed).toBe(1008)
})
