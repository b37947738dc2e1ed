import { describe, expect, it } from 'vitest'
import type { ReasoningSignature } from '../../src/canonical/chat.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import type { Json } from '../../src/canonical/json.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { decodeRequest } from '../../src/protocols/openai-chat/decode-request.ts'

const envelope = makeEnvelope(Buffer.alloc(32, 1))
const user = { role: 'user', content: 'hi' }

describe('a decoded chat request', () => {
  it('has every setting in its canonical member, under the name that the client used', () => {
    const request = decode({
      max_completion_tokens: 7,
      n: 2,
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      seed: 1,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      logit_bias: { 5: 1 },
      stop: 'END',
      logprobs: true,
      top_logprobs: 3,
      reasoning_effort: 'high',
      verbosity: 'low',
      safety_identifier: 'u',
      metadata: { a: 'b' },
      service_tier: 'flex',
      store: true,
      prompt_cache_key: 'k',
      parallel_tool_calls: false,
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(request).toMatchObject({
      model: 'm',
      stream: true,
      maxOutputTokens: 7,
      choices: 2,
      temperature: 0.5,
      topP: 0.9,
      topK: 5,
      seed: 1,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      logitBias: { 5: 1 },
      stop: ['END'],
      logprobs: { top: 3 },
      reasoning: { effort: 'high' },
      verbosity: 'low',
      userId: 'u',
      metadata: { a: 'b' },
      serviceTier: 'flex',
      store: true,
      cacheKey: 'k',
      parallelToolCalls: false,
      unmapped: [],
      names: { choices: 'n', maxOutputTokens: 'max_completion_tokens', userId: 'safety_identifier' },
    })
  })

  it('takes null for absent', () => {
    const { turns: _, ...plain } = decode({})
    const { turns: __, ...nulled } = decode({
      temperature: null,
      tools: null,
      tool_choice: null,
      stop: null,
      response_format: null,
      audio: null,
      moderation: null,
      metadata: null,
      anything: null,
    })
    expect(nulled).toEqual(plain)
  })

  it.each([
    [{ modalities: ['text', 'audio'] }, 'modalities', 'refuse'],
    [{ moderation: { model: 'x' } }, 'moderation', 'refuse'],
    [{ response_format: { type: 'grammar' } }, 'response_format.type', 'refuse'],
    [{ audio: { voice: 'x' } }, 'audio', 'drop'],
    [{ prediction: { type: 'content', content: '' } }, 'prediction', 'drop'],
    [{ prompt_cache_options: {} }, 'prompt_cache_options', 'drop'],
    [{ prompt_cache_retention: '24h' }, 'prompt_cache_retention', 'drop'],
    [{ top_logprobs: 2 }, 'top_logprobs', 'drop'],
    [{ stream_options: { include_obfuscation: true } }, 'stream_options.include_obfuscation', 'drop'],
    [{ stream_options: { made_up: 1 } }, 'stream_options.made_up', 'drop'],
    [{ min_p: 0.1 }, 'min_p', 'drop'],
    [{ max_tokens: 5, max_completion_tokens: 6 }, 'max_tokens', 'drop'],
    [{ messages: [{ ...user, name: 'Ann' }] }, 'messages[0].name', 'drop'],
    [{ messages: [{ ...user, mood: 'x' }] }, 'messages[0].mood', 'drop'],
    [{ messages: [{ role: 'assistant', audio: { id: 'a' } }] }, 'messages[0].audio', 'refuse'],
    [
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'a', extra: 1 }] }] },
      'messages[0].content[0].extra',
      'drop',
    ],
    [{ tools: [{ type: 'function', function: { name: 'f', extra: 1 } }] }, 'tools[0].function.extra', 'drop'],
    [{ tools: [] }, 'tools', 'map'],
    [
      { tools: [{ type: 'custom', custom: { name: 'c', format: { type: 'text', x: 1 } } }] },
      'tools[0].custom.format.x',
      'drop',
    ],
    [
      {
        tools: [
          {
            type: 'custom',
            custom: {
              name: 'c',
              format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x', flags: 'i' } },
            },
          },
        ],
      },
      'tools[0].custom.format.grammar.flags',
      'drop',
    ],
    [called({ id: 'c', function: { name: 'f', arguments: '', x: 1 } }), callPath('function.x'), 'drop'],
    [called({ id: 'c', type: 'custom', custom: { name: 'f', x: 1 } }), callPath('custom.x'), 'drop'],
    [
      { messages: [{ role: 'assistant', function_call: { name: 'f', arguments: '', x: 1 } }] },
      'messages[0].function_call.x',
      'drop',
    ],
    [{ tool_choice: { type: 'function', function: { name: 'f', x: 1 } } }, 'tool_choice.function.x', 'drop'],
    [{ tool_choice: { type: 'custom', custom: { name: 'f', x: 1 } } }, 'tool_choice.custom.x', 'drop'],
    [{ tool_choice: { type: 'function', function: { name: 'f' }, x: 1 } }, 'tool_choice.x', 'drop'],
    [{ function_call: { name: 'f', x: 1 } }, 'function_call.x', 'drop'],
    [
      {
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f', x: 1 } }] },
        },
      },
      'tool_choice.allowed_tools.tools[0].function.x',
      'drop',
    ],
  ])('reports a member without a canonical one: %j', (members, path, verdict) => {
    expect(decode(members).unmapped).toEqual([{ path, verdict, reason: expect.any(String) }])
  })

  it('keeps a cache hint in the result of a tool, and on audio', () => {
    const hint = { prompt_cache_breakpoint: {} }
    const audio = { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' }, ...hint }
    const { turns, unmapped } = decode({
      messages: [
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'a', ...hint }] },
        { role: 'user', content: [audio] },
      ],
    })
    expect(turns).toMatchObject([
      { blocks: [{ type: 'tool-result', cache: { ttl: '5m' } }] },
      { blocks: [{ type: 'audio', cache: { ttl: '5m' } }] },
    ])
    expect(unmapped).toEqual([])
  })

  it('reads calls as the SDK of the vendor sends them back', () => {
    const parsed = { name: 'f', arguments: '{}', parsed_arguments: {} }
    expect(decode(called({ id: 'c', type: 'function', function: parsed })).unmapped).toEqual([])
  })

  it.each<[Json, string]>([
    [{ messages: 'x' }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: [1] }, 'messages[0]'],
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: [{ text: 'x' }] }] }, 'messages[0].content[0].type'],
    [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
    [{ messages: [{ role: 'assistant', tool_calls: [{ id: 'c' }] }] }, 'messages[0].tool_calls[0].function'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ n: 0 }, 'n'],
    [{ n: 1.5 }, 'n'],
    [{ stop: [1] }, 'stop[0]'],
    [{ reasoning_effort: 'huge' }, 'reasoning_effort'],
    [{ tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
    [
      { tools: [{ type: 'function', function: { name: 'f', parameters: 'x' } }] },
      'tools[0].function.parameters',
    ],
    [{ tool_choice: 'sometimes' }, 'tool_choice'],
    [{ tool_choice: { type: 'function' } }, 'tool_choice.function.name'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
    [image('data:image/png;base64'), 'messages[0].content[0].image_url.url'],
    [image('data:image/svg+xml,%'), 'messages[0].content[0].image_url.url'],
  ])('refuses a wrong shape by its path: %j', (members, path) => {
    const error = errorOf(() => decode(members))
    expect(error).toMatchObject({ kind: 'invalid_request', field: path })
    expect(error.message).toContain(`${path}: expected`)
  })

  it('keeps turns, parts and calls in their order', () => {
    const { turns } = decode({
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'developer', content: [{ type: 'text', text: 'and kind' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look', cache_control: { type: 'ephemeral', ttl: '1h' } },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
            { type: 'image_url', image_url: { url: 'https://a.test/b.png' } },
            { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' } },
            { type: 'file', file: { file_id: 'file-1' }, prompt_cache_breakpoint: { mode: 'explicit' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I' },
            { type: 'refusal', refusal: 'no' },
          ],
          reasoning_content: 'hmm',
          refusal: 'never',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
            { id: 'c2', type: 'custom', custom: { name: 'g', input: 'x y' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'two' }] },
      ],
    })
    expect(turns.map(({ role }) => role)).toEqual([
      'system',
      'developer',
      'user',
      'assistant',
      'user',
      'user',
    ])
    expect(turns[2]?.blocks).toMatchObject([
      { type: 'text', text: 'look', cache: { ttl: '1h' }, path: 'messages[2].content[0]' },
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' }, detail: 'low' },
      { type: 'image', source: { kind: 'url', url: 'https://a.test/b.png' } },
      { type: 'audio', data: 'AA', format: 'wav' },
      {
        type: 'document',
        source: { kind: 'base64', mediaType: 'application/pdf', data: 'JVBE' },
        name: 'a.pdf',
      },
      { type: 'document', source: { kind: 'file', id: 'file-1' }, cache: { ttl: '5m' } },
    ])
    expect(turns[3]?.blocks).toMatchObject([
      { type: 'reasoning', text: 'hmm', signature: undefined },
      { type: 'text', text: 'I' },
      { type: 'refusal', text: 'no' },
      { type: 'refusal', text: 'never' },
      { type: 'tool-call', id: 'c1', name: 'f', kind: 'function', input: '{"a":1}' },
      { type: 'tool-call', id: 'c2', name: 'g', kind: 'custom', input: 'x y' },
    ])
    expect(turns[4]?.blocks).toMatchObject([
      { type: 'tool-result', callId: 'c1', content: [{ text: 'one' }] },
    ])
    expect(turns[5]?.blocks).toMatchObject([
      { type: 'tool-result', callId: 'c2', content: [{ text: 'two' }] },
    ])
  })

  it('keeps a part that no other format has, so that encoders refuse it', () => {
    const { turns } = decode({
      messages: [{ role: 'user', content: [{ type: 'video_url', video_url: {} }] }],
    })
    expect(turns[0]?.blocks).toMatchObject([{ type: 'foreign', name: 'video_url', verdict: 'refuse' }])
  })

  it('reads tools and choices of every kind', () => {
    const grammar = { syntax: 'lark', definition: 'start: "a"' }
    const request = decode({
      tools: [
        {
          type: 'function',
          function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
        },
        { type: 'custom', custom: { name: 'g', format: { type: 'grammar', grammar } } },
        { type: 'web_search' },
      ],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] },
      },
      web_search_options: {},
    })
    expect(request.tools).toMatchObject([
      { type: 'function', name: 'f', description: 'd', parameters: { type: 'object' }, strict: true },
      { type: 'custom', name: 'g', format: { type: 'grammar', ...grammar } },
      { type: 'hosted', name: 'web_search', path: 'tools[2]' },
    ])
    expect(request.webSearch).toEqual({ path: 'web_search_options' })
    expect(request.toolChoice).toEqual({ type: 'allowed', mode: 'required', names: ['f'] })
    expect(decode({ tool_choice: { type: 'custom', custom: { name: 'g' } } }).toolChoice).toEqual({
      type: 'tool',
      kind: 'custom',
      name: 'g',
    })
    expect(decode({ tool_choice: { type: 'web_search' } }).toolChoice).toMatchObject({ kind: 'hosted' })
  })

  it('reads functions in the oldest form, and their calls without ids', () => {
    const request = decode({
      functions: [{ name: 'f', parameters: { type: 'object' } }],
      function_call: { name: 'f' },
      messages: [
        user,
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'done' },
      ],
    })
    expect(request).toMatchObject({
      tools: [{ type: 'function', name: 'f', path: 'functions[0]' }],
      toolChoice: { type: 'tool', name: 'f', kind: 'function' },
      parallelToolCalls: false,
      names: { tools: 'functions', toolChoice: 'function_call' },
    })
    const [call, result] = request.turns.slice(1).flatMap(({ blocks }) => blocks)
    expect(call).toMatchObject({ type: 'tool-call', name: 'f' })
    expect(result).toMatchObject({ type: 'tool-result', callId: call?.type === 'tool-call' && call.id })
  })

  it.each([
    [{ reasoning: { effort: 'low', exclude: true } }, { effort: 'low', summary: 'none' }, 'reasoning'],
    [{ reasoning: { max_tokens: 2000 } }, { effort: undefined, budgetTokens: 2000 }, 'reasoning'],
    [{ reasoning: { enabled: true } }, { effort: 'medium' }, 'reasoning'],
    [{ thinking: { type: 'disabled' } }, { effort: 'none' }, 'thinking'],
    [
      { enable_thinking: true, thinking_budget: 9 },
      { effort: undefined, budgetTokens: 9 },
      'enable_thinking',
    ],
    [{ reasoning_effort: 'low', thinking: { type: 'enabled' } }, { effort: 'low' }, 'reasoning_effort'],
  ])('reads the amount of reasoning from %j', (members, reasoning, name) => {
    expect(decode(members)).toMatchObject({ reasoning, names: { reasoning: name }, unmapped: [] })
  })
})

describe('reasoning that comes back', () => {
  const signature: ReasoningSignature = {
    protocol: 'anthropic-messages',
    model: 'claude',
    kind: 'signature',
    value: 'SIG',
  }
  const blocks = (message: Json) =>
    decode({ messages: [{ role: 'assistant', content: 'x', ...message }] }).turns[0]?.blocks.filter(
      ({ type }) => type === 'reasoning',
    )

  it('has the signature from our envelope, and the text that it proves', () => {
    expect(
      blocks({
        reasoning_content: 'first second',
        reasoning_details: [
          { type: 'reasoning.text', text: 'first', signature: envelope.wrap(signature), index: 0 },
          { type: 'reasoning.summary', summary: 'second', index: 1 },
          { type: 'reasoning.encrypted', data: envelope.wrap({ ...signature, kind: 'encrypted' }), index: 1 },
        ],
      }),
    ).toMatchObject([
      { text: 'first', summary: false, signature },
      { text: 'second', summary: true, signature: { ...signature, kind: 'encrypted' } },
    ])
  })

  it('is two thoughts if two are signed, whatever their index', () => {
    const details = ['a', 'b'].map((text) => ({
      type: 'reasoning.text',
      text,
      signature: envelope.wrap({ ...signature, value: text }),
      index: 0,
    }))
    expect(blocks({ reasoning_details: details })).toMatchObject([
      { text: 'a', signature: { value: 'a' } },
      { text: 'b', signature: { value: 'b' } },
    ])
  })

  it('has no signature if the envelope was changed', () => {
    const forged = `${envelope.wrap(signature).slice(0, -4)}AAAA`
    expect(
      blocks({ reasoning_details: [{ type: 'reasoning.text', text: 'x', signature: forged }] }),
    ).toMatchObject([{ text: 'x', signature: undefined }])
  })

  it("has the upstream's own signature if we did not make it", () => {
    const detail = { type: 'reasoning.encrypted', data: 'opaque', format: 'v1', index: 0 }
    expect(blocks({ reasoning: 'thought', reasoning_details: [detail] })).toMatchObject([
      { text: 'thought', signature: undefined },
      { text: '', signature: { protocol: 'openai-chat', model: undefined, value: JSON.stringify(detail) } },
    ])
  })
})

function called(call: Json): Json {
  return { messages: [{ role: 'assistant', tool_calls: [call] }] }
}

function callPath(member: string): string {
  return `messages[0].tool_calls[0].${member}`
}

function decode(members: Json) {
  return decodeRequest({ model: 'm', messages: [user], ...members }, { envelope })
}

function image(url: string): Json {
  return { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] }
}

function errorOf(run: () => unknown): GatewayError {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
