import type { Json } from '../../src/canonical/json.ts'
import { type Field, fieldsOf, partsOf, schema, text } from './every-field.ts'

const messagesBase = { model: 'm', max_tokens: 4000, messages: [{ role: 'user', content: 'Hello' }] }
const messagesTool = { name: 'get_weather', description: 'Weather', input_schema: schema }
const messagesSearch = { type: 'web_search_20250305', name: 'web_search' }
const messagesToolBase = { ...messagesBase, tools: [messagesTool] }
const turns = (...more: Json[]) => ({
  ...messagesToolBase,
  messages: [{ role: 'user', content: 'Hello' }, ...more],
})
const use = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } }
const toolResult = (more: Json = {}) => ({
  type: 'tool_result',
  tool_use_id: 'toolu_1',
  content: 'sunny',
  ...more,
})
const loop = (blocks: Json[], ...results: Json[]) =>
  turns({ role: 'assistant', content: blocks }, { role: 'user', content: results })

const toolReference = { type: 'tool_reference', tool_name: 'get_weather' }
const searchResult = (more: Json = {}) => ({
  type: 'search_result',
  source: 'https://example.com',
  title: 'T',
  content: [{ ...text('found'), ...more }],
})
const found = (more: Json) => ({ part: [searchResult(more)], instead: [searchResult()] })

export const messagesFields: Field[] = [
  ...fieldsOf(messagesBase, {
    max_tokens: 77,
    system: 'Be brief',
    stop_sequences: ['END'],
    temperature: 0.5,
    top_p: 0.5,
    top_k: 5,
    tools: [messagesTool],
    thinking: { type: 'enabled', budget_tokens: 2000 },
    output_config: { effort: 'high', format: { type: 'json_schema', schema } },
    cache_control: { type: 'ephemeral' },
    container: 'container_1',
    context_management: { edits: [] },
    diagnostics: {},
    inference_geo: 'eu',
    mcp_servers: [{ type: 'url', url: 'https://example.com/mcp', name: 'm' }],
    metadata: { user_id: 'user-1' },
    service_tier: 'standard_only',
    speed: 'fast',
    made_up_by_tomorrow: 1,
  }),
  ...fieldsOf(messagesToolBase, { tool_choice: { type: 'any' } }),
  {
    name: 'thinking: adaptive',
    without: messagesBase,
    with: { ...messagesBase, thinking: { type: 'adaptive' } },
  },
  {
    name: 'thinking.display: updates',
    without: { ...messagesBase, thinking: { type: 'adaptive' } },
    with: { ...messagesBase, thinking: { type: 'adaptive', display: 'updates' } },
  },
  {
    name: 'output_config.format: unknown member',
    without: { ...messagesBase, output_config: { format: { type: 'json_schema', schema } } },
    with: { ...messagesBase, output_config: { format: { type: 'json_schema', schema, made_up: 1 } } },
  },
  {
    name: 'output_format: unknown member',
    without: { ...messagesBase, output_format: { type: 'json_schema', schema } },
    with: { ...messagesBase, output_format: { type: 'json_schema', schema, made_up: 1 } },
  },
  { name: 'thread', without: messagesBase, with: { ...messagesBase, thread: { type: 'create' } } },
  {
    name: 'messages[].output_config',
    without: messagesBase,
    with: {
      ...messagesBase,
      messages: [{ role: 'user', content: 'Hello', output_config: { effort: 'low' } }],
    },
  },
  {
    name: 'tool_choice.disable_parallel_tool_use',
    without: { ...messagesToolBase, tool_choice: { type: 'any' } },
    with: { ...messagesToolBase, tool_choice: { type: 'any', disable_parallel_tool_use: true } },
  },
  {
    name: 'tool_choice: tool',
    without: messagesToolBase,
    with: { ...messagesToolBase, tool_choice: { type: 'tool', name: 'get_weather' } },
  },
  {
    name: 'system[].cache_control',
    without: { ...messagesBase, system: [text('Be brief')] },
    with: { ...messagesBase, system: [{ ...text('Be brief'), cache_control: { type: 'ephemeral' } }] },
  },
  {
    name: 'system[]: billing header',
    without: { ...messagesBase, system: [text('Be brief')] },
    with: { ...messagesBase, system: [text('x-anthropic-billing-header: cc_version=2.1'), text('Be brief')] },
  },
  {
    name: 'tools[].cache_control',
    without: messagesToolBase,
    with: { ...messagesBase, tools: [{ ...messagesTool, cache_control: { type: 'ephemeral' } }] },
  },
  {
    name: 'tools[].strict',
    without: messagesToolBase,
    with: { ...messagesBase, tools: [{ ...messagesTool, strict: true }] },
  },
  {
    name: 'tools[].defer_loading',
    without: messagesToolBase,
    with: { ...messagesBase, tools: [messagesTool, { ...messagesTool, name: 'later', defer_loading: true }] },
  },
  {
    name: 'tools[]: web_search',
    without: messagesToolBase,
    with: { ...messagesBase, tools: [messagesTool, messagesSearch] },
  },
  {
    name: 'tools[]: only web_search',
    without: messagesBase,
    with: { ...messagesBase, tools: [messagesSearch] },
  },
  ...partsOf<Json>(
    (more) => ({ ...messagesBase, tools: [{ ...messagesSearch, ...more }] }),
    {},
    {
      'tools[].allowed_domains': { allowed_domains: ['example.com'] },
      'tools[].blocked_domains': { blocked_domains: ['example.com'] },
      'tools[].max_uses': { max_uses: 3 },
      'tools[].user_location': { user_location: { type: 'approximate', city: 'Bern' } },
      'tools[].cache_control in web_search': { cache_control: { type: 'ephemeral' } },
      'tools[].allowed_callers in web_search': { allowed_callers: ['code_execution_20260120'] },
    },
  ),
  ...partsOf<Json[]>(
    (content) => ({ ...messagesBase, messages: [{ role: 'user', content: [text('Look'), ...content] }] }),
    [],
    {
      'messages[].content[]: text': [text('More')],
      'messages[].content[]: image': [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
      ],
      'messages[].content[].source: url': [
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      ],
      'messages[].content[].source: file': [{ type: 'image', source: { type: 'file', file_id: 'file_1' } }],
      'messages[].content[]: document': [
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
      ],
      'messages[].content[]: document text': [
        { type: 'document', title: 'A', source: { type: 'text', media_type: 'text/plain', data: 'words' } },
      ],
      'messages[].content[]: search_result': [
        { type: 'search_result', source: 'https://example.com', title: 'T', content: [text('found')] },
      ],
      'messages[].content[].content[]: cache_control in search_result': found({
        cache_control: { type: 'ephemeral' },
      }),
      'messages[].content[].content[]: citations in search_result': found({ citations: [{ type: 'x' }] }),
      'messages[].content[]: container_upload': [{ type: 'container_upload', file_id: 'file_1' }],
      'messages[].content[].cache_control': {
        part: [{ ...text('More'), cache_control: { type: 'ephemeral', ttl: '1h' } }],
        instead: [text('More')],
      },
      'messages[].content[].citations': {
        part: [
          {
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'words' },
            citations: { enabled: true },
          },
        ],
        instead: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } }],
      },
    },
  ),
  {
    name: 'messages[]: system',
    without: turns(),
    with: turns(
      { role: 'system', content: 'Be brief' },
      { role: 'assistant', content: 'Hi' },
      { role: 'user', content: 'Go' },
    ),
  },
  { name: 'messages[].content[]: tool_use', without: turns(), with: loop([use], toolResult()) },
  {
    name: 'messages[].content[]: tool_result',
    without: loop([use], toolResult()),
    with: loop([use], toolResult({ content: 'rain' })),
  },
  {
    name: 'messages[].content[].is_error',
    without: loop([use], toolResult()),
    with: loop([use], toolResult({ is_error: true })),
  },
  {
    name: 'messages[].content[].content[]: image',
    without: loop([use], toolResult({ content: [text('sunny')] })),
    with: loop(
      [use],
      toolResult({
        content: [
          text('sunny'),
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
        ],
      }),
    ),
  },
  {
    name: 'messages[].content[].content[]: cache_control of tool_reference',
    without: loop([use], toolResult({ content: [toolReference] })),
    with: loop([use], toolResult({ content: [{ ...toolReference, cache_control: { type: 'ephemeral' } }] })),
  },
  {
    name: 'messages[].content[]: thinking',
    without: loop([use], toolResult()),
    with: loop([{ type: 'thinking', thinking: 'Hm', signature: 'opaque' }, use], toolResult()),
  },
  {
    name: 'messages[].content[]: redacted_thinking',
    without: loop([use], toolResult()),
    with: loop([{ type: 'redacted_thinking', data: 'opaque' }, use], toolResult()),
  },
  {
    name: 'messages[].content[]: server_tool_use',
    without: turns({ role: 'assistant', content: [text('Hm')] }, { role: 'user', content: 'Go' }),
    with: turns(
      {
        role: 'assistant',
        content: [
          text('Hm'),
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
        ],
      },
      { role: 'user', content: 'Go' },
    ),
  },
]
