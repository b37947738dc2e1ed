import { createServer } from 'node:http'
import { createAnthropic } from '@ai-sdk/anthropic'
import Anthropic, { APIError } from '@anthropic-ai/sdk'
import { streamText } from 'ai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ReasoningSignature } from '../../src/canonical/chat.ts'
import type { AnswerBlock, ChatEvent, Delta, Finish } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import { decodeStream } from '../../src/protocols/anthropic-messages/decode-answer.ts'
import { decodeRequest } from '../../src/protocols/anthropic-messages/decode-request.ts'
import { encodeResponse } from '../../src/protocols/anthropic-messages/encode-response.ts'
import { encodeStream } from '../../src/protocols/anthropic-messages/encode-stream.ts'
import { collect } from '../../src/protocols/collect.ts'
import { SseDecoder } from '../../src/protocols/decode-sse.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import type { AnswerContext } from '../../src/protocols/protocol.ts'
import { errorOfKind } from '../support/error-of-kind.ts'
import { type Random, seeded } from '../support/random.ts'
import { grammarFault } from './grammar.ts'

const envelope = makeEnvelope(Buffer.alloc(32, 1))
const body = { model: 'public', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] }
const context: AnswerContext = {
  requestId: '019ab000-0000-7000-8000-000000000001',
  model: 'public',
  createdAtSeconds: 1_790_000_000,
  body,
  inputTokensEstimate: 42,
  envelope,
}
const usage = { input: 5, cacheRead: 100, cacheWrite: 20, output: 30, reasoning: 10 }
const signature: ReasoningSignature = {
  protocol: 'openai-responses',
  model: 'gpt-x',
  kind: 'encrypted',
  value: 'opaque',
  id: 'rs_1',
}

/** A rich answer with two calls at once. */
const rich: ChatEvent[] = [
  start(),
  begin(0, { type: 'reasoning', summary: true }),
  text(0, 'Let me '),
  text(0, 'think'),
  more(0, { type: 'signature', signature }),
  end(0),
  begin(1, { type: 'text' }),
  text(1, 'Here '),
  text(1, '“you” are\n'),
  more(1, { type: 'citation', url: 'https://example.com/', title: 'T' }),
  end(1),
  begin(2, { type: 'tool-call', id: 'call_a', name: 'weather', kind: 'function' }),
  begin(3, { type: 'tool-call', id: 'call_a', name: 'time', kind: 'function' }),
  text(2, '{"city":'),
  text(3, '{"zone":'),
  text(2, '"Oslo"}'),
  text(3, '"CET"}'),
  end(3),
  begin(4, { type: 'tool-call', id: 'fc|1', name: 'now', kind: 'function' }),
  end(2),
  end(4),
  finish('tool_calls', usage),
]

const call = { type: 'tool-call', id: 'c', name: 'f', kind: 'function' } as const

describe('a streamed answer', () => {
  it('has the events of the format in their order, one block at a time', () => {
    const frames = framesOf(rich)
    expect(frames.map(({ type, index, delta }) => [type, index, typeOf(delta)])).toEqual([
      ['message_start', undefined, undefined],
      ['content_block_start', 0, undefined],
      ['content_block_delta', 0, 'thinking_delta'],
      ['content_block_delta', 0, 'thinking_delta'],
      ['content_block_delta', 0, 'signature_delta'],
      ['content_block_stop', 0, undefined],
      ['content_block_start', 1, undefined],
      ['content_block_delta', 1, 'text_delta'],
      ['content_block_delta', 1, 'text_delta'],
      ['content_block_delta', 1, 'citations_delta'],
      ['content_block_stop', 1, undefined],
      ['content_block_start', 2, undefined],
      ['content_block_delta', 2, 'input_json_delta'],
      ['content_block_delta', 2, 'input_json_delta'],
      ['content_block_stop', 2, undefined],
      ['content_block_start', 3, undefined],
      ['content_block_delta', 3, 'input_json_delta'],
      ['content_block_delta', 3, 'input_json_delta'],
      ['content_block_stop', 3, undefined],
      ['content_block_start', 4, undefined],
      ['content_block_delta', 4, 'input_json_delta'],
      ['content_block_stop', 4, undefined],
      ['message_delta', undefined, undefined],
      ['message_stop', undefined, undefined],
    ])
  })

  it('names each event before its data', () => {
    for (const frame of streamed(rich).split('\n\n').slice(0, -1)) {
      expect(frame).toMatch(/^event: (\w+)\ndata: \{"type":"\1"/)
    }
  })

  it('has an estimate of the input at its start and the true counts at its end', () => {
    const frames = framesOf([start(), finish('stop', usage)])
    expect(frames[0]).toMatchObject({
      message: {
        id: 'msg_019ab000000070008000000000000001',
        model: 'public',
        content: [],
        usage: { input_tokens: 42, cache_read_input_tokens: 0, output_tokens: 1 },
      },
    })
    expect(frames[1]).toMatchObject({
      usage: {
        input_tokens: 5,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 20,
        output_tokens: 40,
        output_tokens_details: { thinking_tokens: 10 },
      },
    })
  })

  it('has the true input at its start if the upstream sends it', () => {
    const early = { input: 7, cacheRead: 3, cacheWrite: 0, output: 0, reasoning: 0 }
    const [first, last] = framesOf([start(early), finish('stop', undefined)])
    expect(first).toMatchObject({
      message: { usage: { input_tokens: 7, cache_read_input_tokens: 3, output_tokens: 1 } },
    })
    expect(last).toMatchObject({ usage: { input_tokens: 7, cache_read_input_tokens: 3, output_tokens: 1 } })
  })

  it('ends with estimates if counts never come', () => {
    const frames = framesOf([
      start(),
      begin(0, { type: 'text' }),
      text(0, 'x'.repeat(400)),
      end(0),
      finish('stop', undefined),
    ])
    expect(frames.slice(-2)).toMatchObject([
      { type: 'message_delta', usage: { input_tokens: 42, output_tokens: 100 } },
      { type: 'message_stop' },
    ])
  })

  it('sends each piece of the first open block at once', () => {
    const encoder = encodeStream(context)
    encoder.push(start())
    encoder.push(begin(0, { type: 'text' }))
    expect(encoder.push(text(0, 'a'))).toContain('text_delta')
    expect(encoder.push(text(0, 'b'))).toContain('text_delta')
  })

  it('leaves out empty blocks', () => {
    const empty = [
      start(),
      begin(0, { type: 'text' }),
      end(0),
      begin(1, { type: 'reasoning', summary: true }),
      end(1),
    ]
    expect(framesOf([...empty, finish('stop', usage)]).map(({ type }) => type)).toEqual([
      'message_start',
      'message_delta',
      'message_stop',
    ])
  })

  it('sends signed reasoning without text as an empty thought, and a thought without a signature unsigned', () => {
    const events = [
      start(),
      begin(0, { type: 'reasoning', summary: true }),
      more(0, { type: 'signature', signature }),
      end(0),
      begin(1, { type: 'reasoning', summary: false }),
      text(1, 'Hm'),
      end(1),
      finish('stop', usage),
    ]
    const frames = framesOf(events)
    const empty = { type: 'thinking', thinking: '', signature: '' }
    expect(frames[1]?.content_block).toEqual(empty)
    expect(frames[2]?.delta).toMatchObject({ type: 'signature_delta' })
    expect(envelope.open(String(member(frames[2]?.delta, 'signature')))).toEqual(signature)
    expect(frames[4]?.content_block).toEqual(empty)
    expect(frames.filter(({ delta }) => typeOf(delta) === 'signature_delta')).toHaveLength(1)
    expect(encodeResponse(events, context).content).toMatchObject([
      { type: 'thinking', thinking: '' },
      { type: 'thinking', thinking: 'Hm', signature: '' },
    ])
  })

  it("sends the vendor's own encrypted thought as redacted", () => {
    const own = { ...signature, protocol: 'anthropic-messages', kind: 'encrypted' } as const
    const events = [
      start(),
      begin(0, { type: 'reasoning', summary: true }),
      more(0, { type: 'signature', signature: own }),
      end(0),
      finish('stop', usage),
    ]
    const redacted = framesOf(events)[1]?.content_block
    expect(redacted).toMatchObject({ type: 'redacted_thinking' })
    expect(envelope.open(String(member(redacted, 'data')))).toEqual(own)
    expect(encodeResponse(events, context).content).toMatchObject([{ type: 'redacted_thinking' }])
  })

  it('has no member for citations where there are none', () => {
    const events = [start(), begin(0, { type: 'text' }), text(0, 'Hi'), end(0), finish('stop', usage)]
    expect(encodeResponse(events, context).content).toEqual([{ type: 'text', text: 'Hi' }])
  })

  it('sends an upstream’s failure in the format’s own event, and ends there', () => {
    const encoder = encodeStream(context)
    encoder.push(start())
    const failed = encoder.push({ type: 'error', error: errorOfKind('upstream_overloaded', 'Too busy') })
    expect(failed).toMatch(/^event: error\ndata: /)
    expect(JSON.parse(failed.slice(failed.indexOf('{')))).toEqual({
      type: 'error',
      error: { type: 'overloaded_error', message: 'Too busy' },
      request_id: context.requestId,
    })
    expect(encoder.push(finish('stop', usage))).toBe('')
  })

  it.each([
    ['stop', 'end_turn'],
    ['stop_sequence', 'stop_sequence'],
    ['length', 'max_tokens'],
    ['tool_calls', 'tool_use'],
    ['refusal', 'refusal'],
    ['content_filter', 'refusal'],
    ['pause', 'pause_turn'],
  ] as const)('that finishes with %s stops for %s', (reason, word) => {
    const stop = { ...finish(reason, usage), stopSequence: reason === 'stop_sequence' ? 'END' : undefined }
    const expected = { stop_reason: word, stop_sequence: reason === 'stop_sequence' ? 'END' : null }
    expect(framesOf([start(), stop])[1]).toMatchObject({ delta: expected })
    expect(encodeResponse([start(), stop], context)).toMatchObject(expected)
  })

  it('sends a refusal as text, and stops for it', () => {
    const refused = [
      start(),
      begin(0, { type: 'refusal' }),
      text(0, 'I cannot'),
      end(0),
      finish('stop', usage),
    ]
    const stop = { stop_reason: 'refusal', stop_details: { type: 'refusal', explanation: 'I cannot' } }
    expect(framesOf(refused).at(-2)).toMatchObject({ delta: stop })
    expect(encodeResponse(refused, context)).toMatchObject({
      ...stop,
      content: [{ type: 'text', text: 'I cannot' }],
    })
  })

  it('wraps the free text of a custom tool', () => {
    const call = { type: 'tool-call', id: 'c', name: 'exec', kind: 'custom' } as const
    const free = [
      start(),
      begin(0, call),
      text(0, 'say "hi"\n'),
      text(0, '\\o/'),
      end(0),
      finish('tool_calls', usage),
    ]
    expect(joinedInput(free)).toBe(JSON.stringify({ input: 'say "hi"\n\\o/' }))
    expect(joinedInput([start(), begin(0, call), finish('tool_calls', usage)])).toBe('{"input":""}')
    expect(encodeResponse(free, context)).toMatchObject({ content: [{ input: { input: 'say "hi"\n\\o/' } }] })
  })

  it('decodes to the same answer', () => {
    const random = seeded(11)
    for (let round = 0; round < 300; round++) {
      const events = randomAnswer(random)
      expect(grammarFault(events)).toBeUndefined()
      const decoder = new SseDecoder(decodeStream({ upstreamModel: 'm' }), 1 << 20)
      const back = [...decoder.push(Buffer.from(streamed(events))), ...decoder.end()]
      expect(grammarFault(back)).toBeUndefined()
      expect(essence(back)).toEqual(essence(events))
    }
  })
})

describe('a whole answer', () => {
  it('has every block of the answer', () => {
    expect(encodeResponse(rich, context)).toEqual({
      id: 'msg_019ab000000070008000000000000001',
      type: 'message',
      role: 'assistant',
      model: 'public',
      content: [
        { type: 'thinking', thinking: 'Let me think', signature: envelope.wrap(signature) },
        {
          type: 'text',
          text: 'Here “you” are\n',
          citations: [
            {
              type: 'web_search_result_location',
              url: 'https://example.com/',
              title: 'T',
              cited_text: '',
              // The gateway knows its own mark, and the vendor never sees it.
              encrypted_index: expect.stringMatching(/^tg1\./),
            },
          ],
        },
        {
          type: 'tool_use',
          id: 'call_a',
          name: 'weather',
          input: { city: 'Oslo' },
          caller: { type: 'direct' },
        },
        {
          type: 'tool_use',
          id: 'call_a_2',
          name: 'time',
          input: { zone: 'CET' },
          caller: { type: 'direct' },
        },
        {
          type: 'tool_use',
          id: expect.stringMatching(/^call_\w+$/),
          name: 'now',
          input: {},
          caller: { type: 'direct' },
        },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      stop_details: null,
      usage: {
        input_tokens: 5,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 100,
        output_tokens: 40,
        output_tokens_details: { thinking_tokens: 10 },
      },
    })
  })

  it('carries a signature that the client gives back', () => {
    const { content } = encodeResponse(rich, context)
    const again = { ...body, messages: [...body.messages, { role: 'assistant', content }] }
    const { turns } = decodeRequest(again, { envelope })
    expect(turns[1]?.blocks[0]).toMatchObject({ type: 'reasoning', text: 'Let me think', signature })
  })

  it('has {} for a call without arguments', () => {
    for (const none of [[], [text(0, ' ')], [text(0, 'null')]]) {
      const events = [start(), begin(0, call), ...none, end(0), finish('tool_calls', usage)]
      expect(encodeResponse(events, context)).toMatchObject({ content: [{ input: {} }] })
    }
  })
})

describe('a streamed call without arguments', () => {
  it.each([[[]], [[' ']], [['null']], [['nu', 'll']], [['', 'null', ' ']]])('has {} for %j', (pieces) => {
    const texts = pieces.map((piece) => text(0, piece))
    expect(joinedInput([start(), begin(0, call), ...texts, end(0), finish('tool_calls', usage)])).toBe('{}')
  })

  it('is not a call with {} when its input was cut off', () => {
    const events = [start(), begin(0, call), text(0, 'nu'), end(0), finish('length', usage)]
    expect(joinedInput(events)).toBe('nu')
  })
})

describe('a call whose arguments are not an object', () => {
  const pieces = [start(), begin(0, call), text(0, '{"a":'), end(0)]
  const message = 'The upstream called the tool "f" with arguments that are not a JSON object.'

  it('is an error, and never a call with other arguments', () => {
    for (const input of ['{"a":', '[1]', '"x"', '{"a":1}{"a":2}']) {
      const events = [start(), begin(0, call), text(0, input), end(0), finish('tool_calls', usage)]
      expect(() => encodeResponse(events, context)).toThrow(message)
      const encoder = encodeStream(context)
      const sent: string[] = []
      expect(() => {
        for (const event of events) sent.push(encoder.push(event))
      }).toThrow(message)
      // Clients run a tool when its block ends.
      expect(sent.join('')).not.toContain('content_block_stop')
    }
  })

  it('is an error before anything that follows it', () => {
    const encoder = encodeStream(context)
    for (const event of pieces) encoder.push(event)
    expect(() => encoder.push(begin(1, { type: 'text' }))).toThrow(message)
    const waiting = encodeStream(context)
    for (const event of [
      start(),
      begin(0, { type: 'text' }),
      text(0, 'a'),
      begin(1, call),
      text(1, '{'),
      end(1),
    ])
      waiting.push(event)
    for (const event of [begin(2, call), text(2, '{}'), end(2)]) waiting.push(event)
    expect(() => waiting.push(end(0))).toThrow(message)
  })

  it('ends as the vendor ends it, if the answer was cut off', () => {
    const events = [...pieces, finish('length', usage)]
    expect(encodeResponse(events, context)).toMatchObject({ content: [], stop_reason: 'max_tokens' })
    expect(framesOf(events).map(({ type }) => type)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
  })
})

describe('the vendor’s SDK', () => {
  let reply = ''
  let type = ''
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': type, 'request-id': context.requestId }).end(reply)
  })
  let baseURL = ''
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    baseURL = `http://127.0.0.1:${address.port}`
  })
  afterAll(() => void server.close())
  const answer = (contentType: string, content: string) => {
    type = contentType
    reply = content
    return new Anthropic({ apiKey: 'k', baseURL, maxRetries: 0 })
  }
  const ask = { model: 'public', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] }

  it('reads the same message from a stream and from a whole answer', async () => {
    const whole = await answer(
      'application/json',
      JSON.stringify(encodeResponse(rich, context)),
    ).messages.create(ask)
    const stream = answer('text/event-stream', streamed(rich)).messages.stream(ask)
    const message = await stream.finalMessage()
    expect(plain(message.content)).toEqual(plain(whole.content))
    expect(message.stop_reason).toBe('tool_use')
    expect(message.usage).toMatchObject({ input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 40 })
  })

  it('raises an error inside a stream', async () => {
    const cut = rich.slice(0, 9)
    const failure: ChatEvent = { type: 'error', error: errorOfKind('rate_limited', 'Slow down') }
    const stream = answer('text/event-stream', streamed([...cut, failure])).messages.stream(ask)
    const error = await stream.finalMessage().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ type: 'rate_limit_error', message: expect.stringContaining('Slow down') })
  })

  it('of other vendors reads the stream too', async () => {
    answer('text/event-stream', streamed(rich))
    const provider = createAnthropic({ apiKey: 'k', baseURL: `${baseURL}/v1` })
    const result = streamText({
      model: provider('public'),
      prompt: 'Hi',
      maxRetries: 0,
      onError: ({ error }) => expect.fail(String(error)),
    })
    expect(await result.text).toBe('Here “you” are\n')
    expect(await result.reasoningText).toBe('Let me think')
    expect((await result.toolCalls).map(({ toolName, input }) => [toolName, input])).toEqual([
      ['weather', { city: 'Oslo' }],
      ['time', { zone: 'CET' }],
      ['now', {}],
    ])
    expect(await result.finishReason).toBe('tool-calls')
    expect((await result.usage).inputTokens).toBe(125)
  })
})

function start(counts?: Finish['usage']): ChatEvent {
  return { type: 'start', id: 'up_1', model: 'up', usage: counts }
}

function begin(index: number, block: AnswerBlock): ChatEvent {
  return { type: 'block-start', index, block }
}

function more(index: number, delta: Delta): ChatEvent {
  return { type: 'block-delta', index, delta }
}

function text(index: number, piece: string): ChatEvent {
  return more(index, { type: 'text', text: piece })
}

function end(index: number): ChatEvent {
  return { type: 'block-end', index }
}

function finish(reason: Finish['reason'], counts: Finish['usage']): Finish {
  return { type: 'finish', reason, upstreamReason: undefined, stopSequence: undefined, usage: counts }
}

function streamed(events: readonly ChatEvent[]): string {
  const encoder = encodeStream(context)
  return events.map((event) => encoder.push(event)).join('')
}

function framesOf(events: readonly ChatEvent[]): Json[] {
  return streamed(events)
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => JSON.parse(frame.slice(frame.indexOf('\ndata: ') + 7)))
}

function joinedInput(events: readonly ChatEvent[]): string {
  return framesOf(events)
    .map(({ delta }) => member(delta, 'partial_json'))
    .filter((piece) => typeof piece === 'string')
    .join('')
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.getOwnPropertyDescriptor(value, name)?.value
    : undefined
}

function typeOf(value: unknown): unknown {
  return member(value, 'type')
}

/** Without the properties that the SDK adds for itself. */
function plain(content: unknown): Json[] {
  return JSON.parse(JSON.stringify(content))
}

/** The content of an answer, without the wrapping of signatures and ids. */
function essence(events: readonly ChatEvent[]): unknown {
  const { blocks, finish: stop } = collect(events)
  return {
    blocks: blocks
      .filter(
        ({ block, text: words, signature: proof }) => block.type === 'tool-call' || words !== '' || proof,
      )
      .map(({ block, text: words, signature: proof }) => [
        block.type === 'tool-call' ? block.name : block.type,
        block.type === 'tool-call' && words === '' ? '{}' : words,
        proof !== undefined,
      ]),
    reason: stop.reason,
    usage: stop.usage,
  }
}

/** Blocks of all kinds, interleaved as the grammar allows. */
function randomAnswer(random: Random): ChatEvent[] {
  const events: ChatEvent[] = [start()]
  const open: AnswerBlock[] = []
  const live: number[] = []
  const last = (index: number) => (open[index]?.type === 'tool-call' ? [text(index, ']}')] : [])
  for (let step = random.upTo(30); step > 0; step--) {
    const kind = random.upTo(4)
    if (kind === 0) {
      const block = random.pick<AnswerBlock>([
        { type: 'text' },
        { type: 'reasoning', summary: true },
        { type: 'tool-call', id: 'same', name: `f${open.length}`, kind: 'function' },
      ])
      events.push(begin(open.length, block))
      // Arguments are always an object.
      if (block.type === 'tool-call') events.push(text(open.length, '{"x":[0'))
      live.push(open.length)
      open.push(block)
    } else if (live.length > 0 && kind === 1) {
      const index = random.pick(live)
      live.splice(live.indexOf(index), 1)
      if (open[index]?.type === 'reasoning' && random.next() < 0.5)
        events.push(more(index, { type: 'signature', signature: { ...signature, kind: 'signature' } }))
      events.push(...last(index), end(index))
    } else if (live.length > 0) {
      const index = random.pick(live)
      const piece = random.pick(['a', 'é', '"', '\\n', '😀', '\ud83d'])
      events.push(text(index, open[index]?.type === 'tool-call' ? `,${JSON.stringify(piece)}` : piece))
    }
  }
  for (const index of live) events.push(...last(index), end(index))
  const hasCalls = open.some(({ type }) => type === 'tool-call')
  return [...events, finish(hasCalls ? 'tool_calls' : 'stop', usage)]
}
