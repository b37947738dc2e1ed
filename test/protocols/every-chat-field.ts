import type { Json } from '../../src/canonical/json.ts'
import { type Field, fieldsOf, image, partsOf, pdf, schema, text } from './every-field.ts'

const chatBase = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] }
const chatTool = {
  type: 'function',
  function: { name: 'get_weather', description: 'Weather', parameters: schema },
}
const chatToolBase = { ...chatBase, tools: [chatTool] }
const chatUser = (content: unknown) => ({ model: 'm', messages: [{ role: 'user', content }] })
const chatMessages = (messages: unknown) => ({ model: 'm', messages })
const chatCall = {
  id: 'call_1',
  type: 'function',
  function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
}
const chatLoop = (result: Json, call: Json = chatCall, assistant: Json = {}) => ({
  ...chatToolBase,
  messages: [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: null, tool_calls: [call], ...assistant },
    { role: 'tool', tool_call_id: 'call_1', content: 'sunny', ...result },
  ],
})

export const chatFields: Field[] = [
  ...fieldsOf(chatBase, {
    audio: { voice: 'alloy', format: 'mp3' },
    frequency_penalty: 0.5,
    logit_bias: { '50256': -100 },
    logprobs: true,
    max_completion_tokens: 77,
    max_tokens: 77,
    metadata: { team: 'blue' },
    modalities: ['text', 'audio'],
    moderation: { mode: 'off' },
    n: 2,
    prediction: { type: 'content', content: 'Hello' },
    presence_penalty: 0.5,
    prompt_cache_key: 'k',
    prompt_cache_options: { mode: 'explicit' },
    prompt_cache_retention: '24h',
    reasoning_effort: 'high',
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } },
    safety_identifier: 'user-1',
    seed: 7,
    service_tier: 'flex',
    stop: ['END'],
    store: true,
    temperature: 0.5,
    tools: [chatTool],
    top_p: 0.5,
    user: 'user-1',
    verbosity: 'low',
    web_search_options: {},
    functions: [chatTool.function],
    top_k: 5,
    made_up_by_tomorrow: 1,
  }),
  ...fieldsOf(
    { ...chatBase, stream: true },
    { stream_options: { include_usage: true, include_obfuscation: true } },
  ),
  ...partsOf<Json>(
    (web_search_options) => ({ ...chatBase, web_search_options }),
    {},
    {
      'web_search_options.search_context_size': { search_context_size: 'low' },
      'web_search_options.user_location': {
        user_location: { type: 'approximate', approximate: { city: 'Bern' } },
      },
    },
  ),
  { name: 'top_logprobs', without: chatBase, with: { ...chatBase, logprobs: true, top_logprobs: 3 } },
  ...fieldsOf(chatToolBase, { tool_choice: 'required', parallel_tool_calls: false }),
  ...fieldsOf({ ...chatBase, functions: [chatTool.function] }, { function_call: { name: 'get_weather' } }),
  {
    name: 'response_format: json_object',
    without: chatBase,
    with: { ...chatBase, response_format: { type: 'json_object' } },
  },
  {
    name: 'tools[]: custom',
    without: chatToolBase,
    with: {
      ...chatBase,
      tools: [
        chatTool,
        { type: 'custom', custom: { name: 'patch', description: 'Free text', format: { type: 'text' } } },
      ],
    },
  },
  {
    name: 'tools[].function.strict',
    without: chatToolBase,
    with: { ...chatBase, tools: [{ ...chatTool, function: { ...chatTool.function, strict: true } }] },
  },
  {
    name: 'tool_choice: allowed_tools',
    without: chatToolBase,
    with: {
      ...chatToolBase,
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'get_weather' } }] },
      },
    },
  },
  {
    name: 'tool_choice: function',
    without: chatToolBase,
    with: { ...chatToolBase, tool_choice: { type: 'function', function: { name: 'get_weather' } } },
  },
  ...partsOf<unknown>((content) => chatUser([text('Look'), ...[content].flat()]), [], {
    'messages[].content[]: text': text('More'),
    'messages[].content[]: image_url': { type: 'image_url', image_url: { url: image } },
    'messages[].content[].image_url.detail': {
      part: { type: 'image_url', image_url: { url: image, detail: 'low' } },
      instead: { type: 'image_url', image_url: { url: image } },
    },
    'messages[].content[]: input_audio': {
      type: 'input_audio',
      input_audio: { data: 'AAAA', format: 'wav' },
    },
    'messages[].content[]: file': { type: 'file', file: { file_data: pdf, filename: 'a.pdf' } },
    'messages[].content[].file.file_id': { type: 'file', file: { file_id: 'file-1' } },
    'messages[].content[].cache_control': {
      part: { ...text('More'), cache_control: { type: 'ephemeral' } },
      instead: text('More'),
    },
  }),
  ...partsOf<Json[]>(chatMessages, [{ role: 'user', content: 'Hello' }], {
    'messages[]: system': [
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'Hello' },
    ],
    'messages[]: developer': [
      { role: 'developer', content: 'Be brief' },
      { role: 'user', content: 'Hello' },
    ],
    'messages[].name': [{ role: 'user', name: 'anna', content: 'Hello' }],
    'messages[].refusal': [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: null, refusal: 'No' },
      { role: 'user', content: 'Please' },
    ],
    'messages[].audio': [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi', audio: { id: 'audio_1' } },
      { role: 'user', content: 'Again' },
    ],
  }),
  { name: 'messages[].tool_calls', without: chatToolBase, with: chatLoop({}) },
  { name: 'messages[]: tool', without: chatLoop({}), with: chatLoop({ content: 'rain' }) },
  {
    name: 'messages[].reasoning_content',
    without: chatLoop({}),
    with: chatLoop({}, chatCall, { reasoning_content: 'They want weather.' }),
  },
]
