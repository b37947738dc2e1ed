import { expect, test } from 'vitest'
import { hiddenInputMax } from '../../src/canonical/hidden-input.ts'
import type { Json } from '../../src/canonical/json.ts'
import { hiddenInputIn, type PlainPlace } from '../../src/protocols/hidden-input.ts'
import { clientSide, plainClient } from '../../src/protocols/index.ts'
import { seeded } from '../support/random.ts'
import { beyondPlain, sdkType } from '../support/sdk-types.ts'
import { randomJson } from './random-json.ts'

const places = {
  chat: clientSide('openai-chat').plainInput,
  responses: clientSide('openai-responses').plainInput,
  messages: clientSide('anthropic-messages').plainInput,
  texts: plainClient({ input: 'input' }).plainInput,
}
type Format = keyof typeof places

const hiddenIn = (format: Format, body: unknown) =>
  hiddenInputIn(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), places[format])

const part = (format: Format, ...content: Json[]) =>
  format === 'responses' ? { input: [{ role: 'user', content }] } : { messages: [{ role: 'user', content }] }
const tool = (...tools: Json[]) => ({ tools })
const item = (...input: Json[]) => ({ input })
const fn = { type: 'function', name: 'f', parameters: { type: 'web_search', file: { image_url: 'x' } } }

const plain: [Format, unknown][] = [
  ['chat', { messages: [{ role: 'user', content: 'say "image_url" and "file"' }], plugins: null }],
  ['chat', tool({ type: 'function', function: { name: 'f', parameters: { properties: { plugins: {} } } } })],
  ['chat', tool({ type: 'custom', custom: { name: 'c', format: { type: 'grammar' } } })],
  ['chat', { prediction: { type: 'content', content: [{ type: 'text', text: 'x' }] } }],
  [
    'chat',
    { metadata: { plugins: 'web' }, response_format: { type: 'json_schema', json_schema: { file: 1 } } },
  ],
  [
    'chat',
    {
      messages: [
        {
          role: 'assistant',
          content: null,
          audio: null,
          tool_calls: [{ id: 'c', type: 'function', function: {} }],
        },
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: '{"plugins":1}' }] },
        { role: 'assistant', reasoning_content: 'so', reasoning_details: [{ type: 'reasoning.text' }] },
      ],
    },
  ],
  ['responses', { input: 'say "input_image" and "mcp"', previous_response_id: null, store: true }],
  ['responses', tool(fn, { type: 'custom', name: 'c' }, { type: 'local_shell' }, { type: 'apply_patch' })],
  ['responses', tool({ type: 'namespace', name: 'n', tools: [fn] })],
  ['responses', item({ type: 'additional_tools', role: 'developer', tools: [fn] })],
  [
    'responses',
    item(
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'xyz' },
      { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{"type":"mcp"}' },
      { type: 'function_call_output', id: 'fo_1', call_id: 'c', output: [{ type: 'input_text', text: 'x' }] },
      { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] },
      { role: 'user', content: 'x' },
    ),
  ],
  [
    'messages',
    { system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }], metadata: { x: 1 } },
  ],
  [
    'messages',
    tool({ name: 'f', input_schema: { mcp_servers: [] } }, { type: 'bash_20250124', name: 'bash' }),
  ],
  [
    'messages',
    tool({ type: 'memory_20250818', name: 'memory' }, { type: 'text_editor_20250728', name: 't' }),
  ],
  [
    'messages',
    part('messages', { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'x' }] }),
  ],
  ['messages', part('messages', { type: 'tool_use', id: 'c', name: 'f', input: { type: 'image' } })],
  ['messages', part('messages', { type: 'thinking', thinking: 'so', signature: 's' })],
  [
    'messages',
    { thread: { type: 'create' }, context_management: { edits: [{ type: 'clear_thinking_20251015' }] } },
  ],
  ['texts', { input: ['a', 'b'], encoding_format: 'float' }],
  ['texts', { input: [[1, 2], [3]], dimensions: 5 }],
]

test.each(plain)('%s: the body has all the input of %j', (format, body) => {
  expect(hiddenIn(format, body)).toEqual([])
})

const hidden: [Format, unknown, string][] = [
  [
    'chat',
    part('chat', { type: 'document_url', document_url: 'https://e.example' }),
    'messages[].content[].document_url',
  ],
  ['chat', part('chat', { type: 'text', text: 'x', file_url: 'u' }), 'messages[].content[].file_url'],
  ['chat', part('chat', { type: 'image_url', image_url: { url: 'u' } }), 'messages[].content[].image_url'],
  ['chat', part('chat', { type: 'input_audio', input_audio: {} }), 'messages[].content[].input_audio'],
  ['chat', part('chat', { type: 'file', file: { file_id: 'f' } }), 'messages[].content[].file'],
  ['chat', { messages: [{ role: 'assistant', audio: { id: 'a' } }] }, 'messages[].audio'],
  ['chat', { messages: [{ role: 'user', content: { type: 'pdf_url' } }] }, 'messages[].content.pdf_url'],
  ['chat', { plugins: [{ id: 'web' }] }, 'plugins'],
  ['chat', { search_parameters: { mode: 'on' } }, 'search_parameters'],
  ['chat', { data_sources: [{}] }, 'data_sources'],
  ['chat', { web_search_options: {} }, 'web_search_options'],
  ['chat', { extra_body: { google: { cached_content: 'c' } } }, 'extra_body'],
  ['chat', tool({ type: 'file_search' }), 'tools[].file_search'],
  ['chat', tool({ type: 'retrieval', retrieval: {} }), 'tools[].retrieval'],
  ['chat', tool({ google_search: {} }), 'tools[].google_search'],
  ['chat', { tools: ['web'] }, 'tools[]'],
  ...[
    'shell',
    'google_drive',
    'file_search',
    'mcp',
    'code_interpreter',
    'web_search',
    'tool_search',
    'computer',
  ]
    .concat('image_generation', 'web_search_2025_08_26', 'web_search_preview_2025_03_11')
    .map((type): [Format, unknown, string] => ['responses', tool({ type }), `tools[].${type}`]),
  ['responses', tool({ type: 'namespace', tools: [{ type: 'mcp' }] }), 'tools[].tools[].mcp'],
  [
    'responses',
    item({ type: 'additional_tools', tools: [{ type: 'web_search' }] }),
    'input[].tools[].web_search',
  ],
  ['responses', item({ type: 'compaction', encrypted_content: 'x' }), 'input[].compaction'],
  ['responses', item({ type: 'item_reference', id: 'i' }), 'input[].item_reference'],
  ['responses', item({ id: 'msg_1' }), 'input[].id'],
  [
    'responses',
    item({ id: 'rs_1', type: 'reasoning', summary: [{ text: 'x' }], encrypted_content: '' }),
    'input[].id',
  ],
  ['responses', item({ type: 'from_tomorrow' }), 'input[].from_tomorrow'],
  ['responses', part('responses', { type: 'input_file', file_url: 'u' }), 'input[].content[].input_file'],
  ['responses', part('responses', { type: 'input_image', file_id: 'f' }), 'input[].content[].input_image'],
  [
    'responses',
    item({ type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', file_id: 'f' }] }),
    'input[].output[].input_file',
  ],
  ['responses', { prompt: { id: 'p' } }, 'prompt'],
  ['responses', { previous_response_id: 'r' }, 'previous_response_id'],
  ['responses', { conversation: 'c' }, 'conversation'],
  ['messages', { container: { skills: [] } }, 'container'],
  ['messages', { mcp_servers: [] }, 'mcp_servers'],
  ['messages', { thread: { type: 'continue', previous_message_id: 'm' } }, 'thread.continue'],
  [
    'messages',
    part('messages', { type: 'document', source: { type: 'file' } }),
    'messages[].content[].document',
  ],
  ['messages', part('messages', { type: 'text', source: {} }), 'messages[].content[].source'],
  [
    'messages',
    part('messages', { type: 'tool_result', content: [{ type: 'image' }] }),
    'messages[].content[].content[].image',
  ],
  ['messages', part('messages', { type: ['image'] }), 'messages[].content[].type'],
  ...[
    'web_fetch_20260318',
    'code_execution_20260521',
    'tool_search_tool_regex',
    'advisor_20260301',
    'mcp_toolset',
  ]
    .concat('web_search_20260318', 'bash_20991231')
    .map((type): [Format, unknown, string] => ['messages', tool({ type }), `tools[].${type}`]),
  ['texts', { input: [{ image_url: 'u' }] }, 'input[].image_url'],
  ['texts', { input: 'x', cached: true }, 'cached'],
]

test.each(hidden)('%s: the vendor may add input for %j', (format, body, path) => {
  expect(hiddenIn(format, body)).toContain(path)
})

/** Every place of a format, with a body that has only this object there. */
function* everyPlace(
  place: PlainPlace,
  path = '',
  around = (json: unknown) => json,
): Generator<[string, PlainPlace, (json: unknown) => unknown]> {
  yield [path, place, around]
  for (const [name, inner] of Object.entries(place.members)) {
    if (inner === 'data') continue
    for (const isList of [false, true]) {
      const at = `${path === '' ? '' : `${path}.`}${name}${isList ? '[]' : ''}`
      yield* everyPlace(inner, at, (json) =>
        around({ [name]: isList ? ['', json].slice(inner.text ? 0 : 1) : json }),
      )
    }
  }
}

const everywhere = Object.entries(places).flatMap(([format, place]) =>
  [...everyPlace(place)].map(([path, at, around]) => ({ format: format as Format, path, at, around })),
)

test.each(everywhere)(
  '$format, at "$path": an unknown member or type is named, whatever is around it',
  ({ format, path, at, around }) => {
    const random = seeded(34)
    const to = (name: string) => (path === '' ? name : `${path}.${name}`)
    const data = Object.entries(at.members)
      .filter(([name, kind]) => kind === 'data' && name !== 'type' && name !== 'id')
      .map(([name]) => [name, JSON.parse(randomJson(random, 3))] as const)
    const members = Object.fromEntries(data)
    expect(hiddenIn(format, around(members))).toEqual([])
    for (const value of [true, 5, 'x', {}, [], { text: 'x' }]) {
      const unknown = around({ ...members, from_tomorrow: value })
      expect(hiddenIn(format, unknown)).toEqual([to('from_tomorrow')])
      const spaced = JSON.stringify(unknown, null, '\t').replace('from_tom', '\\u0066rom\\u005ftom')
      expect(hiddenIn(format, spaced)).toEqual([to('from_tomorrow')])
    }
    expect(hiddenIn(format, around({ ...members, from_tomorrow: null }))).toEqual([])
    for (const [name] of data) {
      const like = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
      expect(hiddenIn(format, around({ [like]: 'x' }))).toEqual([to(like)])
    }
    for (const type of at.types ?? []) {
      const types = JSON.stringify(around({ type: 'MARK' }))
      expect(hiddenIn(format, types.replace('"MARK"', `"${type}"`))).toEqual([])
      for (const twice of [`"${type}","type":"from_tomorrow"`, `"from_tomorrow","type":"${type}"`])
        expect(hiddenIn(format, types.replace('"MARK"', twice))).toEqual([to('from_tomorrow')])
    }
  },
)

test('a member that comes twice counts twice, and the one that a parser drops is named too', () => {
  const content = '"content":[{"type":"file","file":{}}]'
  for (const members of [`${content},"content":"x"`, `"content":"x",${content}`])
    expect(hiddenIn('chat', `{"messages":[{"role":"user",${members}}]}`)).toEqual([
      'messages[].content[].file',
    ])
})

test('a name is quoted where it could be mistaken for a path, and cut', () => {
  const names = ['tools[].shell', 'a b', '', '\0', '\ud800', 'x'.repeat(1000), '__proto__', 'constructor']
  const body = `{${names.map((name) => `${JSON.stringify(name)}:1`).join(',')}}`
  expect(hiddenIn('chat', body)).toEqual([
    '"tools[].shell"',
    '"a b"',
    '""',
    '"\\u0000"',
    '"\\ud800"',
    JSON.stringify('x'.repeat(128)),
    '__proto__',
    'constructor',
  ])
})

test('no more are named than can be declared, and one', () => {
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`name_${at}`, at]))
  expect(hiddenIn('chat', many)).toHaveLength(hiddenInputMax + 1)
  expect(
    hiddenIn('chat', { messages: Array.from({ length: 1000 }, (_, at) => ({ [`name_${at}`]: at })) }),
  ).toHaveLength(hiddenInputMax + 1)
})

/** What the pinned SDKs have, and what a vendor may add input for. Put what a new SDK brings here, or into plain-input.ts. */
const beyond = {
  chat: [
    'messages.audio',
    'messages.content.file',
    'messages.content.image_url',
    'messages.content.input_audio',
    'web_search_options',
  ],
  responses: [
    'context_management',
    'conversation',
    'input.code_interpreter_call',
    'input.compaction',
    'input.compaction_trigger',
    'input.computer_call',
    'input.computer_call_output',
    'input.configuration_update',
    'input.content.input_file',
    'input.content.input_image',
    'input.file_search_call',
    'input.image_generation_call',
    'input.item_reference',
    'input.mcp_approval_request',
    'input.mcp_approval_response',
    'input.mcp_call',
    'input.mcp_list_tools',
    'input.output.input_file',
    'input.output.input_image',
    'input.program',
    'input.program_output',
    'input.shell_call',
    'input.shell_call_output',
    'input.tool_search_call',
    'input.tool_search_output',
    'input.tools.code_interpreter',
    'input.tools.computer',
    'input.tools.computer_use_preview',
    'input.tools.file_search',
    'input.tools.image_generation',
    'input.tools.mcp',
    'input.tools.programmatic_tool_calling',
    'input.tools.shell',
    'input.tools.tool_search',
    'input.tools.web_search',
    'input.tools.web_search_2025_08_26',
    'input.tools.web_search_preview',
    'input.tools.web_search_preview_2025_03_11',
    'input.web_search_call',
    'previous_response_id',
    'prompt',
    'tools.code_interpreter',
    'tools.computer',
    'tools.computer_use_preview',
    'tools.file_search',
    'tools.image_generation',
    'tools.mcp',
    'tools.programmatic_tool_calling',
    'tools.shell',
    'tools.tool_search',
    'tools.web_search',
    'tools.web_search_2025_08_26',
    'tools.web_search_preview',
    'tools.web_search_preview_2025_03_11',
  ],
  messages: [
    'compaction',
    'container',
    'fallbacks',
    'mcp_servers',
    'messages.content.advisor_tool_result',
    'messages.content.bash_code_execution_tool_result',
    'messages.content.code_execution_tool_result',
    'messages.content.compaction',
    'messages.content.container_upload',
    'messages.content.content.browser_state',
    'messages.content.content.document',
    'messages.content.content.image',
    'messages.content.content.search_result',
    'messages.content.content.tool_reference',
    'messages.content.document',
    'messages.content.fallback',
    'messages.content.image',
    'messages.content.mcp_tool_listing',
    'messages.content.mcp_tool_result',
    'messages.content.mcp_tool_use',
    'messages.content.search_result',
    'messages.content.server_tool_use',
    'messages.content.text_editor_code_execution_tool_result',
    'messages.content.tool_addition',
    'messages.content.tool_removal',
    'messages.content.tool_search_tool_result',
    'messages.content.web_fetch_tool_result',
    'messages.content.web_search_tool_result',
    'thread.continue',
    'tools.advisor_20260301',
    'tools.browser_toolset_20260801',
    'tools.code_execution_20250522',
    'tools.code_execution_20250825',
    'tools.code_execution_20260120',
    'tools.code_execution_20260521',
    'tools.computer_20241022',
    'tools.computer_20250124',
    'tools.computer_20251124',
    'tools.computer_toolset_20260801',
    'tools.mcp_toolset',
    'tools.tool_search_tool_bm25',
    'tools.tool_search_tool_bm25_20251119',
    'tools.tool_search_tool_regex',
    'tools.tool_search_tool_regex_20251119',
    'tools.web_fetch_20250910',
    'tools.web_fetch_20260209',
    'tools.web_fetch_20260309',
    'tools.web_fetch_20260318',
    'tools.web_search_20250305',
    'tools.web_search_20260209',
    'tools.web_search_20260318',
  ],
  texts: ['input.image_url'],
} satisfies Record<Format, string[]>

const requests: [Format, string, string][] = [
  ['chat', 'openai/resources/chat/completions/completions.d.ts', 'ChatCompletionCreateParams'],
  ['responses', 'openai/resources/responses/responses.d.ts', 'ResponseCreateParams'],
  ['responses', 'openai/resources/responses/responses.d.ts', 'ResponseCompactParams'],
  ['messages', '@anthropic-ai/sdk/resources/messages/messages.d.ts', 'MessageCreateParams'],
  ['messages', '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts', 'MessageCreateParams'],
  ['texts', 'openai/resources/embeddings.d.ts', 'EmbeddingCreateParams'],
  ['texts', 'openai/resources/completions.d.ts', 'CompletionCreateParams'],
  ['texts', 'openai/resources/moderations.d.ts', 'ModerationCreateParams'],
  ['texts', 'openai/resources/audio/speech.d.ts', 'SpeechCreateParams'],
]

test.each(Object.keys(places) as Format[])(
  '%s: each member and type of the SDK is plain, or known to bring input',
  (format) => {
    const found = requests
      .filter(([of]) => of === format)
      .flatMap(([, file, name]) => beyondPlain(sdkType(file, name), places[format]))
    expect([...new Set(found)].toSorted()).toEqual(beyond[format])
  },
)
