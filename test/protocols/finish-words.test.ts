import { expect, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { ChatEvent } from '../../src/canonical/event.ts'
import { encodeStop } from '../../src/protocols/anthropic-messages/answer-parts.ts'
import { finishReasonOf } from '../../src/protocols/anthropic-messages/wire.ts'
import { readFinishWord } from '../../src/protocols/finish-words.ts'
import { upstreamSide } from '../../src/protocols/index.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'

/** Every format's reasons, and those that gateways are known to hand on in a format of another vendor. */
const words = {
  stop: ['stop', 'STOP', 'end_turn', 'eos', 'COMPLETE', 'made_up_tomorrow'],
  length: [
    'length',
    'max_tokens',
    'MAX_TOKENS',
    'max_output_tokens',
    'model_length',
    'model_context_window_exceeded',
    'token_limit',
    'OTHER',
    'FINISH_REASON_UNSPECIFIED',
  ],
  content_filter: [
    'content_filter',
    'content_filter: SAFETY',
    'content_filtered',
    'guardrail_intervened',
    'sensitive',
    'SAFETY',
    'RECITATION',
    'LANGUAGE',
    'BLOCKLIST',
    'PROHIBITED_CONTENT',
    'SPII',
    'IMAGE_SAFETY',
    'IMAGE_PROHIBITED_CONTENT',
    'IMAGE_RECITATION',
    'MODEL_ARMOR',
  ],
  refusal: ['refusal', 'refused'],
  failed: [
    'error',
    'abort',
    'network_error',
    'insufficient_system_resource',
    'function_call_filter: MALFORMED_FUNCTION_CALL',
    'MALFORMED_FUNCTION_CALL',
    'MALFORMED_RESPONSE',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'MISSING_THOUGHT_SIGNATURE',
    'NO_IMAGE',
    'IMAGE_OTHER',
    'content_filter_error',
  ],
} as const

const answers: Readonly<Partial<Record<ProtocolName, (word: string) => Record<string, unknown>>>> = {
  'openai-chat': (word) => ({
    id: 'c',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: word }],
  }),
  'anthropic-messages': (word) => ({
    id: 'm',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: word,
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
  gemini: (word) => ({
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: word }],
  }),
}

const cases = Object.entries(words).flatMap(([meaning, all]) => all.map((word) => ({ meaning, word })))

test.each(cases)('$word is $meaning in every format', ({ meaning, word }) => {
  for (const [name, answer] of Object.entries(answers)) {
    const end = lastEvent(name as ProtocolName, answer(word))
    expect(end.type === 'finish' ? end.reason : 'failed', name).toBe(meaning)
  }
})

test('an incomplete response was filtered or cut', () => {
  const reasonOf = (reason: string) =>
    lastEvent('openai-responses', {
      id: 'resp_1',
      object: 'response',
      status: 'incomplete',
      incomplete_details: { reason },
      output: [],
    })
  expect(reasonOf('content_filter')).toMatchObject({ reason: 'content_filter' })
  expect(reasonOf('content_filter: SAFETY')).toMatchObject({ reason: 'content_filter' })
  expect(reasonOf('max_output_tokens')).toMatchObject({ reason: 'length' })
})

test('a Messages client learns that the context is full, and a call does not hide how its answer ended', () => {
  const finish = { type: 'finish', stopSequence: undefined, usage: undefined } as const
  const stopOf = (word: string) => {
    const reason = readFinishWord(word) ?? 'stop'
    return encodeStop({ ...finish, reason, upstreamReason: word }, undefined).stop_reason
  }
  expect(stopOf('model_context_window_exceeded')).toBe('model_context_window_exceeded')
  expect(stopOf('MAX_TOKENS')).toBe('max_tokens')
  expect(stopOf('guardrail_intervened')).toBe('refusal')
  expect(finishReasonOf('end_turn', true)).toBe('tool_calls')
  expect(finishReasonOf('SAFETY', true)).toBe('content_filter')
})

function lastEvent(name: ProtocolName, body: Record<string, unknown>): ChatEvent {
  const context = { upstreamModel: 'm', tools: [], stream: false } as never
  try {
    const end = upstreamSide(name)
      .decodeResponse(body as never, context)
      .at(-1)
    if (end === undefined) throw new Error('no event')
    return end
  } catch (error) {
    if (error instanceof GatewayError) return { type: 'error', error }
    throw error
  }
}
