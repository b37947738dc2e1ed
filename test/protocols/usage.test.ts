import type { BetaMessage, BetaUsage } from '@anthropic-ai/sdk/resources/beta/messages/messages'
import { describe, expect, test } from 'vitest'
import { addUsage, type Usage } from '../../src/canonical/usage.ts'
import { expectAll, usagesOfStream, usagesOfWhole } from './usages.ts'

describe('messages', () => {
  const none = { cache_creation: null, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const usage: BetaUsage = {
    ...none,
    input_tokens: 682,
    output_tokens: 1320,
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: 'standard',
    speed: null,
    inference_geo: null,
    fallback_credit: null,
    iterations: [
      { ...none, type: 'compaction', input_tokens: 60_385, output_tokens: 592 },
      { ...none, type: 'message', model: 'claude-opus-5', input_tokens: 682, output_tokens: 1320 },
    ],
  }
  const message = (usage: BetaUsage): Partial<BetaMessage> => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5',
    content: [{ type: 'text', text: 'Hi', citations: null }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage,
  })
  /** As the vendor streams: what it knows at the start, then the cumulative counts of `BetaMessageDeltaUsage`. */
  const streamed = (usage: BetaUsage): object[] => {
    const { cache_creation, service_tier, speed, inference_geo, ...last } = usage
    const first = { ...none, cache_creation, service_tier, speed, inference_geo, input_tokens: 682 }
    return [
      {
        type: 'message_start',
        message: {
          ...message(usage),
          content: [],
          stop_reason: null,
          usage: { ...first, output_tokens: 1 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: last },
      { type: 'message_stop' },
    ]
  }
  const bothWays = (usage: BetaUsage) => [
    ...usagesOfWhole('anthropic-messages', message(usage)),
    ...usagesOfStream('anthropic-messages', streamed(usage)),
  ]

  test('the tokens of a compaction are added to those of the message', () => {
    expectAll(bothWays(usage), {
      input: 61_067,
      cacheRead: 0,
      cacheWrite: 0,
      output: 1912,
      reasoning: 0,
      serviceTier: 'standard',
    })
  })

  test('tokens of an advisor are kept apart, with its model', () => {
    const advisor = { ...none, cache_read_input_tokens: 5, input_tokens: 823, output_tokens: 1612 }
    const iterations: BetaUsage['iterations'] = [
      { ...none, type: 'message', model: 'claude-opus-5', input_tokens: 682, output_tokens: 1320 },
      { ...advisor, type: 'advisor_message', model: 'claude-fable-5' },
    ]
    expectAll(bothWays({ ...usage, iterations, service_tier: 'priority' }), {
      input: 682,
      cacheRead: 0,
      cacheWrite: 0,
      output: 1320,
      reasoning: 0,
      serviceTier: 'priority',
      others: [
        {
          model: 'claude-fable-5',
          usage: { input: 823, cacheRead: 5, cacheWrite: 0, output: 1612, reasoning: 0 },
        },
      ],
    })
  })

  test('the cache writes of an hour, those of a compaction too, and web searches are counted', () => {
    const hour = (tokens: number) => ({
      cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: tokens },
      cache_creation_input_tokens: tokens + 10,
    })
    const counted: BetaUsage = {
      ...usage,
      ...hour(300),
      server_tool_use: { web_search_requests: 3, web_fetch_requests: 1 },
      iterations: [
        { ...none, ...hour(50), type: 'compaction', input_tokens: 1, output_tokens: 2 },
        { ...none, ...hour(300), type: 'message', model: null, input_tokens: 682, output_tokens: 1320 },
      ],
    }
    expectAll(bothWays(counted), {
      input: 683,
      cacheRead: 0,
      cacheWrite: 370,
      output: 1322,
      reasoning: 0,
      cacheWrite1h: 350,
      webSearches: 3,
      serviceTier: 'standard',
    })
  })

  test('a list of iterations that the upstream sends twice counts once', () => {
    const events = streamed(usage)
    const last = events.at(-2)
    expectAll(
      usagesOfStream('anthropic-messages', [...events.slice(0, -1), { ...last }, { type: 'message_stop' }]),
      {
        input: 61_067,
        cacheRead: 0,
        cacheWrite: 0,
        output: 1912,
        reasoning: 0,
        serviceTier: 'standard',
      },
    )
  })
})

describe('chat', () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 60,
    total_tokens: 160,
    prompt_tokens_details: { cached_tokens: 20, audio_tokens: 30 },
    completion_tokens_details: { reasoning_tokens: 10, audio_tokens: 25 },
  }
  const expected: Usage = {
    input: 80,
    cacheRead: 20,
    cacheWrite: 0,
    output: 50,
    reasoning: 10,
    audioInput: 30,
    audioOutput: 25,
    serviceTier: 'flex',
  }
  const body = (text: string) => ({
    id: 'c',
    object: 'chat.completion',
    model: 'm',
    service_tier: 'flex',
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage,
  })

  test.each([
    ['small', 10],
    ['large', 40_000],
  ])('audio tokens and the tier of a %s answer', (_size, length) => {
    expectAll(usagesOfWhole('openai-chat', body('x'.repeat(length))), expected)
  })

  test('audio tokens and the tier of a stream', () => {
    const chunk = { id: 'c', object: 'chat.completion.chunk', model: 'm', service_tier: 'flex' }
    const events = [
      { ...chunk, choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { ...chunk, choices: [], usage },
    ]
    expectAll(usagesOfStream('openai-chat', events), expected)
  })
})

describe('responses', () => {
  const search = (id: string, status = 'completed') => ({ type: 'web_search_call', id, status })
  const items = [
    search('ws_1'),
    search('ws_2'),
    search('ws_3', 'failed'),
    { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] },
  ]
  const response = {
    id: 'resp_1',
    status: 'completed',
    model: 'm',
    service_tier: 'priority',
    output: items,
    usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
  }
  const expected: Usage = {
    input: 7,
    cacheRead: 0,
    cacheWrite: 0,
    output: 3,
    reasoning: 0,
    webSearches: 2,
    serviceTier: 'priority',
  }

  test('searches that did not fail are counted, and the tier is kept', () => {
    expectAll(usagesOfWhole('openai-responses', response), expected)
    expectAll(
      usagesOfStream('openai-responses', [
        {
          type: 'response.created',
          response: { ...response, status: 'in_progress', output: [], usage: null },
        },
        ...items.flatMap((item, output_index) => [
          { type: 'response.output_item.added', output_index, item },
          { type: 'response.output_item.done', output_index, item },
        ]),
        { type: 'response.completed', response },
      ]),
      expected,
    )
    expectAll(usagesOfStream('openai-responses', [{ type: 'response.completed', response }]), expected)
  })
})

describe('gemini', () => {
  const usageMetadata = {
    promptTokenCount: 100,
    cachedContentTokenCount: 20,
    candidatesTokenCount: 60,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 50 },
      { modality: 'AUDIO', tokenCount: 50 },
    ],
    cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 20 }],
    candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 60 }],
  }
  const candidate = (webSearchQueries: string[], finishReason?: string) => ({
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: [{ text: 'Hi' }] },
        groundingMetadata: { webSearchQueries },
        ...(finishReason === undefined ? {} : { finishReason }),
      },
    ],
    usageMetadata,
  })
  const expected: Usage = {
    input: 80,
    cacheRead: 20,
    cacheWrite: 0,
    output: 60,
    reasoning: 0,
    audioInput: 30,
    audioOutput: 60,
    webSearches: 2,
  }

  test('each different query counts once, an empty one never, and audio is reported apart', () => {
    expectAll(usagesOfWhole('gemini', candidate(['', 'moon', 'sun', 'moon'], 'STOP')), expected)
    const events = [candidate(['moon']), candidate(['moon', 'sun'], 'STOP')]
    expectAll(usagesOfStream('gemini', events), expected)
  })
})

test('sums keep what one of the two has', () => {
  const counts = { input: 1, cacheRead: 2, cacheWrite: 3, output: 4, reasoning: 5 }
  const others = [{ model: 'a', usage: counts }]
  expect(
    addUsage(
      { ...counts, cacheWrite1h: 3, others },
      { ...counts, audioInput: 1, serviceTier: 'flex', others },
    ),
  ).toStrictEqual({
    input: 2,
    cacheRead: 4,
    cacheWrite: 6,
    output: 8,
    reasoning: 10,
    cacheWrite1h: 3,
    audioInput: 1,
    serviceTier: 'flex',
    others: [...others, ...others],
  })
  expect(addUsage(counts, counts)).toStrictEqual({
    input: 2,
    cacheRead: 4,
    cacheWrite: 6,
    output: 8,
    reasoning: 10,
  })
})
