import { describe, expect, it } from 'vitest'
import type { ChatRequest, ReasoningSignature } from '../../src/canonical/chat.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import { isRecord, type Json, recordsOf } from '../../src/canonical/json.ts'
import type { Traits } from '../../src/canonical/traits.ts'
import { decodeRequest } from '../../src/protocols/anthropic-messages/decode-request.ts'
import { encodeRequest } from '../../src/protocols/anthropic-messages/encode-request.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { type Random, seeded } from '../support/random.ts'
import { messagesFault } from './messages-rules.ts'

const envelope = makeEnvelope(Buffer.alloc(32, 1))
const tool = { name: 'weather', input_schema: { type: 'object' } }

describe('a request', () => {
  it('reports any number of unknown members of one message', () => {
    const unknown = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`x${at}`, 1]))
    const content = Array.from({ length: 1_500 }, () => ({ type: 'text', text: 'Hi', ...unknown }))
    const { unmapped } = decode({ model: 'm', max_tokens: 1, messages: [{ role: 'user', content }] })
    expect(unmapped).toHaveLength(150_000)
  })

  it('of a coding agent keeps what other formats understand, and reports the rest', () => {
    const request = decode({
      model: 'claude-x',
      max_tokens: 32_000,
      stream: true,
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.329; cch=1a2b3;' },
        { type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral', ttl: '1h' } },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        { role: 'system', content: 'Tools changed.', output_config: { effort: 'low' } },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'toolu_1', name: 'ToolSearch', input: { query: 'x' } }],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              content: [{ type: 'tool_reference', tool_name: 'mcp__found' }],
            },
          ],
        },
      ],
      tools: [
        { name: 'ToolSearch', input_schema: { type: 'object' }, eager_input_streaming: true },
        { name: 'mcp__found', input_schema: { type: 'object' }, defer_loading: true },
        { name: 'mcp__hidden', input_schema: { type: 'object' }, defer_loading: true },
        { type: 'web_search_20260318', name: 'web_search', max_uses: 8 },
      ],
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      metadata: { user_id: '{"device_id":"d","session_id":"s"}' },
    })
    expect(request.turns.map(({ role, path }) => [role, path])).toEqual([
      ['system', 'system'],
      ['user', 'messages[0]'],
      ['system', 'messages[1]'],
      ['assistant', 'messages[2]'],
      ['user', 'messages[3]'],
    ])
    expect(request.turns[0]?.blocks).toEqual([
      { type: 'text', text: 'You are an agent.', path: 'system[1]', cache: { ttl: '1h' } },
    ])
    expect(request.tools.map(({ type, name }) => [type, name])).toEqual([
      ['function', 'ToolSearch'],
      ['function', 'mcp__found'],
    ])
    expect(request.webSearch).toEqual({ path: 'tools[3]', maxUses: 8 })
    expect(request).toMatchObject({
      stream: true,
      maxOutputTokens: 32_000,
      reasoning: { effort: 'high', budgetTokens: undefined, summary: undefined },
      userId: undefined,
    })
    expect(verdicts(request)).toEqual([
      'drop context_management',
      'drop messages[1].output_config',
      'drop metadata.user_id',
      'drop system[0]',
      'drop tools[0].eager_input_streaming',
      'drop tools[2]',
    ])
  })

  it('shows deferred tools that the vendor itself would search', () => {
    const { tools } = ask({
      tools: [
        { ...tool, defer_loading: true },
        { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
      ],
    })
    expect(tools.map(({ name }) => name)).toEqual(['weather', 'tool_search_tool_regex'])
  })

  it('opens signatures in our envelope, and treats others as its own vendor’s', () => {
    const signature: ReasoningSignature = { protocol: 'gemini', model: 'g', kind: 'signature', value: 'v' }
    const { turns } = requestWith('assistant', [
      { type: 'thinking', thinking: 'a', signature: envelope.wrap(signature) },
      { type: 'thinking', thinking: 'b', signature: 'own' },
      { type: 'thinking', thinking: 'c', signature: '' },
      { type: 'redacted_thinking', data: envelope.wrap({ ...signature, kind: 'encrypted' }) },
      { type: 'redacted_thinking', data: 'own' },
    ])
    const own = { protocol: 'anthropic-messages', model: undefined }
    expect(
      turns[1]?.blocks.map((block) => (block.type === 'reasoning' ? [block.text, block.signature] : [])),
    ).toEqual([
      ['a', signature],
      ['b', { ...own, kind: 'signature', value: 'own' }],
      ['c', undefined],
      ['', { ...signature, kind: 'encrypted' }],
      ['', { ...own, kind: 'encrypted', value: 'own' }],
    ])
  })

  it('has results with images, texts and errors', () => {
    const { turns } = requestWith('user', [
      { type: 'tool_result', tool_use_id: 'a', content: 'words', is_error: true },
      { type: 'tool_result', tool_use_id: 'b' },
      {
        type: 'tool_result',
        tool_use_id: 'c',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
        ],
      },
    ])
    expect(turns[1]?.blocks).toMatchObject([
      { type: 'tool-result', callId: 'a', content: [{ text: 'words' }], isError: true },
      { type: 'tool-result', callId: 'b', content: [], isError: false },
      {
        callId: 'c',
        content: [
          { text: 'see', path: 'messages[1].content[2].content[0]' },
          { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AA==' } },
        ],
      },
    ])
  })

  it('has documents of every kind', () => {
    const document = (source: Json, more: Json = {}) => ({ type: 'document', source, ...more })
    const { turns } = requestWith('user', [
      document(
        { type: 'base64', media_type: 'application/pdf', data: 'AA==' },
        { title: 'T', context: 'About it' },
      ),
      document({ type: 'url', url: 'https://example.com/a.pdf' }),
      document({
        type: 'content',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      }),
      {
        type: 'search_result',
        source: 'https://example.com',
        title: 'S',
        content: [{ type: 'text', text: 'found' }],
      },
    ])
    expect(turns[1]?.blocks).toMatchObject([
      { type: 'text', text: 'About it', path: 'messages[1].content[0].context' },
      { type: 'document', source: { kind: 'base64', mediaType: 'application/pdf' }, name: 'T' },
      { type: 'document', source: { kind: 'url', url: 'https://example.com/a.pdf' } },
      { type: 'document', source: { kind: 'text', text: 'a\nb' } },
      { type: 'text', text: 'S\nSource: https://example.com\n\nfound' },
    ])
  })

  it.each([
    [{ type: 'any' }, { type: 'required' }, undefined],
    [{ type: 'none' }, { type: 'none' }, undefined],
    [{ type: 'auto', disable_parallel_tool_use: true }, { type: 'auto' }, false],
    [{ type: 'tool', name: 'weather' }, { type: 'tool', name: 'weather', kind: 'function' }, undefined],
    [{ type: 'tool', name: 'bash' }, { type: 'tool', name: 'bash', kind: 'function' }, undefined],
    [{ type: 'tool', name: 'code' }, { type: 'tool', name: 'code', kind: 'hosted' }, undefined],
  ])('choice %j is %j', (tool_choice, toolChoice, parallelToolCalls) => {
    const tools = [
      tool,
      { type: 'bash_20250124', name: 'bash' },
      { type: 'code_execution_20250825', name: 'code' },
    ]
    expect(ask({ tools, tool_choice })).toMatchObject({ toolChoice, parallelToolCalls })
  })

  it.each([
    [
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      { effort: undefined, budgetTokens: 2000, summary: undefined },
    ],
    [
      { thinking: { type: 'disabled' }, output_config: { effort: 'high' } },
      { effort: 'none', budgetTokens: undefined, summary: undefined },
    ],
    [
      { thinking: { type: 'adaptive', display: 'summarized' } },
      { effort: undefined, budgetTokens: undefined, summary: 'auto' },
    ],
    [
      { output_config: { effort: 'xhigh' } },
      { effort: 'xhigh', budgetTokens: undefined, summary: undefined },
    ],
  ])('%j asks for reasoning', (members, reasoning) => {
    expect(ask(members).reasoning).toEqual(reasoning)
  })

  it('is strict about a schema for other formats only if the schema is closed', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    }
    const format = (given: Json) =>
      ask({ output_config: { format: { type: 'json_schema', schema: given } } }).format
    expect(format(schema)).toMatchObject({ schema, strict: true })
    expect(format({ ...schema, required: [] })).toMatchObject({ strict: undefined })
    expect(format({ ...schema, properties: { a: { type: 'object' } } })).toMatchObject({ strict: undefined })
  })

  it('treats null members as absent', () => {
    const request = ask({ system: null, tools: null, thinking: null, temperature: null, cache_control: null })
    expect({ ...request, unmapped: request.unmapped.length }).toEqual({ ...ask({}), unmapped: 0 })
  })

  it.each([
    [{ max_tokens: 0 }, 'refuse max_tokens'],
    [{ mcp_servers: [{}] }, 'refuse mcp_servers'],
    [{ container: 'c' }, 'refuse container'],
    [{ thread: { type: 'create' } }, 'refuse thread'],
    [{ inference_geo: 'eu' }, 'refuse inference_geo'],
    [{ inference_geo: 'global' }, 'drop inference_geo'],
    [{ speed: 'fast' }, 'drop speed'],
    [{ diagnostics: {} }, 'drop diagnostics'],
    [{ cache_control: { type: 'ephemeral' } }, 'drop cache_control'],
    [{ tomorrow: 1 }, 'drop tomorrow'],
    [{ messages: [{ role: 'user', content: 'Hi', tomorrow: 1 }] }, 'drop messages[0].tomorrow'],
    [
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', tomorrow: 1 }] }] },
      'drop messages[0].content[0].tomorrow',
    ],
    [{ tools: [{ ...tool, tomorrow: 1 }] }, 'drop tools[0].tomorrow'],
    [{ output_config: { task_budget: {} } }, 'drop output_config.task_budget'],
    [{ metadata: { user_id: 'u', tomorrow: 1 } }, 'drop metadata.tomorrow'],
  ])('%j is unmapped: %s', (members, verdict) => {
    expect(verdicts(ask(members))).toEqual([verdict])
  })

  it.each([
    [{ messages: [{ role: 'system', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: [{ type: 'image' }] }] }, 'messages[0].content[0].source'],
    [{ messages: ['x'] }, 'messages[0]'],
    [{ max_tokens: undefined }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ system: 5 }, 'system'],
    [{ tools: [{}] }, 'tools[0].name'],
    [{ tool_choice: { type: 'required' } }, 'tool_choice.type'],
    [{ thinking: { type: 'on' } }, 'thinking.type'],
    [{ output_config: { format: { type: 'json_object' } } }, 'output_config.format.type'],
    [{ stop_sequences: [5] }, 'stop_sequences[0]'],
    [{ temperature: 'hot' }, 'temperature'],
  ])('%j has the wrong shape at %s', (members, field) => {
    expect(() => ask(members)).toThrow(
      expect.objectContaining({
        kind: 'invalid_request',
        field,
        message: expect.stringContaining(`${field}: `),
      }),
    )
  })

  it('with a leading system message gets an error that says where its text belongs', () => {
    expect(() => ask({ messages: [{ role: 'system', content: 'x' }] })).toThrow(/top-level "system"/)
  })

  it('loses no member without a word', () => {
    const request = ask({
      messages: [
        { role: 'user', content: 'Hi', output_config: { effort: 'low' } },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [
                {
                  type: 'search_result',
                  source: 's',
                  title: 't',
                  content: [{ type: 'text', text: 'x', citations: [{}], cache_control: { ttl: '1h' } }],
                },
              ],
            },
            {
              type: 'tool_result',
              tool_use_id: 'b',
              content: [{ type: 'tool_reference', tool_name: 'f', cache_control: { type: 'ephemeral' } }],
            },
          ],
        },
      ],
      thinking: { type: 'adaptive', display: 'updates' },
      output_format: { type: 'json_schema', schema: {}, made_up: 1 },
    })
    expect(verdicts(request)).toEqual([
      'drop messages[0].output_config',
      'drop messages[2].content[0].content[0].content[0].citations',
      'drop output_format.made_up',
      'drop thinking.display',
    ])
    expect(request.names.format).toBe('output_format')
    expect(request.turns[2]?.blocks).toMatchObject([{ cache: { ttl: '1h' } }, { cache: { ttl: '5m' } }])
  })

  it('refuses a thread in the words on which the SDK goes on without one', () => {
    expect(ask({ thread: { type: 'create' } }).unmapped).toEqual([
      {
        path: 'thread',
        verdict: 'refuse',
        reason: expect.any(String),
        refusal: { code: 'thread_unsupported_request', details: { unsupported: ['thread'] } },
      },
    ])
  })

  it('keeps its meaning for another channel of the format', () => {
    const closed = { type: 'object', properties: {}, additionalProperties: false }
    const body = {
      model: 'public',
      max_tokens: 9000,
      system: [{ type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm', signature: 'sig' },
            { type: 'text', text: 'I look' },
            { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              content: [{ type: 'text', text: 'rain' }],
              is_error: true,
            },
          ],
        },
      ],
      tools: [{ name: 'weather', description: 'd', input_schema: closed, strict: true }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      thinking: { type: 'enabled', budget_tokens: 2000 },
      output_config: { format: { type: 'json_schema', schema: closed } },
      stop_sequences: ['END'],
      metadata: { user_id: 'u' },
      service_tier: 'auto',
      stream: true,
    }
    const encoded = encodeRequest(decode(body), {
      upstreamModel: 'claude-x',
      traits: {},
      maxOutputTokensDefault: 1,
    })
    expect(encoded).toMatchObject({ body: { ...body, model: 'claude-x' }, notes: [] })
  })
})

it('any body is refused with a GatewayError, or can be encoded', () => {
  const random = seeded(9)
  for (let round = 0; round < 20_000; round++) {
    const body = mutate(random.pick(seeds), random)
    if (!isRecord(body)) continue
    try {
      const request = decode(body)
      const traits = random.pick(someTraits)
      const encoded = encodeRequest(request, { upstreamModel: 'm', traits, maxOutputTokensDefault: 4096 })
      const fault = messagesFault(encoded.body) ?? traitsFault(encoded.body, traits)
      if (fault !== undefined) expect(fault, JSON.stringify(body)).toBeUndefined()
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
    }
  }
})

const someTraits: Traits[] = [
  {},
  { thinking: 'adaptive', thinkingOff: false, effortLevels: ['low', 'high'], takes: { temperature: false } },
  { thinking: 'none', prefill: false, schema: 'none', strictTools: false, caching: 'none' },
  { thinking: 'budget', thinkingBudgetMax: 1500, input: ['text'], maxOutputTokens: 3000 },
]

/** What the encoded request must not have for a model with these traits. */
function traitsFault(body: Json, traits: Traits): string | undefined {
  const text = JSON.stringify(body)
  const thinking = isRecord(body.thinking) ? body.thinking : {}
  const output = isRecord(body.output_config) ? body.output_config : {}
  if (traits.takes?.temperature === false && 'temperature' in body) return 'temperature'
  if (traits.thinking === 'none' && ('thinking' in body || 'effort' in output)) return 'thinking'
  if (traits.thinking === 'adaptive' && thinking.type === 'enabled') return 'a budget'
  if (traits.thinkingOff === false && thinking.type === 'disabled') return 'disabled'
  if (!(traits.effortLevels ?? [output.effort]).some((level) => level === (output.effort ?? level)))
    return 'effort'
  if (Number(thinking.budget_tokens ?? 0) > (traits.thinkingBudgetMax ?? 1e9)) return 'a large budget'
  if (Number(body.max_tokens) > (traits.maxOutputTokens ?? 1e9)) return 'max_tokens'
  if (traits.prefill === false && recordsOf(body.messages).at(-1)?.role === 'assistant') return 'prefill'
  if (traits.schema === 'none' && 'format' in output) return 'format'
  if (traits.strictTools === false && text.includes('"strict":true')) return 'strict'
  if (traits.caching === 'none' && text.includes('"cache_control":{"type":"ephemeral"')) return 'cache marks'
  if (traits.input !== undefined && recordsOf(body.messages).some(({ content }) => hasImage(content)))
    return 'an image'
  return undefined
}

function hasImage(content: unknown): boolean {
  return recordsOf(content).some(({ type, content: inner }) => type === 'image' || hasImage(inner))
}

function decode(body: Json): ChatRequest {
  return decodeRequest(body, { envelope })
}

function ask(members: Json): ChatRequest {
  return decode({ model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...members })
}

function requestWith(role: string, content: Json[]): ChatRequest {
  return ask({
    messages: [
      { role: 'user', content: 'Hi' },
      { role, content },
    ],
  })
}

function verdicts({ unmapped }: ChatRequest): string[] {
  return unmapped.map(({ verdict, path }) => `${verdict} ${path}`).sort()
}

const seeds: Json[] = [
  {
    model: 'm',
    max_tokens: 5000,
    system: [{ type: 'text', text: 's' }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } },
          { type: 'document', source: { type: 'text', data: 'd' } },
        ],
      },
      { role: 'system', content: 'later' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 't', signature: 's' },
          { type: 'tool_use', id: 'a', name: 'f', input: { a: [1] } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: [{ type: 'image', source: { type: 'url', url: 'https://a' } }],
          },
        ],
      },
    ],
    tools: [
      { name: 'f', input_schema: { type: 'object' }, strict: true, defer_loading: true },
      { type: 'bash_20250124', name: 'bash' },
    ],
    tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    thinking: { type: 'enabled', budget_tokens: 2000, display: 'omitted' },
    output_config: {
      effort: 'high',
      format: { type: 'json_schema', schema: { type: 'object', properties: {} } },
    },
    metadata: { user_id: 'u' },
    stop_sequences: ['a'],
    temperature: 0.5,
  },
]

/** A copy with other values in a few places. */
function mutate(value: unknown, random: Random): unknown {
  const chance = random.next()
  if (chance < 0.02) {
    return random.pick<unknown>([
      null,
      0,
      -1,
      'x',
      '',
      [],
      {},
      true,
      [null],
      { type: 'text' },
      'system',
      'assistant',
      'user',
    ])
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => mutate(item, random))
    return random.next() < 0.05 ? random.shuffle([...items, ...items]) : items
  }
  if (!isRecord(value)) return value
  const entries = Object.entries(value).filter(() => random.next() > 0.01)
  return Object.fromEntries(entries.map(([key, item]) => [key, mutate(item, random)]))
}
