import { createOpenAI } from '@ai-sdk/openai'
import { generateText, jsonSchema, streamText, tool } from 'ai'
import OpenAI, { APIError } from 'openai'
import type { Response as OpenAIResponse } from 'openai/resources/responses/responses'
import { describe, expect, it } from 'vitest'
import type { ReasoningSignature } from '../../src/canonical/chat.ts'
import type { AnswerBlock, ChatEvent, Delta, Finish } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import { SseDecoder } from '../../src/protocols/decode-sse.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { decodeStream } from '../../src/protocols/openai-responses/decode-answer.ts'
import { decodeRequest } from '../../src/protocols/openai-responses/decode-request.ts'
import { encodeResponse, encodeStream } from '../../src/protocols/openai-responses/encode-answer.ts'
import { encodeStreamError } from '../../src/protocols/openai-responses/errors.ts'
import type { AnswerContext } from '../../src/protocols/protocol.ts'
import { errorOfKind } from '../support/error-of-kind.ts'

const envelope = makeEnvelope(Buffer.alloc(32, 3))
const usage = { input: 10, cacheRead: 5, cacheWrite: 2, output: 7, reasoning: 3 }
const signature: ReasoningSignature = {
  protocol: 'anthropic-messages',
  model: 'claude',
  kind: 'signature',
  value: 'SIG',
}
const start: ChatEvent = { type: 'start', id: 'up-1', model: 'claude', usage: undefined }

const text = (words: string): Delta => ({ type: 'text', text: words })
const blockStart = (index: number, block: AnswerBlock): ChatEvent => ({ type: 'block-start', index, block })
const blockDelta = (index: number, delta: Delta): ChatEvent => ({ type: 'block-delta', index, delta })
const blockEnd = (index: number): ChatEvent => ({ type: 'block-end', index })
const blockOf = (index: number, block: AnswerBlock, ...deltas: Delta[]): ChatEvent[] => [
  blockStart(index, block),
  ...deltas.map((delta) => blockDelta(index, delta)),
  blockEnd(index),
]
const callOf = (id: string, name: string, more: object = {}): AnswerBlock => ({
  type: 'tool-call',
  id,
  name,
  kind: 'function',
  ...more,
})
const finish = (reason: Finish['reason'], more: Partial<Finish> = {}): Finish => ({
  type: 'finish',
  reason,
  upstreamReason: reason,
  stopSequence: undefined,
  usage,
  ...more,
})

/** One of each kind, with parallel calls. */
const rich: ChatEvent[] = [
  start,
  ...blockOf(0, { type: 'reasoning', summary: true }, text('hm'), text(', so'), {
    type: 'signature',
    signature,
  }),
  ...blockOf(1, { type: 'reasoning', summary: false }, text('raw')),
  ...blockOf(2, { type: 'text' }, text('Hel'), text('lo'), {
    type: 'citation',
    url: 'https://example.com',
    title: 'T',
    start: 0,
    end: 5,
  }),
  ...blockOf(3, { type: 'text' }, text(' there')),
  blockStart(4, callOf('toolu_1', 'query', { namespace: 'db' })),
  blockStart(5, callOf('toolu_2', 'patch', { kind: 'custom' })),
  blockDelta(4, text('{"a"')),
  blockDelta(5, text('*** ')),
  blockDelta(4, text(':1}')),
  blockDelta(5, text('Begin')),
  blockEnd(5),
  blockEnd(4),
  ...blockOf(6, callOf('toolu_3', 'now')),
  finish('tool_calls'),
]
const plain: ChatEvent[] = [
  start,
  ...blockOf(0, { type: 'text' }, text('Hello'), text(' you')),
  finish('stop'),
]

describe('a streamed answer', () => {
  it.each([
    ['one of everything', rich],
    ['plain text', plain],
    ['nothing', [start, finish('stop')]],
    [
      'signature alone',
      [
        start,
        ...blockOf(0, { type: 'reasoning', summary: true }, { type: 'signature', signature }),
        finish('stop'),
      ],
    ],
    ['text around a call that comes in between', interleaved()],
  ])(
    'announces each item before its pieces, numbers events without gaps, and ends with what it streamed: %s',
    (_, events) => {
      const sent = eventsOf(events)
      expect(sent.map((event) => event.sequence_number)).toEqual(sent.map((_event, i) => i))
      expect(sent[0]?.type).toBe('response.created')
      expect(sent[1]?.type).toBe('response.in_progress')
      const added = sent.filter(({ type }) => type === 'response.output_item.added')
      expect(added.map(({ output_index }) => output_index)).toEqual(added.map((_event, i) => i))
      const done = sent.filter(({ type }) => type === 'response.output_item.done')
      expect(done.map(({ output_index }) => output_index).sort()).toEqual(added.map((_event, i) => i))
      for (const [at, { output_index }] of sent.entries()) {
        const isDone = sent
          .slice(0, at)
          .some((event) => done.includes(event) && event.output_index === output_index)
        expect(output_index !== undefined && isDone, `event ${at} is about an item that is done`).toBe(false)
      }
      const steps = sent.filter(({ type }) => String(type).startsWith('response.output_item'))
      expect(steps.map(({ type, output_index }) => [type, output_index])).toEqual(
        added.flatMap((_event, i) => [
          ['response.output_item.added', i],
          ['response.output_item.done', i],
        ]),
      )
      const final = sent.at(-1)?.response as OpenAIResponse
      for (const { output_index, item } of done) expect(final.output[output_index as number]).toEqual(item)
      expect(final.output).toHaveLength(added.length)
      expect(new Set(final.output.map((item) => item.id)).size).toBe(final.output.length)
      expect(textOfStream(events)).toMatch(/data: \[DONE\]\n\n$/)
    },
  )

  it('begins a new message after a call', () => {
    const events = [
      start,
      ...blockOf(0, { type: 'text' }, text('a')),
      ...blockOf(1, callOf('c', 'f'), text('{}')),
      ...blockOf(2, { type: 'text' }, text('b')),
      finish('tool_calls'),
    ]
    const steps = eventsOf(events).filter(({ type }) => String(type).startsWith('response.output_item'))
    expect(steps.map(({ type, output_index }) => [String(type).split('.').at(-1), output_index])).toEqual([
      ['added', 0],
      ['done', 0],
      ['added', 1],
      ['done', 1],
      ['added', 2],
      ['done', 2],
    ])
    expect(encodeResponse(events, contextOf()).output).toMatchObject([
      { type: 'message', content: [{ text: 'a' }] },
      { type: 'function_call', status: 'completed' },
      { type: 'message', content: [{ text: 'b' }] },
    ])
  })

  it('is the same as the whole answer', () => {
    for (const events of [rich, plain]) {
      expect(eventsOf(events).at(-1)?.response).toEqual(encodeResponse(events, contextOf()))
    }
  })

  it('has reasoning only in events that both OpenAI and Open Responses have, and no empty signature', () => {
    const sent = eventsOf(rich)
    const types = new Set(sent.map(({ type }) => String(type)).filter((type) => type.includes('reasoning')))
    expect([...types]).toEqual([
      'response.reasoning_summary_part.added',
      'response.reasoning_summary_text.delta',
      'response.reasoning_summary_text.done',
      'response.reasoning_summary_part.done',
    ])
    expect(textOfStream(rich)).not.toContain('"encrypted_content":null')
  })

  it('has the order of the format', () => {
    expect(eventsOf(plain).map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    expect(textOfStream(plain)).toMatch(/^event: response\.created\ndata: \{"type":"response\.created",/)
  })

  it("passes OpenAI's strict checks, piece by piece", async () => {
    const stream = openai(textOfStream(rich)).responses.stream({ model: 'm', input: 'hi' })
    const final = await stream.finalResponse()
    expect(final.output_text).toBe('Hello there')
    expect(final.output.map(({ type }) => type)).toEqual([
      'reasoning',
      'reasoning',
      'message',
      'function_call',
      'custom_tool_call',
      'function_call',
    ])
    expect(final.output).toMatchObject([
      { summary: [{ text: 'hm, so' }], encrypted_content: envelope.wrap(signature) },
      { summary: [{ type: 'summary_text', text: 'raw' }] },
      { content: [{ text: 'Hello', annotations: [{ url: 'https://example.com' }] }, { text: ' there' }] },
      { call_id: 'toolu_1', namespace: 'db', name: 'query', arguments: '{"a":1}' },
      { call_id: 'toolu_2', name: 'patch', input: '*** Begin' },
      { call_id: 'toolu_3', arguments: '{}' },
    ])
    expect(final.usage).toEqual({
      input_tokens: 17,
      input_tokens_details: { cached_tokens: 5, cache_write_tokens: 2 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 27,
    })
  })

  it.each([
    ['interleaved', interleaved()],
    ['refused', [start, ...blockOf(0, { type: 'text' }, text('Well')), finish('refusal')]],
    ['cut by length', [start, ...blockOf(0, callOf('c', 'f'), text('{"a')), finish('length')]],
  ])("passes OpenAI's strict checks: %s", async (_, events) => {
    await openai(textOfStream(events)).responses.stream({ model: 'm', input: 'hi' }).finalResponse()
  })

  it('is read by the AI SDK', async () => {
    const provider = createOpenAI({
      apiKey: 'k',
      baseURL: 'http://gateway.test/v1',
      fetch: answering(textOfStream(rich)),
    })
    const result = streamText({ model: provider.responses('m'), prompt: 'hi', tools: aiTools(provider) })
    const errors: unknown[] = []
    for await (const part of result.fullStream) if (part.type === 'error') errors.push(part.error)
    expect(errors).toEqual([])
    expect(await result.text).toBe('Hello there')
    expect(await result.reasoningText).toContain('hm, so')
    const inputs = Object.fromEntries(
      (await result.toolCalls).map(({ toolName, input }) => [toolName, input]),
    )
    expect(inputs).toEqual({ query: { a: 1 }, patch: '*** Begin', now: {} })
    expect((await result.usage).inputTokens).toBe(17)
  })

  it('has each call id once, even if the upstream repeats it', () => {
    const events = [
      start,
      ...blockOf(0, callOf('a', 'f')),
      ...blockOf(1, callOf('a', 'g')),
      finish('tool_calls'),
    ]
    const { output } = encodeResponse(events, contextOf()) as unknown as OpenAIResponse
    expect(new Set(output.map((item) => 'call_id' in item && item.call_id)).size).toBe(2)
  })

  it('restores a search for tools', () => {
    const body = { tools: [{ type: 'tool_search', execution: 'client' }] }
    const events = [
      start,
      ...blockOf(0, callOf('s', 'tool_search'), text('{"query":"db"}')),
      finish('tool_calls'),
    ]
    expect(encodeResponse(events, contextOf(body)).output).toMatchObject([
      {
        type: 'tool_search_call',
        execution: 'client',
        call_id: 's',
        arguments: { query: 'db' },
        status: 'completed',
      },
    ])
    expect(encodeResponse(events, contextOf()).output).toMatchObject([
      { type: 'function_call', name: 'tool_search' },
    ])
  })

  it('decodes back to the events that it was made from', () => {
    const decoder = new SseDecoder(decodeStream({ upstreamModel: 'up' }), 1024 * 1024)
    const decoded = decoder.push(Buffer.from(textOfStream(plain)))
    // The format's answers name a tier.
    const end = finish('stop', { upstreamReason: 'completed', usage: { ...usage, serviceTier: 'default' } })
    expect(decoded.slice(1)).toEqual([...plain.slice(1, -1), end])
  })
})

describe('the end of an answer', () => {
  const cutCall = [start, ...blockOf(0, callOf('c', 'f'), text('{"a')), finish('length')]

  it('names the reason for an incomplete answer, and the incomplete item', () => {
    const response = encodeResponse(cutCall, contextOf())
    expect(response).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
    })
    expect(eventsOf(cutCall).at(-1)?.type).toBe('response.incomplete')
    const filtered = [start, ...blockOf(0, { type: 'text' }, text('a')), finish('content_filter')]
    expect(encodeResponse(filtered, contextOf())).toMatchObject({
      incomplete_details: { reason: 'content_filter' },
      output: [{ type: 'message', status: 'incomplete' }],
    })
  })

  it('shows a refusal if the upstream sent only the reason', () => {
    const refusal = { type: 'refusal', refusal: 'The model refused to answer.' }
    const silent = encodeResponse([start, finish('refusal')], contextOf())
    expect(silent).toMatchObject({ status: 'completed', output: [{ content: [refusal] }] })
    const refused = [start, ...blockOf(0, { type: 'refusal' }, text('No.')), finish('refusal')]
    expect(encodeResponse(refused, contextOf()).output).toMatchObject([{ content: [{ refusal: 'No.' }] }])
  })

  it('leaves unknown usage null', () => {
    expect(encodeResponse([start, finish('stop', { usage: undefined })], contextOf()).usage).toBeNull()
  })

  it('fails with the message that Codex shows, and includes the text so far', async () => {
    const error = errorOfKind('upstream_overloaded', 'The upstream is overloaded.')
    const events: ChatEvent[] = [
      start,
      blockStart(0, { type: 'text' }),
      blockDelta(0, text('Hel')),
      { type: 'error', error },
    ]
    const last = eventsOf(events).at(-1)
    expect(last).toMatchObject({
      type: 'response.failed',
      response: {
        status: 'failed',
        error: { code: 'server_error', message: 'The upstream is overloaded.' },
        output: [{ type: 'message', status: 'incomplete', content: [{ text: 'Hel' }] }],
      },
    })
    const final = await openai(textOfStream(events))
      .responses.stream({ model: 'm', input: 'hi' })
      .finalResponse()
    expect(final.status).toBe('failed')
    expect(eventsOf([{ type: 'error', error }]).map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.failed',
    ])
  })

  it('throws the error of a whole answer', () => {
    const error = errorOfKind('upstream_error', 'no')
    expect(() => encodeResponse([start, { type: 'error', error }], contextOf())).toThrow(error)
  })

  it('ignores events after it', () => {
    const encoder = encodeStream(contextOf())
    for (const event of plain) encoder.push(event)
    expect(encoder.push(blockStart(1, { type: 'text' }))).toBe('')
    expect(encoder.push({ type: 'error', error: errorOfKind('internal', 'x') })).toBe('')
  })

  it('raises APIError for an error in a stream of unknown state', async () => {
    const error = errorOfKind('upstream_error', 'The upstream is gone.')
    const bytes = encodeStreamError(error, 'req-1').toString()
    const stream = await openai(bytes).responses.create({ model: 'm', input: 'hi', stream: true })
    const read = async () => {
      for await (const event of stream) void event
    }
    await expect(read()).rejects.toThrow(APIError)
    expect(bytes).toContain('"type":"response.failed"')
    expect(bytes).toMatch(/data: \[DONE\]\n\n$/)
  })
})

describe('the response object', () => {
  it('repeats every setting of the request, and the default of every other', () => {
    const body = {
      instructions: 'Be brief.',
      max_output_tokens: 50,
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      reasoning: { effort: 'high' },
      temperature: 0.2,
      text: { format: { type: 'json_object' } },
      tool_choice: 'required',
      tools: [{ type: 'function', name: 'f' }],
      top_p: 0.3,
    }
    expect(encodeResponse(plain, contextOf(body))).toMatchObject({
      ...body,
      id: 'resp_req1',
      object: 'response',
      created_at: 1_700_000_000,
      model: 'public-model',
      reasoning: { effort: 'high', summary: null },
      tools: [{ type: 'function', name: 'f', description: null, parameters: null, strict: null }],
      store: false,
    })
  })

  it('says when a completed answer was complete, and in other states nothing', () => {
    const nowSeconds = () => 1_700_000_042
    const encoder = encodeStream({ ...contextOf(), nowSeconds })
    const frames = plain.map((event) => encoder.push(event)).join('')
    const states = [...frames.matchAll(/"status":"(\w+)","completed_at":(\w+)/g)].map(([, ...state]) => state)
    expect(states).toEqual([
      ['in_progress', 'null'],
      ['in_progress', 'null'],
      ['completed', '1700000042'],
    ])
    const cut = [...plain.slice(0, -1), finish('length')]
    expect(encodeResponse(cut, contextOf()).completed_at).toBeNull()
    expect(encodeResponse(plain, contextOf()).completed_at).toBeGreaterThan(1_700_000_000)
  })

  it('has every key that strict schemas demand, if necessary null', () => {
    const response = encodeResponse(plain, contextOf())
    for (const key of keysOfOpenResponses) expect(response, key).toHaveProperty(key)
    expect(Object.values(response)).not.toContain(undefined)
  })

  it('is read by the AI SDK', async () => {
    const json = JSON.stringify(encodeResponse(rich, contextOf()))
    const provider = createOpenAI({
      apiKey: 'k',
      baseURL: 'http://gateway.test/v1',
      fetch: answering(json, 'application/json'),
    })
    const result = await generateText({
      model: provider.responses('m'),
      prompt: 'hi',
      tools: aiTools(provider),
    })
    expect(result.text).toBe('Hello there')
    expect(result.toolCalls.map(({ toolName }) => toolName)).toEqual(['query', 'patch', 'now'])
  })

  it("is read by OpenAI's SDK", async () => {
    const json = JSON.stringify(encodeResponse(plain, contextOf()))
    const response = await openai(json, 'application/json').responses.create({ model: 'm', input: 'hi' })
    expect(response.output_text).toBe('Hello you')
  })

  it('comes back unchanged as history, signed reasoning included', () => {
    const { output } = encodeResponse(rich, contextOf())
    const { turns, unmapped } = decodeRequest({ model: 'm', input: output }, { envelope })
    expect(turns).toHaveLength(1)
    expect(turns[0]?.blocks).toMatchObject([
      { type: 'reasoning', text: 'hm, so', summary: true, signature },
      { type: 'reasoning', text: 'raw', summary: true, signature: undefined },
      { type: 'text', text: 'Hello' },
      { type: 'text', text: ' there' },
      { type: 'tool-call', id: 'toolu_1', name: 'query', namespace: 'db', input: '{"a":1}' },
      { type: 'tool-call', id: 'toolu_2', kind: 'custom', input: '*** Begin' },
      { type: 'tool-call', id: 'toolu_3', input: '{}' },
    ])
    expect(unmapped.map(({ path }) => path)).toEqual(['input[2].content[0].annotations'])
  })
})

function interleaved(): ChatEvent[] {
  return [
    start,
    blockStart(0, { type: 'text' }),
    blockDelta(0, text('a')),
    blockStart(1, { type: 'text' }),
    blockDelta(1, text('x')),
    blockStart(2, callOf('c', 'f')),
    blockDelta(2, text('{')),
    blockDelta(0, text('b')),
    blockEnd(0),
    blockDelta(2, text('}')),
    blockEnd(2),
    blockDelta(1, text('y')),
    blockEnd(1),
    finish('tool_calls'),
  ]
}

function contextOf(body: Json = {}): AnswerContext {
  const whole = { model: 'public-model', input: 'hi', ...body }
  return {
    requestId: 'req-1',
    model: 'public-model',
    createdAtSeconds: 1_700_000_000,
    body: whole,
    inputTokensEstimate: 1,
    envelope,
  }
}

function textOfStream(events: readonly ChatEvent[]): string {
  const encoder = encodeStream(contextOf())
  return events.map((event) => encoder.push(event)).join('')
}

function eventsOf(events: readonly ChatEvent[]): Json[] {
  const frames = textOfStream(events).split('\n\n').slice(0, -2)
  return frames.map((frame) => {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/s.exec(frame) ?? []
    const event = JSON.parse(data ?? '')
    expect(event.type).toBe(name)
    return event
  })
}

function answering(body: string, type = 'text/event-stream'): typeof fetch {
  return async () => new Response(body, { headers: { 'content-type': type } })
}

function openai(body: string, type?: string): OpenAI {
  return new OpenAI({
    apiKey: 'k',
    baseURL: 'http://gateway.test/v1',
    fetch: answering(body, type),
    maxRetries: 0,
  })
}

function aiTools(provider: ReturnType<typeof createOpenAI>) {
  const inputSchema = jsonSchema<{ a?: number }>({ type: 'object' })
  return {
    query: tool({ inputSchema, outputSchema: jsonSchema<string>({ type: 'string' }) }),
    now: tool({ inputSchema, outputSchema: jsonSchema<string>({ type: 'string' }) }),
    patch: provider.tools.customTool({ description: 'p' }),
  }
}

/** The required keys of a response in the Open Responses specification of 2026-04-24. */
const keysOfOpenResponses = [
  'id',
  'object',
  'created_at',
  'completed_at',
  'status',
  'incomplete_details',
  'model',
  'previous_response_id',
  'instructions',
  'output',
  'error',
  'tools',
  'tool_choice',
  'truncation',
  'parallel_tool_calls',
  'text',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'top_logprobs',
  'temperature',
  'reasoning',
  'usage',
  'max_output_tokens',
  'max_tool_calls',
  'store',
  'background',
  'service_tier',
  'metadata',
  'safety_identifier',
  'prompt_cache_key',
]
