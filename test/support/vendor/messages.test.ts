import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startVendor, type Vendor } from './vendor.ts'

let vendor: Vendor

beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 0 })
})
afterAll(() => vendor.close())

const client = () => new Anthropic({ apiKey: 'none', baseURL: vendor.url, maxRetries: 0 })
const model = 'demo-chat'
const tool = (name: string) => ({
  name,
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
})

describe('the strict vendor’s Messages, called by the official SDK', () => {
  it('are labelled, and the same when streamed', async () => {
    const body = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: 'hello there' }] }
    const whole = await client().messages.create(body)
    expect(whole.content).toEqual([
      {
        type: 'text',
        text: 'This is the strict vendor of these tests; no model is behind it. You said: "hello there"',
      },
    ])
    expect(whole).toMatchObject({ stop_reason: 'end_turn', stop_sequence: null, role: 'assistant' })
    const streamed = await client().messages.stream(body).finalMessage()
    expect(streamed.content).toMatchObject([
      { type: 'text', text: whole.content[0]?.type === 'text' ? whole.content[0].text : '' },
    ])
    expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens)
    const counted = await client().messages.countTokens({ model, messages: body.messages })
    expect(counted.input_tokens).toBe(whole.usage.input_tokens)
  })

  it('name the reason for their end', async () => {
    const messages = [{ role: 'user' as const, content: 'hi' }]
    expect(await client().messages.create({ model, max_tokens: 4, messages })).toMatchObject({
      stop_reason: 'max_tokens',
      content: [{ text: 'This is the strict' }],
    })
    expect(
      await client().messages.create({ model, max_tokens: 100, messages, stop_sequences: ['no model'] }),
    ).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'no model' })
  })

  it('think, call tools in parallel, and recognise their thoughts by the signature', async () => {
    const ask = {
      model,
      max_tokens: 4000,
      tools: [tool('get_weather'), tool('get_time')],
      thinking: { type: 'enabled' as const, budget_tokens: 2000 },
    }
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'get_weather and get_time, please' }]
    const first = await client()
      .messages.stream({ ...ask, messages })
      .finalMessage()
    expect(first.stop_reason).toBe('tool_use')
    expect(first.content.map(({ type }) => type)).toEqual(['thinking', 'tool_use', 'tool_use'])
    const calls = first.content.filter((block) => block.type === 'tool_use')
    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ['get_weather', { city: 'demo' }],
      ['get_time', { city: 'demo' }],
    ])
    const results = calls.map(({ id }, at) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: `result ${at}`,
      is_error: at === 1,
    }))
    const replay = (content: Anthropic.ContentBlockParam[]) =>
      client().messages.create({
        ...ask,
        messages: [...messages, { role: 'assistant', content }, { role: 'user', content: results }],
      })
    const second = await replay(first.content)
    expect(second.content.at(-1)).toMatchObject({
      text: expect.stringMatching(
        /The tools answered: result 0; error: result 1 It knows 1 of its thoughts again\./,
      ),
    })
    const changed = first.content.map((block) =>
      block.type === 'thinking' ? { ...block, thinking: `${block.thinking}!` } : block,
    )
    await expect(replay(changed)).rejects.toThrow(
      /messages\.1\.content\.0: Invalid `signature` in `thinking` block/,
    )
    await expect(replay(calls)).rejects.toThrow(
      /Expected `thinking` or `redacted_thinking`, but found `tool_use`/,
    )
  })

  it('show that images arrived', async () => {
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: 'iVBORw0KGgo=' }
    const answer = await client().messages.create({
      model,
      max_tokens: 100,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source },
            { type: 'text', text: 'What is it?' },
          ],
        },
      ],
    })
    expect(JSON.stringify(answer.content)).toContain('[image: image/png, 8 bytes] What is it?')
  })

  it('accept system turns between others', async () => {
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'system', content: 'Be kind.' },
    ] as Anthropic.MessageParam[]
    expect((await client().messages.create({ model, max_tokens: 100, messages })).stop_reason).toBe(
      'end_turn',
    )
  })

  it('are refused where the vendor refuses, in its envelope', async () => {
    const hi = { role: 'user', content: 'hi' }
    const use = (id = 'c1') => ({
      role: 'assistant',
      content: [{ type: 'tool_use', id, name: 'f', input: {} }],
    })
    const result = { type: 'tool_result', tool_use_id: 'c1', content: 'x' }
    const wrong: [RegExp, object][] = [
      [/max_tokens: Field required/, { max_tokens: undefined }],
      [/messages: expected a non-empty array/, { messages: [] }],
      [/first message must use the .*user.* role/, { messages: [use()] }],
      [/seed: Extra inputs are not permitted/, { seed: 1 }],
      [/text content blocks must be non-empty/, { messages: [{ role: 'user', content: '' }] }],
      [
        /must contain non-whitespace text/,
        { messages: [{ role: 'user', content: [{ type: 'text', text: ' ' }] }] },
      ],
      [/ids were found without `tool_result` blocks immediately after: c1/, { messages: [hi, use(), hi] }],
      [/ids were found without/, { messages: [hi, use()] }],
      [
        /ids were found without/,
        { messages: [hi, use(), { role: 'user', content: [{ type: 'text', text: 'a' }, result] }] },
      ],
      [
        /unexpected `tool_use_id` found in `tool_result` blocks: c1/,
        { messages: [{ role: 'user', content: [result] }] },
      ],
      [/String should match pattern '\^\[a-zA-Z0-9_-\]\+\$'/, { messages: [hi, use('a.b'), hi] }],
      [/input_schema\.type: Input should be 'object'/, { tools: [{ name: 'f', input_schema: {} }] }],
      [/tool_choice: may only be specified/, { tool_choice: { type: 'any' } }],
      [/temperature: Extra inputs are not permitted/, { temperature: 1 }],
      [/greater than or equal to 1024/, { thinking: { type: 'enabled', budget_tokens: 10 } }],
      [
        /must be greater than `thinking.budget_tokens`/,
        { thinking: { type: 'enabled', budget_tokens: 1024 } },
      ],
      [/cannot end with trailing whitespace/, { messages: [hi, { role: 'assistant', content: 'So: ' }] }],
      [
        /A maximum of 4 blocks with cache_control/,
        {
          system: Array.from({ length: 5 }, () => ({
            type: 'text',
            text: 'a',
            cache_control: { type: 'ephemeral' },
          })),
        },
      ],
      [/Input should be a valid list/, { stop_sequences: 'a' }],
    ]
    for (const [words, body] of wrong) {
      const posted = client().post('/v1/messages', {
        body: { model, max_tokens: 100, messages: [hi], ...body },
      })
      await expect(posted, String(words)).rejects.toThrow(words)
      await expect(posted).rejects.toBeInstanceOf(Anthropic.BadRequestError)
    }
    const older = { headers: { 'anthropic-version': '2023-06-01' } }
    const hot = { model, max_tokens: 100, messages: [hi], temperature: 1.5 }
    await expect(client().post('/v1/messages', { body: hot, ...older })).rejects.toThrow(/from 0 to 1/)
    const bare = await fetch(`${vendor.url}/v1/messages`, { method: 'POST', body: '{}' })
    expect(await bare.json()).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'anthropic-version: header is required' },
      request_id: 'req_vendor',
    })
  })
})
