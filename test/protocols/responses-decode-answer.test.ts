import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import { collect } from '../../src/protocols/collect.ts'
import { SseDecoder } from '../../src/protocols/decode-sse.ts'
import { decodeResponse, decodeStream } from '../../src/protocols/openai-responses/decode-answer.ts'
import { openaiResponses } from '../../src/protocols/openai-responses/index.ts'
import { ToolNames } from '../../src/protocols/tool-names.ts'
import { seeded } from '../support/random.ts'
import { grammarFault } from './grammar.ts'

const context = { upstreamModel: 'gpt-up' }
const frameBytesMax = 1024 * 1024
const recordings = [
  'openai-reasoning-encrypted-content',
  'openai-custom-tool',
  'openai-phase',
  'openai-error',
]

describe('recorded streams', () => {
  it.each(recordings)('give the same events however their bytes are cut: %s', (name) => {
    const random = seeded(9)
    const stream = recorded(name)
    const whole = decodeAll([stream])
    expect(grammarFault(whole)).toBeUndefined()
    expect(decodeAll(Array.from(stream, (byte) => Buffer.from([byte])))).toEqual(whole)
    for (let round = 0; round < 40; round++) {
      expect(decodeAll(random.split(stream, random.pick([3, 50, 700, 9000])))).toEqual(whole)
    }
  })

  it('carry reasoning with its signature, calls and usage', () => {
    const { blocks, finish, model } = collect(decodeAll([recorded('openai-reasoning-encrypted-content')]))
    expect(model).toBe('gpt-5.1-codex-max')
    expect(blocks.map(({ block }) => block.type)).toEqual(['reasoning', 'tool-call'])
    expect(blocks[0]?.text).toMatch(/^\*\*Calculating step-by-step using calculator\*\*/)
    expect(blocks[0]?.signature).toMatchObject({
      protocol: 'openai-responses',
      model: 'gpt-up',
      kind: 'encrypted',
      id: 'rs_01830d662ab3856501693c321405c88190be3ab04d5782d5f9',
    })
    expect(blocks[1]).toMatchObject({
      block: { name: 'calculator', kind: 'function' },
      text: '{"a":12,"b":7,"op":"add"}',
    })
    expect(finish).toMatchObject({ reason: 'tool_calls', upstreamReason: 'completed' })
    expect(finish.usage).toMatchObject({ cacheRead: 0, cacheWrite: 0 })
  })

  it('carry custom calls', () => {
    const { blocks, finish } = collect(decodeAll([recorded('openai-custom-tool')]))
    expect(blocks).toMatchObject([
      {
        block: { type: 'tool-call', kind: 'custom', name: 'write_sql', id: 'call_custom_sql_001' },
        text: 'SELECT * FROM users WHERE age > 25',
      },
    ])
    expect(finish.usage).toEqual({ input: 50, cacheRead: 0, cacheWrite: 0, output: 20, reasoning: 0 })
  })

  it('leave out what the vendor did itself, and give nothing twice', () => {
    const { blocks, finish } = collect(decodeAll([recorded('openai-phase')]))
    expect(blocks.map(({ block }) => block.type)).toEqual(['text', 'text'])
    expect(blocks[0]?.text).toMatch(/^Got it — .*key items with links\.$/)
    expect(finish.reason).toBe('stop')
  })

  it("report an exhausted quota as the operator's matter", () => {
    const last = decodeAll([recorded('openai-error')]).at(-1)
    expect(last).toMatchObject({ type: 'error', error: { kind: 'upstream_error' } })
    expect(last?.type === 'error' && last.error.message).toMatch(/operator/)
  })
})

it.each(['openai-reasoning-encrypted-content.1', 'openai-custom-tool.1', 'openai-phase.1'])(
  'a recorded answer as a whole gives the same events: %s',
  (name) => {
    const body = JSON.parse(readFileSync(fixture(`${name}.json`), 'utf8'))
    const events = decodeResponse(body, context)
    expect(grammarFault(events)).toBeUndefined()
    const streamed = body.output.map((item: object, output_index: number) => ({
      type: 'response.output_item.done',
      output_index,
      item,
    }))
    const { output: _, ...response } = body
    expect(
      decodeEvents([
        { type: 'response.created', response },
        ...streamed,
        { type: 'response.completed', response: { ...response, output: [] } },
      ]),
    ).toEqual(events)
  },
)

describe('a stream', () => {
  const added = (item: object, output_index = 0) => ({
    type: 'response.output_item.added',
    output_index,
    item,
  })
  const done = (item: object, output_index = 0) => ({ type: 'response.output_item.done', output_index, item })
  const completed = (more: object = {}) => ({
    type: 'response.completed',
    response: { id: 'resp_1', model: 'm', status: 'completed', output: [], ...more },
  })
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '' }

  it.each<[string, object[]]>([
    [
      'deltas',
      [added(call), { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a":1}' }],
    ],
    [
      '.done',
      [added(call), { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"a":1}' }],
    ],
    ['output_item.done', [added(call), done({ ...call, arguments: '{"a":1}' })]],
    ['output_item.done alone', [done({ ...call, arguments: '{"a":1}' })]],
    [
      'deltas that are cut short, then the whole',
      [
        added(call),
        { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a"' },
        { type: 'response.function_call_arguments.done', output_index: 0, arguments: '{"a":1}' },
        done({ ...call, arguments: '{"a":1}' }),
      ],
    ],
    ['the end alone', [{ type: 'response.created', response: {} }]],
  ])('may tell arguments by %s', (name, events) => {
    const end =
      name === 'the end alone' ? completed({ output: [{ ...call, arguments: '{"a":1}' }] }) : completed()
    const { blocks, finish } = collect(decodeEvents([...events, end]))
    expect(blocks).toMatchObject([{ block: { id: 'call_1', name: 'f' }, text: '{"a":1}' }])
    expect(finish.reason).toBe('tool_calls')
  })

  it('may have parallel calls', () => {
    const delta = (output_index: number, words: string) => ({
      type: 'response.function_call_arguments.delta',
      output_index,
      delta: words,
    })
    const other = { ...call, id: 'fc_2', call_id: 'call_2', name: 'g' }
    const { blocks } = collect(
      decodeEvents([
        added(call),
        added(other, 1),
        delta(0, '{"a"'),
        delta(1, '{'),
        delta(0, ':1}'),
        delta(1, '}'),
        completed(),
      ]),
    )
    expect(blocks.map(({ text }) => text)).toEqual(['{"a":1}', '{}'])
  })

  it('restores the text of a custom tool that the upstream knows as a function', () => {
    const tools = new ToolNames({ illegal: /[^a-z_]/, charactersMax: 64 })
    tools.wireName({ name: 'patch', kind: 'custom' }, 'tools[0]')
    const wrapped = { ...call, name: 'patch' }
    const delta = (words: string) => ({
      type: 'response.function_call_arguments.delta',
      output_index: 0,
      delta: words,
    })
    for (const events of [
      [added(wrapped), delta('{"input"'), delta(':"*** a"}'), completed()],
      [done({ ...wrapped, arguments: '{"input":"*** a"}' }), completed()],
    ]) {
      const all = decodeEvents(events, tools)
      expect(grammarFault(all)).toBeUndefined()
      expect(collect(all).blocks).toMatchObject([
        { block: { type: 'tool-call', kind: 'custom', name: 'patch' }, text: '*** a' },
      ])
    }
  })

  it('restores the names that the client knows', () => {
    const tools = new ToolNames({ illegal: /[^a-z_]/, charactersMax: 64 })
    tools.wireName({ name: 'query', namespace: 'db', kind: 'function' }, 'tools[0]')
    const { blocks } = collect(decodeEvents([done({ ...call, name: 'db__query' }), completed()], tools))
    expect(blocks[0]?.block).toMatchObject({ name: 'query', namespace: 'db' })
    const native = collect(decodeEvents([done({ ...call, name: 'query', namespace: 'db' }), completed()]))
    expect(native.blocks[0]?.block).toMatchObject({ name: 'query', namespace: 'db' })
  })

  it('gives citations once, and parts of a summary as paragraphs', () => {
    const annotation = {
      type: 'url_citation',
      url: 'https://e.com',
      title: 'T',
      start_index: 0,
      end_index: 2,
    }
    const part = { type: 'output_text', text: 'hi', annotations: [annotation] }
    const summary = (summary_index: number, delta: string) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index,
      delta,
    })
    const { blocks } = collect(
      decodeEvents([
        summary(0, 'one'),
        summary(1, 'two'),
        done({ type: 'reasoning', summary: [{ text: 'one' }, { text: 'two' }], encrypted_content: 'E' }),
        { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'hi' },
        { type: 'response.output_text.annotation.added', output_index: 1, content_index: 0, annotation },
        { type: 'response.content_part.done', output_index: 1, content_index: 0, part },
        done({ type: 'message', content: [part] }, 1),
        completed(),
      ]),
    )
    expect(blocks).toMatchObject([
      { block: { summary: true }, text: 'one\n\ntwo', signature: { value: 'E' } },
      { text: 'hi', citations: [{ url: 'https://e.com', title: 'T', start: 0, end: 2 }] },
    ])
    expect(blocks[1]?.citations).toHaveLength(1)
  })

  it('marks raw thoughts as raw', () => {
    const { blocks } = collect(
      decodeEvents([
        { type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'hm' },
        done({ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hmm' }] }),
        completed(),
      ]),
    )
    expect(blocks).toMatchObject([
      { block: { type: 'reasoning', summary: false }, text: 'hmm', signature: undefined },
    ])
  })

  it.each([
    [
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      'length',
      'max_output_tokens',
    ],
    [
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      'content_filter',
      'content_filter',
    ],
    [
      { output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'no' }] }] },
      'refusal',
      'completed',
    ],
  ])('that ends with %j ends by %s', (response, reason, upstreamReason) => {
    expect(decodeEvents([completed(response)]).at(-1)).toMatchObject({
      type: 'finish',
      reason,
      upstreamReason,
    })
  })

  it('counts cached and reasoning tokens apart from the rest', () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 40 },
    }
    expect(decodeEvents([completed({ usage })]).at(-1)).toMatchObject({
      usage: { input: 30, cacheRead: 60, cacheWrite: 10, output: 10, reasoning: 40 },
    })
  })

  it.each([
    undefined,
    null,
    {},
    { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
    { input_tokens: '5' },
  ])('with usage %j reports none', (usage) => {
    expect(decodeEvents([completed({ usage })]).at(-1)).toMatchObject({ type: 'finish', usage: undefined })
  })

  it.each<[string, object[]]>([
    ['is cut', [added(call)]],
    ['never began', []],
    ['has an error event and nothing after it', [{ type: 'error', message: 'gone', code: null }]],
    ['fails', [{ type: 'response.failed', response: { error: { code: 'server_error', message: 'gone' } } }]],
    ['is cancelled', [{ type: 'response.cancelled', response: { status: 'cancelled' } }]],
  ])('that %s ends with an error', (_, events) => {
    const decoded = decodeEvents(events)
    expect(grammarFault(decoded)).toBeUndefined()
    expect(decoded.at(-1)).toMatchObject({ type: 'error', error: { kind: 'upstream_error' } })
  })

  it('keeps the code that agents use when the context is too long', () => {
    const error = { code: 'context_length_exceeded', message: 'Your input exceeds the context window.' }
    expect(decodeEvents([{ type: 'response.failed', response: { error } }]).at(-1)).toMatchObject({
      error: { kind: 'invalid_request', code: 'context_length_exceeded', message: error.message },
    })
  })
})

describe('a whole answer', () => {
  it.each([{}, { error: { message: 'no' } }, { output: [], status: 'in_progress' }, { output: 'x' }])(
    '%j is an error, because it is no answer',
    (body) => {
      expect(() => decodeResponse(body, context)).toThrow(expect.objectContaining({ kind: 'upstream_error' }))
    },
  )

  it('that failed ends with its error', () => {
    const events = decodeResponse({ output: [], status: 'failed', error: { message: 'no' } }, context)
    expect(events.at(-1)).toMatchObject({ type: 'error' })
  })
})

describe('a watched stream', () => {
  it('passes unchanged, up to response.failed after an error', () => {
    const stream = recorded('openai-error')
    const watcher = openaiResponses.upstream?.native?.watchStream({ dropUsageFrame: false, frameBytesMax })
    const frames = stream.toString().split(/(?<=\n\n)/)
    const watched = frames.map((frame) => watcher?.push(Buffer.from(frame)))
    expect(watched.flatMap((chunk) => chunk?.forward.map(String) ?? [])).toEqual(frames)
    expect(watched.map((chunk) => chunk?.terminal)).toEqual([false, false, false, true])
    expect(watcher?.observe().error).toMatchObject({ kind: 'upstream_error' })
  })

  it('reports usage and first content', () => {
    const watcher = openaiResponses.upstream?.native?.watchStream({ dropUsageFrame: false, frameBytesMax })
    expect(watcher?.push(recorded('openai-phase'))).toMatchObject({ hasContent: true, terminal: true })
    expect(watcher?.observe()).toMatchObject({ complete: true, finishReason: 'completed', error: undefined })
    expect(watcher?.observe().usage?.input).toBeGreaterThan(0)
  })
})

function decodeAll(chunks: Buffer[]): ChatEvent[] {
  const decoder = new SseDecoder(decodeStream(context), frameBytesMax)
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()]
}

function decodeEvents(events: object[], tools?: ToolNames): ChatEvent[] {
  const decoder = new SseDecoder(decodeStream({ ...context, ...(tools ? { tools } : {}) }), frameBytesMax)
  const frames = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  const decoded = [...decoder.push(Buffer.from(frames)), ...decoder.end()]
  expect(grammarFault(decoded)).toBeUndefined()
  return decoded
}

function recorded(name: string): Buffer {
  const lines = readFileSync(fixture(`${name}.1.chunks.txt`), 'utf8')
    .trimEnd()
    .split('\n')
  return Buffer.from(lines.map((line) => `event: ${JSON.parse(line).type}\ndata: ${line}\n\n`).join(''))
}

function fixture(name: string): URL {
  return new URL(`../fixtures/openai-responses/${name}`, import.meta.url)
}
