import { describe, expect, test } from 'vitest'
import { translateRequest } from '../../src/bodies/translate-request.ts'
import type { GatewayError } from '../../src/canonical/error.ts'
import type { AnswerBlock, ChatEvent, FinishReason } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import type { Traits } from '../../src/canonical/traits.ts'
import { translate } from '../../src/pipeline/translation/translate.ts'
import { collect } from '../../src/protocols/collect.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide } from '../../src/protocols/index.ts'
import { type KeptOptions, OptionKeeper } from '../../src/protocols/kept-options.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'
import { seeded } from '../support/random.ts'
import { grammarFault } from './grammar.ts'

const usage = { input: 1, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 }
const start: ChatEvent = { type: 'start', id: 'a', model: 'm', usage: undefined }
const call = (name: string): AnswerBlock => ({ type: 'tool-call', id: name, name, kind: 'function' })
const blockOf = (index: number, block: AnswerBlock, ...texts: string[]): ChatEvent[] => [
  { type: 'block-start', index, block },
  ...texts.map((text): ChatEvent => ({ type: 'block-delta', index, delta: { type: 'text', text } })),
  { type: 'block-end', index },
]
const finish = (reason: FinishReason): ChatEvent => ({
  type: 'finish',
  reason,
  upstreamReason: 'completed',
  stopSequence: undefined,
  usage,
})

function kept(options: Partial<KeptOptions>, events: ChatEvent[]): ChatEvent[] {
  const keeper = new OptionKeeper({ oneCall: false, stop: [], ...options })
  const written = events.flatMap((event) => keeper.take(event))
  expect(grammarFault(written)).toBeUndefined()
  return written
}

const asked = (
  client: ProtocolName,
  protocol: ProtocolName,
  body: Json,
  strict = true,
  traits: Traits = {},
) =>
  translateRequest(
    {
      client: clientSide(client),
      body: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...body },
      envelope: makeEnvelope(Buffer.alloc(32)),
      strict,
      maxOutputTokensDefault: 9,
    },
    { protocol, upstreamModel: 'm', traits },
  )

describe('one call at a time', () => {
  const events = [
    start,
    ...blockOf(0, { type: 'text' }, 'Let me see.'),
    ...blockOf(1, call('sun'), '{}'),
    ...blockOf(2, call('moon'), '{}'),
    ...blockOf(3, { type: 'text' }, 'Wait.'),
    finish('tool_calls'),
  ]

  test('keeps the first call and leaves out the others', () => {
    const { blocks, finish } = collect(kept({ oneCall: true }, events))
    expect(blocks.map(({ block, text }) => (block.type === 'tool-call' ? block.name : text))).toEqual([
      'Let me see.',
      'sun',
      'Wait.',
    ])
    expect(finish).toMatchObject({ reason: 'tool_calls', usage })
  })

  test('is kept for upstreams that have no switch for it, with a note', () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
    const { asked: parts, notes } = asked('openai-chat', 'gemini', { tools, parallel_tool_calls: false })
    expect(parts.keeps).toEqual({ oneCall: true, stop: [] })
    expect(notes).toMatchObject([{ path: 'parallel_tool_calls', action: 'emulated' }])
    expect(asked('openai-chat', 'gemini', { tools, parallel_tool_calls: true }).asked.keeps).toBeUndefined()
    const said = asked('openai-chat', 'anthropic-messages', { tools, parallel_tool_calls: false }, false)
    expect(said.asked.keeps).toBeUndefined()
  })
})

describe('stop sequences', () => {
  const answer = (...texts: string[]) => [
    start,
    ...blockOf(0, { type: 'reasoning', summary: true }, 'One. STOP. Two.'),
    ...blockOf(1, { type: 'text' }, ...texts),
    ...blockOf(2, { type: 'text' }, 'more'),
    ...blockOf(3, call('f'), '{}'),
    finish('tool_calls'),
  ]
  const textOf = (events: ChatEvent[]) =>
    collect(events)
      .blocks.filter(({ block }) => block.type === 'text')
      .map(({ text }) => text)

  test('end the text before the first of them, wherever the pieces begin', () => {
    const whole = 'Hello there. S S ST STO STOP and END, STOP'
    const random = seeded(7)
    for (let round = 0; round < 200; round++) {
      const pieces: string[] = []
      for (let rest = whole; rest !== ''; ) {
        const length = 1 + random.upTo(8)
        pieces.push(rest.slice(0, length))
        rest = rest.slice(length)
      }
      const written = kept({ stop: ['END', 'STOP'] }, answer(...pieces))
      expect(textOf(written)).toEqual(['Hello there. S S ST STO '])
      expect(written.at(-1)).toMatchObject({ reason: 'stop_sequence', stopSequence: 'STOP', usage })
    }
  })

  test('that do not come change nothing, and hold back only what may be one', () => {
    const written = kept({ stop: ['\n\nHuman:'] }, answer('Hello', ' you\n', '\nHum', 'ble', '\n\nHu'))
    expect(textOf(written)).toEqual(['Hello you\n\nHumble\n\nHu', 'more'])
    expect(written).toContainEqual({ type: 'block-delta', index: 1, delta: { type: 'text', text: 'Hello' } })
    expect(written).toContainEqual({ type: 'block-delta', index: 1, delta: { type: 'text', text: ' you' } })
    expect(written.at(-1)).toEqual(finish('tool_calls'))
  })

  test('let a call that has begun come to its end', () => {
    const [begin, first, second, over] = blockOf(0, call('f'), '{"a":', '1}')
    const [text, stop] = blockOf(1, { type: 'text' }, 'x STOP')
    const events = [start, begin, first, text, stop, second, over, finish('tool_calls')]
    const written = kept(
      { stop: ['STOP'] },
      events.filter((event) => event !== undefined),
    )
    expect(collect(written).blocks.map(({ text }) => text)).toEqual(['{"a":1}', 'x '])
  })

  test('are kept for upstreams that have none, with a note', () => {
    const { asked: parts, notes } = asked('openai-chat', 'openai-responses', { stop: ['END', ''] })
    expect(parts.keeps).toEqual({ oneCall: false, stop: ['END'] })
    expect(notes).toContainEqual(expect.objectContaining({ path: 'stop', action: 'emulated' }))
    const messages = asked('anthropic-messages', 'openai-responses', { stop_sequences: ['END'] })
    expect(messages.asked.keeps?.stop).toEqual(['END'])
    const long = asked('openai-chat', 'openai-responses', { stop: ['x'.repeat(5000)] }, false)
    expect(long.asked.keeps).toBeUndefined()
    expect(long.notes).toContainEqual(expect.objectContaining({ path: 'stop', action: 'dropped' }))
  })
})

describe('of models that do not take them', () => {
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
  const options = { tools, parallel_tool_calls: false, stop: ['END'] }
  const takesNone: Traits = { takes: { parallelToolCalls: false }, stopMax: 0 }

  test.each(['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const)(
    '%s',
    (protocol) => {
      const { asked: parts, notes, body } = asked('openai-chat', protocol, options, true, takesNone)
      expect(parts.keeps).toEqual({ oneCall: true, stop: ['END'] })
      expect(JSON.stringify(body)).not.toMatch(/parallel|END/)
      for (const path of ['parallel_tool_calls', 'stop'])
        expect(notes).toContainEqual(expect.objectContaining({ path, action: 'emulated' }))
    },
  )

  test('nothing is kept of a model that makes one call at a time', () => {
    const serial = { ...takesNone, parallelTools: false }
    const { asked: parts } = asked('openai-chat', 'openai-chat', { ...options, stop: [] }, true, serial)
    expect(parts.keeps).toBeUndefined()
  })

  test('a model that takes them keeps them itself', () => {
    const { asked: parts, body } = asked('anthropic-messages', 'openai-chat', { stop_sequences: ['END'] })
    expect(parts.keeps).toBeUndefined()
    expect(body).toMatchObject({ stop: ['END'] })
  })

  test('blank stop sequences, which the Messages format refuses', () => {
    const { asked: parts, body } = asked(
      'openai-chat',
      'anthropic-messages',
      { stop: ['\n\n', 'END'] },
      false,
    )
    expect(parts.keeps).toEqual({ oneCall: false, stop: ['\n\n'] })
    expect(body).toMatchObject({ stop_sequences: ['END'] })
  })
})

test('a translated answer keeps them, whole and streamed', () => {
  const form = {
    client: clientSide('openai-chat'),
    requestId: 'r',
    model: 'm',
    createdAtSeconds: 1,
    inputTokensEstimate: 1,
    envelope: makeEnvelope(Buffer.alloc(32)),
    strict: false,
    maxOutputTokensDefault: 9,
    frameBytesMax: 10_000,
    answerSizeMax: 10_000,
    redactError: (error: GatewayError) => error,
  }
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], stop: 'STOP' }
  const target = { protocol: 'openai-responses', upstreamModel: 'm', traits: {} } as const
  const content = [{ type: 'output_text', text: 'One. STOP. Two.' }]
  const response = {
    id: 'resp_1',
    status: 'completed',
    output: [{ type: 'message', id: 'msg_1', role: 'assistant', content }],
    usage: { input_tokens: 3, output_tokens: 9, total_tokens: 12 },
  }
  const whole = translate({ ...form, stream: false, body }, target).reader.whole(
    Buffer.from(JSON.stringify(response)),
  )
  expect(JSON.parse(whole.body.toString())).toMatchObject({
    choices: [{ message: { content: 'One. ' }, finish_reason: 'stop' }],
    usage: { completion_tokens: 9 },
  })
  const watcher = translate({ ...form, stream: true, body }, target).reader.stream()
  const event = JSON.stringify({ type: 'response.completed', response })
  const { forward } = watcher.push(Buffer.from(`data: ${event}\n\n`))
  expect(Buffer.concat(forward).toString()).toContain('"content":"One. "')
  expect(Buffer.concat(forward).toString()).not.toContain('Two')
  expect(watcher.observe()).toMatchObject({ complete: true, usage: { output: 9 } })
})

test('a text that begins with a stop sequence is empty', () => {
  const events = [start, ...blockOf(0, { type: 'text' }, 'STOP'), finish('stop')]
  expect(kept({ stop: ['STOP'] }, events)).toMatchObject([
    { type: 'start' },
    { type: 'block-start' },
    { type: 'block-end' },
    { type: 'finish', reason: 'stop_sequence' },
  ])
})
