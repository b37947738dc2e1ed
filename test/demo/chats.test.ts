import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { type Demo, startDemo } from 'tollgate-demo/server.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isRecord, recordsOf } from '../../src/canonical/json.ts'

let demo: Demo
let openai: OpenAI
let anthropic: Anthropic

beforeAll(async () => {
  demo = await startDemo({ eventDelayMs: 0 })
  openai = new OpenAI({ apiKey: 'none', baseURL: `${demo.url}/v1`, maxRetries: 0 })
  anthropic = new Anthropic({ apiKey: 'none', baseURL: demo.url, maxRetries: 0 })
})
afterAll(() => demo.close())

const model = 'demo-chat'
const thought = 'The demo channel thinks in canned words too.'
const parameters = { type: 'object' as const, properties: { city: { type: 'string' } } }
const schema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: ['integer', 'null'], minimum: 18 },
    tags: { type: 'array', items: { $ref: '#/$defs/tag' } },
    next: { anyOf: [{ $ref: '#' }, { type: 'null' }] },
    extra: { type: 'boolean' },
  },
  required: ['name', 'age', 'tags', 'next'],
  $defs: { tag: { enum: ['red', 'green'] } },
}
const sample = { name: 'demo', age: 18, tags: ['red'], next: null }

/** A question, as each format's own client asks it. */
interface Question {
  said: string
  stream?: boolean
  tools?: string[]
  choice?: 'none' | 'required' | { name: string }
  tokensMax?: number
  thinks?: boolean
  schema?: object
}

interface Answer {
  text: string
  calls: unknown[]
  thought: string
  finish: unknown
  inputTokens: number
  outputTokens: number
}

describe.each([
  ['chat.completions', askChat, { stop: 'stop', cut: 'length', call: 'tool_calls' }],
  ['responses', askResponses, { stop: 'completed', cut: 'incomplete', call: 'completed' }],
  ['messages', askMessages, { stop: 'end_turn', cut: 'max_tokens', call: 'tool_use' }],
  ['generateContent', askGemini, { stop: 'STOP', cut: 'MAX_TOKENS', call: 'STOP' }],
])('the demo’s %s', (name, ask, finish) => {
  const both = async (question: Question): Promise<Answer> => {
    const whole = await ask({ ...question, stream: false })
    expect(await ask({ ...question, stream: true })).toEqual(whole)
    return whole
  }

  it('says that it is a demo and repeats the question, streamed and whole', async () => {
    const { inputTokens, outputTokens, ...answer } = await both({ said: 'hello there' })
    expect(answer).toEqual({
      text: 'This is the demo channel of Tollgate; no model is behind it. You said: "hello there"',
      calls: [],
      thought: '',
      finish: finish.stop,
    })
    expect(inputTokens).toBeGreaterThan(0)
    expect(outputTokens).toBeGreaterThan(10)
    const long = await both({ said: '🐈'.repeat(20_000) })
    expect(long.text.length).toBeLessThan(600)
    expect(long.inputTokens).toBeGreaterThan(10_000)
  })

  it('calls the first tool that the user names, and no other', async () => {
    const tools = ['get_news', 'get_weather', 'get_time']
    const answer = await both({ said: 'Call get_weather, then get_time.', tools })
    expect(answer).toMatchObject({
      text: '',
      calls: [{ name: 'get_weather', input: { city: 'demo' } }],
      finish: finish.call,
    })
    expect((await both({ said: 'What about get_weather_maps?', tools })).calls).toEqual([])
  })

  it('obeys the tool choice', async () => {
    const tools = ['get_news', 'get_time']
    const calls = async (question: Question) => (await both({ tools, ...question })).calls
    expect(await calls({ said: 'hi', choice: 'required' })).toMatchObject([{ name: 'get_news' }])
    expect(await calls({ said: 'get_time', choice: 'required' })).toMatchObject([{ name: 'get_time' }])
    expect(await calls({ said: 'hi', choice: { name: 'get_time' } })).toMatchObject([{ name: 'get_time' }])
    expect(await calls({ said: 'get_time', choice: 'none' })).toEqual([])
    const lost = ask({ said: 'get_time', tools, choice: { name: 'get_lost' } })
    await expect(lost).rejects.toThrow('contains no function that its tool choice allows')
  })

  it('never says more than the client allows, and says that it was cut off', async () => {
    const cut = await both({ said: 'hi', tokensMax: 4 })
    expect(cut).toMatchObject({ text: 'This is the demo', finish: finish.cut, outputTokens: 4 })
    const halfCall = await both({ said: 'get_time', tools: ['get_time'], tokensMax: 1 })
    expect(halfCall).toMatchObject({ calls: [], finish: finish.cut, outputTokens: 1 })
    const thinking = await both({ said: 'hi', tokensMax: 8, thinks: true })
    expect(thinking).toMatchObject({ finish: finish.cut, outputTokens: 8 })
  })

  it('thinks when the request asks for it, except over Responses', async () => {
    const answer = await both({ said: 'hi', thinks: true })
    expect(answer.thought).toBe(name === 'responses' ? '' : thought)
    expect(answer.text).toContain('You said: "hi"')
  })

  it('answers in the JSON of a schema', async () => {
    expect(JSON.parse((await both({ said: 'hi', schema })).text)).toEqual(sample)
  })
})

describe('the demo', () => {
  it('answers tool results in text, whatever else the message says', async () => {
    const chat = await openai.chat.completions.create({
      model,
      tools: [{ type: 'function', function: { name: 'f', parameters } }],
      tool_choice: 'required',
      messages: [
        { role: 'user', content: 'f' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'sunny' },
      ],
    })
    expect(chat.choices[0]?.message.content).toContain('The tools answered: sunny')
    const { content } = await anthropic.messages.create({
      model,
      max_tokens: 100,
      tools: [{ name: 'f', input_schema: parameters }],
      messages: [
        { role: 'user', content: 'f' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'sunny' }] },
            { type: 'text', text: 'Remember f.' },
          ],
        },
      ],
    })
    expect(content).toMatchObject([{ text: expect.stringContaining('The tools answered: sunny') }])
    const { output_text } = await openai.responses.create({
      model,
      input: [
        { role: 'user', content: 'f' },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'sunny' },
      ],
    })
    expect(output_text).toContain('The tools answered: sunny')
    const { text } = await postGemini('generateContent', {
      contents: [
        { role: 'user', parts: [{ text: 'f' }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'sunny' } } }] },
      ],
    })
    expect(text).toContain('The tools answered: {\\"output\\":\\"sunny\\"}')
  })

  it('answers with any JSON object if the client asks for JSON without a schema', async () => {
    const messages = [{ role: 'user' as const, content: 'JSON, please' }]
    const response_format = { type: 'json_object' as const }
    const { choices } = await openai.chat.completions.create({ model, messages, response_format })
    expect(choices[0]?.message.content).toBe('{"reply":"demo"}')
  })

  it('ends its answer even if a schema contains itself without end', async () => {
    const names = Array.from({ length: 50 }, (_, at) => `child_${at}`)
    const properties = Object.fromEntries(names.map((name) => [name, { $ref: '#' }]))
    const { text } = await askChat({ said: 'hi', schema: { type: 'object', properties, required: names } })
    expect(Object.keys(JSON.parse(text))).toEqual(names)
    expect(text.length).toBeLessThan(50_000)
  })

  it('numbers the events of Responses without a gap, in the vendor’s order', async () => {
    const stream = await openai.responses.create({ model, input: 'hi', stream: true })
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
  })

  it('gives the same answer to the same request', async () => {
    const ask = () => openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'hi' }] })
    const [first, second] = [await ask(), await ask()]
    expect({ ...second, created: 0 }).toEqual({ ...first, created: 0 })
  })

  it('counts the input as its answers do', async () => {
    const messages = [{ role: 'user' as const, content: 'hello there' }]
    const answer = await anthropic.messages.create({ model, max_tokens: 100, messages })
    const { input_tokens } = await anthropic.messages.countTokens({ model, messages })
    expect(input_tokens).toBe(answer.usage.input_tokens)
    const { usage } = await openai.responses.create({ model, input: 'hello' })
    expect(await openai.responses.inputTokens.count({ model, input: 'hello' })).toMatchObject({
      object: 'response.input_tokens',
      input_tokens: usage?.input_tokens,
    })
  })

  it('refuses requests that it cannot answer, in the format of the path', async () => {
    const messages = [{ role: 'user' as const, content: 'hi' }]
    await expect(openai.chat.completions.create({ model, messages: [] })).rejects.toThrow(
      /^400 The request contains no message to respond to/,
    )
    await expect(openai.chat.completions.create({ model, messages, n: 2 })).rejects.toThrow(
      /^400 .*one choice/,
    )
    await expect(
      openai.chat.completions.create({ model, messages, tools: [], tool_choice: 'required' }),
    ).rejects.toBeInstanceOf(OpenAI.BadRequestError)
    await expect(openai.responses.retrieve('resp_1')).rejects.toBeInstanceOf(OpenAI.NotFoundError)
    await expect(openai.models.list()).rejects.toThrow(/^404 .*not GET \/v1\/models/)
    const empty = anthropic.messages.create({ model, max_tokens: 10, messages: [] })
    await expect(empty).rejects.toMatchObject({ status: 400, type: 'invalid_request_error' })
    await expect(postGemini('embedContent', {})).rejects.toThrow(/"status":"NOT_FOUND"/)
    const broken = await fetch(`${demo.url}/v1/messages`, { method: 'POST', body: '{"model"' })
    expect([broken.status, await broken.json()]).toMatchObject([400, { type: 'error' }])
  })

  it('refuses a body that is too large, and stays up', async () => {
    const body = Buffer.alloc(32 * 1024 * 1024 + 1, ' ')
    const refused = await fetch(`${demo.url}/v1/chat/completions`, { method: 'POST', body })
    expect([refused.status, await refused.json()]).toMatchObject([
      413,
      { error: { message: expect.stringContaining('at most 33554432 bytes') } },
    ])
    expect((await askChat({ said: 'hi' })).text).toContain('hi')
  })

  it('survives a client that goes away in the middle', async () => {
    const messages = [{ role: 'user' as const, content: 'x '.repeat(200) }]
    const stream = await openai.chat.completions.create({ model, messages, stream: true })
    for await (const _ of stream) break
    expect((await askChat({ said: 'hi' })).text).toContain('hi')
  })
})

async function askChat(question: Question): Promise<Answer> {
  const { said, stream, tools, choice, tokensMax, thinks, schema } = question
  const params: Omit<OpenAI.ChatCompletionCreateParamsNonStreaming, 'stream'> = {
    model,
    messages: [{ role: 'user', content: said }],
    ...(tools && { tools: tools.map((name) => ({ type: 'function', function: { name, parameters } })) }),
    ...(choice && {
      tool_choice: typeof choice === 'string' ? choice : { type: 'function', function: choice },
    }),
    ...(tokensMax && { max_completion_tokens: tokensMax }),
    ...(thinks && { reasoning_effort: 'low' }),
    ...(schema && {
      response_format: { type: 'json_schema', json_schema: { name: 's', schema: { ...schema } } },
    }),
  }
  let streamed = ''
  let completion: OpenAI.ChatCompletion
  if (stream === true) {
    const runner = openai.chat.completions.stream({ ...params, stream_options: { include_usage: true } })
    for await (const chunk of runner) {
      const delta = chunk.choices[0]?.delta
      if (isRecord(delta) && typeof delta.reasoning_content === 'string') streamed += delta.reasoning_content
    }
    completion = await runner.finalChatCompletion()
  } else completion = await openai.chat.completions.create(params)
  const [{ message, finish_reason } = {}] = completion.choices
  const whole =
    isRecord(message) && typeof message.reasoning_content === 'string' ? message.reasoning_content : ''
  return {
    text: message?.content ?? '',
    calls: (message?.tool_calls ?? []).flatMap((call) =>
      call.type === 'function'
        ? [{ name: call.function.name, input: JSON.parse(call.function.arguments) }]
        : [],
    ),
    thought: stream === true ? streamed : whole,
    finish: finish_reason,
    inputTokens: completion.usage?.prompt_tokens ?? 0,
    outputTokens: completion.usage?.completion_tokens ?? 0,
  }
}

async function askResponses(question: Question): Promise<Answer> {
  const { said, stream, tools, choice, tokensMax, thinks, schema } = question
  const params: Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'> = {
    model,
    input: said,
    ...(tools && { tools: tools.map((name) => ({ type: 'function', name, parameters, strict: false })) }),
    ...(choice && { tool_choice: typeof choice === 'string' ? choice : { type: 'function', ...choice } }),
    ...(tokensMax && { max_output_tokens: tokensMax }),
    ...(thinks && { reasoning: { effort: 'low' } }),
    ...(schema && { text: { format: { type: 'json_schema', name: 's', schema: { ...schema } } } }),
  }
  const response =
    stream === true
      ? await openai.responses.stream(params).finalResponse()
      : await openai.responses.create(params)
  return {
    text: response.output_text,
    calls: response.output.flatMap((item) =>
      item.type === 'function_call' ? [{ name: item.name, input: JSON.parse(item.arguments) }] : [],
    ),
    thought: response.output.some(({ type }) => type === 'reasoning') ? 'some' : '',
    finish: response.status,
    inputTokens: response.usage?.input_tokens ?? 0,
    outputTokens: response.usage?.output_tokens ?? 0,
  }
}

async function askMessages(question: Question): Promise<Answer> {
  const { said, stream, tools, choice, tokensMax, thinks, schema } = question
  const params: Omit<Anthropic.MessageCreateParamsNonStreaming, 'stream'> = {
    model,
    max_tokens: tokensMax ?? 1000,
    messages: [{ role: 'user', content: said }],
    ...(tools && { tools: tools.map((name) => ({ name, input_schema: parameters })) }),
    ...(choice && {
      tool_choice:
        choice === 'none'
          ? { type: 'none' }
          : choice === 'required'
            ? { type: 'any' }
            : { type: 'tool', ...choice },
    }),
    ...(thinks && { thinking: { type: 'adaptive' } }),
    ...(schema && { output_config: { format: { type: 'json_schema', schema: { ...schema } } } }),
  }
  const { content, stop_reason, usage } =
    stream === true
      ? await anthropic.messages.stream(params).finalMessage()
      : await anthropic.messages.create(params)
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ name: block.name, input: block.input }] : [],
    ),
    thought: content
      .map((block) => (block.type === 'thinking' && block.signature ? block.thinking : ''))
      .join(''),
    finish: stop_reason,
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
  }
}

async function askGemini(question: Question): Promise<Answer> {
  const { said, stream, tools, choice, tokensMax, thinks, schema } = question
  const { parts, finish, usage } = await postGemini(
    stream === true ? 'streamGenerateContent' : 'generateContent',
    {
      contents: [{ role: 'user', parts: [{ text: said }] }],
      tools: [
        { functionDeclarations: tools?.map((name) => ({ name, parametersJsonSchema: parameters })) ?? [] },
      ],
      ...(choice && {
        toolConfig: {
          functionCallingConfig:
            choice === 'none'
              ? { mode: 'NONE' }
              : { mode: 'ANY', ...(choice !== 'required' && { allowedFunctionNames: [choice.name] }) },
        },
      }),
      generationConfig: {
        maxOutputTokens: tokensMax,
        thinkingConfig: { includeThoughts: thinks === true },
        ...(schema && { responseMimeType: 'application/json', responseJsonSchema: schema }),
      },
    },
  )
  const textOf = (isThought: boolean) =>
    parts.map(({ text, thought }) => ((thought === true) === isThought ? (text ?? '') : '')).join('')
  return {
    text: textOf(false),
    calls: parts.flatMap(({ functionCall: call }) =>
      isRecord(call) ? [{ name: call.name, input: call.args }] : [],
    ),
    thought: textOf(true),
    finish,
    inputTokens: Number(usage.promptTokenCount),
    outputTokens: Number(usage.candidatesTokenCount) + Number(usage.thoughtsTokenCount),
  }
}

/** Handwritten, because no client of the gateway speaks this format. */
async function postGemini(verb: string, body: object) {
  const response = await fetch(`${demo.url}/v1beta/models/${model}:${verb}?alt=sse`, {
    method: 'POST',
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  const chunks: unknown[] = isStream
    ? text
        .trimEnd()
        .split('\n\n')
        .map((frame) => JSON.parse(frame.replace(/^data: /, '')))
    : [JSON.parse(text)]
  const last = chunks.filter(isRecord).at(-1) ?? {}
  const candidates = chunks.flatMap((chunk) => (isRecord(chunk) ? recordsOf(chunk.candidates) : []))
  return {
    text,
    parts: candidates.flatMap(({ content }) => (isRecord(content) ? recordsOf(content.parts) : [])),
    finish: candidates.at(-1)?.finishReason,
    usage: isRecord(last.usageMetadata) ? last.usageMetadata : {},
  }
}
