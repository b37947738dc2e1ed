import type { Json } from '../../src/canonical/json.ts'
import type { Random } from '../support/random.ts'

export type UpstreamName = 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'gemini'

/** The `data` of a stream from a faulty upstream: parts of the format in an order that it does not allow. */
export function hostileStream(format: UpstreamName, random: Random): string[] {
  const { any, end } = makers[format]
  const data = Array.from({ length: random.upTo(14) }, () => JSON.stringify(any(random)))
  if (random.next() < 0.9)
    for (const last of end(random)) data.push(typeof last === 'string' ? last : JSON.stringify(last))
  return data
}

const makers: Record<UpstreamName, { any(random: Random): Json; end(random: Random): (Json | string)[] }> = {
  'openai-chat': { any: chatChunk, end: chatEnd },
  'openai-responses': { any: responsesEvent, end: responsesEnd },
  'anthropic-messages': { any: messagesEvent, end: messagesEnd },
  gemini: { any: geminiChunk, end: geminiEnd },
}

const word = (random: Random) => random.pick(['a', 'é ', '😀', '\n', '"'])
const maybe = (random: Random, likely: number, members: Json): Json => (random.next() < likely ? members : {})
const callId = (random: Random) => random.pick(['call_1', 'call_2', 'call_2', 'il|legal', 'x'.repeat(90)])

function chatChunk(random: Random): Json {
  const choice: Json = {
    index: 0,
    delta: random.pick([chatWords, chatWords, chatCall, chatCall, chatNothing])(random),
    ...maybe(random, 0.05, { finish_reason: random.pick(['stop', 'tool_calls', 'length']) }),
  }
  return {
    ...maybe(random, 0.7, { id: random.pick(['c1', 'c2']) }),
    model: 'up',
    choices: random.next() < 0.08 ? [] : [choice],
    ...maybe(random, 0.1, { usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 } }),
  }
}

function chatWords(random: Random): Json {
  const member = random.pick(['content', 'content', 'reasoning_content', 'reasoning', 'refusal'])
  return {
    ...maybe(random, 0.3, { role: 'assistant' }),
    [member]: random.pick([word(random), word(random), '', null]),
  }
}

/** Fragments of up to three calls. Any part may be missing, late, repeated or in an unusual shape. */
function chatCall(random: Random): Json {
  const call = {
    ...maybe(random, 0.8, { index: random.upTo(2) }),
    ...maybe(random, 0.4, { id: callId(random), type: 'function' }),
    function: {
      ...maybe(random, 0.5, { name: random.pick(['query', 'patch']) }),
      ...maybe(random, 0.7, { arguments: random.pick(['', '{"a"', ':1}', '{}', null, { a: 1 }]) }),
    },
  }
  return { ...maybe(random, 0.2, { content: word(random) }), tool_calls: [call] }
}

function chatNothing(): Json {
  return { role: null, content: null, tool_calls: null, reasoning_content: null, function_call: null }
}

function chatEnd(random: Random): (Json | string)[] {
  const reason = random.pick(['stop', 'stop', 'tool_calls', 'length', 'content_filter', 'eos'])
  const finish = { choices: [{ index: 0, delta: {}, finish_reason: reason }] }
  const usage = { choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } }
  return [finish, ...random.pick([[], [finish], [usage], [usage, usage]]), ...random.pick([[], ['[DONE]']])]
}

function messagesEvent(random: Random): Json {
  const index = random.upTo(2)
  switch (random.upTo(9)) {
    case 0:
      return {
        type: 'message_start',
        message: { id: 'm', model: 'up', usage: { input_tokens: random.upTo(9) } },
      }
    case 1:
    case 2:
    case 3:
      return { type: 'content_block_start', index, content_block: messagesBlock(random) }
    case 4:
      return { type: 'content_block_stop', index }
    case 5:
      return random.pick([{ type: 'ping' }, { type: 'of_tomorrow', index }])
    default:
      return { type: 'content_block_delta', index, delta: messagesDelta(random) }
  }
}

function messagesBlock(random: Random): Json {
  return random.pick([
    { type: 'text', text: random.pick(['', 'early']) },
    { type: 'thinking', thinking: '', signature: random.pick(['', 'S']) },
    { type: 'redacted_thinking', data: 'R' },
    {
      type: 'tool_use',
      id: callId(random),
      name: random.pick(['query', 'patch']),
      input: random.pick([{}, { a: 1 }]),
    },
    { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
    { type: 'of_tomorrow' },
  ])
}

function messagesDelta(random: Random): Json {
  return random.pick([
    { type: 'text_delta', text: word(random) },
    { type: 'text_delta', text: word(random) },
    { type: 'thinking_delta', thinking: word(random) },
    { type: 'signature_delta', signature: random.pick(['S1', 'S2']) },
    { type: 'input_json_delta', partial_json: random.pick(['', '{"a"', ':1}', '{}']) },
    { type: 'citations_delta', citation: { url: 'https://example.com/', title: 'T' } },
    { type: 'of_tomorrow' },
  ])
}

function messagesEnd(random: Random): (Json | string)[] {
  const stop_reason = random.pick(['end_turn', 'tool_use', 'max_tokens', 'stop_sequence', 'refusal', null])
  const ending = { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 3 } }
  return [
    ...random.pick([[ending], [ending, ending], []]),
    ...random.pick([[], [{ type: 'message_stop' }]]),
    ...random.pick([[], ['[DONE]']]),
  ]
}

function responsesEvent(random: Random): Json {
  const at = { output_index: random.upTo(2), item_id: random.pick(['i1', 'i2', 'i3']) }
  const part = { ...at, content_index: random.upTo(1) }
  switch (random.upTo(13)) {
    case 0:
      return { type: 'response.created', response: { id: random.pick(['r1', 'r2']), model: 'up' } }
    case 1:
    case 2:
      return { type: 'response.output_item.added', ...at, item: responsesItem(random) }
    case 3:
      return { type: 'response.output_item.done', ...at, item: responsesItem(random) }
    case 4:
      return { type: 'response.output_text.done', ...part, text: word(random) }
    case 5:
      return { type: 'response.content_part.done', ...part, part: { type: 'output_text', text: 'done' } }
    case 6:
      return { type: 'response.refusal.delta', ...part, delta: word(random) }
    case 7:
      return {
        type: 'response.reasoning_summary_text.delta',
        ...at,
        summary_index: random.upTo(1),
        delta: 's',
      }
    case 8:
      return { type: 'response.reasoning_text.delta', ...part, delta: 't' }
    case 9:
      return { type: 'response.function_call_arguments.delta', ...at, delta: random.pick(['{"a"', ':1}']) }
    case 10:
      return { type: 'response.function_call_arguments.done', ...at, arguments: '{"a":1}' }
    case 11:
      return { type: 'response.of_tomorrow', ...at }
    default:
      return { type: 'response.output_text.delta', ...part, delta: word(random) }
  }
}

function responsesItem(random: Random): Json {
  const id = random.pick(['i1', 'i2', 'i3'])
  return random.pick<Json>([
    { type: 'message', id, role: 'assistant', content: [] },
    { type: 'message', id, role: 'assistant', content: [{ type: 'output_text', text: 'whole' }] },
    { type: 'reasoning', id, summary: [{ type: 'summary_text', text: 's' }], encrypted_content: 'E' },
    { type: 'function_call', id, call_id: callId(random), name: 'query', arguments: '{"a":1}' },
    { type: 'custom_tool_call', id, call_id: callId(random), name: 'patch', input: 'free' },
    { type: 'web_search_call', id },
  ])
}

function responsesEnd(random: Random): (Json | string)[] {
  const output = Array.from({ length: random.upTo(2) }, () => responsesItem(random))
  const type = random.pick([
    'response.completed',
    'response.completed',
    'response.incomplete',
    'response.failed',
  ])
  const incomplete_details = type === 'response.incomplete' ? { reason: 'max_output_tokens' } : null
  return [{ type, response: { id: 'r9', output, incomplete_details } }, ...random.pick([[], ['[DONE]']])]
}

function geminiChunk(random: Random): Json {
  const parts = Array.from({ length: random.upTo(2) }, () => geminiPart(random))
  return {
    ...maybe(random, 0.9, { candidates: [{ content: { role: 'model', parts } }] }),
    ...maybe(random, 0.5, {
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1, totalTokenCount: 10 },
    }),
  }
}

function geminiPart(random: Random): Json {
  const signed = maybe(random, 0.3, { thoughtSignature: random.pick(['S1', 'S2']) })
  return random.pick<Json>([
    { text: word(random), ...signed },
    { text: '', ...signed },
    { text: word(random), thought: true, ...signed },
    {
      functionCall: { ...maybe(random, 0.5, { id: callId(random) }), name: 'query', args: { a: 1 } },
      ...signed,
    },
    { functionCall: { name: 'patch', args: { input: 'free' } }, ...signed },
    { executableCode: { code: '1' } },
  ])
}

function geminiEnd(random: Random): (Json | string)[] {
  const finishReason = random.pick([
    'STOP',
    'STOP',
    'MAX_TOKENS',
    'SAFETY',
    'MALFORMED_FUNCTION_CALL',
    'OF_TOMORROW',
  ])
  return [{ candidates: [{ content: {}, finishReason }] }]
}
