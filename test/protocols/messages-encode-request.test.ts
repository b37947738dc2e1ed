import { describe, expect, it } from 'vitest'
import type { Block, ChatRequest, Tool, Turn } from '../../src/canonical/chat.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import { type Json, recordsOf } from '../../src/canonical/json.ts'
import { encodeRequest } from '../../src/protocols/anthropic-messages/encode-request.ts'
import { type Random, seeded } from '../support/random.ts'
import { actions, call, context, encode, plain, result, turn, weather } from './messages-build.ts'
import { messagesFault } from './messages-rules.ts'

describe('tools', () => {
  it('get legal names, which are restored in the answer', () => {
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

  it('that would get the same name are refused', () => {
    const twins = [weather, { ...weather, name: 'a.b' }, { ...weather, name: 'a/b', path: 'tools[2]' }]
    expect(() => encode({ tools: twins })).toThrow(
      expect.objectContaining({ kind: 'invalid_request', field: 'tools[2].name' }),
    )
  })

  it('with free text become functions with one text, also in the history', () => {
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

  it('of another vendor are left out if others remain, else refused', () => {
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

  it('of calls in the history are declared if the client no longer sends them', () => {
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
    [{ stop: ['END', ' '] }, { stop_sequences: ['END'] }, ['emulated stop']],
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
          schema: { type: 'object', properties: {} },
          strict: true,
        },
      },
      {
        output_config: {
          format: {
            type: 'json_schema',
            schema: { type: 'object', description: 'd', properties: {}, additionalProperties: false },
          },
        },
      },
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
    [{ unmapped: [{ path: 'background', verdict: 'refuse', reason: 'no' }] }, 'background'],
  ] as [Partial<ChatRequest>, string][])('%j is refused', (members, field) => {
    expect(() => encode({ ...members, names: { choices: 'n' } })).toThrow(
      expect.objectContaining({ kind: 'unsupported_parameter', field }),
    )
  })

  it('has at most four cache hints, those with long lifetimes first', () => {
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

it('keeps the vendor’s rules for any request', () => {
  const random = seeded(5)
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

function randomRequest(random: Random): ChatRequest {
  const maybe = <Value>(value: Value) => (random.next() < 0.3 ? value : undefined)
  const id = () => random.pick(['a', 'b', 'c|d', ''])
  const block = (): Block => {
    const signature = maybe({
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
      { type: 'reasoning', text: 'Hm', summary: true, signature, path: 'p' },
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
