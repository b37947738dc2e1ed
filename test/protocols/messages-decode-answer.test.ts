import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { ChatEvent } from '../../src/canonical/event.ts'
import { isRecord, type Json } from '../../src/canonical/json.ts'
import { decodeResponse, decodeStream } from '../../src/protocols/anthropic-messages/decode-answer.ts'
import { anthropicMessages } from '../../src/protocols/anthropic-messages/index.ts'
import { collect } from '../../src/protocols/collect.ts'
import { SseDecoder } from '../../src/protocols/decode-sse.ts'
import type { DecodeAnswerContext } from '../../src/protocols/protocol.ts'
import { ToolNames } from '../../src/protocols/tool-names.ts'
import { type Random, seeded } from '../support/random.ts'
import { grammarFault } from './grammar.ts'

const context = { upstreamModel: 'claude-x' }
const fixtures = new URL('../fixtures/anthropic-messages/', import.meta.url)
const streams = [
  'anthropic-clear-thinking.1',
  'anthropic-json-tool.1',
  'anthropic-message-delta-input-tokens',
  'anthropic-refusal',
  'anthropic-text',
  'anthropic-tool-no-args',
  'anthropic-web-search-tool.1',
] as const
const answers = [
  'anthropic-clear-thinking.1',
  'anthropic-json-tool.1',
  'anthropic-refusal',
  'anthropic-text',
] as const

describe('recorded streams', () => {
  it.each(streams)('%s obeys the grammar and ends whole', (name) => {
    const events = decoded([recordedStream(name)])
    expect(grammarFault(events)).toBeUndefined()
    expect(events.at(-1)?.type).toBe('finish')
  })

  it.each(streams)('%s gives the same events at every split', (name) => {
    const bytes = recordedStream(name)
    const whole = decoded([bytes])
    const random = seeded(7)
    for (let at = 1; at < Math.min(bytes.length, 1500, 6e6 / bytes.length); at++) {
      if (!isDeepStrictEqual(decoded([bytes.subarray(0, at), bytes.subarray(at)]), whole))
        expect.fail(`split at ${at}`)
    }
    for (let round = 0; round < 40; round++)
      expect(decoded(random.split(bytes, bytes.length / 20))).toEqual(whole)
  })

  it.each(['\r\n', '\r'])('give the same events with the line end %j', (lineEnd) => {
    const bytes = recordedStream('anthropic-clear-thinking.1')
    const other = Buffer.from(bytes.toString().replaceAll('\n', lineEnd))
    expect(decoded([other])).toEqual(decoded([bytes]))
  })

  it('give text, counts and reason', () => {
    const { id, model, blocks, finish, usage } = collect(decoded([recordedStream('anthropic-text')]))
    expect({ id, model, finish }).toEqual({
      id: 'msg_01QC4g3HwBThD4BaNtBckFDJ',
      model: 'claude-sonnet-4-5-20250929',
      finish: {
        type: 'finish',
        reason: 'stop',
        upstreamReason: 'end_turn',
        stopSequence: undefined,
        usage: {
          input: 12,
          cacheRead: 0,
          cacheWrite: 0,
          output: 30,
          reasoning: 0,
          serviceTier: 'standard',
        },
      },
    })
    expect(blocks.map(({ block, text }) => [block.type, text])).toEqual([
      [
        'text',
        "Hello! I'm doing well, thank you for asking. How are you doing today? Is there anything I can help you with?",
      ],
    ])
    expect(usage).toBe(finish.usage)
  })

  it('give thinking its signature and the model that made it', () => {
    const { blocks } = collect(decoded([recordedStream('anthropic-clear-thinking.1')]))
    expect(blocks.map(({ block }) => block)).toEqual([{ type: 'reasoning', summary: true }, { type: 'text' }])
    expect(blocks[0]?.text).toMatch(/^The previous result was 925\. .*= 185$/s)
    expect(blocks[0]?.signature).toEqual({
      protocol: 'anthropic-messages',
      model: 'claude-x',
      kind: 'signature',
      value: expect.stringMatching(/^EvQBCkYICxgC/),
    })
  })

  it('give {} for a call without arguments', () => {
    const { blocks, finish } = collect(decoded([recordedStream('anthropic-tool-no-args')]))
    expect(blocks[1]).toMatchObject({
      block: { type: 'tool-call', id: 'toolu_01QE1WLsSVp5hy5Q3GmGTmjP', name: 'updateIssueList' },
      text: '{}',
    })
    expect(finish.reason).toBe('tool_calls')
  })

  it('keep the text, the sources and the searches', () => {
    const { blocks, finish } = collect(decoded([recordedStream('anthropic-web-search-tool.1')]))
    expect(new Set(blocks.map(({ block }) => block.type))).toEqual(new Set(['text', 'web-search']))
    const searches = blocks.filter(({ block }) => block.type === 'web-search')
    expect(searches.length).toBeGreaterThan(0)
    for (const { search } of searches) {
      expect(search.queries).toEqual([expect.stringMatching(/./)])
      expect(search.sources[0]).toMatchObject({
        url: expect.stringMatching(/^https:/),
        title: expect.any(String),
      })
    }
    const citations = blocks.flatMap((block) => block.citations)
    expect(citations.length).toBeGreaterThan(3)
    expect(citations[0]).toEqual({
      type: 'citation',
      url: expect.stringMatching(/^https:/),
      title: expect.any(String),
      citedText: expect.any(String),
    })
    expect(finish.reason).toBe('stop')
  })

  it('give the counts at the end, which are cumulative', () => {
    const { finish } = collect(decoded([recordedStream('anthropic-message-delta-input-tokens')]))
    expect(finish.usage).toEqual({ input: 61, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 })
  })

  it('give a refusal with its explanation', () => {
    const { blocks, finish } = collect(decoded([recordedStream('anthropic-refusal')]))
    expect(blocks).toMatchObject([
      { block: { type: 'refusal' }, text: expect.stringMatching(/^This request/) },
    ])
    expect(finish).toMatchObject({ reason: 'refusal', upstreamReason: 'refusal' })
  })
})

describe('whole answers', () => {
  it.each(answers)('%s obeys the grammar', (name) => {
    const events = decodeResponse(recordedAnswer(name), context)
    expect(grammarFault(events)).toBeUndefined()
    expect(collect(events).finish.usage).toBeDefined()
  })

  it('has the arguments of calls as text', () => {
    const { blocks } = collect(decodeResponse(recordedAnswer('anthropic-json-tool.1'), context))
    expect(JSON.parse(blocks[0]?.text ?? '')).toMatchObject({
      elements: [{ location: 'San Francisco' }, {}, {}, {}],
    })
  })

  it('give redacted thinking its signature', () => {
    const { blocks } = collect(
      decodeResponse({ content: [{ type: 'redacted_thinking', data: 'opaque' }] }, context),
    )
    expect(blocks).toMatchObject([
      { text: '', signature: { kind: 'encrypted', value: 'opaque', model: 'claude-x' } },
    ])
  })

  it('splits the counts into parts that exclude each other', () => {
    const { finish } = collect(
      decodeResponse(
        {
          content: [],
          usage: {
            input_tokens: 3,
            cache_read_input_tokens: 100,
            cache_creation_input_tokens: 20,
            output_tokens: 50,
            output_tokens_details: { thinking_tokens: 30 },
          },
        },
        context,
      ),
    )
    expect(finish.usage).toEqual({ input: 3, cacheRead: 100, cacheWrite: 20, output: 20, reasoning: 30 })
  })

  it.each([
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    { choices: [] },
    { content: 'words' },
  ])('%j is no answer', (body) => {
    expect(() => decodeResponse(body, context)).toThrow(GatewayError)
  })
})

describe('a stream', () => {
  const start = {
    type: 'message_start',
    message: { id: 'msg_1', model: 'm', usage: { input_tokens: 5, output_tokens: 1 } },
  }
  const open = (index: number, block: Json) => ({ type: 'content_block_start', index, content_block: block })
  const delta = (index: number, piece: Json) => ({ type: 'content_block_delta', index, delta: piece })
  const stop = (index: number) => ({ type: 'content_block_stop', index })
  const end = (reason: string, more: Json = {}) => ({
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null, ...more },
    usage: { output_tokens: 9 },
  })
  const text = (index: number, piece: string) => delta(index, { type: 'text_delta', text: piece })
  const last = { type: 'message_stop' }

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop_sequence'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'refusal'],
    ['pause_turn', 'pause'],
    ['made_up_tomorrow', 'stop'],
  ])('that stops for %s finishes with %s', (word, reason) => {
    expect(events(start, end(word, { stop_sequence: 'END' }), last).at(-1)).toMatchObject({
      reason,
      upstreamReason: word,
      stopSequence: 'END',
    })
  })

  it('with calls finishes with tool_calls, whatever stop reason it names', () => {
    const call = [open(0, { type: 'tool_use', id: 't', name: 'f', input: {} }), stop(0)]
    expect(events(start, ...call, end('end_turn'), last).at(-1)).toMatchObject({ reason: 'tool_calls' })
    expect(events(start, ...call, end('max_tokens'), last).at(-1)).toMatchObject({ reason: 'length' })
  })

  it('keeps counts that do not come again, and ignores zeros', () => {
    const early = {
      type: 'message_start',
      message: { usage: { input_tokens: 5, cache_read_input_tokens: 7, output_tokens: 1 } },
    }
    const zeros = {
      ...end('end_turn'),
      usage: { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 9 },
    }
    for (const delta of [end('end_turn'), zeros]) {
      expect(events(early, delta, last).at(-1)).toMatchObject({
        usage: { input: 5, cacheRead: 7, cacheWrite: 0, output: 9, reasoning: 0 },
      })
    }
  })

  it('is cut when it ends without a stop reason', () => {
    const cut = events(start, open(0, { type: 'text', text: '' }), text(0, 'Hel'))
    expect(cut.at(-1)).toMatchObject({ type: 'error', error: { kind: 'upstream_error', fault: 'upstream' } })
  })

  it('is complete without its last event if it had a stop reason', () => {
    const whole = events(start, open(0, { type: 'text', text: '' }), text(0, 'Hel'), end('end_turn'))
    expect(whole.at(-1)).toMatchObject({ type: 'finish', reason: 'stop', usage: { output: 9 } })
  })

  it.each([
    ['overloaded_error', 'upstream_overloaded'],
    ['rate_limit_error', 'rate_limited'],
    ['timeout_error', 'upstream_timeout'],
    ['api_error', 'upstream_error'],
  ])('fails with %s as %s', (type, kind) => {
    const failed = events(start, { type: 'error', error: { type, message: 'Sorry' } }, text(0, 'more'))
    expect(failed).toHaveLength(2)
    expect(failed[1]).toMatchObject({
      type: 'error',
      error: { kind, message: expect.stringContaining('Sorry') },
    })
  })

  it('shows none of the text when the upstream refuses the channel', () => {
    const [, failed] = events(start, {
      type: 'error',
      error: { type: 'authentication_error', message: 'key sk-1' },
    })
    expect(failed).toMatchObject({
      error: { kind: 'upstream_error', message: expect.not.stringContaining('sk-1') },
    })
  })

  it('accepts deltas that do not fit their block, as some gateways send them', () => {
    const mixed = events(
      start,
      start,
      open(0, { type: 'text', text: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
      delta(0, { type: 'signature_delta', signature: 'sig' }),
      text(0, 'Hi'),
      stop(0),
      text(0, ' again'),
      text(3, 'never opened'),
      end('end_turn'),
      last,
    )
    expect(grammarFault(mixed)).toBeUndefined()
    expect(
      collect(mixed).blocks.map(({ block, text: words, signature }) => [block.type, words, signature?.value]),
    ).toEqual([
      ['text', '', undefined],
      ['reasoning', 'Hm', 'sig'],
      ['text', 'Hi', undefined],
      ['text', ' again', undefined],
      ['text', 'never opened', undefined],
    ])
  })

  it('keeps interleaved calls apart', () => {
    const call = (index: number) => open(index, { type: 'tool_use', id: `t${index}`, name: 'f', input: {} })
    const input = (index: number, piece: string) =>
      delta(index, { type: 'input_json_delta', partial_json: piece })
    const mixed = events(
      start,
      call(0),
      call(1),
      input(0, '{"a"'),
      input(1, '{"b"'),
      input(0, ':1}'),
      input(1, ':2}'),
      stop(0),
      stop(1),
      end('tool_use'),
      last,
    )
    expect(collect(mixed).blocks.map(({ text: words }) => words)).toEqual(['{"a":1}', '{"b":2}'])
  })

  it('accepts an input at the start of its block', () => {
    const given = events(
      start,
      open(0, { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } }),
      stop(0),
      end('tool_use'),
      last,
    )
    expect(collect(given).blocks[0]?.text).toBe('{"a":1}')
  })

  it("gives calls the client's names, and custom tools their free text", () => {
    const tools = new ToolNames({ illegal: /[^\w-]/, charactersMax: 128 })
    tools.wireName({ name: 'exec', namespace: 'shell', kind: 'custom' }, 'tools[0]')
    const called = decodeEvents(
      [
        start,
        open(0, { type: 'tool_use', id: 't', name: 'shell__exec', input: {} }),
        delta(0, { type: 'input_json_delta', partial_json: '{"input":' }),
        delta(0, { type: 'input_json_delta', partial_json: '"ls\\n"}' }),
        stop(0),
        end('tool_use'),
        last,
      ],
      { ...context, tools },
    )
    expect(collect(called).blocks[0]).toMatchObject({
      block: { type: 'tool-call', id: 't', name: 'exec', namespace: 'shell', kind: 'custom' },
      text: 'ls\n',
    })
  })

  const events = (...list: Json[]) => decodeEvents(list, context)
})

describe('a watched stream', () => {
  it('has usage, reason and model, and ends with the last event', () => {
    const native = anthropicMessages.upstream?.native
    const bytes = recordedStream('anthropic-text')
    const watcher = native?.watchStream({ dropUsageFrame: false, frameBytesMax: 1 << 20 })
    const { forward, terminal, hasContent } = watcher?.push(bytes) ?? {}
    expect(Buffer.concat(forward ?? [])).toEqual(bytes)
    expect({ terminal, hasContent }).toEqual({ terminal: true, hasContent: true })
    const seen = { finishReason: 'end_turn', servedModel: 'claude-sonnet-4-5-20250929', complete: true }
    expect(watcher?.observe()).toMatchObject({ ...seen, usage: { input: 12, output: 30 } })
    const whole = Buffer.from(JSON.stringify(recordedAnswer('anthropic-text')))
    expect(native?.watchResponse(whole)).toMatchObject({ ...seen, usage: { input: 12, output: 29 } })
    expect(native?.watchResponse(whole.subarray(0, 50))).toMatchObject({ complete: false })
  })
})

describe('any input', () => {
  it('makes the decoder throw only GatewayErrors, and events obey the grammar', () => {
    const random = seeded(3)
    const lines = streams.flatMap((name) => (name.includes('search') ? [] : recordedLines(name)))
    const pieces = [
      ...lines,
      '{}',
      '[DONE]',
      '',
      'null',
      '{"type":"message_stop"}',
      '{"type":"error"}',
      '{"error":{}}',
    ]
    for (let round = 0; round < 40_000; round++) {
      const list = Array.from({ length: 1 + random.upTo(5) }, () => mutated(random.pick(pieces), random))
      const decoder = decodeStream(context)
      const seen: ChatEvent[] = []
      try {
        for (const data of list) seen.push(...decoder.push(data))
        seen.push(...decoder.end())
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        continue
      }
      if (grammarFault(seen) !== undefined) expect(grammarFault(seen), list.join('\n')).toBeUndefined()
    }
  })

  it('is an answer or a GatewayError', () => {
    const random = seeded(4)
    const bodies = answers.map((name) => JSON.stringify(recordedAnswer(name)))
    for (let round = 0; round < 40_000; round++) {
      const body = parsed(mutated(random.pick(bodies), random))
      if (!isRecord(body)) continue
      try {
        expect(grammarFault(decodeResponse(body, context))).toBeUndefined()
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
      }
    }
  })
})

/** A copy in which one word of the JSON is another one, or a piece is lost. */
function mutated(text: string, random: Random): string {
  const values = ['null', '1', '-1', '""', '"x"', '[]', '{}', 'true', '[{}]', '{"type":"text"}']
  if (random.next() < 0.3) return text
  if (random.next() < 0.1) return text.slice(0, random.upTo(text.length))
  const places = [...text.matchAll(/:("[^"]*"|\d+|null|\{\}|\[\])/g)]
  if (places.length === 0) return text
  const place = random.pick(places)
  const from = place.index + 1
  return text.slice(0, from) + random.pick(values) + text.slice(from + (place[1]?.length ?? 0))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function decoded(chunks: Buffer[]): ChatEvent[] {
  const decoder = new SseDecoder(decodeStream(context), 1 << 20)
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()]
}

function decodeEvents(list: Json[], decodeContext: DecodeAnswerContext): ChatEvent[] {
  const decoder = decodeStream(decodeContext)
  return [...list.flatMap((event) => decoder.push(JSON.stringify(event))), ...decoder.end()]
}

function recordedLines(name: string): string[] {
  const text = readFileSync(new URL(`${name}.chunks.txt`, fixtures), 'utf8')
  return text.split('\n').filter((line) => line !== '')
}

function recordedStream(name: string): Buffer {
  const frames = recordedLines(name).map((line) => `event: ${typeOf(line)}\ndata: ${line}\n\n`)
  return Buffer.from(frames.join(''))
}

function typeOf(line: string): string {
  const event: unknown = JSON.parse(line)
  return isRecord(event) ? String(event.type) : ''
}

function recordedAnswer(name: string): Json {
  const answer: unknown = JSON.parse(readFileSync(new URL(`${name}.json`, fixtures), 'utf8'))
  if (!isRecord(answer)) throw new Error(`${name} is no answer`)
  return answer
}
