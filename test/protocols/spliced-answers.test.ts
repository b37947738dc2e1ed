import { describe, expect, test } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import { collect } from '../../src/protocols/collect.ts'
import { SseDecoder } from '../../src/protocols/decode-sse.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide, upstreamSide } from '../../src/protocols/index.ts'
import type { AnswerContext, ProtocolName } from '../../src/protocols/protocol.ts'
import { grammarFault } from './grammar.ts'

// Answers of several messages, and answers whose parts come in an unusual place.

function decoded(protocol: ProtocolName, frames: Json[]): ChatEvent[] {
  const decoder = new SseDecoder(upstreamSide(protocol).decodeStream({ upstreamModel: 'm' }), 100_000)
  const bytes = Buffer.from(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(''))
  const events = [...decoder.push(bytes), ...decoder.end()]
  expect(grammarFault(events)).toBeUndefined()
  return events
}
const context: AnswerContext = {
  requestId: 'r',
  model: 'm',
  createdAtSeconds: 1,
  body: {},
  inputTokensEstimate: 1,
  envelope: makeEnvelope(Buffer.alloc(32)),
}
const streamed = (client: ProtocolName, events: ChatEvent[]) => {
  const encoder = clientSide(client).encodeStream(context)
  return events.map((event) => encoder.push(event)).join('')
}

describe('a Messages stream', () => {
  const start = (id: string | undefined, more: Json = {}) => ({
    type: 'message_start',
    message: { id, model: 'm', content: [], usage: { input_tokens: 5, output_tokens: 1 }, ...more },
  })
  const call = { type: 'tool_use', id: 't', name: 'f', input: {} }
  const open = (index: number, block: Json) => ({ type: 'content_block_start', index, content_block: block })
  const piece = (index: number, delta: Json) => ({ type: 'content_block_delta', index, delta })
  const args = (index: number, partial_json: string) =>
    piece(index, { type: 'input_json_delta', partial_json })
  const stop = (index: number) => ({ type: 'content_block_stop', index })
  const end = [
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]
  const message = 'The upstream sent a second message in one stream.'

  test.each<[string, Json]>([
    ['another id', start('msg_2')],
    ['the same id', start('msg_1')],
    ['no id', start(undefined)],
  ])('with a second message of %s is an error, and calls no tool', (_id, second) => {
    const first = [start('msg_1'), open(0, call), args(0, '{"a":')]
    const events = decoded('anthropic-messages', [
      ...first,
      second,
      open(0, call),
      args(0, '{}'),
      stop(0),
      ...end,
    ])
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { message } })
    const calls = events.filter((event) => event.type === 'block-start')
    expect(calls).toHaveLength(1)
  })

  test('with its start twice is one message', () => {
    const frames = [
      start('msg_1'),
      start('msg_2'),
      open(0, call),
      args(0, '{}'),
      start('msg_1'),
      stop(0),
      ...end,
    ]
    expect(collect(decoded('anthropic-messages', frames)).blocks).toMatchObject([{ text: '{}' }])
  })

  test('passes unchanged to clients of the same format, also with a second message', () => {
    const frames = [
      start('msg_1'),
      open(0, call),
      args(0, '{'),
      start('msg_2'),
      open(0, call),
      stop(0),
      ...end,
    ]
    const bytes = frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`)
    const watcher = upstreamSide('anthropic-messages').native?.watchStream({
      dropUsageFrame: false,
      frameBytesMax: 100_000,
    })
    const passed = bytes.flatMap((frame) => watcher?.push(Buffer.from(frame)).forward ?? [])
    expect(Buffer.concat(passed).toString()).toBe(bytes.join(''))
    expect(watcher?.end()).toBeUndefined()
    expect(watcher?.observe()).toMatchObject({ complete: true, error: undefined })
  })

  test('whose start has the content keeps it', () => {
    const content = [
      { type: 'text', text: 'Well.' },
      { ...call, input: { a: 1 } },
    ]
    const blocks = [{ text: 'Well.' }, { block: { type: 'tool-call', name: 'f' }, text: '{"a":1}' }]
    const alone = collect(decoded('anthropic-messages', [start('m', { content }), ...end]))
    expect(alone.blocks).toMatchObject(blocks)
    expect(alone.finish.reason).toBe('tool_calls')
    const whole = start('m', { content, stop_reason: 'tool_use' })
    expect(collect(decoded('anthropic-messages', [whole])).blocks).toMatchObject(blocks)
    // Blocks that come by themselves repeat the content, or continue it.
    const repeated = [
      open(0, { type: 'text', text: 'Well.' }),
      stop(0),
      open(1, call),
      args(1, '{"a":1}'),
      stop(1),
    ]
    const again = decoded('anthropic-messages', [start('m', { content }), ...repeated, ...end])
    expect(collect(again).blocks).toMatchObject(blocks)
    const more = [open(2, { ...call, id: 'u' }), args(2, '{}'), stop(2)]
    const continued = decoded('anthropic-messages', [start('m', { content }), ...more, ...end])
    expect(collect(continued).blocks).toMatchObject([...blocks, { block: { id: 'u' }, text: '{}' }])
    const begun = [start('m', { content: [call] }), args(0, '{"b":2}'), stop(0), ...end]
    expect(collect(decoded('anthropic-messages', begun)).blocks).toMatchObject([{ text: '{"b":2}' }])
  })

  test('whose citations come before their text cites the whole text', () => {
    const citation = { type: 'web_search_result_location', url: 'https://a.example/', title: 'A' }
    const events = decoded('anthropic-messages', [
      start('m'),
      open(0, { type: 'text', text: '' }),
      piece(0, { type: 'citations_delta', citation }),
      piece(0, { type: 'text_delta', text: 'Sunny ' }),
      piece(0, { type: 'text_delta', text: 'days.' }),
      stop(0),
      ...end,
    ])
    const place = { start_index: 0, end_index: 11 }
    for (const client of ['openai-chat', 'openai-responses'] as const) {
      const text = streamed(client, events)
      expect(text).toContain('"end_index":11')
      expect(text).not.toContain('"end_index":0')
    }
    expect(clientSide('openai-chat').encodeResponse(events, context)).toMatchObject({
      choices: [{ message: { annotations: [{ url_citation: place }] } }],
    })
    expect(clientSide('openai-responses').encodeResponse(events, context)).toMatchObject({
      output: [{ content: [{ annotations: [place] }] }],
    })
  })
})

describe('a Responses answer of several messages', () => {
  const message = (id: string, ...texts: string[]) => ({
    type: 'message',
    id,
    role: 'assistant',
    content: texts.map((text) => ({ type: 'output_text', text, annotations: [] })),
  })
  const output = [message('msg_1', 'Here are ', 'the links.'), message('msg_2', 'Here are the rest.')]
  const response = { id: 'resp_1', status: 'completed', output }
  const events = decoded('openai-responses', [{ type: 'response.completed', response }])

  test('has a paragraph for each in Chat', () => {
    const content = 'Here are the links.\n\nHere are the rest.'
    expect(clientSide('openai-chat').encodeResponse(events, context)).toMatchObject({
      choices: [{ message: { content } }],
    })
    const pieces = [...streamed('openai-chat', events).matchAll(/"content":("(?:[^"\\]|\\.)*")/g)]
    expect(pieces.map(([, text]) => JSON.parse(text ?? '')).join('')).toBe(content)
  })

  test('keeps them apart in its own format', () => {
    expect(clientSide('openai-responses').encodeResponse(events, context)).toMatchObject({
      output: [
        { content: [{ text: 'Here are ' }, { text: 'the links.' }] },
        { content: [{ text: 'Here are the rest.' }] },
      ],
    })
  })
})
