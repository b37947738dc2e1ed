import { describe, expect, it } from 'vitest'
import type { Block, ChatRequest, Tool, ToolCallBlock, Turn } from '../../src/canonical/chat.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import { type Json, recordsOf } from '../../src/canonical/json.ts'
import { encodeRequest } from '../../src/protocols/anthropic-messages/encode-request.ts'
import { messagesFault } from './messages-rules.ts'
import { Random } from './random.ts'

const context = { upstreamModel: 'claude-x', maxOutputTokensDefault: 8192 }
const weather: Tool = {
  type: 'function',
  name: 'weather',
  description: 'The weather',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: undefined,
  path: 'tools[0]',
}

describe('turns', () => {
  it('begin with instructions apart from the talk', () => {
    const { body, notes } = encode({
      turns: [turn('system', 'Be brief'), turn('developer', 'And kind'), turn('user', 'Hi')],
    })
    expect(body.system).toEqual([
      { type: 'text', text: 'Be brief' },
      { type: 'text', text: 'And kind' },
    ])
    expect(body.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }])
    expect(actions(notes)).toEqual(['defaulted max_tokens'])
  })

  it('fold later instructions into the user turn there, behind the results of tools', () => {
    const { body, notes } = encode({
      tools: [weather],
      turns: [
        turn('user', 'Hi'),
        turn('assistant', call('c1')),
        turn('system', 'Now be formal'),
        turn('user', result('c1', 'rain'), 'Well?'),
      ],
    })
    expect(recordsOf(recordsOf(body.messages)[2]?.content)).toEqual([
      { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'rain' }] },
      { type: 'text', text: '<system>\nNow be formal\n</system>' },
      { type: 'text', text: 'Well?' },
    ])
    expect(actions(notes)).toContain('mapped messages[2]')
  })

  it('merge neighbours of one role and drop empty text', () => {
    const { body } = encode({
      turns: [
        turn('user', 'a', ' \n'),
        turn('assistant', ''),
        turn('user', 'b'),
        turn('assistant', 'c'),
        turn('assistant', 'd '),
      ],
    })
    expect(body.messages).toEqual([
      { role: 'user', content: [text('a'), text('b')] },
      { role: 'assistant', content: [text('c'), text('d')] },
    ])
  })

  it.each([
    ['assistant', [turn('assistant', 'Hello!'), turn('user', 'Hi')]],
    ['nobody', [turn('system', 'Talk')]],
  ])('that %s begins get a user turn before them', (_, turns) => {
    const { body, notes } = encode({ turns })
    expect(messagesFault(body)).toBeUndefined()
    expect(actions(notes).some((note) => note.startsWith('emulated'))).toBe(true)
  })

  it('have the results of parallel calls first, in one message, in the order of the calls', () => {
    const { body } = encode({
      tools: [weather],
      turns: [
        turn('user', 'Hi'),
        turn('assistant', call('a'), call('b')),
        turn('user', 'before', result('b', '2')),
        turn('user', result('a', '1')),
      ],
    })
    const blocks = recordsOf(recordsOf(body.messages)[2]?.content)
    expect(blocks.map((block) => block.tool_use_id ?? block.text)).toEqual(['a', 'b', 'before'])
  })

  it('say so where a result is missing or belongs to no call', () => {
    const { body, notes } = encode({
      tools: [weather],
      turns: [
        turn('user', 'Hi'),
        turn('assistant', call('a'), call('b')),
        turn('user', result('b', '2'), result('x', '3')),
      ],
    })
    expect(recordsOf(recordsOf(body.messages)[2]?.content)).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: '[no result]' },
      { type: 'tool_result', tool_use_id: 'b', content: [text('2')] },
      text('Result of the tool call "x":'),
      text('3'),
    ])
    expect(actions(notes)).toEqual(
      expect.arrayContaining(['emulated messages[1].content[0]', 'mapped messages[2].content[1]']),
    )
    expect(
      messagesFault(encode({ turns: [turn('user', 'Hi'), turn('assistant', call('a'))] }).body),
    ).toBeUndefined()
  })

  it('keep legal ids of calls, make others legal and repeated ones unique', () => {
    const again = (id: string) => [turn('assistant', call(id)), turn('user', result(id, id))]
    const { body } = encode({
      tools: [weather],
      turns: [turn('user', 'Hi'), ...again('call_0'), ...again('call_0'), ...again('fc|1'), ...again('')],
    })
    expect(messagesFault(body)).toBeUndefined()
    const ids = recordsOf(body.messages)
      .flatMap(({ content }) => recordsOf(content).map(({ id }) => id))
      .filter(Boolean)
    expect(ids).toEqual([
      'call_0',
      'call_0_2',
      expect.stringMatching(/^call_\w{24}$/),
      expect.stringMatching(/^call_\w{24}$/),
    ])
  })

  it('say {} for arguments that do not parse', () => {
    const { body, notes } = encode({
      tools: [weather],
      turns: [turn('user', 'Hi'), turn('assistant', { ...call('a'), input: '{"city' })],
    })
    expect(recordsOf(body.messages)[1]).toMatchObject({ content: [{ type: 'tool_use', input: {} }] })
    expect(actions(notes)).toContain('dropped messages[1].content[0]')
  })

  it('carry results with images and errors', () => {
    const image: Block = {
      type: 'image',
      source: { kind: 'base64', mediaType: 'image/png', data: 'AA==' },
      path: 'p',
    }
    const { body } = encode({
      tools: [weather],
      turns: [
        turn('user', 'Hi'),
        turn('assistant', call('a')),
        turn('user', { type: 'tool-result', callId: 'a', content: [image], isError: true, path: 'p' }),
      ],
    })
    expect(recordsOf(body.messages)[2]?.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'a',
        content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }],
        is_error: true,
      },
    ])
  })
})

describe('media', () => {
  const block = (part: object) =>
    encode({ turns: [turn('user', { path: 'messages[0].content[0]', ...part } as Block)] })

  it.each([
    [
      { type: 'image', source: { kind: 'base64', mediaType: 'image/jpg', data: 'AA==' } },
      { type: 'base64', media_type: 'image/jpeg', data: 'AA==' },
    ],
    [
      { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } },
      { type: 'url', url: 'https://example.com/a.png' },
    ],
    [
      { type: 'document', source: { kind: 'base64', mediaType: 'application/pdf', data: 'AA==' } },
      { type: 'base64', media_type: 'application/pdf', data: 'AA==' },
    ],
    [
      { type: 'document', source: { kind: 'base64', mediaType: 'text/csv', data: 'YSxi' } },
      { type: 'text', media_type: 'text/plain', data: 'a,b' },
    ],
    [
      { type: 'document', source: { kind: 'text', text: 'a' } },
      { type: 'text', media_type: 'text/plain', data: 'a' },
    ],
  ])('%j goes up', (part, source) => {
    expect(recordsOf(block(part).body.messages)[0]).toMatchObject({ content: [{ type: part.type, source }] })
  })

  it.each([
    { type: 'image', source: { kind: 'base64', mediaType: 'image/tiff', data: 'AA==' } },
    { type: 'image', source: { kind: 'file', id: 'file_1' } },
    { type: 'image', source: { kind: 'url', url: 'file:///etc/passwd' } },
    { type: 'document', source: { kind: 'base64', mediaType: 'application/zip', data: 'AA==' } },
    { type: 'audio', data: 'AA==', format: 'wav' },
  ])('%j is refused by its place', (part) => {
    expect(() => block(part)).toThrow(
      expect.objectContaining({ kind: 'unsupported_parameter', field: 'messages[0].content[0]' }),
    )
  })

  it('of low detail is noted', () => {
    const low = { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' }, detail: 'low' }
    expect(actions(block(low).notes)).toContain('dropped messages[0].content[0]')
  })
})

describe('reasoning', () => {
  const seal = { protocol: 'anthropic-messages', model: 'claude-x', kind: 'signature', value: 'sig' } as const
  const thought = (more: object): Block => ({
    type: 'reasoning',
    text: 'Hm',
    summary: true,
    seal,
    path: 'p',
    ...more,
  })
  const loop = (block: Block) =>
    encode({
      tools: [weather],
      reasoning: { effort: 'high', budgetTokens: undefined, summary: undefined },
      maxOutputTokens: 40_000,
      turns: [turn('user', 'Hi'), turn('assistant', block, call('a')), turn('user', result('a', '1'))],
    })

  it('goes back to the model that has signed it, byte for byte', () => {
    const { body } = loop(thought({}))
    expect(recordsOf(body.messages)[1]).toMatchObject({
      content: [{ type: 'thinking', thinking: 'Hm', signature: 'sig' }, { type: 'tool_use' }],
    })
    expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 16_384 })
    const hidden = loop(thought({ text: '', seal: { ...seal, model: undefined, kind: 'encrypted' } }))
    expect(recordsOf(hidden.body.messages)[1]).toMatchObject({
      content: [{ type: 'redacted_thinking', data: 'sig' }, {}],
    })
  })

  it.each([
    ['another model', { seal: { ...seal, model: 'claude-y' } }],
    ['another vendor', { seal: { ...seal, protocol: 'gemini' } }],
    ['nobody', { seal: undefined }],
  ])('signed by %s stays away, and a tool loop goes on without thinking', (_, more) => {
    const { body, notes } = loop(thought(more))
    expect(recordsOf(recordsOf(body.messages)[1]?.content).map(({ type }) => type)).toEqual(['tool_use'])
    expect(body.thinking).toBeUndefined()
    expect(actions(notes)).toEqual(expect.arrayContaining(['dropped p', 'dropped reasoning_effort']))
  })

  it('that an assistant turn ends with is left out', () => {
    const { body, notes } = encode({
      turns: [turn('user', 'Hi'), turn('assistant', thought({})), turn('user', 'Go')],
    })
    expect(body.messages).toEqual([{ role: 'user', content: [text('Hi'), text('Go')] }])
    expect(actions(notes)).toContain('dropped p')
  })

  it.each([
    [{ effort: 'none' }, {}, { type: 'disabled' }],
    [{ effort: 'low' }, {}, { type: 'enabled', budget_tokens: 2048 }],
    [{ effort: 'max' }, {}, { type: 'enabled', budget_tokens: 6144 }],
    [{ budgetTokens: 100 }, {}, { type: 'enabled', budget_tokens: 1024 }],
    [
      { budgetTokens: 5000, summary: 'auto' },
      {},
      { type: 'enabled', budget_tokens: 5000, display: 'summarized' },
    ],
    [
      { budgetTokens: 5000, summary: 'none' },
      {},
      { type: 'enabled', budget_tokens: 5000, display: 'omitted' },
    ],
    [{ effort: 'high' }, { maxOutputTokens: 1000 }, undefined],
    [{ effort: 'high' }, { tools: [weather], toolChoice: { type: 'required' } }, undefined],
    [{ effort: 'high' }, { turns: [turn('user', 'Hi'), turn('assistant', 'Well,')] }, undefined],
  ] as const)('%j with %j is %j', (wish, more, thinking) => {
    const reasoning = { effort: undefined, budgetTokens: undefined, summary: undefined, ...wish }
    const { body, notes } = encode({ reasoning, ...(more as Partial<ChatRequest>) })
    expect(body.thinking).toEqual(thinking)
    expect(messagesFault(body)).toBeUndefined()
    if (thinking === undefined) expect(actions(notes)).toContain('dropped reasoning_effort')
  })

  it('takes sampling away', () => {
    const { body, notes } = encode({
      reasoning: { effort: 'low', budgetTokens: undefined, summary: undefined },
      temperature: 0.2,
      topK: 5,
    })
    expect(body).not.toHaveProperty('temperature')
    expect(body).not.toHaveProperty('top_k')
    expect(actions(notes)).toEqual(expect.arrayContaining(['dropped temperature', 'dropped topK']))
  })
})

describe('tools', () => {
  it('are named, flattened and restored', () => {
    const long = 'x'.repeat(200)
    const { body, tools } = encode({
      tools: [
        { ...weather, namespace: 'mcp' },
        { ...weather, name: 'a.b', parameters: undefined, path: 'tools[1]' },
        { ...weather, name: long, parameters: { properties: {} }, strict: true, path: 'tools[2]' },
      ],
    })
    const names = recordsOf(body.tools).map(({ name }) => String(name))
    expect(names).toEqual(['mcp__weather', 'a_b', expect.stringMatching(/^x{119}_\w{8}$/)])
    expect(names.map((name) => tools.clientTool(name))).toEqual([
      { name: 'weather', namespace: 'mcp', kind: 'function' },
      { name: 'a.b', kind: 'function' },
      { name: long, kind: 'function' },
    ])
    expect(recordsOf(body.tools)[2]).toMatchObject({ strict: true, input_schema: { type: 'object' } })
    expect(messagesFault(body)).toBeUndefined()
  })

  it('with one name are refused', () => {
    const twins = [weather, { ...weather, name: 'a.b' }, { ...weather, name: 'a/b', path: 'tools[2]' }]
    expect(() => encode({ tools: twins })).toThrow(
      expect.objectContaining({ kind: 'invalid_request', field: 'tools[2].name' }),
    )
  })

  it('of free text become functions with one text, also in the history', () => {
    const exec: Tool = {
      type: 'custom',
      name: 'exec',
      description: 'Run',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' },
      path: 'tools[0]',
    }
    const { body, tools, notes } = encode({
      tools: [exec],
      turns: [
        turn('user', 'Hi'),
        turn('assistant', { ...call('a'), name: 'exec', kind: 'custom', input: 'ls' }),
        turn('user', result('a', '')),
      ],
    })
    const [tool] = recordsOf(body.tools)
    expect(tool).toMatchObject({ name: 'exec', description: expect.stringContaining('start: /.+/') })
    expect(recordsOf(body.messages)[1]).toMatchObject({ content: [{ name: 'exec', input: { input: 'ls' } }] })
    expect(tools.clientTool('exec')).toEqual({ name: 'exec', kind: 'custom' })
    expect(actions(notes)).toContain('emulated tools[0]')
  })

  it('of another vendor are left out where others remain, else refused', () => {
    const search: Tool = { type: 'hosted', name: 'web_search', path: 'tools[1]' }
    expect(actions(encode({ tools: [weather, search] }).notes)).toContain('dropped tools[1]')
    const refusal = expect.objectContaining({ kind: 'unsupported_parameter', field: 'tools[1]' })
    expect(() => encode({ tools: [search] })).toThrow(refusal)
    const choice = { type: 'tool', name: 'web_search', kind: 'hosted' } as const
    expect(() => encode({ tools: [weather, search], toolChoice: choice })).toThrow(refusal)
  })

  it.each([
    [undefined, undefined, undefined],
    [{ type: 'none' }, undefined, { type: 'none' }],
    [{ type: 'auto' }, true, { type: 'auto' }],
    [{ type: 'required' }, false, { type: 'any', disable_parallel_tool_use: true }],
    [{ type: 'tool', name: 'weather', kind: 'function' }, undefined, { type: 'tool', name: 'weather' }],
    [undefined, false, { type: 'auto', disable_parallel_tool_use: true }],
    [{ type: 'allowed', mode: 'required', names: ['weather'] }, undefined, { type: 'any' }],
  ] as const)('choice %j with parallel %j is %j', (toolChoice, parallelToolCalls, expected) => {
    const { body } = encode({ tools: [weather, { ...weather, name: 'b' }], toolChoice, parallelToolCalls })
    expect(body.tool_choice).toEqual(expected)
    expect(recordsOf(body.tools)).toHaveLength(toolChoice?.type === 'allowed' ? 1 : 2)
  })

  it('of calls in the history are named where the client sends none any more', () => {
    const { body } = encode({
      turns: [turn('user', 'Hi'), turn('assistant', call('a')), turn('user', result('a', '1'))],
    })
    expect(body).toMatchObject({ tools: [{ name: 'weather' }], tool_choice: { type: 'none' } })
  })
})

describe('settings', () => {
  it.each([
    [{ maxOutputTokens: 50 }, { max_tokens: 50 }, []],
    [{ maxOutputTokens: undefined }, { max_tokens: 8192 }, ['defaulted max_tokens']],
    [{ temperature: 1.7 }, { temperature: 1 }, ['clamped temperature']],
    [{ temperature: 0.5, topP: 0.9 }, { temperature: 0.5 }, ['dropped topP']],
    [{ topP: 0.9, topK: 5 }, { top_p: 0.9, top_k: 5 }, []],
    [{ stop: ['END', ' '] }, { stop_sequences: ['END'] }, ['dropped stop']],
    [{ userId: 'u-1' }, { metadata: { user_id: 'u-1' } }, []],
    [{ stream: true }, { stream: true }, []],
    [{ serviceTier: 'auto' }, { service_tier: 'auto' }, []],
    [{ serviceTier: 'flex' }, {}, ['dropped serviceTier']],
    [{ seed: 1 }, {}, ['dropped seed']],
    [{ frequencyPenalty: 0, presencePenalty: 1 }, {}, ['dropped presencePenalty']],
    [{ logitBias: { 1: 2 } }, {}, ['dropped logitBias']],
    [
      { verbosity: 'low', store: true, cacheKey: 'k', metadata: { a: 'b' } },
      {},
      ['dropped verbosity', 'dropped metadata', 'dropped store', 'dropped cacheKey'],
    ],
    [
      {
        format: {
          type: 'json_schema',
          name: 'n',
          description: 'd',
          schema: { type: 'object' },
          strict: true,
        },
      },
      { output_config: { format: { type: 'json_schema', schema: { type: 'object', description: 'd' } } } },
      ['mapped format'],
    ],
    [
      { format: { type: 'json_object' } },
      { system: [{ type: 'text', text: expect.stringContaining('JSON') }] },
      ['emulated format'],
    ],
  ] as [Partial<ChatRequest>, Json, string[]][])('%j is %j', (members, expected, noted) => {
    const { body, notes } = encode({ maxOutputTokens: 100, ...members })
    const { model, messages, ...rest } = body
    expect({ model, rest }).toEqual({ model: 'claude-x', rest: { max_tokens: 100, ...expected } })
    expect(messages).toHaveLength(1)
    expect(actions(notes)).toEqual(noted)
  })

  it.each([
    [{ choices: 2 }, 'n'],
    [{ logprobs: { top: 0 } }, 'logprobs'],
    [{ others: [{ path: 'background', verdict: 'refuse', reason: 'no' }] }, 'background'],
  ] as [Partial<ChatRequest>, string][])('%j is refused', (members, field) => {
    expect(() => encode({ ...members, names: { choices: 'n' } })).toThrow(
      expect.objectContaining({ kind: 'unsupported_parameter', field }),
    )
  })

  it('has at most four cache hints, long ones first', () => {
    const cached = (name: string, ttl: '5m' | '1h'): Block => ({
      type: 'text',
      text: name,
      path: name,
      cache: { ttl },
    })
    const { body, notes } = encode({
      turns: [
        { role: 'system', blocks: [cached('a', '1h')], path: 's' },
        {
          role: 'user',
          blocks: [cached('b', '5m'), cached('c', '1h'), cached('d', '5m'), cached('e', '5m')],
          path: 'u',
        },
      ],
    })
    expect(body.system).toMatchObject([{ cache_control: { type: 'ephemeral', ttl: '1h' } }])
    expect(messagesFault(body)).toBeUndefined()
    expect(actions(notes)).toEqual(expect.arrayContaining(['clamped c', 'dropped e']))
  })
})

it('keeps the vendor’s rules whatever the request', () => {
  const random = new Random(5)
  for (let round = 0; round < 8_000; round++) {
    const request = randomRequest(random)
    try {
      const { body } = encodeRequest(request, context)
      const fault = messagesFault(body)
      if (fault !== undefined) expect(fault, JSON.stringify({ request, body }, null, 1)).toBeUndefined()
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
    }
  }
})

function encode(members: Partial<ChatRequest>) {
  const request = { ...plain, ...members }
  return encodeRequest({ ...request, turns: placed(request.turns) }, context)
}

/** Gives paths to the turns and blocks that have none. */
function placed(turns: readonly Turn[]): Turn[] {
  return turns.map(({ role, blocks, path }, at) => ({
    role,
    path: path || `messages[${at}]`,
    blocks: blocks.map((block, n) => ({ ...block, path: block.path || `messages[${at}].content[${n}]` })),
  }))
}

function actions(notes: readonly { action: string; path: string }[]): string[] {
  return notes.map(({ action, path }) => `${action} ${path}`)
}

const plain: ChatRequest = {
  model: 'public',
  stream: false,
  turns: [turn('user', 'Hi')],
  tools: [],
  toolChoice: undefined,
  parallelToolCalls: undefined,
  maxOutputTokens: undefined,
  choices: 1,
  temperature: undefined,
  topP: undefined,
  topK: undefined,
  seed: undefined,
  frequencyPenalty: undefined,
  presencePenalty: undefined,
  logitBias: undefined,
  stop: [],
  logprobs: undefined,
  reasoning: undefined,
  format: undefined,
  verbosity: undefined,
  userId: undefined,
  metadata: undefined,
  serviceTier: undefined,
  store: undefined,
  cacheKey: undefined,
  others: [],
  names: { maxOutputTokens: 'max_tokens', reasoning: 'reasoning_effort' },
}

function turn(role: Turn['role'], ...blocks: (Block | string)[]): Turn {
  return {
    role,
    path: '',
    blocks: blocks.map((block) =>
      typeof block === 'string' ? { type: 'text', text: block, path: '' } : block,
    ),
  }
}

function call(id: string): ToolCallBlock {
  return { type: 'tool-call', id, name: 'weather', kind: 'function', input: '{"city":"Oslo"}', path: '' }
}

function result(callId: string, words: string): Block {
  return {
    type: 'tool-result',
    callId,
    content: [{ type: 'text', text: words, path: '' }],
    isError: false,
    path: '',
  }
}

function text(words: string): Json {
  return { type: 'text', text: words }
}

function randomRequest(random: Random): ChatRequest {
  const maybe = <Value>(value: Value) => (random.next() < 0.3 ? value : undefined)
  const id = () => random.pick(['a', 'b', 'c|d', ''])
  const block = (): Block => {
    const seal = maybe({
      protocol: random.pick(['anthropic-messages', 'gemini']),
      model: maybe('claude-x'),
      kind: random.pick(['signature', 'encrypted'] as const),
      value: 's',
    })
    return random.pick<Block>([
      {
        type: 'text',
        text: random.pick(['', ' ', 'words ', '\n']),
        path: 'p',
        cache: { ttl: random.pick(['5m', '1h']) },
      },
      { ...call(id()), path: 'p', kind: random.pick(['function', 'custom']) },
      { ...call(id()), input: random.pick(['', '[]', '{']), path: 'p' },
      {
        type: 'tool-result',
        callId: id(),
        content: maybe([{ type: 'text' as const, text: 'r', path: 'p' }]) ?? [],
        isError: random.next() < 0.5,
        path: 'p',
      },
      { type: 'reasoning', text: 'Hm', summary: true, seal, path: 'p' },
      { type: 'refusal', text: 'No', path: 'p' },
    ])
  }
  const fits = (role: Turn['role'], { type }: Block) =>
    type === 'text' ||
    (role === 'user' && type === 'tool-result') ||
    (role === 'assistant' && type !== 'tool-result')
  const turns = Array.from({ length: random.upTo(7) }, (): Turn => {
    const role = random.pick(['system', 'developer', 'user', 'assistant', 'user', 'assistant'] as const)
    const blocks = Array.from({ length: random.upTo(4) }, block)
    return { role, blocks: blocks.filter((candidate) => fits(role, candidate)), path: 'p' }
  })
  return {
    ...plain,
    turns,
    tools: [weather, ...(maybe([{ ...weather, name: 'b.c', path: 'q' }]) ?? [])].slice(random.upTo(1)),
    toolChoice: maybe(
      random.pick([
        { type: 'none' },
        { type: 'auto' },
        { type: 'required' },
        { type: 'allowed', mode: 'auto', names: ['b.c'] },
      ] as const),
    ),
    parallelToolCalls: maybe(random.next() < 0.5),
    maxOutputTokens: maybe(random.pick([0, 1, 1500, 4000])),
    temperature: maybe(random.next() * 2),
    topP: maybe(random.next()),
    topK: maybe(5),
    stop: maybe([' ', 'END']) ?? [],
    reasoning: maybe({
      effort: maybe(random.pick(['none', 'low', 'max'] as const)),
      budgetTokens: maybe(random.upTo(9000)),
      summary: maybe('auto'),
    }),
  }
}
