import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { abortKey, freeKey, paidKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Speech: text becomes audio, which is passed on as it arrives and charged by the characters of the text. */

const yaml = (upstreamUrl: string) => `
models:
  - { id: tts-1, price: { input_characters: "15" } }
  - { id: voice, price: { input_characters: "15" } }
  - { id: token-tts, context_length: 2000, max_output_tokens: 100, price: { input: "0.60", audio_output: "12", output: "1" } }
  - { id: slow-tts, context_length: 2000, max_output_tokens: 100, price: { input: "0.60", output: "12" } }
  - { id: short-tts, context_length: 50, max_output_tokens: 10, price: { input_characters: "15" } }
  - { id: unpriced-tts }
channels:
  - name: impatient
    protocols: { openai-chat: ${upstreamUrl} }
    api_keys: [ "upstream-credential-0002" ]
    models: { slow-tts: slow-tts }
    timeouts: { total_ms: 500 }
    allow_private_address: true
  - name: scripted
    protocols: { openai-chat: ${upstreamUrl} }
    api_keys: [ "upstream-credential-0001" ]
    models: { tts-1: upstream-tts, voice: voice, token-tts: token-tts, short-tts: short-tts, unpriced-tts: unpriced-tts }
    allow_private_address: true
groups:
  - { name: limited, models: ['*'], channels: ['*'], limits: { tokens_per_minute: 300 } }
  - { name: default, models: ['*'], channels: ['*'] }
  - { name: abort, models: ['*'], channels: ['*'], price_multiplier: "1.1", client_gone: { policy: abort, seconds: 0 } }
tenants:
  - name: free
    keys:
      - { name: free, group: default, secret: ${freeKey} }
      - { name: abort, group: abort, secret: ${abortKey} }
      - { name: limited, group: limited, secret: ${limitedKey} }
  - name: paid
    balance_usd: "0.0003"
    keys:
      - { name: paid, group: default, secret: ${paidKey} }
  - name: tokens
    balance_usd: "1.00"
    keys:
      - { name: tokens, group: default, secret: ${tokensKey} }
`
const limitedKey = 'limited-key-for-tests-01'
const tokensKey = 'tokens-key-for-tests-01'

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ yaml })
})
afterAll(() => bed.close())
beforeEach(() => {
  bed.upstream.requests.length = 0
})

const mpeg = { 'content-type': 'audio/mpeg' }
const audio = Buffer.from([0xff, 0xf3, 0xe4, 0xc4, 0x00, 0x0a, 0x80, 0xff])

function answer(body: Buffer, headers: Record<string, string> = mpeg) {
  bed.upstream.script(() => ({ headers, body }))
}

const speak = (body: object, key = freeKey, signal?: AbortSignal) =>
  fetch(`${bed.tollgate.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  })
const rowOf = (response: Response) => bed.row(response.headers.get('x-request-id'))

const hello = { model: 'tts-1', voice: 'alloy', input: 'Hello' }

test("OpenAI's SDK gets the bytes and their type, and the row has the characters and no audio", async () => {
  answer(audio)
  const openai = new OpenAI({ baseURL: `${bed.tollgate.url}/v1`, apiKey: freeKey, maxRetries: 0 })
  const spoken = await openai.audio.speech.create({
    model: 'tts-1',
    // Nine code points, but ten UTF-16 code units and twelve bytes.
    input: 'Grüße 🦊 .',
    voice: 'nobody-knows-this-voice',
    instructions: 'Whisper.',
    response_format: 'mp3',
    speed: 1.5,
  })
  expect(Buffer.from(await spoken.arrayBuffer())).toEqual(audio)
  expect(spoken.headers.get('content-type')).toBe('audio/mpeg')
  const [seen] = bed.upstream.requests
  expect(seen).toMatchObject({ path: '/v1/audio/speech', headers: { accept: '*/*' } })
  expect(JSON.parse(String(seen?.body))).toEqual({
    model: 'upstream-tts',
    input: 'Grüße 🦊 .',
    voice: 'nobody-knows-this-voice',
    instructions: 'Whisper.',
    response_format: 'mp3',
    speed: 1.5,
  })
  const row = await rowOf(spoken)
  expect(row).toMatchObject({
    endpoint: '/v1/audio/speech',
    client_protocol: 'openai-chat',
    upstream_protocol: 'openai-chat',
    stream: false,
    status: 200,
    outcome: 'succeeded',
    stream_end: 'complete',
    input_tokens: null,
    output_tokens: null,
    usage_source: 'none',
    // 9 characters at 15 USD per million.
    cost_nano: '135000',
  })
  const detail = await fetch(`${bed.tollgate.url}/v1/usage/requests/${row.id}`, {
    headers: { authorization: `Bearer ${freeKey}` },
  })
  expect(await detail.json()).toMatchObject({
    tokens: null,
    cost_facts: [{ part: 'input_characters', count: 9 }],
    cost_parts_nano_usd: { input: '0', output: '0', fees: '135000' },
    body: expect.stringContaining('Grüße 🦊 .'),
    answer: null,
  })
})

test.each([
  ['JSON', '{"a"'],
  ['an event', ':\u0001\u0002'],
  ['text with a byte order mark', '\ufeffdata: 1\n\n'],
])('audio that begins like %s passes byte for byte, under its own type', async (_, text) => {
  const bytes = Buffer.concat([Buffer.from(text), audio])
  answer(bytes, { 'content-type': 'audio/pcm' })
  const spoken = await speak({ ...hello, response_format: 'pcm' })
  expect(spoken.headers.get('content-type')).toBe('audio/pcm')
  expect(Buffer.from(await spoken.arrayBuffer())).toEqual(bytes)
  expect(await rowOf(spoken)).toMatchObject({ outcome: 'succeeded', cost_nano: '75000' })
  // Some upstreams send audio although the client asked for events.
  const unasked = await speak({ ...hello, response_format: 'pcm', stream_format: 'sse' })
  expect(unasked.headers.get('content-type')).toBe('audio/pcm')
  expect(Buffer.from(await unasked.arrayBuffer())).toEqual(bytes)
})

test("JSON in a vendor's own form passes too, unless it says what went wrong", async () => {
  const json = { 'content-type': 'application/json' }
  answer(Buffer.from('{"audio":"//PkxA=="}'), json)
  const spoken = await speak(hello)
  expect([spoken.status, await spoken.text()]).toEqual([200, '{"audio":"//PkxA=="}'])
  expect(await rowOf(spoken)).toMatchObject({ outcome: 'succeeded', cost_nano: '75000' })
  answer(Buffer.from('{"code":500,"msg":"out of voices"}'), json)
  const failed = await speak(hello)
  expect([failed.status, await failed.text()]).toEqual([502, expect.stringContaining('out of voices')])
})

test('a large answer passes whole, and without a declared length each piece reaches the client as it arrives', async () => {
  const large = Buffer.alloc(3_000_000, 7)
  answer(large)
  expect(Buffer.from(await (await speak(hello)).arrayBuffer()).equals(large)).toBe(true)

  const read = Promise.withResolvers<void>()
  bed.upstream.script(() => ({
    headers: mpeg,
    chunks: [audio, { waitFor: read.promise }, audio],
    ending: 'end',
  }))
  const spoken = await speak(hello)
  const reader = spoken.body?.getReader()
  const first = await reader?.read()
  expect(Buffer.from(first?.value ?? [])).toEqual(audio)
  read.resolve()
  const second = await reader?.read()
  expect(Buffer.from(second?.value ?? [])).toEqual(audio)
  expect((await reader?.read())?.done).toBe(true)
  expect(await rowOf(spoken)).toMatchObject({ outcome: 'succeeded', cost_nano: '75000' })
})

test('a text that a thread reads is counted in the same way', async () => {
  answer(audio)
  const spoken = await speak({ ...hello, input: '🦊'.repeat(600_000) })
  await spoken.arrayBuffer()
  expect(await rowOf(spoken)).toMatchObject({ status: 200, cost_nano: '9000000000' })
})

describe('events', () => {
  const done = {
    type: 'speech.audio.done',
    usage: { input_tokens: 14, output_tokens: 90, total_tokens: 104 },
  }
  const frames = [{ type: 'speech.audio.delta', audio: audio.toString('base64') }, done].map(
    (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  )

  test('pass byte for byte, and the tokens that they report are charged', async () => {
    bed.upstream.script(() => ({ chunks: frames, ending: 'end' }))
    const spoken = await speak({ ...hello, model: 'token-tts', stream_format: 'sse' })
    expect(spoken.headers.get('content-type')).toBe('text/event-stream')
    expect(await spoken.text()).toBe(frames.join(''))
    const [seen] = bed.upstream.requests
    expect(String(seen?.body)).toBe(JSON.stringify({ ...hello, model: 'token-tts', stream_format: 'sse' }))
    expect(await rowOf(spoken)).toMatchObject({
      stream: true,
      input_tokens: 14,
      output_tokens: 90,
      usage_source: 'upstream',
      // 14 tokens at 0.60 USD per million, and 90 tokens of audio at 12.
      cost_nano: '1088400',
    })
  })

  test('that report tokens cost their characters where the price is for those', async () => {
    bed.upstream.script(() => ({ chunks: frames, ending: 'end' }))
    const spoken = await speak({ ...hello, stream_format: 'sse' })
    await spoken.text()
    expect(await rowOf(spoken)).toMatchObject({ input_tokens: 14, output_tokens: 90, cost_nano: '75000' })
  })

  test('that break off end with an error in the format', async () => {
    bed.upstream.script(() => ({ chunks: frames.slice(0, 1), ending: 'end' }))
    const spoken = await speak({ ...hello, stream_format: 'sse' })
    expect(await spoken.text()).toContain('"error"')
    // Its audio was delivered, so that it costs all of its characters.
    expect(await rowOf(spoken)).toMatchObject({
      outcome: 'failed',
      stream_end: 'upstream_cut',
      cost_nano: '75000',
    })
  })

  test('that report more tokens than the model can write still cost their characters', async () => {
    bed.upstream.script(() => ({ chunks: frames, ending: 'end' }))
    const spoken = await speak({ ...hello, model: 'short-tts', stream_format: 'sse' })
    await spoken.text()
    expect(await rowOf(spoken)).toMatchObject({
      usage_source: 'implausible',
      output_tokens: null,
      cost_nano: '75000',
    })
  })
})

test.each([
  [{ model: 'tts-1', voice: 'alloy' }, 'input: required: send a string'],
  [{ ...hello, input: ['Hello'] }, 'a string'],
  [{ voice: 'alloy', input: 'Hello' }, 'model'],
])('%j is refused before any call', async (body, message) => {
  const refused = await speak(body)
  expect(refused.status).toBe(400)
  const { error } = (await refused.json()) as { error: { message: string; type: string } }
  expect(error.type).toBe('invalid_request_error')
  expect(error.message).toContain(message)
  expect(bed.upstream.requests).toEqual([])
})

test("an upstream's refusal, an empty answer and an error in a 200 are errors in OpenAI's envelope, and cost nothing", async () => {
  bed.upstream.script(() => ({
    status: 400,
    body: '{"error":{"message":"no such voice","code":"bad_voice"}}',
  }))
  const refused = await speak(hello)
  expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: 'bad_voice' } }])
  expect(await rowOf(refused)).toMatchObject({ outcome: 'refused', cost_nano: '0' })
  const json = { 'content-type': 'application/json' }
  for (const [body, headers] of [
    ['', mpeg],
    ['{"error":{"message":"out of voices"}}', json],
  ] as const) {
    answer(Buffer.from(body), headers)
    const failed = await speak(hello)
    expect(failed.status, await failed.text()).toBe(502)
    expect(await rowOf(failed)).toMatchObject({ outcome: 'failed', status: 502 })
  }
})

test('audio that breaks off ends the connection, and its characters are charged', async () => {
  bed.upstream.script(() => ({ headers: mpeg, chunks: [audio], ending: 'cut' }))
  const spoken = await speak(hello)
  await expect(spoken.arrayBuffer()).rejects.toThrow()
  expect(await rowOf(spoken)).toMatchObject({
    status: 200,
    outcome: 'failed',
    stream_end: 'upstream_cut',
    cost_nano: '75000',
  })
})

test('a client that leaves ends the call, and pays for the characters', async () => {
  bed.upstream.script(() => ({ headers: mpeg, chunks: [audio], ending: 'stall' }))
  const leaving = new AbortController()
  const spoken = await speak(hello, abortKey, leaving.signal)
  await spoken.body?.getReader().read()
  leaving.abort()
  expect(await rowOf(spoken)).toMatchObject({
    outcome: 'cancelled',
    stream_end: 'client_gone',
    // The group pays 1.1 times the price.
    cost_nano: '82500',
  })
  await bed.upstream.requests[0]?.closed
  expect(bed.upstream.requests[0]?.closedEarly).toBe(true)
})

test('a client that leaves before the first byte pays for the characters too, also where money is not limited', async () => {
  bed.upstream.script(() => new Promise<never>(() => {}))
  const before = (await bed.rows()).length
  const leaving = new AbortController()
  const spoken = speak(hello, abortKey, leaving.signal).catch(() => 'left')
  await bed.upstream.arrived(1)
  leaving.abort()
  expect(await spoken).toBe('left')
  await expect.poll(async () => (await bed.rows()).length).toBe(before + 1)
  expect((await bed.rows()).at(-1)).toMatchObject({ outcome: 'cancelled', status: 499, cost_nano: '82500' })
})

test('exactly the price of the characters is held, and not one more is spent', async () => {
  answer(audio)
  // 20 characters cost 0.0003 USD, which is all that the tenant has.
  const tooLong = await speak({ ...hello, input: 'x'.repeat(21) }, paidKey)
  expect([tooLong.status, await tooLong.text()]).toEqual([402, expect.stringContaining('0.000315')])
  expect(bed.upstream.requests).toEqual([])
  const spoken = await speak({ ...hello, input: 'x'.repeat(20) }, paidKey)
  await spoken.arrayBuffer()
  expect(await rowOf(spoken)).toMatchObject({ status: 200, cost_nano: '300000', charged_nano: '300000' })
  expect((await speak({ ...hello, input: 'x' }, paidKey)).status).toBe(402)
})

test('audio whose tokens nobody reports has no cost, but where money is limited it costs the most that it can', async () => {
  answer(audio)
  const free = await speak({ ...hello, model: 'token-tts' })
  await free.arrayBuffer()
  expect(await rowOf(free)).toMatchObject({ usage_source: 'none', input_tokens: null, cost_nano: null })
  const paid = await speak({ ...hello, model: 'token-tts' }, tokensKey)
  await paid.arrayBuffer()
  const row = await rowOf(paid)
  const inputCost = BigInt(Number(row?.input_tokens)) * 600n
  // All output is audio: 100 tokens at 12 USD per million.
  expect(row).toMatchObject({
    usage_source: 'estimated',
    output_tokens: 100,
    cost_nano: String(inputCost + 1_200_000n),
  })
  const unpriced = await speak({ ...hello, model: 'unpriced-tts' }, tokensKey)
  expect(unpriced.status).toBe(403)
})

test('audio that a client reads until its time is over costs the most that it can', async () => {
  bed.upstream.script(() => ({ headers: mpeg, chunks: [audio], ending: 'stall' }))
  const paid = await speak({ ...hello, model: 'slow-tts' }, tokensKey)
  await expect(paid.arrayBuffer()).rejects.toThrow()
  expect(await rowOf(paid)).toMatchObject({
    stream_end: 'timeout',
    usage_source: 'estimated',
    output_tokens: 100,
  })
})

test('audio whose tokens nobody reports counts against the tokens per minute by its text', async () => {
  answer(audio)
  const statuses: number[] = []
  for (let turn = 0; turn < 3; turn++) {
    const spoken = await speak({ ...hello, input: 'x'.repeat(800) }, limitedKey)
    await spoken.arrayBuffer()
    statuses.push(spoken.status)
  }
  expect(statuses).toEqual([200, 429, 429])
})

test('the model list has the price, and the endpoint of each model that is sold by characters', async () => {
  const listed = await fetch(`${bed.tollgate.url}/v1/models`, {
    headers: { authorization: `Bearer ${freeKey}` },
  })
  const { data } = (await listed.json()) as { data: { id: string; endpoints: string[]; pricing: unknown }[] }
  const byId = new Map(data.map((model) => [model.id, model]))
  expect(byId.get('voice')).toMatchObject({
    endpoints: ['/v1/audio/speech'],
    pricing: { input_characters: '15.00', input: null },
  })
  expect(byId.get('token-tts')).toMatchObject({ endpoints: ['/v1/audio/speech'] })
})
