import { afterAll, beforeAll, expect, test } from 'vitest'
import { startVendor, type Vendor } from './vendor.ts'

/** The strict vendor refuses what one model refuses and another takes, in the words of the real vendors. */

let vendor: Vendor

beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 0 })
})
afterAll(() => vendor.close())

type Body = Record<string, unknown>

const hi = [{ role: 'user', content: 'Hi' }]
const weather = {
  name: 'get_weather',
  description: 'The weather',
  parameters: { type: 'object', properties: {} },
}
const functions = [{ type: 'function', function: weather }]
const bounded = {
  type: 'object',
  properties: { age: { type: 'integer', minimum: 0, maximum: 150 } },
  required: ['age'],
  additionalProperties: false,
}

const ways = {
  chat: (model: string, more: Body) => ['/v1/chat/completions', { model, messages: hi, ...more }] as const,
  responses: (model: string, more: Body) => ['/v1/responses', { model, input: 'Hi', ...more }] as const,
  messages: (model: string, more: Body) =>
    ['/v1/messages', { model, max_tokens: 2000, messages: hi, ...more }] as const,
  gemini: (model: string, more: Body) =>
    [
      `/v1beta/models/${model}:generateContent`,
      { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], ...more },
    ] as const,
}
type Way = keyof typeof ways

async function ask(way: Way, model: string, more: Body): Promise<{ status: number; text: string }> {
  const [path, body] = ways[way](model, more)
  const response = await fetch(`${vendor.url}${path}`, {
    method: 'POST',
    headers: { 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

const budget = { thinking: { type: 'enabled', budget_tokens: 1024 } }
const adaptive = { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }
const off = { thinking: { type: 'disabled' } }
const prefilled = { messages: [...hi, { role: 'assistant', content: 'Well' }] }
const formatted = { output_config: { format: { type: 'json_schema', schema: bounded } } }
const call = { id: 'callAbc12', type: 'function', function: { name: 'get_weather', arguments: '{}' } }
const called = { role: 'assistant', content: '', tool_calls: [call] }
const result = { role: 'tool', tool_call_id: 'callAbc12', content: 'rain' }
const json = { responseMimeType: 'application/json' }
const declared = { tools: [{ functionDeclarations: [{ name: 'get_weather' }] }] }
const level = (thinkingLevel: string) => ({ generationConfig: { thinkingConfig: { thinkingLevel } } })
const tokens = (thinkingBudget: number) => ({ generationConfig: { thinkingConfig: { thinkingBudget } } })

test.each<[Way, string, Body, string]>([
  ['messages', 'claude-opus-4-8', { temperature: 0.2 }, '`temperature` is deprecated for this model.'],
  ['messages', 'claude-sonnet-5', { top_p: 0.2 }, '`top_p` is deprecated'],
  ['messages', 'claude-fable-5', { top_k: 2 }, '`top_k` is deprecated'],
  ['messages', 'claude-opus-4-8', budget, 'thinking.type.enabled\\" is not supported for this model. Use'],
  ['messages', 'claude-fable-5', off, 'thinking.type.disabled\\" is not supported for this model.'],
  ['messages', 'claude-opus-5-5', off, 'thinking.type.disabled\\" is not supported for this model.'],
  ['messages', 'claude-sonnet-4-5', adaptive, 'adaptive thinking is not supported on this model'],
  ['messages', 'claude-haiku-4-5', { output_config: { effort: 'low' } }, 'does not support the effort'],
  ['messages', 'claude-opus-4-6', { output_config: { effort: 'xhigh' } }, "'xhigh' is not supported"],
  ['messages', 'claude-sonnet-4-6', prefilled, 'This model does not support assistant message prefill.'],
  ['messages', 'claude-sonnet-4-5', { temperature: 0.2, top_p: 0.9 }, 'cannot both be specified'],
  [
    'messages',
    'claude-opus-4-8',
    formatted,
    "For 'integer' type, properties minimum, maximum are not supported",
  ],
  ['messages', 'claude-sonnet-4-20250514', formatted, 'structured outputs are not supported'],
  [
    'messages',
    'claude-opus-4-7',
    { messages: [...hi, { role: 'system', content: 'Hm' }] },
    "Input should be 'user'",
  ],
  ['messages', 'claude-haiku-4-5', { max_tokens: 64_001 }, '64001 > 64000, which is the maximum'],
  [
    'messages',
    'claude-opus-5-5',
    { tools: [{ name: 'get_weather', input_schema: { type: 'object' } }], tool_choice: { type: 'any' } },
    'is not supported for this model',
  ],
  ['chat', 'gpt-5', { max_tokens: 100 }, "Use 'max_completion_tokens' instead."],
  ['chat', 'gpt-5', { temperature: 0.2 }, "'temperature' does not support 0.2 with this model."],
  [
    'chat',
    'gpt-5',
    { reasoning_effort: 'none' },
    "'reasoning_effort' does not support 'none' with this model.",
  ],
  ['chat', 'gpt-5', { stop: ['x'] }, "Unsupported parameter: 'stop'"],
  [
    'chat',
    'gpt-4.1',
    { reasoning_effort: 'low' },
    'Unrecognized request argument supplied: reasoning_effort',
  ],
  ['chat', 'gpt-5.2', { temperature: 0.2, reasoning_effort: 'low' }, "'temperature' does not support 0.2"],
  ['chat', 'gpt-5.4', { tools: functions, reasoning_effort: 'low' }, 'Function tools with reasoning_effort'],
  ['chat', 'gpt-5.6-sol', { tools: functions }, 'Function tools with reasoning_effort'],
  [
    'chat',
    'o4-mini',
    { tools: functions, parallel_tool_calls: false },
    "'parallel_tool_calls' is not supported",
  ],
  ['chat', 'gpt-5-codex', {}, 'only supported in v1/responses'],
  ['responses', 'gpt-5', { temperature: 0.2 }, "Unsupported parameter: 'temperature'"],
  [
    'responses',
    'gpt-5.1',
    { reasoning: { effort: 'minimal' } },
    "Supported values are: 'none', 'low', 'medium', 'high'.",
  ],
  ['responses', 'gpt-4.1', { reasoning: { effort: 'low' } }, "'reasoning.effort' is not supported"],
  ['chat', 'deepseek-v4-pro', { response_format: { type: 'json_schema' } }, 'type is unavailable now'],
  [
    'chat',
    'deepseek-v4-pro',
    { messages: [{ role: 'developer', content: 'x' }, ...hi] },
    'unknown variant `developer`',
  ],
  [
    'chat',
    'deepseek-v4-pro',
    { messages: [...hi, called, result] },
    '`reasoning_content` in the thinking mode',
  ],
  [
    'chat',
    'deepseek-v4-pro',
    { tools: functions, tool_choice: 'required' },
    'Thinking mode does not support this tool_choice',
  ],
  ['chat', 'mistral-large-latest', prefilled, 'Expected last role User or Tool'],
  [
    'chat',
    'mistral-large-latest',
    { messages: [...hi, { ...called, tool_calls: [{ ...call, id: 'call_1' }] }, result] },
    'Tool call id was call_1',
  ],
  [
    'chat',
    'mistral-large-latest',
    { messages: [...hi, called, result, ...hi] },
    "Unexpected role 'user' after role 'tool'",
  ],
  [
    'gemini',
    'gemini-2.5-flash',
    { generationConfig: json, ...declared },
    "mime type: 'application/json' is unsup",
  ],
  [
    'gemini',
    'gemini-2.5-pro',
    { generationConfig: { presencePenalty: 1 } },
    'Penalty is not enabled for models/gem',
  ],
  ['gemini', 'gemini-2.5-pro', tokens(0), 'Budget 0 is invalid.'],
  ['gemini', 'gemini-2.5-flash-lite', tokens(511), 'Please choose a value between 512 and 24576.'],
  ['gemini', 'gemini-2.5-pro', level('LOW'), 'Thinking level is not supported for this model.'],
  ['gemini', 'gemini-3-pro-preview', level('MEDIUM'), 'Thinking level MEDIUM is not supported'],
  ['gemini', 'gemini-3.7-flash', level('MINIMAL'), 'Thinking level MINIMAL is not supported'],
])('over %s %s refuses %j', async (way, model, more, words) => {
  const { status, text } = await ask(way, model, more)
  expect(text).toContain(words)
  expect(status).toBe(400)
})

test.each<[Way, string, Body]>([
  ['messages', 'claude-opus-4-8', adaptive],
  ['messages', 'claude-opus-4-8', off],
  ['messages', 'claude-haiku-4-5', budget],
  ['messages', 'claude-haiku-4-5', { ...prefilled, temperature: 0.2 }],
  ['messages', 'claude-opus-4-8', { messages: [...hi, { role: 'system', content: 'Hm' }] }],
  ['chat', 'gpt-5', { max_completion_tokens: 100, reasoning_effort: 'minimal' }],
  ['chat', 'gpt-5.2', { temperature: 0.2 }],
  ['chat', 'gpt-5.4', { tools: functions }],
  ['chat', 'gpt-5.6-sol', { tools: functions, reasoning_effort: 'none', temperature: 0.2 }],
  ['chat', 'gpt-4.1', { max_tokens: 100, temperature: 0.2, stop: ['x'] }],
  ['chat', 'mistral-large-latest', { max_tokens: 100, messages: [...hi, called, result] }],
  ['chat', 'deepseek-v4-pro', { messages: [...hi, { ...called, reasoning_content: '' }, result] }],
  ['gemini', 'gemini-3.8-flash', { generationConfig: json, ...declared }],
  ['gemini', 'gemini-3-flash-preview', level('MINIMAL')],
  ['gemini', 'gemini-2.5-pro', tokens(128)],
  ['gemini', 'gemini-2.5-flash', tokens(0)],
])('over %s %s takes %j', async (way, model, more) => {
  expect(await ask(way, model, more)).toMatchObject({ status: 200 })
})

test('Mistral answers 422 with the place of a member that it does not know', async () => {
  const { status, text } = await ask('chat', 'mistral-large-latest', { max_completion_tokens: 32_000 })
  expect(status).toBe(422)
  expect(JSON.parse(text)).toEqual({
    object: 'error',
    message: {
      detail: [
        {
          type: 'extra_forbidden',
          loc: ['body', 'max_completion_tokens'],
          msg: 'Extra inputs are not permitted',
          input: 32_000,
        },
      ],
    },
    type: 'invalid_request_error',
    param: null,
    code: null,
  })
})

test('DeepSeek ignores max_completion_tokens and obeys max_tokens', async () => {
  const finish = async (more: Body) =>
    /"finish_reason":"(\w+)"/.exec((await ask('chat', 'deepseek-v4-pro', more)).text)?.[1]
  expect(await finish({ max_completion_tokens: 2 })).toBe('stop')
  expect(await finish({ max_tokens: 2 })).toBe('length')
})
