import { describe, expect, it } from 'vitest'
import type { TranslationNote } from '../../src/canonical/chat.ts'
import type { GatewayError } from '../../src/canonical/error.ts'
import { isRecord, type Json, recordsOf } from '../../src/canonical/json.ts'
import type { Traits } from '../../src/canonical/traits.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { upstreamSide } from '../../src/protocols/index.ts'
import { decodeRequest } from '../../src/protocols/openai-chat/decode-request.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'

/** Requests of a Chat client as upstreams with certain traits get them. */

const envelope = makeEnvelope(Buffer.alloc(32))
const hello = { role: 'user', content: 'hi' }
const schema = { type: 'object', properties: { a: { type: 'number', minimum: 3 } } }
const format = { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } }
const fn = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }
const forced = { tools: [fn], tool_choice: 'required' }

describe('optional parameters', () => {
  it('that a model does not take are left out, and noted unless they say the default', () => {
    const takes = { temperature: false, topP: false, seed: false, metadata: false, parallelToolCalls: false }
    const sent = encode(
      { temperature: 0.2, top_p: 1, seed: 3, ...forced, parallel_tool_calls: false },
      { takes },
    )
    expect(Object.keys(sent.body)).toEqual(['model', 'messages', 'tools', 'tool_choice'])
    expect(actions(sent.notes)).toEqual({
      temperature: 'dropped',
      top_p: 'mapped',
      seed: 'dropped',
      parallel_tool_calls: 'emulated',
    })
    const serial = encode({ ...forced, parallel_tool_calls: false }, { takes, parallelTools: false })
    expect(actions(serial.notes)).toEqual({ parallel_tool_calls: 'mapped' })
  })

  it.each<[Json, Json]>([
    [{ frequency_penalty: 0 }, { frequency_penalty: 'mapped' }],
    [{ presence_penalty: 1 }, { presence_penalty: 'dropped' }],
    [{ logit_bias: {} }, { logit_bias: 'mapped' }],
    [{ metadata: {} }, { metadata: 'mapped' }],
    [{ store: false }, { store: 'mapped' }],
    [{ store: true }, { store: 'dropped' }],
    [{ service_tier: 'auto' }, { service_tier: 'mapped' }],
    [{ service_tier: 'flex' }, { service_tier: 'dropped' }],
    [{ verbosity: 'low' }, { verbosity: 'dropped' }],
    [{ user: 'u' }, { user: 'dropped' }],
    [{ prompt_cache_key: 'k' }, { prompt_cache_key: 'dropped' }],
    [{ temperature: 1 }, { temperature: 'mapped' }],
  ])('%j is left out where the model takes none', (members, expected) => {
    const takes = Object.fromEntries(
      [
        ...['temperature', 'frequencyPenalty', 'presencePenalty', 'logitBias', 'metadata', 'store'],
        ...['serviceTier', 'verbosity', 'userId', 'cacheKey'],
      ].map((name) => [name, false]),
    )
    const { body, notes } = encode(members, { takes })
    expect(Object.keys(body)).toEqual(['model', 'messages'])
    expect(actions(notes)).toEqual(expected)
  })

  it('stay within the bounds of the model', () => {
    expect(encode({ temperature: 1.7 }, { temperatureMax: 1 })).toMatchObject({
      body: { temperature: 1 },
      notes: [{ path: 'temperature', action: 'clamped' }],
    })
    const both = encode({ temperature: 0.5, top_p: 0.9 }, { temperatureWithTopP: false })
    expect(both.body).toMatchObject({ temperature: 0.5 })
    expect(both.body).not.toHaveProperty('top_p')
    expect(actions(both.notes)).toEqual({ top_p: 'dropped' })
    expect(encode({ max_tokens: 9000 }, { maxOutputTokens: 8192 })).toMatchObject({
      body: { max_tokens: 8192 },
      notes: [{ path: 'max_tokens', action: 'clamped' }],
    })
    const noStop = encode({ stop: ['a'] }, { stopMax: 0 })
    expect(noStop.body).not.toHaveProperty('stop')
    expect(actions(noStop.notes)).toEqual({ stop: 'emulated' })
    expect(refusalOf({ stop: ['a', 'b'] }, { stopMax: 1 })).toBe('stop')
    expect(encode({ stop: ['1', '2', '3', '4', '5'] }, { stopMax: 8 }).body.stop).toHaveLength(5)
  })

  it('that only some upstreams know are sent where the traits say so', () => {
    expect(encode({ top_k: 5 }, { takes: { topK: true } })).toMatchObject({ body: { top_k: 5 }, notes: [] })
    const silent = encode({ stream: true }, { takes: { streamOptions: false } }).body
    expect(silent).toMatchObject({ stream: true })
    expect(silent).not.toHaveProperty('stream_options')
  })
})

describe('the bound of the output', () => {
  it.each([
    ['gpt-5', 'max_completion_tokens'],
    ['gpt-4o-mini', 'max_completion_tokens'],
    ['openai/o3-mini', 'max_completion_tokens'],
    ['ft:gpt-4o:acme::x', 'max_completion_tokens'],
    ['chatgpt-4o-latest', 'max_completion_tokens'],
    ['mistral-large-latest', 'max_tokens'],
    ['deepseek-chat', 'max_tokens'],
    ['openai/gpt-oss-120b', 'max_tokens'],
    ['qwen3-coder', 'max_tokens'],
    ['my-own', 'max_tokens'],
  ])('of %s is in %s', (model, member) => {
    const { body } = encode({ max_completion_tokens: 9 }, {}, 'openai-chat', model)
    expect(Object.keys(JSON.parse(JSON.stringify(body)))).toEqual(['model', 'messages', member])
  })

  it('is where the traits say, whatever the name', () => {
    const own = { outputBound: 'max_completion_tokens' } as const
    expect(encode({ max_tokens: 9 }, own).body).toMatchObject({ max_completion_tokens: 9 })
    const older = encode({ max_tokens: 9 }, { outputBound: 'max_tokens' }, 'openai-chat', 'gpt-4o').body
    expect(older).toMatchObject({ max_tokens: 9 })
  })
})

describe('thinking', () => {
  const thinkingOf = (
    members: Json,
    traits: Traits,
    protocol: ProtocolName = 'openai-chat',
    model = 'up',
  ) => {
    const { body, notes } = encode(members, traits, protocol, model)
    const config = isRecord(body.generationConfig) ? body.generationConfig.thinkingConfig : undefined
    const { reasoning_effort, enable_thinking, thinking_budget, reasoning, include } = body
    const sent = { reasoning_effort, enable_thinking, thinking_budget, reasoning, include, config }
    return [JSON.parse(JSON.stringify(sent)), notes.map(({ action }) => action).join()]
  }
  const effort = (word: string) => ({ reasoning_effort: word })
  const levels = (...effortLevels: Traits['effortLevels'] & object) => ({ effortLevels })

  it.each<[string, Traits, Json, string]>([
    ['high', { thinking: 'effort' }, effort('high'), ''],
    ['max', levels('low', 'medium', 'high'), effort('high'), 'clamped'],
    ['xhigh', levels('none', 'low', 'xhigh'), effort('xhigh'), ''],
    ['minimal', levels('none', 'low', 'high'), effort('low'), 'clamped'],
    ['medium', levels('low', 'high'), effort('low'), 'clamped'],
    ['medium', levels('high', 'max'), effort('high'), 'clamped'],
    ['none', levels('none', 'low'), effort('none'), ''],
    ['none', levels('minimal', 'low', 'medium'), effort('minimal'), 'clamped'],
    ['none', { thinking: 'none' }, {}, 'mapped'],
    ['none', { thinkingOff: false }, {}, 'dropped'],
    ['high', { thinking: 'none' }, {}, 'dropped'],
    ['high', levels(), {}, 'dropped'],
    ['high', { thinking: 'budget' }, { enable_thinking: true, thinking_budget: 24_576 }, 'mapped'],
    [
      'high',
      { thinking: 'budget', thinkingBudgetMax: 9000 },
      { enable_thinking: true, thinking_budget: 9000 },
      'clamped',
    ],
    ['none', { thinking: 'budget', thinkingBudgetMin: 512 }, { enable_thinking: false }, 'mapped'],
  ])('with the effort %s for %j', (word, traits, sent, actions) => {
    expect(thinkingOf(effort(word), traits)).toEqual([sent, actions])
  })

  it('is not a loss where the model never thinks and the client leaves it open', () => {
    const open = { reasoning: { summary: 'auto' } }
    expect(thinkingOf(open, { thinking: 'none' }, 'openai-responses')).toEqual([{}, 'mapped,defaulted'])
  })

  it('is a loss where the client wants none and the model always thinks, without taking a word about it', () => {
    expect(thinkingOf(effort('none'), { thinking: 'none' })).toEqual([{}, 'mapped'])
    expect(thinkingOf(effort('none'), { thinking: 'none', thinkingOff: false })).toEqual([{}, 'dropped'])
  })

  it('gives way to a call that is forced, where the model cannot have both', () => {
    const traits: Traits = { forcedToolsWhileThinking: false, ...levels('none', 'low', 'high') }
    expect(thinkingOf({ ...forced, ...effort('high') }, traits)).toEqual([effort('none'), 'dropped'])
    expect(thinkingOf(forced, traits)).toEqual([effort('none'), 'mapped'])
    expect(thinkingOf(forced, { ...traits, thinkingDefault: false })).toEqual([{}, ''])
    expect(thinkingOf({ tools: [fn], ...effort('high') }, traits)).toEqual([effort('high'), ''])
    expect(thinkingOf({ ...forced, ...effort('high') }, { ...traits, effortLevels: ['low'] })).toEqual([
      {},
      'dropped',
    ])
  })

  it('is told to Responses upstreams only if they think', () => {
    const asks = (members: Json, traits: Traits) => thinkingOf(members, traits, 'openai-responses')
    const include = ['reasoning.encrypted_content']
    expect(asks(effort('max'), levels('low', 'high'))).toEqual([
      { reasoning: { effort: 'high', summary: 'auto' }, include },
      'clamped,defaulted',
    ])
    expect(asks(effort('high'), { thinking: 'none' })).toEqual([{}, 'dropped,defaulted'])
    expect(asks(effort('none'), levels('minimal', 'low'))).toEqual([
      { reasoning: { effort: 'minimal' }, include },
      'clamped,defaulted',
    ])
  })

  it('has the bounds of the traits for Gemini upstreams, before those of the name', () => {
    const config = (members: Json, traits: Traits, model: string) =>
      thinkingOf(members, traits, 'gemini', model)
    expect(config(effort('minimal'), levels('minimal', 'low'), 'gemini-3-flash')).toEqual([
      { config: { thinkingLevel: 'MINIMAL', includeThoughts: true } },
      '',
    ])
    expect(config(effort('medium'), levels('low', 'high'), 'gemini-3-pro')).toEqual([
      { config: { thinkingLevel: 'LOW', includeThoughts: true } },
      'clamped',
    ])
    const lite: Traits = { thinking: 'budget', thinkingBudgetMin: 512, thinkingBudgetMax: 24_576 }
    expect(config({ reasoning: { max_tokens: 100 } }, lite, 'gemini-2.5-flash-lite')).toEqual([
      { config: { thinkingBudget: 512, includeThoughts: true } },
      'clamped',
    ])
    expect(config(effort('high'), { thinking: 'none' }, 'gemini-2.0-flash')).toEqual([{}, 'dropped'])
  })
})

describe('tools', () => {
  it('are refused by name where the model takes none, or cannot be made to call one', () => {
    for (const protocol of ['openai-chat', 'openai-responses', 'gemini'] as const) {
      expect(refusalOf({ tools: [fn] }, { tools: false }, protocol)).toBe('tools[0]')
      expect(refusalOf(forced, { forcedTools: false }, protocol)).toBe('tool_choice')
    }
    const idle = encode({ tools: [fn], tool_choice: 'none' }, { tools: false })
    expect(Object.keys(idle.body)).toEqual(['model', 'messages'])
    expect(actions(idle.notes)).toEqual({ tools: 'mapped' })
  })

  it('are strict only where the model takes that, and their schema', () => {
    const strict = (parameters: Json) => ({
      tools: [{ type: 'function', function: { name: 'f', parameters, strict: true } }],
    })
    const closed = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    }
    const strictOf = (members: Json, traits: Traits) => {
      const { body, notes } = encode(members, traits)
      return [recordsOf(body.tools)[0]?.function, actions(notes)]
    }
    expect(strictOf(strict(closed), { schema: 'openai-strict' })).toEqual([
      { name: 'f', parameters: closed, strict: true },
      {},
    ])
    expect(strictOf(strict(closed), { strictTools: false })).toEqual([
      { name: 'f', parameters: closed },
      { 'tools[0].strict': 'dropped' },
    ])
    const open = { ...closed, required: [] }
    expect(strictOf(strict(open), { schema: 'openai-strict' })).toEqual([
      { name: 'f', parameters: open },
      { 'tools[0].strict': 'dropped' },
    ])
  })

  it('of free text are functions with one text where the model has no custom tools', () => {
    const custom = { type: 'custom', custom: { name: 'patch', description: 'Patches.' } }
    const members = {
      tools: [custom],
      tool_choice: { type: 'custom', custom: { name: 'patch' } },
      messages: [
        hello,
        {
          role: 'assistant',
          tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'patch', input: '***' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: 'ok' },
      ],
    }
    const chat = encode(members, {})
    expect(chat.body).toMatchObject({
      tools: [{ type: 'function', function: { name: 'patch', parameters: { required: ['input'] } } }],
      tool_choice: { type: 'function', function: { name: 'patch' } },
      messages: [{}, { tool_calls: [{ type: 'function', function: { arguments: '{"input":"***"}' } }] }, {}],
    })
    expect(actions(chat.notes)).toEqual({ 'tools[0]': 'emulated' })
    const responses = encode(members, { customTools: false }, 'openai-responses').body
    expect(responses).toMatchObject({
      tools: [{ type: 'function', name: 'patch', strict: false }],
      tool_choice: { type: 'function', name: 'patch' },
      input: [{}, { type: 'function_call', arguments: '{"input":"***"}' }, { type: 'function_call_output' }],
    })
    expect(encode(members, { customTools: true }).body).toMatchObject({ tools: [custom] })
    expect(encode(members, {}, 'openai-chat', 'gpt-5').body).toMatchObject({ tools: [custom] })
  })

  it('mean nothing in a choice without them, and a note says so', () => {
    for (const protocol of ['openai-chat', 'openai-responses'] as const) {
      const { body, notes } = encode(
        { tools: [], tool_choice: 'auto', parallel_tool_calls: true },
        {},
        protocol,
      )
      expect(body).not.toHaveProperty('tool_choice')
      expect(actions(notes)).toMatchObject({
        tools: 'mapped',
        tool_choice: 'mapped',
        parallel_tool_calls: 'mapped',
      })
    }
  })
})

describe('a format', () => {
  const json = { response_format: { type: 'json_object' } }
  const firstMessage = ({ body }: { body: Json }) => recordsOf(body.messages)[0]

  it('is an instruction where the model has no JSON mode or no schemas', () => {
    const plain = encode(json, { jsonMode: false })
    expect(plain.body.response_format).toBeUndefined()
    expect(firstMessage(plain)).toEqual({
      role: 'system',
      content: expect.stringMatching(/^Answer with one JSON object/),
    })
    expect(actions(plain.notes)).toEqual({ response_format: 'emulated' })

    const messages = [{ role: 'system', content: 'Be kind.' }, hello]
    const shown = encode({ response_format: format, messages }, { schema: 'none', jsonMode: true })
    expect(shown.body.response_format).toEqual({ type: 'json_object' })
    expect(recordsOf(shown.body.messages)).toMatchObject([
      { content: 'Be kind.' },
      { role: 'system', content: expect.stringContaining(JSON.stringify(schema)) },
      { role: 'user' },
    ])
    expect(encode({ response_format: format }, { schema: 'none' }).body.response_format).toBeUndefined()
  })

  it.each<[ProtocolName, Traits]>([
    ['openai-chat', { schema: 'none', jsonMode: true }],
    ['openai-chat', { schema: 'none' }],
    ['anthropic-messages', { schema: 'none' }],
    ['gemini', { toolsWithFormat: false }],
  ])('an instruction leaves a model with tools free to call one: %s %o', (protocol, traits) => {
    const asks = { response_format: format }
    expect(JSON.stringify(encode(asks, { schema: 'none' }, protocol).body)).toContain('Answer with one JSON')
    const withTools = JSON.stringify(encode({ ...asks, tools: [fn] }, traits, protocol).body)
    expect(withTools).toContain('If you do not call a tool, answer with one JSON')
  })

  it('has a schema that the vendor takes, and the note says what was taken out', () => {
    const { body, notes } = encode({ response_format: format }, { schema: 'openai-strict' })
    const sent = isRecord(body.response_format) ? body.response_format.json_schema : undefined
    expect(sent).toMatchObject({
      schema: { required: ['a'], additionalProperties: false },
      strict: true,
    })
    expect(notes).toMatchObject([{ path: 'response_format', action: 'emulated' }])
    const loose = { ...format, json_schema: { name: 'n', schema } }
    expect(encode({ response_format: loose }, { schema: 'openai-strict' }).body.response_format).toEqual(
      loose,
    )
  })

  it('that the vendor cannot enforce is shown to the model', () => {
    const free = { type: 'object', additionalProperties: { type: 'number' } }
    const wish = {
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: free, strict: true } },
    }
    const { body, notes } = encode(wish, { schema: 'openai-strict' })
    expect(body.response_format).toEqual({ type: 'json_schema', json_schema: { name: 'n', schema: free } })
    expect(actions(notes)).toEqual({ response_format: 'emulated' })
  })

  it('beside tools is an instruction for Gemini before 3, which refuses both together', () => {
    const both = { tools: [fn], response_format: format }
    const { body, notes } = encode(both, {}, 'gemini', 'gemini-2.5-flash')
    expect(body).not.toHaveProperty('generationConfig')
    expect(body.tools).toHaveLength(1)
    expect(JSON.stringify(body.systemInstruction)).toContain(
      'If you do not call a tool, answer with one JSON object',
    )
    expect(actions(notes)).toEqual({ response_format: 'emulated' })
    const now = encode(both, {}, 'gemini', 'gemini-3-pro').body
    expect(now.generationConfig).toMatchObject({ responseMimeType: 'application/json' })
    const alone = encode({ response_format: format }, {}, 'gemini', 'gemini-2.5-flash').body
    expect(alone.generationConfig).toMatchObject({ responseMimeType: 'application/json' })
    // The model calls the tool: the format would only hold for a text that does not come.
    const call = { ...both, tool_choice: 'required' }
    expect(encode(call, {}, 'gemini', 'gemini-2.5-flash').body).toHaveProperty('toolConfig')
  })
})

describe('content', () => {
  const image = (url: string) => ({ type: 'image_url', image_url: { url } })
  const file = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } }
  const says = (...content: Json[]) => ({ messages: [{ role: 'user', content }] })

  it('that the model does not read is refused by its path, in results too', () => {
    const blind: Traits = { input: ['text'] }
    for (const protocol of ['openai-chat', 'openai-responses', 'gemini'] as const) {
      const path = 'messages[0].content[1]'
      const text = { type: 'text', text: 'a' }
      expect(refusalOf(says(text, image('data:image/png;base64,AA')), blind, protocol)).toBe(path)
      expect(refusalOf(says(text, file), blind, protocol)).toBe(path)
      expect(() => encode(says(text, file), { input: ['text', 'document'] }, protocol)).not.toThrow()
    }
    const result = { role: 'tool', tool_call_id: 'c', content: [image('data:image/png;base64,AA')] }
    expect(refusalOf({ messages: [hello, result] }, blind)).toBe('messages[1].content[0]')
    const text = says({ type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,YQ==' } })
    expect(refusalOf(text, blind)).toBe('messages[0].content[0]')
  })

  it('at a URL is refused where the upstream fetches none', () => {
    for (const protocol of ['openai-chat', 'openai-responses', 'gemini'] as const) {
      const web = says(image('https://a.example/b.png'))
      expect(refusalOf(web, { fetchesUrls: false }, protocol)).toBe('messages[0].content[0]')
      expect(() => encode(web, { fetchesUrls: true }, protocol)).not.toThrow()
    }
    const stored = encode(says(image('gs://bucket/b.png')), { fetchesUrls: false }, 'gemini').body
    expect(recordsOf(stored.contents)[0]?.parts).toEqual([
      { fileData: { mimeType: 'image/png', fileUri: 'gs://bucket/b.png' } },
    ])
  })

  it('has the media type that the vendor knows', () => {
    const { body } = encode(says(image('data:image/jpg;base64,AA')), {}, 'gemini')
    expect(recordsOf(body.contents)[0]?.parts).toEqual([
      { inlineData: { mimeType: 'image/jpeg', data: 'AA' } },
    ])
  })

  it('of instructions is where the model reads it, in the role that it knows', () => {
    const messages = [
      { role: 'system', content: 'one' },
      { role: 'developer', content: 'two' },
      hello,
      { role: 'system', content: 'three' },
    ]
    const strict = encode({ messages }, { laterInstructions: false })
    expect(strict.body.messages).toEqual([
      { role: 'system', content: 'one\n\ntwo' },
      hello,
      { role: 'user', content: 'three' },
    ])
    expect(actions(strict.notes)).toEqual({ 'messages[1]': 'mapped', 'messages[3]': 'mapped' })
    const single = encode({ messages }, { severalInstructions: false })
    expect(single.body.messages).toEqual([{ role: 'system', content: 'one\n\ntwo\n\nthree' }, hello])
    expect(actions(single.notes)).toEqual({ 'messages[1]': 'mapped', 'messages[3]': 'mapped' })
    const free = encode({ messages }, { developerRole: true })
    expect(recordsOf(free.body.messages).map(({ role }) => role)).toEqual([
      'system',
      'developer',
      'user',
      'system',
    ])
    expect(free.notes).toEqual([])
  })
})

it('texts of a turn are joined where the model takes no parts, but not beside a picture', () => {
  const parts = [
    { type: 'text', text: 'one' },
    { type: 'text', text: 'two' },
  ]
  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
  const contentOf = (content: unknown, traits: Traits, model?: string) =>
    recordsOf(
      encode({ messages: [{ role: 'user', content }] }, traits, 'openai-chat', model).body.messages,
    )[0]?.content
  expect(contentOf(parts, {})).toBe('one\n\ntwo')
  expect(contentOf(parts, { textParts: true })).toEqual(parts)
  expect(contentOf(parts, {}, 'gpt-5')).toEqual(parts)
  expect(contentOf(parts, { textParts: false }, 'gpt-5')).toBe('one\n\ntwo')
  expect(contentOf([...parts, picture], {})).toEqual([...parts, picture])
})

function encode(members: Json, traits: Traits, protocol: ProtocolName = 'openai-chat', upstreamModel = 'up') {
  const request = decodeRequest({ model: 'm', messages: [hello], ...members }, { envelope })
  const context = { upstreamModel, traits, maxOutputTokensDefault: 4096 }
  const { body, notes } = upstreamSide(protocol).encodeRequest(request, context)
  const sent: Json = JSON.parse(JSON.stringify(body))
  return { body: sent, notes }
}

function actions(notes: readonly TranslationNote[]): Json {
  return Object.fromEntries(notes.map(({ path, action }) => [path, action]))
}

function refusalOf(
  members: Json,
  traits: Traits,
  protocol: ProtocolName = 'openai-chat',
): string | undefined {
  try {
    encode(members, traits, protocol)
  } catch (error) {
    const { kind, field } = error as GatewayError
    expect(kind).toBe('unsupported_parameter')
    return field
  }
  return undefined
}
