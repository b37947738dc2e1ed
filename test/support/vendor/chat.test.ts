import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startVendor, type Vendor } from './vendor.ts'

let vendor: Vendor
let client: OpenAI

beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 0 })
  client = new OpenAI({ apiKey: 'none', baseURL: `${vendor.url}/v1`, maxRetries: 0 })
})
afterAll(() => vendor.close())

const model = 'demo-chat'
const user = (content: string) => [{ role: 'user' as const, content }]
const tool = (name: string, parameters: Record<string, unknown> = { type: 'object', properties: {} }) => ({
  type: 'function' as const,
  function: { name, parameters },
})
const weather = tool('get_weather', {
  type: 'object',
  properties: { city: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] } },
  required: ['city', 'unit'],
})

describe('the strict vendor, called by the official SDK', () => {
  it('labels its answers as a demo, and repeats them for the same request', async () => {
    const ask = () => client.chat.completions.create({ model, messages: user('hello') })
    const [first, second] = [await ask(), await ask()]
    expect(first.choices[0]?.message.content).toBe(
      'This is the strict vendor of these tests; no model is behind it. You said: "hello"',
    )
    expect(first.choices[0]?.finish_reason).toBe('stop')
    expect(first.usage?.total_tokens).toBe(
      (first.usage?.prompt_tokens ?? 0) + (first.usage?.completion_tokens ?? 0),
    )
    expect({ ...second, created: 0 }).toEqual({ ...first, created: 0 })
  })

  it('streams the same text in pieces, with usage only when asked', async () => {
    const whole = await client.chat.completions.create({ model, messages: user('hello there') })
    for (const include_usage of [true, false]) {
      const stream = await client.chat.completions.create({
        model,
        messages: user('hello there'),
        stream: true,
        stream_options: { include_usage },
      })
      let text = ''
      let pieces = 0
      let usage: OpenAI.CompletionUsage | null | undefined
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? ''
        if (chunk.choices[0]?.delta.content) pieces++
        usage = chunk.usage ?? usage
      }
      expect(text).toBe(whole.choices[0]?.message.content)
      expect(pieces).toBe(whole.usage?.completion_tokens)
      expect(usage).toEqual(include_usage ? whole.usage : undefined)
    }
  })

  it('calls the tools that the user names, side by side, and uses their results', async () => {
    const tools = [weather, tool('get_time'), tool('get_news')]
    const messages = user('Call get_weather and get_time please')
    const first = await client.chat.completions.create({ model, messages, tools })
    const message = first.choices[0]?.message
    const calls = message?.tool_calls ?? []
    expect(first.choices[0]?.finish_reason).toBe('tool_calls')
    const functions = calls.flatMap((call) => (call.type === 'function' ? [call.function] : []))
    expect(functions.map((call) => call.name)).toEqual(['get_weather', 'get_time'])
    expect(JSON.parse(functions[0]?.arguments ?? '')).toEqual({ city: 'demo', unit: 'celsius' })
    expect(new Set(calls.map((call) => call.id)).size).toBe(2)

    const results = calls.map((call, at) => ({
      role: 'tool' as const,
      tool_call_id: call.id,
      content: `result ${at}`,
    }))
    const second = await client.chat.completions.create({
      model,
      messages: [...messages, ...(message ? [message] : []), ...results],
      tools,
    })
    expect(second.choices[0]?.message.content).toMatch(/The tools answered: result 0; result 1/)
    expect(second.choices[0]?.finish_reason).toBe('stop')
  })

  it('streams tool calls that the SDK puts together', async () => {
    const stream = client.chat.completions.stream({
      model,
      messages: user('hi'),
      tools: [weather],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
    })
    const call = (await stream.finalChatCompletion()).choices[0]?.message.tool_calls?.[0]
    const args = '{"city":"demo","unit":"celsius"}'
    expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather', arguments: args } })
  })

  it('obeys the tool choice', async () => {
    const called = async (more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>) => {
      const answer = await client.chat.completions.create({
        model,
        messages: user('hi'),
        tools: [weather, tool('get_time')],
        ...more,
      })
      return answer.choices[0]?.message.tool_calls?.length ?? 0
    }
    expect(await called({})).toBe(0)
    expect(await called({ tool_choice: 'required' })).toBe(1)
    expect(await called({ tool_choice: 'none', messages: user('get_time') })).toBe(0)
    const both = user('get_time and get_weather')
    expect(await called({ messages: both })).toBe(2)
    expect(await called({ messages: both, parallel_tool_calls: false })).toBe(1)
  })

  it('answers in the JSON that a schema asks for', async () => {
    const schema = {
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 6 },
        age: { type: 'integer', minimum: 18 },
        score: { type: ['number', 'null'], maximum: 0.5 },
        tags: { type: 'array', items: { $ref: '#/$defs/tag' }, minItems: 2 },
        next: { anyOf: [{ $ref: '#' }, { type: 'null' }] },
      },
      required: ['name', 'age', 'score', 'tags', 'next'],
      additionalProperties: false,
      $defs: { tag: { enum: ['red', 'green'] } },
    }
    const answer = await client.chat.completions.create({
      model,
      messages: user('json'),
      response_format: { type: 'json_schema', json_schema: { name: 'person', schema, strict: true } },
    })
    const person = JSON.parse(answer.choices[0]?.message.content ?? '')
    expect(person).toMatchObject({ name: 'demo..', age: 18, score: 0.5, tags: ['red', 'red'] })

    const free = await client.chat.completions.create({
      model,
      messages: user('json'),
      response_format: { type: 'json_object' },
    })
    expect(JSON.parse(free.choices[0]?.message.content ?? '')).toHaveProperty('reply')
  })

  it('honours n, the token limit and stop sequences', async () => {
    const answer = await client.chat.completions.create({
      model,
      messages: user('hi'),
      n: 3,
      max_completion_tokens: 4,
    })
    expect(
      answer.choices.map((choice) => [choice.index, choice.finish_reason, choice.message.content]),
    ).toEqual([0, 1, 2].map((index) => [index, 'length', 'This is the strict']))
    expect(answer.usage?.completion_tokens).toBe(12)
    const stopped = await client.chat.completions.create({ model, messages: user('hi'), stop: ['strict'] })
    expect(stopped.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'This is the ' } })
  })

  it('refuses unknown members in the format of the API', async () => {
    await expect(client.chat.completions.create({ model, messages: [] })).rejects.toThrow(/400 messages/)
    await expect(client.models.list()).rejects.toThrow(/404 The strict vendor has only POST/)
  })

  it('refuses what the vendor refuses', async () => {
    const hi = { role: 'user', content: 'hi' }
    const call = (id = 'c1') => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
    })
    const result = (id = 'c1') => ({ role: 'tool', tool_call_id: id, content: 'x' })
    const wrong: [RegExp, object][] = [
      [/Unrecognized request argument supplied: max_output_tokens/, { max_output_tokens: 1 }],
      [/did not have response messages: c1/, { messages: [hi, call(), hi] }],
      [/did not have response messages: c1/, { messages: [hi, call()] }],
      [/must be a response to a preceeding message/, { messages: [hi, result()] }],
      [/must be a response to a preceeding message/, { messages: [hi, call(), result('c2')] }],
      [/at most 40 characters/, { messages: [hi, call('c'.repeat(41)), result('c'.repeat(41))] }],
      [/tool_calls: expected a non-empty array/, { messages: [hi, { ...call(), tool_calls: [] }] }],
      [/role: expected one of/, { messages: [{ role: 'model', content: 'hi' }] }],
      [
        /type: expected one of text,/,
        { messages: [hi, call(), { ...result(), content: [{ type: 'image_url' }] }] },
      ],
      [/tools: expected a non-empty array/, { tools: [] }],
      [/'tool_choice' is only allowed when 'tools'/, { tool_choice: 'auto' }],
      [/'stream_options' parameter is only allowed when 'stream'/, { stream_options: {} }],
      [/at the same time is not supported/, { max_tokens: 1, max_completion_tokens: 1 }],
      [/does not match pattern/, { tools: [tool('a.b')] }],
      [/stop: expected at most 4/, { stop: ['1', '2', '3', '4', '5'] }],
      [/temperature: expected a number from 0 to 2/, { temperature: 3 }],
    ]
    for (const [words, body] of wrong) {
      const posted = client.post('/chat/completions', { body: { model, messages: [hi], ...body } })
      await expect(posted, String(words)).rejects.toThrow(words)
    }
  })

  it('thinks on request, and recognises its own thoughts', async () => {
    const messages = user('get_weather')
    const settings = { model, tools: [weather], reasoning_effort: 'low' as const }
    const first = await client.chat.completions.create({ ...settings, messages })
    const message = first.choices[0]?.message
    expect(message).toHaveProperty('reasoning_content', expect.stringContaining('thinks'))
    const reasoning = first.usage?.completion_tokens_details?.reasoning_tokens ?? 0
    expect(reasoning).toBeGreaterThan(0)
    expect(first.usage?.completion_tokens).toBeGreaterThan(reasoning)
    const tool_call_id = message?.tool_calls?.[0]?.id ?? ''
    const second = await client.chat.completions.create({
      ...settings,
      messages: [
        ...messages,
        ...(message ? [message] : []),
        { role: 'tool', tool_call_id, content: 'sunny' },
      ],
    })
    expect(second.choices[0]?.message.content).toMatch(/sunny It knows 1 of its thoughts again/)
  })

  it('stays up when a client leaves in the middle', async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: user('x '.repeat(200)),
      stream: true,
    })
    for await (const _ of stream) break
    expect((await client.chat.completions.create({ model, messages: user('hi') })).choices).toHaveLength(1)
  })
})
