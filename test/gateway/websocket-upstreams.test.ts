import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type FourUpstreams,
  forgettingKey,
  startFourUpstreams,
  upstreamModels,
} from '../support/four-upstreams.ts'
import { abortKey, freeKey } from '../support/gateway-yaml.ts'
import { answerEvents, type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

/** Channels with `websocket: true`, through a whole gateway: what goes to the upstream, what clients get, and the row. */

let wired: SocketUpstream
let spare: SocketUpstream
let bed: Testbed

beforeAll(async () => {
  ;[wired, spare] = await Promise.all([startSocketUpstream(), startSocketUpstream()])
  bed = await startTestbed({ yaml: () => yaml(wired.url, spare.url), env: { CREDENTIAL_REST_MS: '1' } })
})
afterAll(async () => {
  await bed?.close()
  await Promise.all([wired?.close(), spare?.close()])
})
beforeEach(() => {
  wired.reset()
  spare.reset()
})

/** Each of these models has a channel by WebSocket and one by HTTP, of its own: an error rests only those. */
const pairs = ['limited', 'limited-whole', 'broken']
const pairOf = (model: string, first: string, second: string) => `
  - { name: ${model}, protocols: { openai-responses: ${first} }, websocket: true, api_keys: [wired-credential-001], models: [${model}], priority: 2, allow_private_address: true }
  - { name: ${model}-spare, protocols: { openai-responses: ${second} }, api_keys: [spare-credential-001], models: [${model}], allow_private_address: true }`

const yaml = (first: string, second: string) => `
models:
${pairs.map((id) => `  - { id: ${id} }`).join('\n')}
  - { id: main, context_length: 100000, max_output_tokens: 100, price: { input: "1000", output: "2000" } }
  - { id: lone, context_length: 100000, max_output_tokens: 100, price: { input: "1", output: "2" } }
channels:${pairs.map((model) => pairOf(model, first, second)).join('')}
  - { name: wired, protocols: { openai-responses: ${first} }, websocket: true, api_keys: [wired-credential-001], models: { main: up-main, lone: up-lone }, allow_private_address: true }
groups:
  - { name: default, models: ['*'], channels: ['*'] }
  - { name: abort, models: ['*'], channels: ['*'], client_gone: { policy: abort, seconds: 0 } }
tenants:
  - name: free
    keys:
      - { name: free, secret: ${freeKey}, capture_answers: true }
      - { name: abort, group: abort, secret: ${abortKey} }
`

const openai = () => new OpenAI({ baseURL: `${bed.tollgate.url}/v1`, apiKey: freeKey, maxRetries: 0 })
const post = (body: object, key = freeKey, signal?: AbortSignal) =>
  fetch(`${bed.tollgate.url}/v1/responses`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
const attemptsOf = async (id: string | null) => {
  await bed.row(id)
  return [
    ...(await bed.database
      .sql`SELECT channel, reason, status, error_kind FROM attempts WHERE request_id = ${id} AND NOT passed_over ORDER BY ordinal`),
  ]
}

describe('a request', () => {
  test('that streams goes as one frame, and its events come as over HTTP, with a row that has tokens and cost', async () => {
    const answer = await post({ stream: true, model: 'main', input: 'Hi.', background: false, my_word: [1] })
    const text = await answer.text()

    const events = answerEvents('up-main', undefined, idIn(text))
    expect(text).toBe(
      events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
    )
    expect(answer.headers.get('content-type')).toContain('text/event-stream')
    expect(wired.asked()).toEqual([{ type: 'response.create', model: 'up-main', input: 'Hi.', my_word: [1] }])
    expect(wired.overHttp).toEqual([])
    expect(wired.lines[0]).toMatchObject({ path: '/v1/responses' })
    expect(wired.lines[0]?.headers).toMatchObject({
      authorization: 'Bearer wired-credential-001',
      'openai-beta': 'responses_websockets=2026-02-06',
    })
    const row = await bed.row(answer.headers.get('x-request-id'))
    expect(row).toMatchObject({
      status: 200,
      outcome: 'succeeded',
      stream: true,
      input_tokens: 12,
      output_tokens: 3,
      stream_end: 'complete',
    })
    // 12 at 1000 and 3 at 2000 USD per million tokens.
    expect(String(row.cost_nano)).toBe('18000000')
    expect(JSON.stringify([row, wired.asked()])).not.toContain('wired-credential-001')
  })

  test('that does not stream gets the response of the last event, byte for byte', async () => {
    const answer = await post({ model: 'main', input: 'Hi.' })
    const text = await answer.text()

    const response = answerEvents('up-main', undefined, JSON.parse(text).id).at(-1)?.response
    expect(text).toBe(JSON.stringify(response))
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(wired.asked()).toEqual([{ type: 'response.create', model: 'up-main', input: 'Hi.' }])
    expect(await bed.row(answer.headers.get('x-request-id'))).toMatchObject({
      status: 200,
      stream: false,
      input_tokens: 12,
      output_tokens: 3,
      notes: null,
    })
  })

  test('of the official SDKs works in every format, streamed and not', async () => {
    const responses = openai().responses
    const whole = await responses.create({ model: 'main', input: 'Hi.' })
    expect(whole.output_text).toBe('Hello over the wire.')
    const types: string[] = []
    for await (const { type } of await responses.create({ model: 'main', input: 'Hi.', stream: true }))
      types.push(type)
    expect(types.at(0)).toBe('response.created')
    expect(types.at(-1)).toBe('response.completed')

    const messages = [{ role: 'user' as const, content: 'Hi.' }]
    const completion = await openai().chat.completions.create({ model: 'main', messages })
    expect(completion.choices[0]?.message.content).toBe('Hello over the wire.')
    let streamed = ''
    for await (const { choices } of await openai().chat.completions.create({
      model: 'main',
      messages,
      stream: true,
    }))
      streamed += choices[0]?.delta.content ?? ''
    expect(streamed).toBe('Hello over the wire.')

    const anthropic = new Anthropic({ baseURL: bed.tollgate.url, apiKey: freeKey, maxRetries: 0 })
    const message = await anthropic.messages.create({ model: 'main', messages, max_tokens: 64 })
    expect(message.content).toMatchObject([{ type: 'text', text: 'Hello over the wire.' }])
    const final = await anthropic.messages.stream({ model: 'main', messages, max_tokens: 64 }).finalMessage()
    expect(final.usage).toMatchObject({ input_tokens: 12, output_tokens: 3 })

    expect(wired.asked()).toHaveLength(6)
    for (const asked of wired.asked()) {
      expect(asked).toMatchObject({ type: 'response.create', model: 'up-main' })
      expect(Object.keys(asked)).not.toContain('stream')
    }
    expect(wired.overHttp).toEqual([])
    // One after the other, they have shared a connection.
    expect(wired.lines).toHaveLength(1)
  })

  test('that is large goes too, as one message', async () => {
    const input = 'word '.repeat(200_000)
    const answer = await post({ model: 'main', input, stream: true })
    expect(await answer.text()).toContain('response.completed')
    expect(wired.asked()).toEqual([{ type: 'response.create', model: 'up-main', input }])
  })

  test('that only HTTP can ask goes over HTTP', async () => {
    await post({ model: 'main', input: 'Hi.', background: true }).then((answer) => answer.text())
    await openai()
      .responses.compact({ model: 'main', input: 'Hi.' })
      .catch(() => {})
    expect(wired.asked()).toEqual([])
    expect(wired.overHttp.map(({ path }) => path)).toContain('/v1/responses/compact')
  })
})

describe('an error', () => {
  test('in the first frame counts as the same error over HTTP: the next channel answers', async () => {
    wired.onAsk = (line) =>
      line.send({
        type: 'error',
        status: 429,
        error: { type: 'requests', code: 'rate_limit_exceeded', message: 'Slow down.' },
        headers: { 'Retry-After': 7 },
      })
    for (const [model, stream] of [['limited', true] as const, ['limited-whole', false] as const]) {
      const answer = await post({ model, input: 'Hi.', stream })
      expect(answer.status).toBe(200)
      expect(await answer.text()).toContain('Hello over HTTP.')
      expect(await attemptsOf(answer.headers.get('x-request-id'))).toMatchObject([
        { channel: model, status: 429, error_kind: 'rate_limited' },
        { channel: `${model}-spare`, status: 200, error_kind: null },
      ])
      await until(() => wired.lines.every(({ isClosed }) => isClosed))
    }
  })

  test('of the request reaches the client with its status and words', async () => {
    wired.onAsk = (line) =>
      line.send({
        type: 'error',
        status: 400,
        error: {
          type: 'invalid_request_error',
          code: 'bad_thing',
          message: 'input[0]: no such thing.',
          param: 'input[0]',
        },
      })
    const answer = await post({ model: 'lone', input: 'Hi.', stream: true })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      error: { code: 'bad_thing', message: 'input[0]: no such thing.' },
    })
  })

  test('of the credential, at the upgrade, is never the client’s', async () => {
    wired.onUpgrade = () => ({ status: 401, body: '{"error":{"message":"Bad key wired-credential-001"}}' })
    const answer = await post({ model: 'lone', input: 'Hi.', stream: true })
    expect(answer.status).toBe(502)
    expect(await answer.text()).not.toContain('wired-credential-001')
    expect(await attemptsOf(answer.headers.get('x-request-id'))).toMatchObject([
      { channel: 'wired', status: 401, error_kind: 'upstream_error' },
    ])
    expect(wired.overHttp).toEqual([])
  })

  test.each([404, 426])(
    'of an upgrade with %i: the request goes over HTTP, and its attempt says why',
    async (status) => {
      wired.onUpgrade = () => ({ status })
      const answer = await post({ model: 'main', input: 'Hi.', stream: true })
      expect(await answer.text()).toContain('Hello over HTTP.')
      expect(wired.overHttp).toMatchObject([{ method: 'POST', path: '/v1/responses' }])
      expect(JSON.parse(wired.overHttp[0]?.body ?? '')).toEqual({
        model: 'up-main',
        input: 'Hi.',
        stream: true,
      })
      expect(await attemptsOf(answer.headers.get('x-request-id'))).toMatchObject([
        {
          channel: 'wired',
          status: 200,
          reason: expect.stringMatching(`; over HTTP: the response to the WebSocket upgrade was ${status}$`),
        },
      ])
    },
  )
})

describe('an answer', () => {
  test('that is cut in a frame ends as a stream that is cut', async () => {
    wired.onAsk = (line, { model }) => {
      line.send(...answerEvents(model).slice(0, 3))
      // A frame of 200 bytes, of which five come.
      const socket = Reflect.get(line.socket, '_socket')
      socket.write(Buffer.from([0x81, 0x7e, 0x00, 0xc8, 0x7b, 0x22, 0x74, 0x79, 0x70]), () =>
        socket.destroy(),
      )
    }
    const answer = await post({ model: 'lone', input: 'Hi.', stream: true })
    expect(answer.status).toBe(200)
    const text = await answer.text().catch(String)
    expect(text).toContain('response.output_text.delta')
    expect(text).not.toContain('response.completed')
    expect(text).toContain('event: error')
    expect(await bed.row(answer.headers.get('x-request-id'))).toMatchObject({
      outcome: 'failed',
      stream_end: 'upstream_cut',
      error_kind: 'upstream_error',
    })
  })

  test('that fails by an event in the middle ends with that event', async () => {
    wired.onAsk = (line, { model }) => {
      line.send(...answerEvents(model).slice(0, 3))
      line.send({ type: 'error', status: 500, error: { type: 'server_error', message: 'It broke.' } })
    }
    const answer = await post({ model: 'lone', input: 'Hi.', stream: true })
    expect(await answer.text()).toContain('"message":"It broke."')
    expect(await bed.row(answer.headers.get('x-request-id'))).toMatchObject({
      status: 200,
      outcome: 'failed',
      error_message: expect.stringContaining('It broke.'),
    })
    await until(() => wired.lines[0]?.isClosed === true)
  })

  test('that no one has seen anything of is asked of the next channel when the connection ends', async () => {
    wired.onAsk = (line) => line.socket.terminate()
    const answer = await post({ model: 'broken', input: 'Hi.', stream: true })
    expect(await answer.text()).toContain('Hello over HTTP.')
    expect(await attemptsOf(answer.headers.get('x-request-id'))).toMatchObject([
      { channel: 'broken', status: null, error_kind: 'upstream_error' },
      { channel: 'broken-spare', status: 200 },
    ])
  })

  test('whose client leaves closes the connection to the upstream', async () => {
    wired.onAsk = (line, { model }) => line.send(...answerEvents(model).slice(0, 3))
    const leaving = new AbortController()
    const answer = await post({ model: 'lone', input: 'Hi.', stream: true }, abortKey, leaving.signal)
    await answer.body?.getReader().read()
    leaving.abort()
    await until(() => wired.lines[0]?.isClosed === true)
    expect(await bed.row(answer.headers.get('x-request-id'))).toMatchObject({
      outcome: 'cancelled',
      stream_end: 'client_gone',
    })
  })

  test('is continued on the connection that gave it', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    wired.onAsk = (line, { model }) => {
      const events = answerEvents(model, 'Held.', `resp_line${line.number}x${line.asked.length}`)
      line.send(...events.slice(0, -1))
      void held.then(() => line.send(...events.slice(-1)))
    }
    const both = [1, 2].map(() => post({ model: 'lone', input: 'Hi.', stream: true }))
    await until(() => wired.lines.length === 2)
    release()
    for (const one of both) await one.then((answer) => answer.text())
    for (const number of [2, 1, 2]) {
      const line = wired.lines[number - 1]
      const turn = line?.asked.length ?? 0
      const next = await post({
        model: 'lone',
        input: 'On.',
        stream: true,
        previous_response_id: `resp_line${number}x${turn}`,
      })
      expect(next.status).toBe(200)
      await next.text()
      expect(line?.asked).toHaveLength(turn + 1)
    }
    expect(wired.lines).toHaveLength(2)
  })
})

describe('another Tollgate', () => {
  let other: FourUpstreams
  let before: Testbed
  beforeAll(async () => {
    other = await startFourUpstreams()
    before = await startTestbed({
      yaml: () => `
models: [{ id: '*', price: { input: "1", output: "2" } }]
channels:
  - { name: other, protocols: { openai-responses: ${other.tollgate.url}/v1 }, websocket: true, api_keys: [${forgettingKey}], models: "*", allow_private_address: true }
groups: [{ name: default, models: ['*'], channels: ['*'] }]
tenants: [{ name: free, keys: [{ name: free, secret: ${freeKey} }] }]
`,
    })
  })
  afterAll(async () => {
    await before?.close()
    await other?.close()
  })

  test.each(upstreamModels)(
    'answers by WebSocket with %s, with both rows, and says its errors',
    async (model) => {
      const client = new OpenAI({ baseURL: `${before.tollgate.url}/v1`, apiKey: freeKey, maxRetries: 0 })
      const asked = { model, input: 'Hello there.', store: false }
      const whole = await client.responses.create(asked)
      expect(whole.output_text).toContain('You said: "Hello there."')
      const stream = await client.responses.create({ ...asked, stream: true }).asResponse()
      const text = await stream.text()
      expect(text).toContain('event: response.completed')
      const row = await before.row(stream.headers.get('x-request-id'))
      expect(row).toMatchObject({ outcome: 'succeeded', stream_end: 'complete' })
      expect(Number(row.output_tokens)).toBeGreaterThan(0)
      await expect
        .poll(() => other.database.sql`SELECT stream FROM requests WHERE requested_model = ${model}`)
        .toEqual([{ stream: true }, { stream: true }])

      const wrong = client.responses.create({ ...asked, background: 'no' as unknown as boolean })
      await expect(wrong).rejects.toMatchObject({ status: 400 })
      const tooMany = client.responses.create({ ...asked, max_output_tokens: 1.5 })
      await expect(tooMany).rejects.toMatchObject({ status: 400 })
    },
  )
})

test('a channel that does not say it any more is called by HTTP, and its connections close', async () => {
  await openai().responses.create({ model: 'lone', input: 'Hi.' })
  expect(wired.lines.map(({ isClosed }) => isClosed)).toEqual([false])
  const { sql } = bed.database
  await sql`UPDATE channels SET connection = NULL WHERE name = 'wired'`
  await until(() => wired.lines[0]?.isClosed === true)
  const answer = await openai().responses.create({ model: 'lone', input: 'Hi.' })
  expect(answer.output_text).toBe('Hello over HTTP.')
})

function idIn(text: string): string {
  return /"id":"(resp_\d+)"/.exec(text)?.[1] ?? ''
}
