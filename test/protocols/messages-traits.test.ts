import { describe, expect, it, test } from 'vitest'
import type { ChatRequest, FunctionTool, ReasoningOptions } from '../../src/canonical/chat.ts'
import { type Json, recordsOf } from '../../src/canonical/json.ts'
import type { Traits } from '../../src/canonical/traits.ts'
import { actions, call, encode, plain, result, text, turn, weather } from './messages-build.ts'
import { brokenRules } from './schema-rules.ts'

/** Requests to Messages models, by what the model takes. */

const adaptive: Traits = {
  takes: { temperature: false, topP: false, topK: false },
  thinking: 'adaptive',
  effortLevels: ['low', 'medium', 'high', 'max'],
  prefill: false,
  schema: 'anthropic',
  maxOutputTokens: 64_000,
}

const wish = (members: Partial<ReasoningOptions>): Pick<ChatRequest, 'reasoning'> => ({
  reasoning: { effort: undefined, budgetTokens: undefined, summary: undefined, ...members },
})

describe('sampling', () => {
  it('that the model refuses is dropped with a note that names the model', () => {
    const { body, notes } = encode({ temperature: 0.2, topP: 0.9, topK: 5 }, adaptive)
    for (const name of ['temperature', 'top_p', 'top_k']) expect(body).not.toHaveProperty(name)
    expect(actions(notes)).toEqual(
      expect.arrayContaining(['dropped temperature', 'dropped topP', 'dropped topK']),
    )
    expect(notes.find(({ path }) => path === 'temperature')?.reason).toContain('claude-x')
  })

  it('with the default value is left out in silence', () => {
    const { body, notes } = encode({ temperature: 1, topP: 1, maxOutputTokens: 9 }, adaptive)
    expect(body).not.toHaveProperty('temperature')
    expect(notes).toEqual([])
  })

  it('of both kinds goes to a model that takes both, up to its own bound', () => {
    const traits = { temperatureWithTopP: true, temperatureMax: 1.5 }
    expect(encode({ temperature: 2, topP: 0.9 }, traits).body).toMatchObject({ temperature: 1.5, top_p: 0.9 })
    expect(encode({ temperature: 2, topP: 0.9 }).body).toMatchObject({ temperature: 1 })
  })
})

describe('thinking', () => {
  it.each<[Partial<ReasoningOptions>, Traits, Json, string[]]>([
    [{ effort: 'high' }, {}, { thinking: shown, output_config: { effort: 'high' } }, []],
    [
      { effort: 'xhigh', summary: 'none' },
      {},
      { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'high' } },
      ['clamped reasoning_effort'],
    ],
    [
      { effort: 'minimal' },
      {},
      { thinking: shown, output_config: { effort: 'low' } },
      ['clamped reasoning_effort'],
    ],
    [
      { budgetTokens: 5000 },
      {},
      { thinking: shown, output_config: { effort: 'medium' } },
      ['mapped reasoning_effort'],
    ],
    [{ summary: 'auto' }, {}, { thinking: shown }, []],
    [{ effort: 'none' }, {}, { thinking: { type: 'disabled' } }, []],
    [
      { effort: 'none' },
      { thinkingOff: false },
      { output_config: { effort: 'low' } },
      ['clamped reasoning_effort'],
    ],
    [{ effort: 'none' }, { thinkingOff: false, effortLevels: [] }, {}, ['dropped reasoning_effort']],
    [{ effort: 'high' }, { effortLevels: [] }, { thinking: shown }, ['dropped reasoning_effort']],
    [{ effort: 'high' }, { thinking: 'none' }, {}, ['dropped reasoning_effort']],
    [{ effort: 'none' }, { thinking: 'none' }, {}, []],
    [{ effort: 'high' }, { thinking: 'effort' }, { output_config: { effort: 'high' } }, []],
    [
      { effort: 'high' },
      { thinking: 'budget', thinkingBudgetMax: 4000 },
      { thinking: { type: 'enabled', budget_tokens: 4000 } },
      ['mapped reasoning_effort'],
    ],
    [
      { budgetTokens: 1 },
      { thinking: 'budget', thinkingBudgetMin: 3000 },
      { thinking: { type: 'enabled', budget_tokens: 3000 } },
      ['clamped reasoning_effort'],
    ],
  ])('%j with %j', (reasoning, traits, expected, noted) => {
    const { body, notes } = encode(
      { ...wish(reasoning), maxOutputTokens: 50_000 },
      { ...adaptive, ...traits },
    )
    const { model: _, messages: __, max_tokens: ___, ...rest } = body
    expect(rest).toEqual(expected)
    expect(actions(notes)).toEqual(noted)
  })

  it('goes on in a loop of tools whose calls another model made', () => {
    const turns = [turn('user', 'Hi'), turn('assistant', call('a')), turn('user', result('a', 'rain'))]
    const { body } = encode({ ...wish({ effort: 'low' }), tools: [weather], turns }, adaptive)
    expect(body.thinking).toEqual(shown)
    expect(encode({ ...wish({ effort: 'low' }), tools: [weather], turns }).body).not.toHaveProperty(
      'thinking',
    )
  })

  it('stops for a forced tool, unless the model can do both', () => {
    const forced = { ...wish({ effort: 'low' }), tools: [weather], toolChoice: { type: 'required' } as const }
    const { body, notes } = encode(forced, adaptive)
    expect(body).not.toHaveProperty('thinking')
    expect(body.output_config).toEqual({ effort: 'low' })
    expect(actions(notes)).toContain('dropped reasoning_effort')
    expect(encode(forced, { ...adaptive, forcedToolsWhileThinking: true }).body.thinking).toEqual(shown)
  })
})

const shown = { type: 'adaptive', display: 'summarized' }

describe('schemas', () => {
  const bounded: Json = {
    type: 'object',
    properties: {
      age: { type: 'integer', minimum: 3 },
      tags: { type: 'array', items: { type: 'string' }, minItems: 2 },
    },
    required: ['age'],
  }
  const format = (schema: Json): Partial<ChatRequest> => ({
    format: { type: 'json_schema', name: undefined, description: undefined, schema, strict: undefined },
    maxOutputTokens: 9,
  })

  it('are rewritten to what the vendor takes, and a note says what was taken out', () => {
    const { body, notes } = encode(format(bounded))
    const { schema } = (body.output_config as { format: { schema: Json } }).format
    expect(brokenRules(schema, 'anthropic')).toEqual([])
    expect(actions(notes)).toEqual(['emulated format'])
    expect(notes[0]?.reason).toContain('minimum: 3 (properties.age)')
    expect(encode(format(bounded), { schema: 'any' }).body.output_config).toEqual({
      format: { type: 'json_schema', schema: bounded },
    })
  })

  it.each<[string, Json, Traits]>([
    ['has free keys', { type: 'object', additionalProperties: { type: 'number' } }, {}],
    ['is for a model without schemas', bounded, { schema: 'none' }],
    ['is for a model that takes no format beside tools', bounded, { toolsWithFormat: false }],
  ])('become an instruction when one %s', (_, schema, traits) => {
    const { body, notes } = encode({ ...format(schema), tools: [weather] }, traits)
    expect(body).not.toHaveProperty('output_config')
    expect(String(recordsOf(body.system)[0]?.text)).toContain(JSON.stringify(schema))
    expect(notes.map(({ action, reason }) => `${action}: ${reason}`)).toEqual([
      expect.stringMatching(/^emulated: .*may not follow/),
    ])
  })

  it('of strict tools are rewritten; one that does not fit is not strict', () => {
    const tools: FunctionTool[] = [
      { ...weather, strict: true, parameters: bounded },
      {
        ...weather,
        name: 'map',
        strict: true,
        parameters: { type: 'object', additionalProperties: {} },
        path: 'tools[1]',
      },
    ]
    const { body, notes } = encode({ tools, maxOutputTokens: 9 })
    const [strict, free] = recordsOf(body.tools)
    expect(strict?.strict).toBe(true)
    expect(brokenRules(strict?.input_schema as Json, 'anthropic')).toEqual([])
    expect(free).toEqual({ name: 'map', description: 'The weather', input_schema: tools[1]?.parameters })
    expect(actions(notes)).toEqual(['emulated tools[0]', 'dropped tools[1]'])
    expect(recordsOf(encode({ tools }, { strictTools: false }).body.tools)[0]).toMatchObject({
      input_schema: bounded,
    })
  })

  it('of strict tools: the vendor takes twenty of them', () => {
    const tools = Array.from({ length: 22 }, (_, at) => ({
      ...weather,
      name: `t${at}`,
      strict: true,
      path: `tools[${at}]`,
    }))
    const { body, notes } = encode({ tools, maxOutputTokens: 9 })
    expect(recordsOf(body.tools).filter(({ strict }) => strict === true)).toHaveLength(20)
    expect(actions(notes)).toEqual(['dropped tools[20]', 'dropped tools[21]'])
  })

  it('of tools lose a union at the top, which the vendor refuses', () => {
    const anyOf = [{ required: ['city'] }, { required: ['zip'] }]
    const { body, notes } = encode({
      tools: [{ ...weather, parameters: { ...weather.parameters, anyOf } }],
      maxOutputTokens: 9,
    })
    expect(recordsOf(body.tools)[0]?.input_schema).toEqual({
      ...weather.parameters,
      description: `{anyOf: ${JSON.stringify(anyOf)}}`,
    })
    expect(actions(notes)).toEqual(['emulated tools[0]'])
  })
})

describe('JSON mode', () => {
  it('is an instruction, and the note says that it may be disobeyed', () => {
    const { body, notes } = encode({ format: { type: 'json_object' }, maxOutputTokens: 9 })
    expect(body).not.toHaveProperty('output_config')
    expect(recordsOf(body.system)).toHaveLength(1)
    expect(notes).toEqual([
      { action: 'emulated', path: 'format', reason: expect.stringContaining('may not follow') },
    ])
  })

  it('is a schema of any object where the model takes that', () => {
    const { body, notes } = encode({ format: { type: 'json_object' } }, { schema: 'any' })
    expect(body.output_config).toEqual({ format: { type: 'json_schema', schema: { type: 'object' } } })
    expect(notes.at(-1)?.reason).toContain('a schema for an arbitrary object enforces it')
  })
})

describe('an assistant turn at the end', () => {
  const turns = [turn('user', 'Count'), turn('assistant', 'One, two, ')]

  it('is continued by a model that does so', () => {
    const { body } = encode({ turns }, { prefill: true })
    expect(recordsOf(body.messages).at(-1)).toEqual({ role: 'assistant', content: [text('One, two,')] })
  })

  it('is followed by an instruction where the model refuses to continue it', () => {
    const { body, notes } = encode({ turns, maxOutputTokens: 9 }, adaptive)
    const messages = recordsOf(body.messages)
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(recordsOf(messages[1]?.content)).toEqual([text('One, two, ')])
    expect(recordsOf(messages[2]?.content)).toEqual([text(expect.stringContaining('Continue it exactly'))])
    expect(actions(notes)).toEqual(['emulated messages[1].content[0]'])
  })
})

describe('instructions between the turns', () => {
  const turns = [
    turn('user', 'Hi'),
    turn('developer', 'Be brief'),
    turn('assistant', 'Yes'),
    turn('system', 'Be long'),
    turn('user', 'Go'),
    turn('system', 'Stop'),
    turn('user', 'On'),
  ]

  it('stay where the model takes them, right after a user’s message', () => {
    const { body, notes } = encode({ turns, maxOutputTokens: 9 }, { laterInstructions: true })
    expect(body.messages).toEqual([
      { role: 'user', content: [text('Hi')] },
      { role: 'system', content: [text('Be brief')] },
      { role: 'assistant', content: [text('Yes')] },
      {
        role: 'user',
        content: [
          text('<system>\nBe long\n</system>'),
          text('Go'),
          text('<system>\nStop\n</system>'),
          text('On'),
        ],
      },
    ])
    expect(actions(notes)).toEqual(['mapped messages[3]', 'mapped messages[5]'])
  })

  it('are text of the user elsewhere', () => {
    const { body } = encode({ turns })
    expect(recordsOf(body.messages).map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })
})

describe('what the model cannot do is refused by its name', () => {
  const picture = {
    type: 'image',
    source: { kind: 'url', url: 'https://example.com/a.png' },
    path: '',
  } as const
  const pdf = {
    type: 'document',
    source: { kind: 'base64', mediaType: 'application/pdf', data: 'JVBERg==' },
    path: '',
  } as const
  test.each<[Partial<ChatRequest>, Traits, string]>([
    [{ turns: [turn('user', picture)] }, { input: ['text'] }, 'messages[0].content[0]'],
    [{ turns: [turn('user', picture)] }, { fetchesUrls: false }, 'messages[0].content[0]'],
    [{ turns: [turn('user', pdf)] }, { input: ['text', 'image'] }, 'messages[0].content[0]'],
    [{ tools: [weather] }, { tools: false }, 'tools[0]'],
    [
      { turns: [turn('user', 'Hi'), turn('assistant', call('a')), turn('user', result('a', 'x'))] },
      { tools: false },
      'messages[1].content[0]',
    ],
    [{ tools: [weather], toolChoice: { type: 'required' } }, { forcedTools: false }, 'toolChoice'],
    [
      { tools: [weather], toolChoice: { type: 'required' } },
      { thinking: 'adaptive', thinkingOff: false, forcedToolsWhileThinking: false },
      'toolChoice',
    ],
    [{ stop: ['a', 'b'] }, { stopMax: 1 }, 'stop'],
  ])('%j with %j', (members, traits, field) => {
    expect(() => encode(members, traits)).toThrow(
      expect.objectContaining({
        kind: 'unsupported_parameter',
        field,
        message: expect.stringContaining('claude-x'),
      }),
    )
    expect(() => encode(members)).not.toThrow()
  })

  it('but a document of text is text for a model that reads no documents', () => {
    const document = {
      type: 'document',
      source: { kind: 'text', text: 'Words' },
      name: 'T',
      path: '',
    } as const
    const { body } = encode({ turns: [turn('user', document)] }, { input: ['text'] })
    expect(recordsOf(body.messages)[0]?.content).toEqual([text('T\n\nWords')])
  })
})

describe('other parameters', () => {
  it('that the model refuses are dropped', () => {
    const takes = { userId: false, serviceTier: false, parallelToolCalls: false }
    const members = { userId: 'u', serviceTier: 'auto', tools: [weather], parallelToolCalls: false }
    const { body, notes } = encode({ ...members, maxOutputTokens: 9 }, { takes })
    for (const name of ['metadata', 'service_tier', 'tool_choice']) expect(body).not.toHaveProperty(name)
    expect(actions(notes)).toEqual(['emulated parallelToolCalls', 'dropped userId', 'dropped serviceTier'])
  })

  it('about parallel calls mean nothing to a model that makes one call', () => {
    const { body, notes } = encode(
      { tools: [weather], parallelToolCalls: false, maxOutputTokens: 9 },
      { parallelTools: false },
    )
    expect(body).not.toHaveProperty('tool_choice')
    expect(notes).toEqual([])
  })

  it('cache hints go only to models that want them', () => {
    const turns = [turn('user', { type: 'text', text: 'Hi', path: '', cache: { ttl: '5m' } })]
    const of = (traits: Traits) => encode({ turns, maxOutputTokens: 9 }, traits)
    expect(JSON.stringify(of({ caching: 'marks' }).body)).toContain('cache_control')
    expect(JSON.stringify(of({ caching: 'automatic' }).body)).not.toContain('cache_control')
    expect(actions(of({ caching: 'automatic' }).notes)).toEqual(['mapped messages[0].content[0]'])
    expect(actions(of({ caching: 'none' }).notes)).toEqual(['dropped messages[0].content[0]'])
  })

  it('a bound above the model’s own is lowered to it', () => {
    const { body, notes } = encode({ maxOutputTokens: 100_000 }, adaptive)
    expect(body.max_tokens).toBe(64_000)
    expect(actions(notes)).toEqual(['clamped max_tokens'])
  })
})

test('a model of which nothing is known gets the format’s own default', () => {
  const { body } = encode({ ...wish({ effort: 'low' }), temperature: 0.5 })
  expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 2048 })
  expect(encode({ ...plain, temperature: 0.5 }).body.temperature).toBe(0.5)
})
