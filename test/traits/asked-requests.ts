import type { Json } from '../../src/canonical/json.ts'

/** What clients of three formats ask, the same request in each: for the table of what is sent to each model. */

const question = 'How old is Ada?'
const prefill = 'Ada is'
const bounded = {
  type: 'object',
  properties: {
    age: { type: 'integer', minimum: 0, maximum: 150 },
    name: { type: 'string', minLength: 1 },
    tags: { type: 'array', items: { type: 'string' }, minItems: 2 },
  },
  required: ['age', 'name', 'tags'],
}
const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const description = 'The weather in a city'
const input = { city: 'Oslo' }

const user = { role: 'user', content: question }

export const askedRequests = {
  'openai-chat': {
    temperature: { messages: [user], temperature: 0.2, top_p: 0.9, max_completion_tokens: 1000 },
    effort: { messages: [user], reasoning_effort: 'medium', max_completion_tokens: 20_000 },
    'no effort': { messages: [user], reasoning_effort: 'none', temperature: 0.2 },
    schema: {
      messages: [user],
      response_format: { type: 'json_schema', json_schema: { name: 'person', schema: bounded } },
    },
    prefill: { messages: [user, { role: 'assistant', content: prefill }] },
    'tools and JSON': {
      messages: [
        user,
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'get_weather', arguments: JSON.stringify(input) },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
        { role: 'user', content: 'And now?' },
      ],
      tools: [{ type: 'function', function: { name: 'get_weather', description, parameters: city } }],
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 'person', schema: bounded } },
    },
    'forced call': {
      messages: [user],
      tools: [{ type: 'function', function: { name: 'get_weather', description, parameters: city } }],
      tool_choice: 'required',
    },
  },
  'openai-responses': {
    temperature: { input: [user], temperature: 0.2, top_p: 0.9, max_output_tokens: 1000 },
    effort: { input: [user], reasoning: { effort: 'medium', summary: 'auto' }, max_output_tokens: 20_000 },
    'no effort': { input: [user], reasoning: { effort: 'none' }, temperature: 0.2 },
    schema: { input: [user], text: { format: { type: 'json_schema', name: 'person', schema: bounded } } },
    prefill: { input: [user, { role: 'assistant', content: prefill }] },
    'tools and JSON': {
      input: [
        user,
        { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: JSON.stringify(input) },
        { type: 'function_call_output', call_id: 'call_1', output: 'rain' },
        { role: 'user', content: 'And now?' },
      ],
      tools: [{ type: 'function', name: 'get_weather', description, parameters: city, strict: false }],
      parallel_tool_calls: false,
      text: { format: { type: 'json_schema', name: 'person', schema: bounded } },
    },
    'forced call': {
      input: [user],
      tools: [{ type: 'function', name: 'get_weather', description, parameters: city, strict: false }],
      tool_choice: { type: 'function', name: 'get_weather' },
    },
  },
  'anthropic-messages': {
    temperature: { messages: [user], temperature: 0.2, top_p: 0.9, max_tokens: 1000 },
    effort: {
      messages: [user],
      thinking: { type: 'enabled', budget_tokens: 8000 },
      max_tokens: 20_000,
    },
    'no effort': { messages: [user], thinking: { type: 'disabled' }, temperature: 0.2, max_tokens: 1000 },
    schema: {
      messages: [user],
      output_config: { format: { type: 'json_schema', schema: bounded } },
      max_tokens: 1000,
    },
    prefill: { messages: [user, { role: 'assistant', content: prefill }], max_tokens: 1000 },
    'tools and JSON': {
      messages: [
        user,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'get_weather', input }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: 'rain' },
            { type: 'text', text: 'And now?' },
          ],
        },
      ],
      tools: [{ name: 'get_weather', description, input_schema: city }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      output_config: { format: { type: 'json_schema', schema: bounded } },
      max_tokens: 1000,
    },
    'forced call': {
      messages: [user],
      tools: [{ name: 'get_weather', description, input_schema: city }],
      tool_choice: { type: 'tool', name: 'get_weather' },
      max_tokens: 1000,
    },
  },
} as const satisfies Record<string, Record<string, Json>>
