import type { Json } from '../../src/canonical/json.ts'
import { type Field, fieldsOf, image, partsOf, pdf, schema } from './every-field.ts'
import { clientToolCases } from './responses-client-tools.ts'

const responsesBase = { model: 'm', input: 'Hello' }
const responsesTool = {
  type: 'function',
  name: 'get_weather',
  description: 'Weather',
  parameters: schema,
  strict: true,
}
const responsesToolBase = { ...responsesBase, tools: [responsesTool] }
const items = (...input: Json[]) => ({
  ...responsesToolBase,
  input: [{ role: 'user', content: 'Hello' }, ...input],
})
const call = { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' }
const result = (output: unknown) => ({ type: 'function_call_output', call_id: 'call_1', output })

export const responsesFields: Field[] = [
  ...fieldsOf(responsesBase, {
    instructions: 'Be brief',
    background: true,
    context_management: [{ type: 'compaction' }],
    conversation: 'conv_1',
    include: ['reasoning.encrypted_content'],
    max_output_tokens: 77,
    max_tool_calls: 3,
    metadata: { team: 'blue' },
    moderation: { mode: 'off' },
    previous_response_id: 'resp_1',
    prompt: { id: 'pmpt_1' },
    prompt_cache_key: 'k',
    prompt_cache_options: { mode: 'explicit' },
    prompt_cache_retention: '24h',
    reasoning: { effort: 'high', summary: 'auto' },
    safety_identifier: 'user-1',
    service_tier: 'flex',
    store: true,
    temperature: 0.5,
    text: { format: { type: 'json_schema', name: 'answer', schema, strict: true }, verbosity: 'low' },
    tools: [responsesTool],
    top_logprobs: 3,
    top_p: 0.5,
    truncation: 'auto',
    user: 'user-1',
    access_programs: ['a'],
    client_metadata: { session: '1' },
    made_up_by_tomorrow: 1,
  }),
  ...fieldsOf({ ...responsesBase, stream: true }, { stream_options: { include_obfuscation: false } }),
  ...fieldsOf(responsesToolBase, { tool_choice: 'required', parallel_tool_calls: false }),
  {
    name: 'text.format: json_object',
    without: responsesBase,
    with: { ...responsesBase, text: { format: { type: 'json_object' } } },
  },
  {
    name: 'tools[]: custom',
    without: responsesToolBase,
    with: {
      ...responsesBase,
      tools: [
        responsesTool,
        {
          type: 'custom',
          name: 'apply_patch',
          description: 'Patch',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
        },
      ],
    },
  },
  {
    name: 'tools[]: namespace',
    without: responsesToolBase,
    with: {
      ...responsesBase,
      tools: [
        responsesTool,
        {
          type: 'namespace',
          name: 'files',
          description: 'Files',
          tools: [{ ...responsesTool, name: 'read' }],
        },
      ],
    },
  },
  {
    name: 'tools[]: web_search',
    without: responsesToolBase,
    with: { ...responsesBase, tools: [responsesTool, { type: 'web_search' }] },
  },
  {
    name: 'tools[]: only web_search',
    without: responsesBase,
    with: { ...responsesBase, tools: [{ type: 'web_search' }] },
  },
  ...partsOf<Json>(
    (more) => ({ ...responsesBase, tools: [{ type: 'web_search', ...more }] }),
    {},
    {
      'tools[].filters in web_search': { filters: { allowed_domains: ['example.com'] } },
      'tools[].search_context_size': { search_context_size: 'low' },
      'tools[].user_location': { user_location: { type: 'approximate', city: 'Bern' } },
      'tools[].external_web_access': { external_web_access: false },
      'tools[].search_content_types': { search_content_types: ['image'] },
    },
  ),
  {
    name: 'tools[]: only a hosted one',
    without: responsesBase,
    with: {
      ...responsesBase,
      tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }],
      tool_choice: 'required',
    },
  },
  ...['shell', 'local_shell', 'apply_patch', 'computer', 'computer_use_preview'].map((type) => ({
    name: `tools[]: ${type}`,
    without: responsesToolBase,
    with: { ...responsesBase, tools: [responsesTool, { type }] },
  })),
  {
    name: 'tools[]: only a shell in a container',
    without: responsesBase,
    with: { ...responsesBase, tools: [{ type: 'shell', environment: { type: 'container_auto' } }] },
  },
  {
    name: 'tools[]: tool_search',
    without: responsesToolBase,
    with: { ...responsesBase, tools: [responsesTool, { type: 'tool_search' }] },
  },
  ...partsOf<Json[]>(
    (content) => ({
      ...responsesBase,
      input: [{ role: 'user', content: [{ type: 'input_text', text: 'Look' }, ...content] }],
    }),
    [],
    {
      'input[].content[]: input_text': [{ type: 'input_text', text: 'More' }],
      'input[].content[]: input_image': [{ type: 'input_image', image_url: image }],
      'input[].content[].detail': {
        part: [{ type: 'input_image', image_url: image, detail: 'low' }],
        instead: [{ type: 'input_image', image_url: image }],
      },
      'input[].content[].file_id': [{ type: 'input_file', file_id: 'file-1' }],
      'input[].content[]: input_file': [{ type: 'input_file', file_data: pdf, filename: 'a.pdf' }],
      'input[].content[].file_url': [{ type: 'input_file', file_url: 'https://example.com/a.pdf' }],
    },
  ),
  {
    name: 'input[]: developer',
    without: items(),
    with: items({ role: 'developer', content: 'Be brief' }, { role: 'user', content: 'Go' }),
  },
  { name: 'input[]: function_call', without: items(), with: items(call, result('sunny')) },
  {
    name: 'input[]: function_call_output',
    without: items(call, result('sunny')),
    with: items(call, result('rain')),
  },
  {
    name: 'input[].output[]: input_image',
    without: items(call, result('sunny')),
    with: items(
      call,
      result([
        { type: 'input_text', text: 'sunny' },
        { type: 'input_image', image_url: image },
      ]),
    ),
  },
  ...clientToolCases
    .filter(({ tool }) => tool.type !== 'computer_use_preview')
    .map(({ call, result }) => ({
      name: `input[]: ${call.type}`,
      without: items(),
      with: items(call, result),
    })),
  {
    name: 'input[]: custom_tool_call',
    without: items(),
    with: items(
      { type: 'custom_tool_call', call_id: 'call_2', name: 'apply_patch', input: '*** Begin' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: 'ok' },
    ),
  },
  {
    name: 'input[]: reasoning',
    without: items(call, result('sunny')),
    with: items(
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Hm' }],
        encrypted_content: 'opaque',
      },
      call,
      result('sunny'),
    ),
  },
  { name: 'input[]: item_reference', without: items(), with: items({ type: 'item_reference', id: 'msg_1' }) },
  {
    name: 'input[]: additional_tools',
    without: items(),
    with: items({
      type: 'additional_tools',
      role: 'developer',
      tools: [{ ...responsesTool, name: 'extra' }],
    }),
  },
  {
    name: 'input[]: compaction',
    without: items(),
    with: items({ type: 'compaction', encrypted_content: 'opaque' }),
  },
  {
    name: 'input[]: web_search_call',
    without: items(),
    with: items({
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'x' },
    }),
  },
  {
    name: 'input[].phase',
    without: items(
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hm' }] },
      { role: 'user', content: 'Go' },
    ),
    with: items(
      {
        type: 'message',
        role: 'assistant',
        phase: 'commentary',
        content: [{ type: 'output_text', text: 'Hm' }],
      },
      { role: 'user', content: 'Go' },
    ),
  },
]
