import { GatewayError } from '../../src/canonical/error.ts'
import { isRecord, type Json, recordsOf } from '../../src/canonical/json.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide, upstreamSide } from '../../src/protocols/index.ts'
import type { AnswerContext } from '../../src/protocols/protocol.ts'
import { image, schema } from './every-field.ts'
import type { UpstreamName } from './hostile-streams.ts'
import type { ClientName } from './wire-rules.ts'

// The data of the trap tests: requests, answers and errors of every format, and their expected results.

export const clientNames: ClientName[] = ['openai-chat', 'openai-responses', 'anthropic-messages']
export const upstreamNames: UpstreamName[] = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'gemini',
]
export const pairs = clientNames.flatMap((client) =>
  upstreamNames.filter((upstream) => upstream !== client).map((upstream) => [client, upstream] as const),
)
const envelope = makeEnvelope(Buffer.alloc(32, 4))
/** A name that tells the Gemini side the generation. The other formats send it unchanged. */
export const upstreamModel = 'gemini-3-pro'

export const bases: Readonly<Record<ClientName, Json>> = {
  'openai-chat': { model: 'public', messages: [{ role: 'user', content: 'Hi' }] },
  'openai-responses': { model: 'public', input: 'Hi' },
  'anthropic-messages': { model: 'public', max_tokens: 4000, messages: [{ role: 'user', content: 'Hi' }] },
}
const chatTool = { type: 'function', function: { name: 'query', parameters: schema } }
const responsesTool = { type: 'function', name: 'query', parameters: schema }
const messagesTool = { name: 'query', input_schema: schema }

interface Refusal {
  field: string
  /** Another field that the error may name. */
  or?: string
  why: string
  more: Json
  /** Upstreams that do not refuse it. */
  but?: UpstreamName[]
}

const userSays = (content: unknown): Json => ({ messages: [{ role: 'user', content }] })
const inputOf = (content: unknown): Json => ({ input: [{ role: 'user', content }] })
const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }

/** Requests whose answer would be another one without the field. */
export const refusals: Readonly<Record<ClientName, Refusal[]>> = {
  'openai-chat': [
    { field: 'n', why: 'one answer alone', more: { n: 2 } },
    { field: 'logprobs', why: 'never silently left out', more: { logprobs: true } },
    {
      field: 'messages[0].content[0]',
      why: 'a file that one vendor keeps',
      more: userSays([{ type: 'file', file: { file_id: 'file-1' } }]),
    },
    { field: 'messages[0].content[0]', why: 'audio', more: userSays([audio]), but: ['gemini'] },
  ],
  'openai-responses': [
    { field: 'previous_response_id', why: 'held elsewhere', more: { previous_response_id: 'resp_1' } },
    { field: 'conversation', why: 'held elsewhere', more: { conversation: 'conv_1' } },
    { field: 'background', why: 'held elsewhere', more: { background: true } },
    {
      field: 'context_management',
      why: 'compacted by its vendor',
      more: { context_management: [{ type: 'compaction' }] },
    },
    { field: 'top_logprobs', why: 'never silently left out', more: { top_logprobs: 2 } },
    {
      field: 'top_logprobs',
      why: 'asked for by include',
      more: { include: ['message.output_text.logprobs'] },
    },
    {
      field: 'tools[0]',
      why: 'stores of vectors',
      more: { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
    },
    {
      field: 'tool_choice',
      or: 'tools[1]',
      why: 'a hosted tool that is forced',
      more: { tools: [responsesTool, { type: 'file_search' }], tool_choice: { type: 'file_search' } },
    },
    {
      field: 'input[0].content[0]',
      why: 'a file that one vendor keeps',
      more: inputOf([{ type: 'input_image', file_id: 'file-1' }]),
    },
    { field: 'input[0].content[0]', why: 'audio', more: inputOf([audio]), but: ['gemini', 'openai-chat'] },
  ],
  'anthropic-messages': [
    {
      field: 'messages[0].content[0]',
      why: 'a file that one vendor keeps',
      more: userSays([{ type: 'document', source: { type: 'file', file_id: 'file_1' } }]),
    },
    {
      field: 'tools[0]',
      why: 'a hosted tool alone',
      more: { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] },
    },
    {
      field: 'tool_choice',
      or: 'tools[1]',
      why: 'a hosted tool that is forced',
      more: {
        tools: [messagesTool, { type: 'web_fetch_20250910', name: 'web_fetch' }],
        tool_choice: { type: 'tool', name: 'web_fetch' },
      },
    },
    {
      field: 'mcp_servers',
      why: 'reached by its vendor',
      more: { mcp_servers: [{ type: 'url', url: 'x' }] },
    },
    { field: 'container', why: 'kept by its vendor', more: { container: 'c_1' } },
  ],
}

/** Members that are dropped with a note, or expressed in another way. */
export const losable: Readonly<Record<ClientName, Readonly<Record<string, Json>>>> = {
  'openai-chat': {
    seed: { seed: 7 },
    penalties: { frequency_penalty: 1, presence_penalty: 1 },
    logit_bias: { logit_bias: { '50256': -100 } },
    verbosity: { verbosity: 'low' },
    service_tier: { service_tier: 'flex' },
    store: { store: true },
    metadata: { metadata: { a: 'b' } },
    user: { user: 'u', safety_identifier: 's' },
    'hints for the cache': { prompt_cache_key: 'k', prompt_cache_retention: '24h', prompt_cache_options: {} },
    'detail of images': userSays([{ type: 'image_url', image_url: { url: image, detail: 'low' } }]),
    obfuscation: { stream: true, stream_options: { include_usage: true, include_obfuscation: true } },
    'unknown members': { of_tomorrow: { a: 1 } },
    json_object: { response_format: { type: 'json_object' } },
    'a stop that is one text': { stop: 'END' },
  },
  'openai-responses': {
    service_tier: { service_tier: 'flex' },
    store: { store: true },
    metadata: { metadata: { a: 'b' } },
    user: { user: 'u', safety_identifier: 's' },
    'hints for the cache': { prompt_cache_key: 'k', prompt_cache_retention: '24h', prompt_cache_options: {} },
    'detail of images': inputOf([{ type: 'input_image', image_url: image, detail: 'low' }]),
    obfuscation: { stream: true, stream_options: { include_obfuscation: true } },
    client_metadata: { client_metadata: { a: 'b' } },
    'hosted tool beside others': { tools: [responsesTool, { type: 'web_search' }], tool_choice: 'auto' },
    'unknown members': { of_tomorrow: { a: 1 } },
  },
  'anthropic-messages': {
    cache_control: {
      cache_control: { type: 'ephemeral' },
      ...userSays([{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }]),
    },
    metadata: { metadata: { user_id: 'u' } },
    service_tier: { service_tier: 'standard_only' },
    'body fields of betas': {
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
      diagnostics: { previous_message_id: 'm' },
      speed: 'fast',
      betas: ['a-2026'],
    },
    'hosted tool beside others': {
      tools: [messagesTool, { type: 'web_search_20250305', name: 'web_search' }],
      tool_choice: { type: 'auto' },
    },
    'unknown members': { of_tomorrow: { a: 1 } },
  },
}

export const emptyHistories: Readonly<Record<ClientName, Json[]>> = {
  'openai-chat': [
    userSays(''),
    userSays([]),
    userSays([{ type: 'text', text: '' }]),
    {
      messages: [
        { role: 'system', content: '' },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: '' },
        { role: 'user', content: 'Go on' },
      ],
    },
    {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null },
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'Go on' },
          ],
        },
      ],
    },
  ],
  'openai-responses': [
    { input: '' },
    { input: [] },
    inputOf(''),
    inputOf([]),
    {
      input: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: '' },
        { role: 'user', content: 'Go on' },
      ],
    },
  ],
  'anthropic-messages': [
    userSays(''),
    userSays([]),
    userSays([{ type: 'text', text: '' }]),
    {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: [] },
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'Go on' },
          ],
        },
      ],
    },
  ],
}

export function translated(client: ClientName, upstream: UpstreamName, body: Json, model = upstreamModel) {
  const request = clientSide(client).decodeRequest(body, { envelope })
  return upstreamSide(upstream).encodeRequest(request, {
    upstreamModel: model,
    traits: {},
    maxOutputTokensDefault: 4096,
  })
}

export function thrownBy(run: () => unknown): GatewayError {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

export function contextOf(body: Json): AnswerContext {
  return {
    requestId: 'req_1',
    model: 'public',
    createdAtSeconds: 1_790_000_000,
    body,
    inputTokensEstimate: 42,
    envelope,
  }
}

/** Two signed thoughts before a call. Neither may get the other's signature. */
export const signatures: Readonly<Record<UpstreamName, string[]>> = {
  'openai-chat': ['SEAL-1', 'SEAL-2'],
  'openai-responses': ['SEAL-1', 'SEAL-2'],
  'anthropic-messages': ['SEAL-1', 'SEAL-2'],
  gemini: ['SEAL-1', 'SEAL-2'],
}
export const signedAnswers: Readonly<Record<UpstreamName, Json>> = {
  'openai-chat': chatAnswerOf({
    content: null,
    reasoning_details: ['SEAL-1', 'SEAL-2'].map((signature, index) => ({
      type: 'reasoning.text',
      text: `Hm ${index}`,
      signature,
      index,
    })),
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'query', arguments: '{}' } }],
  }),
  'openai-responses': {
    id: 'resp_1',
    status: 'completed',
    output: [
      ...['SEAL-1', 'SEAL-2'].map((encrypted_content, index) => ({
        type: 'reasoning',
        id: `rs_${index}`,
        summary: [{ type: 'summary_text', text: `Hm ${index}` }],
        encrypted_content,
      })),
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'query', arguments: '{}' },
    ],
  },
  'anthropic-messages': {
    type: 'message',
    content: [
      { type: 'thinking', thinking: 'Hm 0', signature: 'SEAL-1' },
      { type: 'redacted_thinking', data: 'SEAL-2' },
      { type: 'tool_use', id: 'call_1', name: 'query', input: {} },
    ],
    stop_reason: 'tool_use',
  },
  gemini: {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { functionCall: { id: 'call_1', name: 'query', args: {} }, thoughtSignature: 'SEAL-1' },
            { functionCall: { id: 'call_2', name: 'query', args: {} }, thoughtSignature: 'SEAL-2' },
          ],
        },
        finishReason: 'STOP',
      },
    ],
  },
}

/** The client's next request: its request, the answer, and the results of the calls in it. */
export const repliesWith: Readonly<Record<ClientName, (answer: Json) => Json>> = {
  'openai-chat': (answer) => {
    const message = recordsOf(answer.choices)[0]?.message
    const calls = recordsOf(isRecord(message) ? message.tool_calls : undefined)
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'done' }))
    return {
      model: 'public',
      messages: [{ role: 'user', content: 'Hi' }, message, ...results],
      tools: [chatTool],
    }
  },
  'openai-responses': ({ output }) => {
    const results = recordsOf(output).flatMap(({ call_id }) =>
      call_id === undefined ? [] : [{ type: 'function_call_output', call_id, output: 'done' }],
    )
    const input = [{ role: 'user', content: 'Hi' }, ...recordsOf(output), ...results]
    return { model: 'public', input, tools: [responsesTool] }
  },
  'anthropic-messages': ({ content }) => {
    const results = recordsOf(content).flatMap(({ type, id }) =>
      type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: id, content: 'done' }] : [],
    )
    return {
      ...bases['anthropic-messages'],
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content },
        { role: 'user', content: results },
      ],
      tools: [messagesTool],
    }
  },
}

/** 60 tokens of input at the full price, 30 read from a cache, 10 written to it; 20 of output and 5 of reasoning. */
export const countedAnswers: Readonly<Record<UpstreamName, Json>> = {
  'openai-chat': {
    ...chatAnswerOf({ content: 'a' }),
    usage: {
      prompt_tokens: 100,
      completion_tokens: 25,
      total_tokens: 125,
      prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 5 },
    },
  },
  'openai-responses': {
    id: 'resp_1',
    status: 'completed',
    output: [{ type: 'message', id: 'm', content: [{ type: 'output_text', text: 'a' }] }],
    usage: {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 30, cache_write_tokens: 10 },
      output_tokens: 25,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 125,
    },
  },
  'anthropic-messages': {
    type: 'message',
    content: [{ type: 'text', text: 'a' }],
    stop_reason: 'end_turn',
    usage: {
      input_tokens: 60,
      cache_read_input_tokens: 30,
      cache_creation_input_tokens: 10,
      output_tokens: 25,
      output_tokens_details: { thinking_tokens: 5 },
    },
  },
  gemini: {
    candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: 90,
      cachedContentTokenCount: 30,
      toolUsePromptTokenCount: 10,
      candidatesTokenCount: 20,
      thoughtsTokenCount: 5,
      totalTokenCount: 125,
    },
  },
}
/** `written`: how many of the 100 input tokens were written to the cache. */
export const counted: Readonly<Record<ClientName, (written: number) => Json>> = {
  'openai-chat': (written) => ({
    prompt_tokens: 100,
    completion_tokens: 25,
    total_tokens: 125,
    prompt_tokens_details: { cached_tokens: 30, ...(written > 0 ? { cache_write_tokens: written } : {}) },
    completion_tokens_details: { reasoning_tokens: 5 },
  }),
  'openai-responses': (written) => ({
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 30, ...(written > 0 ? { cache_write_tokens: written } : {}) },
    output_tokens: 25,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: 125,
  }),
  'anthropic-messages': (written) => ({
    input_tokens: 70 - written,
    cache_read_input_tokens: 30,
    cache_creation_input_tokens: written,
    output_tokens: 25,
  }),
}

export function usagesIn(text: string): Json[] {
  const data: unknown = /^\{/.test(text) ? JSON.parse(text) : undefined
  if (!isRecord(data)) return []
  const usage = data.usage ?? (isRecord(data.response) ? data.response.usage : undefined)
  return isRecord(usage) ? [usage] : []
}

export const wordsThatAgentsActOn = [
  "messages.1.role: Input should be 'user' or 'assistant'",
  "role 'system' is not supported on this model",
  'context_management: Extra inputs are not permitted',
  'thinking.type: adaptive thinking is not supported on this model',
  'This model does not support the effort parameter.',
  'Unexpected value(s) `a-2026` for the `anthropic-beta` header: invalid beta flag',
  'Invalid `signature` in `thinking` block',
]
export const refusalOf: Readonly<Record<UpstreamName, (message: string) => Json>> = {
  'openai-chat': (message) => ({
    error: { message, type: 'invalid_request_error', param: null, code: null },
  }),
  'openai-responses': (message) => ({
    error: { message, type: 'invalid_request_error', param: null, code: null },
  }),
  'anthropic-messages': (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
  gemini: (message) => ({ error: { code: 400, status: 'INVALID_ARGUMENT', message } }),
}
const tooLongToOpenai = {
  error: {
    message:
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.",
    type: 'invalid_request_error',
    param: 'messages',
    code: 'context_length_exceeded',
  },
}
export const tooLong: Readonly<Record<UpstreamName, Json>> = {
  'openai-chat': tooLongToOpenai,
  'openai-responses': tooLongToOpenai,
  'anthropic-messages': refusalOf['anthropic-messages']('prompt is too long: 9000 tokens > 8192 maximum'),
  gemini: refusalOf.gemini(
    'The input token count (9000) exceeds the maximum number of tokens allowed (8192).',
  ),
}

export const codexRequest: Json = {
  model: 'public',
  input: [
    {
      type: 'additional_tools',
      role: 'developer',
      tools: [{ type: 'function', name: 'exec_command', parameters: schema }],
    },
    { role: 'user', content: 'Hi' },
    { type: 'function_call', call_id: 'call_0', namespace: 'mcp__db', name: 'query', arguments: '{"a":0}' },
    { type: 'function_call_output', call_id: 'call_0', output: 'none' },
  ],
  tools: [
    { type: 'namespace', name: 'mcp__db', description: 'Data', tools: [responsesTool] },
    {
      type: 'custom',
      name: 'apply_patch',
      format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
    },
    { type: 'web_search' },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: false,
  store: false,
  stream: true,
  include: ['reasoning.encrypted_content'],
}
export const callingAnswers: Readonly<
  Record<Exclude<UpstreamName, 'openai-responses'>, (name: string) => Json>
> = {
  'openai-chat': (name) =>
    chatAnswerOf({
      content: null,
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name, arguments: '{"a":1}' } },
        { id: 'call_2', type: 'custom', custom: { name: 'apply_patch', input: 'free "text"' } },
      ],
    }),
  'anthropic-messages': (name) => ({
    type: 'message',
    content: [
      { type: 'tool_use', id: 'call_1', name, input: { a: 1 } },
      { type: 'tool_use', id: 'call_2', name: 'apply_patch', input: { input: 'free "text"' } },
    ],
    stop_reason: 'tool_use',
  }),
  gemini: (name) => ({
    candidates: [
      {
        content: {
          parts: [
            { functionCall: { name, args: { a: 1 } } },
            { functionCall: { name: 'apply_patch', args: { input: 'free "text"' } } },
          ],
        },
        finishReason: 'STOP',
      },
    ],
  }),
}

export function claudeRequest(billing: string): Json {
  return {
    ...bases['anthropic-messages'],
    system: [
      { type: 'text', text: `x-anthropic-billing-header: ${billing}` },
      { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
    ],
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'Instruction one', output_config: { effort: 'low' } },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'query', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'sunny' }] },
      { role: 'system', content: [{ type: 'text', text: 'Instruction two' }] },
    ],
    tools: [messagesTool],
  }
}

function chatAnswerOf(message: Json): Json {
  const finish_reason = message.tool_calls === undefined ? 'stop' : 'tool_calls'
  return { id: 'c', choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }] }
}
