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
const weather = {
  type: 'function' as const,
  name: 'get_weather',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
}
const time = { ...weather, name: 'get_time', parameters: { type: 'object', properties: {} } }

describe('the strict vendor’s Responses, called by the official SDK', () => {
  it('are labelled, and streamed as the SDK’s strict checks want', async () => {
    const body = { model, input: 'hello there', instructions: 'Be kind.', store: false } as const
    const whole = await client.responses.create(body)
    expect(whole.output_text).toBe(
      'This is the strict vendor of these tests; no model is behind it. You said: "hello there"',
    )
    expect(whole).toMatchObject({ status: 'completed', instructions: 'Be kind.', store: false })
    const streamed = await client.responses.stream(body).finalResponse()
    expect(streamed.output_text).toBe(whole.output_text)
    expect(streamed.usage).toEqual(whole.usage)
    expect(whole.usage?.total_tokens).toBe(
      (whole.usage?.input_tokens ?? 0) + (whole.usage?.output_tokens ?? 0),
    )
  })

  it('number their events without a gap and end with the whole answer', async () => {
    const stream = await client.responses.create({ model, input: 'hi', stream: true, max_output_tokens: 16 })
    const types: string[] = []
    for await (const event of stream) {
      expect(event.sequence_number).toBe(types.length)
      types.push(event.type)
    }
    expect([...new Set(types)]).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    const cut = await client.responses.create({ model, input: 'x'.repeat(200), max_output_tokens: 16 })
    expect(cut).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
  })

  it('call tools in parallel, think, and recognise a thought that comes back sealed', async () => {
    const ask = {
      model,
      store: false,
      tools: [weather, time],
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    } satisfies Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'input'>
    const input: OpenAI.Responses.ResponseInputItem[] = [
      { role: 'user', content: 'get_weather and get_time, please' },
    ]
    const first = await client.responses.stream({ ...ask, input }).finalResponse()
    expect(first.output.map(({ type }) => type)).toEqual(['reasoning', 'function_call', 'function_call'])
    expect(first.usage?.output_tokens_details.reasoning_tokens).toBeGreaterThan(0)
    const calls = first.output.filter((item) => item.type === 'function_call')
    expect(calls.map(({ name }) => name)).toEqual(['get_weather', 'get_time'])
    const outputs = calls.map(({ call_id }, at) => ({
      type: 'function_call_output' as const,
      call_id,
      output: `result ${at}`,
    }))
    const replayed = [...input, ...first.output, ...outputs] as OpenAI.Responses.ResponseInputItem[]
    const second = await client.responses.create({ ...ask, input: replayed })
    expect(second.output_text).toMatch(
      /The tools answered: result 0; result 1 It knows 1 of its thoughts again\./,
    )

    const changed = structuredClone(replayed)
    for (const item of changed) if (item.type === 'reasoning') item.encrypted_content = 'AAAA'
    await expect(client.responses.create({ ...ask, input: changed })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_encrypted_content',
    })
  })

  it('keep namespaces, and take free text for custom tools', async () => {
    const tools = [
      { type: 'namespace' as const, name: 'city', description: 'About cities.', tools: [weather] },
      { type: 'custom' as const, name: 'apply_patch', description: 'Patches.' },
      { type: 'web_search' as const },
    ]
    const input = 'apply_patch, then get_weather'
    const whole = await client.responses.create({ model, input, tools })
    expect(whole.output).toMatchObject([
      { type: 'function_call', name: 'get_weather', namespace: 'city' },
      { type: 'custom_tool_call', name: 'apply_patch', input },
    ])
    const streamed = await client.responses.stream({ model, input, tools }).finalResponse()
    expect(streamed.output).toMatchObject([{ arguments: '{"city":"demo"}' }, { input }])
  })

  it('can be continued, fetched and deleted while the vendor holds them', async () => {
    const first = await client.responses.create({ model, input: 'get_time', tools: [time] })
    const call = first.output[0]
    const call_id = call?.type === 'function_call' ? call.call_id : ''
    const second = await client.responses.create({
      model,
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id, output: 'noon' }],
    })
    expect(second.output_text).toContain('The tools answered: noon')
    expect((await client.responses.retrieve(first.id)).id).toBe(first.id)
    await client.responses.delete(first.id)
    await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 })
    await expect(
      client.responses.create({ model, previous_response_id: first.id, input: 'hi' }),
    ).rejects.toMatchObject({ code: 'previous_response_not_found' })
    const unheld = await client.responses.create({ model, input: 'not kept', store: false })
    await expect(client.responses.retrieve(unheld.id)).rejects.toMatchObject({ status: 404 })
  })

  it('answer in the JSON of a schema, and count input', async () => {
    const schema = { type: 'object', properties: { age: { type: 'integer', minimum: 3 } } }
    const answer = await client.responses.create({
      model,
      input: 'hi',
      text: { format: { type: 'json_schema', name: 'person', schema } },
    })
    expect(JSON.parse(answer.output_text)).toEqual({ age: 3 })
    const counted = await client.responses.inputTokens.count({ model, input: 'hello' })
    expect(counted).toMatchObject({ object: 'response.input_tokens', input_tokens: expect.any(Number) })
  })

  it('are refused where the vendor refuses', async () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' }
    const wrong: [RegExp, object][] = [
      [/Unknown parameter: 'messages'/, { input: 'hi', messages: [] }],
      [/input: expected a non-empty array/, { input: [] }],
      [/max_output_tokens: expected a number from 16/, { input: 'hi', max_output_tokens: 1 }],
      [
        /Supported values are: 'output_text', 'refusal'/,
        { input: [{ role: 'assistant', content: [{ type: 'input_text', text: 'a' }] }] },
      ],
      [/No tool output found for function call c1/, { input: [call] }],
      [
        /No tool call found for function call output with call_id c2/,
        { input: [{ type: 'function_call_output', call_id: 'c2', output: '' }] },
      ],
      [/Expected an ID that begins with 'fc'/, { input: [{ ...call, id: 'call_1' }] }],
      [
        /Missing required parameter: 'tools\[0\].name'/,
        { input: 'hi', tools: [{ type: 'function', function: { name: 'f' } }] },
      ],
      [/Items are not persisted/, { store: false, input: [{ type: 'reasoning', id: 'rs_1', summary: [] }] }],
      [/Item with id 'msg_1' not found/, { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ]
    for (const [words, body] of wrong) {
      await expect(client.post('/responses', { body: { model, ...body } }), String(words)).rejects.toThrow(
        words,
      )
    }
  })
})
