import { describe, test } from 'vitest'
import type { Usage } from '../../src/canonical/usage.ts'
import { expectAll, usagesOfStream, usagesOfWhole } from './usages.ts'

describe('counts of a cache', () => {
  const total = 1000
  /** Each name that a server of a format of OpenAI's has for them. */
  const reads = [
    'cached_tokens',
    'cache_read_tokens',
    'cache_read_input_tokens',
    'cached_input_tokens',
    'prompt_cache_hit_tokens',
  ]
  const writes = [
    'cache_write_tokens',
    'cache_write_input_tokens',
    'cache_creation_tokens',
    'cache_creation_input_tokens',
    'cached_creation_tokens',
  ]
  const formats = [
    ['openai-chat', 'prompt_tokens', 'completion_tokens'],
    ['openai-responses', 'input_tokens', 'output_tokens'],
  ] as const
  const places = [undefined, 'prompt_tokens_details', 'input_tokens_details']
  const named = formats.flatMap(([protocol, input, output]) =>
    reads.flatMap((read, at) =>
      places.map((place) => ({ protocol, input, output, read, write: writes[at] ?? '', place })),
    ),
  )

  test.each(named)(
    '$read and $write of $protocol in $place',
    ({ protocol, input, output, read, write, place }) => {
      const counts = { [read]: 900, [write]: 60, cache_creation: { ephemeral_1h_input_tokens: 20 } }
      const details = { cached_tokens: 0, cache_write_tokens: 0, ...(place === undefined ? {} : counts) }
      const usage = {
        [input]: total,
        [output]: 7,
        total_tokens: total + 7,
        ...(place === undefined ? counts : {}),
        [place ?? `${input}_details`]: details,
      }
      const expected: Usage = {
        input: 40,
        cacheRead: 900,
        cacheWrite: 60,
        output: 7,
        reasoning: 0,
        cacheWrite1h: 20,
      }
      if (protocol === 'openai-chat') for (const usages of chatWays(usage)) expectAll(usages, expected)
      else for (const usages of responsesWays(usage)) expectAll(usages, expected)
    },
  )

  test('they are never more than the input', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 1,
      cached_tokens: 8,
      cache_creation_input_tokens: 9,
    }
    const expected: Usage = { input: 0, cacheRead: 8, cacheWrite: 2, output: 1, reasoning: 0 }
    for (const usages of chatWays(usage)) expectAll(usages, expected)
  })

  test('the parts of a Messages count are its sum where the sum is absent', () => {
    const cache_creation = { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 12 }
    const usage = { input_tokens: 5, output_tokens: 2, cache_read_input_tokens: 9, cache_creation }
    const message = {
      type: 'message',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      usage,
    }
    const expected: Usage = {
      input: 5,
      cacheRead: 9,
      cacheWrite: 42,
      output: 2,
      reasoning: 0,
      cacheWrite1h: 12,
    }
    expectAll(usagesOfWhole('anthropic-messages', { id: 'm', role: 'assistant', ...message }), expected)
  })
})

/** Answers with a usage object wherever servers of the Chat format put it: beside the choices, in one, in Groq's own member. */
function chatWays(usage: object): (Usage | undefined)[][] {
  const places = [
    { beside: { usage }, inside: {} },
    { beside: { usage: null }, inside: { usage } },
    { beside: { x_groq: { id: 'r', usage } }, inside: {} },
  ]
  return places.flatMap(({ beside, inside }) => {
    const whole = (content: string) => ({
      id: 'c',
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop', ...inside }],
      ...beside,
    })
    const text = { id: 'c', choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }] }
    const last = { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop', ...inside }], ...beside }
    return [
      usagesOfWhole('openai-chat', whole('Hi')),
      usagesOfWhole('openai-chat', whole('x'.repeat(20_000))),
      usagesOfStream('openai-chat', [text, last]),
    ]
  })
}

function responsesWays(usage: object): (Usage | undefined)[][] {
  const content = [{ type: 'output_text', text: 'Hi' }]
  const output = [{ type: 'message', id: 'msg_1', role: 'assistant', content }]
  const response = { id: 'resp_1', status: 'completed', model: 'm', output, usage }
  return [
    usagesOfWhole('openai-responses', response),
    usagesOfStream('openai-responses', [{ type: 'response.completed', response }]),
  ]
}
