import { describe, expect, test } from 'vitest'
import { isRecord, type Json, recordsOf } from '../../src/canonical/json.ts'
import { OfferTraits } from '../../src/catalog/traits/offer-traits.ts'
import type { VendorName } from '../../src/catalog/traits/vendors.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide, upstreamSide } from '../../src/protocols/index.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'

/** Rules of vendors about thinking, tools and formats, as a request of each client meets them. */

const envelope = makeEnvelope(Buffer.alloc(32))
const question = { role: 'user', content: 'Hi' }
const schema = { type: 'object' }

interface Offer {
  model: string
  vendor: VendorName
  to: ProtocolName
}

/** What is sent for a request, and the paths of its notes. */
function sent(
  from: ProtocolName,
  request: Json,
  { model, vendor, to }: Offer,
): { body: Json; notes: string[] } {
  const decoded = clientSide(from).decodeRequest({ model, ...request }, { envelope })
  const traits = new OfferTraits({ vendor, stated: [], verdicts: [] }).of(to, model)
  const context = { upstreamModel: model, traits, maxOutputTokensDefault: 1000 }
  const { body, notes } = upstreamSide(to).encodeRequest(decoded, context)
  // JSON omits members without a value.
  return {
    body: JSON.parse(JSON.stringify(body)),
    notes: notes.map(({ action, path }) => `${action} ${path}`),
  }
}

const clients = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const

const forced: Record<(typeof clients)[number], Json[]> = {
  'openai-chat': [
    {
      messages: [question],
      tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
    },
  ],
  'openai-responses': [
    { input: 'Hi', tools: [{ type: 'function', name: 'f', parameters: schema }], tool_choice: 'required' },
  ],
  'anthropic-messages': [{ name: 'f', type: 'tool' }, { type: 'any' }].map((tool_choice) => ({
    max_tokens: 100,
    messages: [question],
    tools: [{ name: 'f', input_schema: schema }],
    tool_choice,
  })),
}

const off: Record<(typeof clients)[number], Json> = {
  'openai-chat': { messages: [question], reasoning_effort: 'none' },
  'openai-responses': { input: 'Hi', reasoning: { effort: 'none' } },
  'anthropic-messages': { max_tokens: 100, messages: [question], thinking: { type: 'disabled' } },
}

const disabled = { thinking: { type: 'disabled' } }
const chat = 'openai-chat'
const messages = 'anthropic-messages'

describe('a model that takes no forced call while it thinks is told not to think, with a note', () => {
  const offers: [Offer, Json][] = [
    ...['deepseek-v4-flash', 'deepseek-v4-pro', 'deepseek-v4.1-flash'].flatMap((model): [Offer, Json][] => [
      [{ model, vendor: 'deepseek', to: chat }, disabled],
      [{ model, vendor: 'deepseek', to: messages }, disabled],
      [{ model, vendor: 'deepseek', to: 'openai-responses' }, { reasoning: { effort: 'none' } }],
    ]),
    ...['kimi-k2.5', 'kimi-k2.6'].flatMap((model): [Offer, Json][] => [
      [{ model, vendor: 'moonshot', to: chat }, disabled],
      [{ model, vendor: 'moonshot', to: messages }, disabled],
    ]),
    ...['qwen3.6-plus', 'qwen3.5-flash', 'qwen-plus'].map((model): [Offer, Json] => [
      { model, vendor: 'qwen', to: chat },
      { enable_thinking: false },
    ]),
  ]

  test.each(offers)('%o', (offer, expected) => {
    for (const from of clients) {
      if (from === offer.to) continue
      for (const request of forced[from]) {
        const { body, notes } = sent(from, request, offer)
        expect(body).toMatchObject(expected)
        expect(JSON.stringify(body.tool_choice)).toMatch(/required|any|"f"/)
        expect(notes.some((note) => /reasoning|thinking|effort/.test(note))).toBe(true)
        // A wish for thoughts gives way to the call.
        const wish = {
          reasoning_effort: 'high',
          reasoning: { effort: 'high' },
          thinking: { type: 'adaptive' },
        }
        const thoughtful = sent(from, { ...request, ...wishOf(from, wish) }, offer)
        expect(thoughtful.body).toMatchObject(expected)
        // Without a forced call it may think.
        const free = sent(from, { ...request, tool_choice: undefined }, offer)
        for (const name of Object.keys(expected)) expect(free.body).not.toHaveProperty(name)
      }
    }
  })

  function wishOf(from: ProtocolName, { reasoning_effort, reasoning, thinking }: Json): Json {
    if (from === 'openai-chat') return { reasoning_effort }
    return from === 'openai-responses' ? { reasoning } : { thinking }
  }
})

test.each<Offer>([
  { model: 'kimi-k2.7-code', vendor: 'moonshot', to: chat },
  { model: 'kimi-k2-thinking', vendor: 'moonshot', to: chat },
  { model: 'kimi-k2.7-code', vendor: 'moonshot', to: messages },
  { model: 'qwen3-235b-a22b-thinking-2507', vendor: 'qwen', to: chat },
  { model: 'qwq-plus', vendor: 'qwen', to: chat },
])('a forced call is refused by name where the model always thinks: %o', (offer) => {
  for (const from of clients) {
    if (from === offer.to) continue
    for (const request of forced[from]) {
      expect(() => sent(from, request, offer)).toThrow(/^tool_choice: /)
      expect(() => sent(from, { ...request, tool_choice: undefined }, offer)).not.toThrow()
    }
  }
})

test('kimi-k3 takes a forced call as it is', () => {
  const offer: Offer = { model: 'kimi-k3', vendor: 'moonshot', to: chat }
  const { body } = sent('openai-responses', forced['openai-responses'][0] ?? {}, offer)
  expect(body).toMatchObject({ tool_choice: 'required' })
  expect(body).not.toHaveProperty('thinking')
})

test.each<[Offer, Json]>([
  [{ model: 'deepseek-v4-flash', vendor: 'deepseek', to: chat }, disabled],
  [{ model: 'kimi-k2.6', vendor: 'moonshot', to: chat }, disabled],
  [{ model: 'kimi-k2.5', vendor: 'moonshot', to: chat }, disabled],
  [{ model: 'glm-5', vendor: 'zai', to: chat }, disabled],
  [{ model: 'glm-4.7', vendor: 'zai', to: chat }, disabled],
  [{ model: 'glm-5.2', vendor: 'zai', to: chat }, disabled],
  [{ model: 'glm-5.3', vendor: 'zai', to: chat }, { reasoning_effort: 'low' }],
  [{ model: 'qwen3.6-plus', vendor: 'qwen', to: chat }, { enable_thinking: false }],
  [{ model: 'kimi-k3', vendor: 'moonshot', to: chat }, { reasoning_effort: 'low' }],
  [{ model: 'gpt-5.4', vendor: 'openai', to: chat }, { reasoning_effort: 'none' }],
  [{ model: 'qwen3.6-plus', vendor: 'qwen', to: messages }, disabled],
])('"do not think" is said in the words of the vendor: %o', (offer, expected) => {
  const words = ['reasoning_effort', 'thinking', 'enable_thinking']
  for (const from of clients) {
    if (from === offer.to) continue
    const { body } = sent(from, off[from], offer)
    expect(Object.fromEntries(words.flatMap((word) => (word in body ? [[word, body[word]]] : [])))).toEqual(
      expected,
    )
  }
})

test('a model that thinks or does not gets no measure of it', () => {
  const request = { messages: [question], reasoning_effort: 'high' }
  for (const [model, vendor] of [
    ['kimi-k2.6', 'moonshot'],
    ['glm-5', 'zai'],
  ] as const) {
    const { body, notes } = sent(chat, request, { model, vendor, to: chat })
    expect(body).toMatchObject({ thinking: { type: 'enabled' } })
    expect(body).not.toHaveProperty('reasoning_effort')
    expect(notes).toContain('clamped reasoning_effort')
  }
})

describe('a conversation that began elsewhere', () => {
  const ids = [
    'toolu_01A09q90qw90lq917835lq9',
    'call_abc',
    'abcdefghi',
    'a b',
    'x'.repeat(300),
    'toolu_01A09q90qw90lq917835lq8',
  ]
  const history: Record<(typeof clients)[number], Json> = {
    'openai-chat': {
      messages: [
        question,
        ...ids.flatMap((id) => [
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: id, content: `of ${id}` },
        ]),
      ],
    },
    'openai-responses': {
      input: ids.flatMap((call_id) => [
        { type: 'function_call', call_id, name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id, output: `of ${call_id}` },
      ]),
    },
    'anthropic-messages': {
      max_tokens: 9,
      messages: [
        question,
        ...ids.flatMap((id) => [
          { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: `of ${id}` }] },
        ]),
      ],
    },
  }

  test.each<[string, VendorName]>([
    ['mistral-large-latest', 'mistral'],
    ['our-own-tuned-model', 'mistral'],
    ['mistralai/mistral-small-2603', 'vllm'],
  ])('%s at %s gets ids of nine letters and digits, the same for call and result', (model, vendor) => {
    for (const from of clients) {
      const { body } = sent(from, history[from], { model, vendor, to: chat })
      const calls = recordsOf(body.messages).flatMap(({ tool_calls }) =>
        recordsOf(tool_calls).map(({ id }) => String(id)),
      )
      const results = recordsOf(body.messages).filter(({ role }) => role === 'tool')
      expect(calls).toHaveLength(ids.length)
      expect(new Set(calls).size).toBe(ids.length)
      for (const [at, id] of calls.entries()) {
        expect(id).toMatch(/^[a-zA-Z0-9]{9}$/)
        expect(results[at]).toMatchObject({ tool_call_id: id, content: `of ${ids[at]}` })
      }
      expect(calls).toContain('abcdefghi')
    }
  })

  test.each(['kimi-k2.5', 'kimi-k2.6', 'kimi-k2-thinking', 'kimi-k3'])(
    '%s gets a thought with each call',
    (model) => {
      for (const from of clients) {
        const { body } = sent(from, history[from], { model, vendor: 'moonshot', to: chat })
        const callers = recordsOf(body.messages).filter(({ tool_calls }) => tool_calls !== undefined)
        expect(callers.length).toBeGreaterThan(0)
        for (const { reasoning_content } of callers)
          expect(reasoning_content).toEqual(expect.stringMatching(/./))
      }
    },
  )
})

test.each<[string, VendorName]>([
  ['openai/gpt-oss-120b', 'groq'],
  ['llama-3.3-70b-versatile', 'groq'],
  ['qwen-3-235b-a22b-instruct-2507', 'cerebras'],
  ['zai-glm-4.7', 'cerebras'],
])('%s at %s gets a format beside tools as an instruction', (model, vendor) => {
  const tools = [{ type: 'function', name: 'f', parameters: schema }]
  const text = { format: { type: 'json_schema', name: 'n', schema } }
  const { body, notes } = sent('openai-responses', { input: 'Hi', tools, text }, { model, vendor, to: chat })
  expect(body).not.toHaveProperty('response_format')
  expect(body.tools).toHaveLength(1)
  expect(JSON.stringify(recordsOf(body.messages).filter(({ role }) => role === 'system'))).toContain(
    'JSON Schema',
  )
  expect(notes).toContain('emulated text.format')
  const alone = sent('openai-responses', { input: 'Hi', text }, { model, vendor, to: chat })
  expect(isRecord(alone.body.response_format)).toBe(true)
})
