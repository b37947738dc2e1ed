import { describe, expect, it } from 'vitest'
import type { ReasoningSignature } from '../../src/canonical/chat.ts'
import type { AnswerBlock, ChatEvent, Delta } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide, protocols, upstreamSide } from '../../src/protocols/index.ts'
import type { AnswerContext, ProtocolName } from '../../src/protocols/protocol.ts'
import { image, pdf, schema } from './every-field.ts'

/** The exact bytes of each pair of formats. `vitest -u` writes them again, and a reviewer reads the difference. */

const key = Buffer.alloc(32, 7)
const envelope = makeEnvelope(key)
const golden = '../fixtures/golden'
const question = 'What is in the picture, and what is the weather in Oslo and in Rome?'
const cities = ['Oslo', 'Rome']
const thought = 'Two cities, so two calls.'

const requests = {
  'openai-chat': {
    model: 'public',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: question },
          { type: 'image_url', image_url: { url: image, detail: 'low' } },
          { type: 'file', file: { filename: 'trip.pdf', file_data: pdf } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        reasoning_content: thought,
        tool_calls: cities.map((city) => ({
          id: `call_${city}`,
          type: 'function',
          function: { name: 'get_weather', arguments: JSON.stringify({ city }) },
        })),
      },
      ...cities.map((city) => ({ role: 'tool', tool_call_id: `call_${city}`, content: `sunny in ${city}` })),
      { role: 'user', content: 'Now answer in JSON.' },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'get_weather', description: 'Weather', parameters: schema, strict: true },
      },
      {
        type: 'custom',
        custom: { name: 'apply_patch', description: 'Patch files', format: { type: 'text' } },
      },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    response_format: { type: 'json_schema', json_schema: { name: 'weather', schema, strict: true } },
    reasoning_effort: 'medium',
    max_completion_tokens: 16_000,
    temperature: 1.5,
    top_p: 0.9,
    seed: 7,
    stop: ['END'],
    user: 'user-1',
    service_tier: 'flex',
    stream: true,
    stream_options: { include_usage: true },
    made_up_by_tomorrow: 1,
  },
  'openai-responses': {
    model: 'public',
    instructions: 'Be brief.',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: question },
          { type: 'input_image', image_url: image, detail: 'auto' },
          { type: 'input_file', filename: 'trip.pdf', file_data: pdf },
        ],
      },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: thought }],
        encrypted_content: 'opaque',
      },
      ...cities.map((city) => ({
        type: 'function_call',
        id: `fc_${city}`,
        call_id: `call_${city}`,
        namespace: 'geo',
        name: 'get_weather',
        arguments: JSON.stringify({ city }),
      })),
      ...cities.map((city) => ({
        type: 'function_call_output',
        call_id: `call_${city}`,
        output: `sunny in ${city}`,
      })),
      { role: 'developer', content: 'Now answer in JSON.' },
      { role: 'user', content: 'Go on.' },
    ],
    tools: [
      {
        type: 'namespace',
        name: 'geo',
        description: 'Places',
        tools: [{ type: 'function', name: 'get_weather', parameters: schema, strict: true }],
      },
      {
        type: 'custom',
        name: 'apply_patch',
        description: 'Patch files',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
      },
      { type: 'web_search' },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    text: { format: { type: 'json_schema', name: 'weather', schema, strict: true }, verbosity: 'low' },
    reasoning: { effort: 'high', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    max_output_tokens: 16_000,
    store: false,
    prompt_cache_key: 'session-1',
    client_metadata: { installation: 'x' },
    stream: true,
  },
  'anthropic-messages': {
    model: 'public',
    max_tokens: 16_000,
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.329; cch=1a2b3;' },
      { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
    ],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: question },
          {
            type: 'image',
            source: { type: 'base64', media_type: 'image/png', data: image.split(',')[1] },
          },
          {
            type: 'document',
            title: 'trip.pdf',
            source: { type: 'base64', media_type: 'application/pdf', data: pdf.split(',')[1] },
          },
        ],
      },
      { role: 'system', content: 'Tools may fail.', output_config: { effort: 'low' } },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: thought, signature: 'opaque' },
          { type: 'text', text: 'I look it up.' },
          ...cities.map((city) => ({
            type: 'tool_use',
            id: `toolu_${city}`,
            name: 'get_weather',
            input: { city },
          })),
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_Oslo', content: 'sunny in Oslo' },
          { type: 'tool_result', tool_use_id: 'toolu_Rome', content: 'no answer', is_error: true },
          { type: 'text', text: 'Now answer in JSON.' },
        ],
      },
    ],
    tools: [
      {
        name: 'get_weather',
        description: 'Weather',
        input_schema: schema,
        cache_control: { type: 'ephemeral' },
      },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    thinking: { type: 'adaptive' },
    output_config: { effort: 'medium', format: { type: 'json_schema', schema } },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    metadata: { user_id: '{"device_id":"d","session_id":"s"}' },
    stop_sequences: ['END'],
    stream: true,
  },
} as const satisfies Partial<Record<ProtocolName, Json>>

const clients = Object.keys(requests) as (keyof typeof requests)[]
const upstreams = Object.values(protocols).flatMap(({ name, upstream }) => (upstream ? [name] : []))

describe.each(clients)('from %s', (client) => {
  it.each(upstreams.filter((name) => name !== client))('to %s', async (upstream) => {
    const request = clientSide(client).decodeRequest(requests[client], { envelope })
    const { body, notes } = upstreamSide(upstream).encodeRequest(request, {
      upstreamModel: 'upstream-model',
      traits: {},
      maxOutputTokensDefault: 4096,
    })
    const path = upstreamSide(upstream).path({ model: 'upstream-model', stream: request.stream })
    await expect(pretty({ path, body, notes })).toMatchFileSnapshot(`${golden}/${client}-to-${upstream}.json`)
  })

  it('an answer is translated as a whole', async () => {
    const body = clientSide(client).encodeResponse(answer, contextOf(client))
    await expect(pretty(body)).toMatchFileSnapshot(`${golden}/${client}-answer.json`)
  })

  it('an answer is translated as a stream', async () => {
    const encoder = clientSide(client).encodeStream(contextOf(client))
    const text = answer.map((event) => encoder.push(event)).join('')
    await expect(text).toMatchFileSnapshot(`${golden}/${client}-stream.txt`)
  })
})

const signature: ReasoningSignature = {
  protocol: 'gemini',
  model: 'upstream-model',
  kind: 'signature',
  value: 'SIGNED',
}

/** One of each thing that an upstream may send. */
const answer: ChatEvent[] = [
  {
    type: 'start',
    id: 'up-1',
    model: 'upstream-model',
    usage: { input: 100, cacheRead: 20, cacheWrite: 3, output: 0, reasoning: 0 },
  },
  ...block(0, { type: 'reasoning', summary: true }, words('I ', 'look.'), { type: 'signature', signature }),
  ...block(1, { type: 'text' }, words('See “there”, ', '😀.'), {
    type: 'citation',
    url: 'https://example.com/',
    title: 'There',
    start: 4,
    end: 11,
  }),
  open(2, { type: 'tool-call', id: 'call_a', name: 'get_weather', kind: 'function' }),
  open(3, { type: 'tool-call', id: 'call_b', name: 'apply_patch', kind: 'custom' }),
  ...words('{"city"').map((delta) => more(2, delta)),
  ...words('*** Begin').map((delta) => more(3, delta)),
  ...words(':"Oslo"}').map((delta) => more(2, delta)),
  { type: 'block-end', index: 3 },
  { type: 'block-end', index: 2 },
  ...block(4, { type: 'tool-call', id: 'call_a', name: 'get_weather', kind: 'function' }, []),
  {
    type: 'finish',
    reason: 'tool_calls',
    upstreamReason: 'STOP',
    stopSequence: undefined,
    usage: { input: 100, cacheRead: 20, cacheWrite: 3, output: 40, reasoning: 10 },
  },
]

function block(index: number, kind: AnswerBlock, deltas: Delta[], last?: Delta): ChatEvent[] {
  const all = last === undefined ? deltas : [...deltas, last]
  return [open(index, kind), ...all.map((delta) => more(index, delta)), { type: 'block-end', index }]
}

function open(index: number, kind: AnswerBlock): ChatEvent {
  return { type: 'block-start', index, block: kind }
}

function more(index: number, delta: Delta): ChatEvent {
  return { type: 'block-delta', index, delta }
}

function words(...texts: string[]): Delta[] {
  return texts.map((text) => ({ type: 'text', text }))
}

function contextOf(client: keyof typeof requests): AnswerContext {
  const body: Json = requests[client]
  return {
    requestId: 'req_golden',
    model: 'public',
    createdAtSeconds: 1_790_000_000,
    nowSeconds: () => 1_790_000_007,
    body,
    inputTokensEstimate: 42,
    envelope,
  }
}

function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
