import { expect, test } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import type { Reason } from '../../src/canonical/reasons/catalogue.ts'
import { SseDecoder } from '../../src/protocols/decode-sse.ts'
import { upstreamSide } from '../../src/protocols/index.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'

// What is wrong with an answer has the same reason in every format.

const context = { upstreamModel: 'm' }
const formats: readonly ProtocolName[] = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini']

function reasonOf(run: () => ChatEvent[]): Reason | undefined {
  try {
    const last = run().at(-1)
    return last?.type === 'error' ? last.error.reason : undefined
  } catch (error) {
    return (error as { reason?: Reason }).reason
  }
}

function streamed(protocol: ProtocolName, ...frames: (string | Json)[]): Reason | undefined {
  return reasonOf(() => {
    const decoder = upstreamSide(protocol).decodeStream(context)
    const texts = frames.map((frame) => (typeof frame === 'string' ? frame : JSON.stringify(frame)))
    return [...texts.flatMap((text) => decoder.push(text)), ...decoder.end()]
  })
}

const whole = (protocol: ProtocolName, body: Json) =>
  reasonOf(() => upstreamSide(protocol).decodeResponse(body, context))

test.each(formats)('%s: a stream that ends before its answer, and one that cannot be read', (protocol) => {
  expect(streamed(protocol)).toBe('upstream_ended_early')
  expect(streamed(protocol, '{')).toBe('upstream_answer_unreadable')
})

test.each(formats)('%s: a body without an answer', (protocol) => {
  expect(whole(protocol, {})).toBe('upstream_answer_unreadable')
})

test('an event that is too large', () => {
  const decoder = new SseDecoder(upstreamSide('openai-chat').decodeStream(context), 100)
  expect(reasonOf(() => decoder.push(Buffer.from(`data: ${'x'.repeat(200)}`)))).toBe(
    'upstream_event_too_large',
  )
})

const chat = (message: Json, finish_reason = 'stop') => ({
  id: 'c',
  choices: [{ index: 0, message, finish_reason }],
})

test.each<[Reason, ProtocolName, Json]>([
  ['upstream_broke_off', 'openai-chat', chat({ content: 'Half' }, 'error')],
  ['upstream_broke_off', 'openai-responses', { id: 'r', status: 'cancelled', output: [] }],
  [
    'upstream_broke_off',
    'gemini',
    { candidates: [{ content: { parts: [{ text: 'Half' }] }, finishReason: 'MALFORMED_FUNCTION_CALL' }] },
  ],
  [
    'upstream_answer_untranslatable',
    'openai-chat',
    chat({ content: '', images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] }),
  ],
  [
    'upstream_call_broken',
    'gemini',
    { candidates: [{ content: { parts: [{ functionCall: { args: {} } }] }, finishReason: 'STOP' }] },
  ],
])('%s of %s', (reason, protocol, body) => {
  expect(whole(protocol, body)).toBe(reason)
})
