import { expect, test } from 'vitest'
import type { Usage } from '../../src/canonical/usage.ts'
import { meter } from '../../src/pipeline/meter.ts'
import { upstreamSide } from '../../src/protocols/index.ts'
import { EventObserver } from '../../src/protocols/observe.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'

/** Upstreams that leave out a count. It is the rest of the total, or an estimate that says so, and never 0. */

const text = 'Hello there, '.repeat(10)
const answers: Readonly<Partial<Record<ProtocolName, (usage: object) => object>>> = {
  'openai-chat': (usage) => ({
    id: 'c',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage,
  }),
  'openai-responses': (usage) => ({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] },
    ],
    usage,
  }),
  'anthropic-messages': (usage) => ({
    id: 'm',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    usage,
  }),
  gemini: (usageMetadata) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
    usageMetadata,
  }),
}

const names = {
  'openai-chat': ['prompt_tokens', 'completion_tokens', 'total_tokens'],
  'openai-responses': ['input_tokens', 'output_tokens', 'total_tokens'],
  'anthropic-messages': ['input_tokens', 'output_tokens', 'total_tokens'],
  gemini: ['promptTokenCount', 'candidatesTokenCount', 'totalTokenCount'],
} as const
const estimated = { input: 25, output: Math.ceil(text.length / 4) }

test.each(Object.keys(names) as (keyof typeof names)[])('%s', (name) => {
  const [input, output, total] = names[name]
  const hasTotal = name !== 'anthropic-messages'
  expect(metered(name, { [input]: 11, [output]: 7, [total]: 18 })).toEqual(['upstream', 11, 7])
  expect(metered(name, { [input]: 11, [output]: 7 })).toEqual(['upstream', 11, 7])
  if (hasTotal) {
    expect(metered(name, { [input]: 11, [total]: 18 })).toEqual(['upstream', 11, 7])
    expect(metered(name, { [output]: 7, [total]: 18 })).toEqual(['upstream', 11, 7])
  }
  for (const usage of [{ [input]: 11 }, { [output]: 7 }, { [total]: 18 }, { [input]: 11, [total]: 5 }, {}]) {
    const [source, ...counts] = metered(name, usage)
    const knowsInput = name === 'anthropic-messages' && input in usage
    expect(source, JSON.stringify(usage)).toBe(knowsInput ? 'partial' : 'estimated')
    expect(counts, JSON.stringify(usage)).toEqual([knowsInput ? 11 : estimated.input, estimated.output])
  }
})

test('thoughts of Gemini are a part of the total', () => {
  const counts = { promptTokenCount: 11, thoughtsTokenCount: 4, totalTokenCount: 18 }
  // The vendor leaves out a count of 0: an answer of thoughts alone has no candidates.
  expect(metered('gemini', { ...counts, totalTokenCount: 15 })).toEqual(['upstream', 11, 4])
  expect(metered('gemini', counts)).toEqual(['upstream', 11, 7])
})

test('the first count of a Messages stream is not its last', () => {
  const observed = (usage: object) => {
    const decoder = upstreamSide('anthropic-messages').decodeStream({ upstreamModel: 'm' })
    const observer = new EventObserver()
    const message = { id: 'msg_1', model: 'm', usage: { input_tokens: 11, output_tokens: 1 } }
    for (const event of [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, ...usage },
      { type: 'message_stop' },
    ])
      for (const decoded of decoder.push(JSON.stringify(event))) observer.take(decoded)
    return shown(observer)
  }
  expect(observed({})).toEqual(['partial', 11, estimated.output])
  expect(observed({ usage: {} })).toEqual(['partial', 11, estimated.output])
  expect(observed({ usage: { output_tokens: 7 } })).toEqual(['upstream', 11, 7])
})

function metered(name: ProtocolName, usage: object) {
  const body = answers[name]?.(usage)
  const observer = new EventObserver()
  for (const event of upstreamSide(name).decodeResponse(body as never, { upstreamModel: 'm' }))
    observer.take(event)
  return shown(observer)
}

function shown(observer: EventObserver): [string, number, number] {
  const { usage, usageSource } = meter(observer.observe(), 100, {
    price: undefined,
    multiplier: '1',
    at: 0,
    priceOf: () => undefined,
    isPlausible: () => true,
    isHeld: false,
  })
  return [usageSource, inputOf(usage), (usage?.output ?? 0) + (usage?.reasoning ?? 0)]
}

const inputOf = (usage: Usage | null) => (usage?.input ?? 0) + (usage?.cacheRead ?? 0)
