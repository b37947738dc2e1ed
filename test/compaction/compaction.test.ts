import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  type FourUpstreams,
  forgettingKey,
  keepingKey,
  limitedKey,
  startFourUpstreams,
  translatedModels,
  upstreamModels,
} from '../support/four-upstreams.ts'
import { startTestbed } from '../support/testbed.ts'

let bed: FourUpstreams
beforeAll(async () => {
  bed = await startFourUpstreams()
})
afterAll(() => bed?.close())

const turns: OpenAI.Responses.ResponseInput = [
  { role: 'user', content: 'Build a door.' },
  { type: 'function_call', call_id: 'call_1', name: 'measure', arguments: '{"what":"frame"}' },
  { type: 'function_call_output', call_id: 'call_1', output: '200 x 80' },
  { role: 'assistant', content: 'The frame is 200 x 80.' },
  { role: 'user', content: [{ type: 'input_text', text: 'Now choose the wood.' }] },
]

function sealedIn(compacted: OpenAI.Responses.CompactedResponse): string {
  const last = compacted.output.at(-1)
  return last?.type === 'compaction' ? last.encrypted_content : ''
}

describe.each(upstreamModels)('over %s', (model) => {
  test('a conversation is compacted, goes on, is compacted again, and goes on', async () => {
    const client = bed.openai(forgettingKey)
    const first = await client.responses.compact({ model, input: turns, instructions: 'You are a joiner.' })

    expect(first.object).toBe('response.compaction')
    expect(first.output.map(({ type }) => type)).toEqual(['message', 'message', 'compaction'])
    expect(first.usage.total_tokens).toBeGreaterThan(0)
    const items = first.output as OpenAI.Responses.ResponseInput
    const next = await client.responses.create({
      model,
      input: [...items, { role: 'user', content: 'Which wood?' }],
      store: false,
    })
    expect(next.output_text).toContain('Which wood?')
    const second = await client.responses.compact({
      model,
      input: [
        ...items,
        { role: 'user', content: 'Which wood?' },
        ...(next.output as OpenAI.Responses.ResponseInput),
      ],
    })
    expect(second.output.map(({ type }) => type)).toEqual(['message', 'message', 'message', 'compaction'])
    const last = await client.responses.create({
      model,
      input: [
        ...(second.output as OpenAI.Responses.ResponseInput),
        { role: 'user', content: 'And the handle?' },
      ],
      store: false,
    })
    expect(last.output_text).toContain('And the handle?')
  })

  test('what one channel summed up is read on every other', async () => {
    const client = bed.openai(forgettingKey)
    const compacted = await client.responses.compact({ model, input: turns })
    for (const other of upstreamModels) {
      const { data, response } = await client.responses
        .create({
          model: other,
          input: [
            ...(compacted.output as OpenAI.Responses.ResponseInput),
            { role: 'user', content: 'Go on.' },
          ],
          store: false,
        })
        .withResponse()
      expect(data.output_text).toContain('Go on.')
      expect(response.status).toBe(200)
    }
  })
})

test('the row says what it was, and what it cost', async () => {
  const client = bed.openai(limitedKey)
  const { response } = await client.responses.compact({ model: 'gemini', input: turns }).withResponse()

  const row = await bed.row(response.headers.get('x-request-id'))
  expect(row).toMatchObject({ endpoint: '/v1/responses/compact', status: 200, outcome: 'succeeded' })
  expect(Number(row.cost_nano)).toBeGreaterThan(0)
})

describe('a group with a model for summaries', () => {
  const secret = 'summing-key-for-tests-1'
  const narrow = 'summing-narrow-key-0001'
  let own: FourUpstreams
  beforeAll(async () => {
    own = await startFourUpstreams({
      groups: "  - { name: summing, models: ['*'], channels: ['*'], responses: { compact_model: gemini } }",
      extra: `  - name: summing
    balance_usd: "1.00"
    keys:
      - { name: a, group: summing, secret: ${secret} }
      - { name: b, group: summing, secret: ${narrow}, allowed_models: [openai-chat] }`,
    })
  })
  afterAll(() => own?.close())

  const servedBy = async (model: string, key: string) => {
    const { data, response } = await own.openai(key).responses.compact({ model, input: turns }).withResponse()
    expect(data.output.at(-1)?.type).toBe('compaction')
    return own.row(response.headers.get('x-request-id'))
  }

  test('asks that model where the channel has no compaction of its own, and the row says so', async () => {
    const row = await servedBy('openai-chat', secret)
    expect(row).toMatchObject({
      requested_model: 'openai-chat',
      served_model: 'gemini-2.5-flash',
      channel: 'gemini',
    })
    expect(Number(row.cost_nano)).toBeGreaterThan(0)
    expect(await servedBy('gemini', secret)).toMatchObject({ requested_model: 'gemini', channel: 'gemini' })
  })

  test('leaves the model of the client to all other requests, and to keys that may not use it', async () => {
    const { response } = await own
      .openai(secret)
      .responses.create({ model: 'openai-chat', input: 'Hello' })
      .withResponse()
    expect(await own.row(response.headers.get('x-request-id'))).toMatchObject({ channel: 'openai-chat' })
    expect(await servedBy('openai-chat', narrow)).toMatchObject({ channel: 'openai-chat' })
  })
})

test('a kept answer is compacted with all that it continues', async () => {
  const client = bed.openai(keepingKey)
  const one = await client.responses.create({ model: 'openai-chat', input: 'First thing.' })
  const two = await client.responses.create({
    model: 'openai-chat',
    input: 'Second thing.',
    previous_response_id: one.id,
  })
  const compacted = await client.responses.compact({
    model: 'openai-chat',
    input: 'Third thing.',
    previous_response_id: two.id,
  })

  expect(compacted.output.filter(({ type }) => type === 'message')).toHaveLength(3)
})

describe('refused by name is', () => {
  const broken = (sealed: string) => `${sealed.slice(0, -6)}AAAAAA`

  test.each(upstreamModels)('an item that somebody changed, over %s', async (model) => {
    const client = bed.openai(forgettingKey)
    const sealed = sealedIn(await client.responses.compact({ model: 'gemini', input: turns }))
    const items: OpenAI.Responses.ResponseInput = [
      { role: 'user', content: 'Build a door.' },
      { type: 'compaction', encrypted_content: broken(sealed) },
    ]
    await expect(client.responses.create({ model, input: items, store: false })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('input[1]'),
    })
  })

  test.each(translatedModels)('an item of a vendor that %s does not know', async (model) => {
    await expect(
      bed.openai(forgettingKey).responses.create({
        model,
        input: [
          { type: 'compaction', encrypted_content: 'gAAAAABvendor' },
          { role: 'user', content: 'Go on.' },
        ],
        store: false,
      }),
    ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('compaction') })
  })

  test('a stream', async () => {
    const body = { model: 'gemini', input: 'x', stream: true }
    await expect(bed.openai(forgettingKey).post('/responses/compact', { body })).rejects.toMatchObject({
      status: 400,
      param: 'stream',
    })
  })
})

test('a channel that compacts itself is asked for that, in its own words', async () => {
  const native = await startTestbed({
    yaml: (url) => `
models: [ { id: own, context_length: 100000, max_output_tokens: 1000 } ]
channels:
  - { name: own, protocols: { openai-responses: "${url}" }, api_keys: [ "credential-0001" ], models: { own: own }, allow_private_address: true }
groups: [ { name: default, models: ['*'], channels: ['*'] } ]
tenants: [ { name: t, keys: [ { name: k, group: default, secret: native-key-for-tests } ] } ]
`,
  })
  onTestFinished(native.close)
  const answer = {
    id: 'resp_native',
    object: 'response.compaction',
    created_at: 1,
    output: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'theirs' }],
    usage: {
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 4,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 13,
    },
  }
  native.upstream.script(() => ({ body: JSON.stringify(answer) }))
  const client = new OpenAI({
    baseURL: `${native.tollgate.url}/v1`,
    apiKey: 'native-key-for-tests',
    maxRetries: 0,
  })
  const { data, response } = await client.responses.compact({ model: 'own', input: turns }).withResponse()

  expect(data.output).toEqual(answer.output)
  expect(native.upstream.requests.map(({ path }) => path)).toEqual(['/v1/responses/compact'])
  expect(await native.row(response.headers.get('x-request-id'))).toMatchObject({
    outcome: 'succeeded',
    input_tokens: 9,
    output_tokens: 4,
  })
})

test('a large conversation is compacted in a thread', async () => {
  const small = await startFourUpstreams({ env: { BODY_THREAD_BYTES: '20000' } })
  onTestFinished(small.close)
  const long = 'many words '.repeat(5_000)
  const client = small.openai(forgettingKey)
  for (const model of upstreamModels) {
    const compacted = await client.responses.compact({ model, input: long })
    expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'compaction'])
    const next = await client.responses.create({
      model,
      input: [...(compacted.output as OpenAI.Responses.ResponseInput), { role: 'user', content: 'Go on.' }],
      store: false,
    })
    expect(next.status).toBe('completed')
    expect(next.usage?.input_tokens).toBeGreaterThan(10_000)
  }
})
