import { describe, expect, it } from 'vitest'
import type { ChatRequest } from '../../src/canonical/chat.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import type { Json } from '../../src/canonical/json.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { decodeRequest } from '../../src/protocols/openai-responses/decode-request.ts'

const envelope = makeEnvelope(Buffer.alloc(32, 7))
const decode = (body: Json) => decodeRequest({ model: 'm', ...body }, { envelope })
const decodeInput = (...input: unknown[]) => decode({ input })
const unmappedPaths = ({ unmapped }: ChatRequest, verdict: string) =>
  unmapped.filter((field) => field.verdict === verdict).map(({ path }) => path)

const call = (id: string, more: Json = {}) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'read',
  arguments: '{"path":"a"}',
  status: 'completed',
  ...more,
})
const output = (id: string, text: unknown = 'done') => ({
  type: 'function_call_output',
  call_id: id,
  output: text,
})

describe('input', () => {
  it("is a user's text, with the instructions before it", () => {
    const { turns } = decode({ input: 'hello', instructions: 'Be brief.' })
    expect(turns).toEqual([
      {
        role: 'system',
        path: 'instructions',
        blocks: [{ type: 'text', text: 'Be brief.', path: 'instructions' }],
      },
      { role: 'user', path: 'input', blocks: [{ type: 'text', text: 'hello', path: 'input' }] },
    ])
  })

  it('has messages of every role, with or without a type, as text or as parts', () => {
    const { turns, unmapped } = decodeInput(
      { role: 'developer', content: 'd' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'u' }] },
      {
        type: 'message',
        id: 'msg_1',
        status: 'completed',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'a', annotations: [], logprobs: [] },
          { type: 'refusal', refusal: 'no' },
        ],
      },
    )
    expect(turns.map(({ role, blocks }) => [role, blocks.map(({ type }) => type)])).toEqual([
      ['developer', ['text']],
      ['user', ['text']],
      ['assistant', ['text', 'refusal']],
    ])
    expect(unmapped).toEqual([])
  })

  it("joins the assistant's thoughts, text and calls into one turn, and the results into the next", () => {
    const { turns } = decodeInput(
      { role: 'user', content: 'go' },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'hm' }],
        encrypted_content: 'E',
      },
      { role: 'assistant', content: [{ type: 'output_text', text: 'reading' }] },
      call('call_a'),
      call('call_b'),
      { role: 'assistant', content: 'between' },
      output('call_a'),
      output('call_b'),
      { role: 'user', content: 'and?' },
    )
    expect(turns.map(({ role, blocks, path }) => [role, blocks.map(({ type }) => type), path])).toEqual([
      ['user', ['text'], 'input[0]'],
      ['assistant', ['reasoning', 'text', 'tool-call', 'tool-call', 'text'], 'input[1]'],
      ['user', ['tool-result', 'tool-result'], 'input[6]'],
      ['user', ['text'], 'input[8]'],
    ])
    expect(turns[1]?.blocks[0]).toMatchObject({
      text: 'hm',
      summary: true,
      signature: {
        protocol: 'openai-responses',
        model: undefined,
        kind: 'encrypted',
        value: 'E',
        id: 'rs_1',
      },
    })
  })

  it('opens signatures of earlier answers, and ignores changed ones', () => {
    const signature = {
      protocol: 'anthropic-messages',
      model: 'claude',
      kind: 'signature',
      value: 'sig',
    } as const
    const wrapped = envelope.wrap(signature)
    const item = { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'thought' }] }
    expect(decodeInput({ ...item, encrypted_content: wrapped }).turns[0]?.blocks[0]).toMatchObject({
      text: 'thought',
      summary: false,
      signature,
    })
    const changed = decodeInput({ ...item, encrypted_content: `${wrapped.slice(0, -2)}xx` })
    expect(changed.turns[0]?.blocks[0]).toMatchObject({ text: 'thought', signature: undefined })
    expect(unmappedPaths(changed, 'drop')).toEqual(['input[0].encrypted_content'])
  })

  it('reads images, files and audio', () => {
    const { turns } = decodeInput({
      role: 'user',
      content: [
        { type: 'input_image', image_url: 'data:image/PNG;base64,AAAA', detail: 'low' },
        { type: 'input_image', image_url: 'https://example.com/a.png' },
        { type: 'input_image', file_id: 'file_1', image_url: null },
        { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' },
        { type: 'input_file', file_url: 'https://example.com/a.pdf' },
        { type: 'input_audio', input_audio: { data: 'CCCC', format: 'wav' } },
      ],
    })
    expect(turns[0]?.blocks).toMatchObject([
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' }, detail: 'low' },
      { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } },
      { type: 'image', source: { kind: 'file', id: 'file_1' } },
      {
        type: 'document',
        name: 'a.pdf',
        source: { kind: 'base64', mediaType: 'application/pdf', data: 'BBBB' },
      },
      { type: 'document', source: { kind: 'url', url: 'https://example.com/a.pdf' } },
      { type: 'audio', data: 'CCCC', format: 'wav' },
    ])
  })

  it('reads results with images', () => {
    const { turns } = decodeInput(
      call('c'),
      output('c', [
        { type: 'input_text', text: 'seen' },
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
      ]),
    )
    expect(turns[1]?.blocks[0]).toMatchObject({
      type: 'tool-result',
      callId: 'c',
      content: [{ type: 'text', text: 'seen' }, { type: 'image' }],
    })
  })
})

describe("Codex's tools", () => {
  const functionTool = (name: string) => ({
    type: 'function',
    name,
    description: 'd',
    parameters: {},
    strict: false,
  })
  const patch = {
    type: 'custom',
    name: 'apply_patch',
    description: 'Patches.',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
  }

  it('are taken out of their namespace, and keep its name', () => {
    const { tools, turns } = decode({
      tools: [
        functionTool('shell'),
        { type: 'namespace', name: 'mcp__db', description: 'D', tools: [functionTool('query')] },
      ],
      input: [call('c', { name: 'query', namespace: 'mcp__db' }), output('c')],
    })
    expect(tools).toMatchObject([
      { type: 'function', name: 'shell', path: 'tools[0]' },
      { type: 'function', name: 'query', namespace: 'mcp__db', path: 'tools[1].tools[0]' },
    ])
    expect(turns[0]?.blocks[0]).toMatchObject({ name: 'query', namespace: 'mcp__db' })
  })

  it('may be custom with a grammar, and so may their calls', () => {
    const { tools, turns } = decode({
      tools: [patch],
      input: [
        { type: 'custom_tool_call', call_id: 'c', name: 'apply_patch', input: '*** Begin' },
        { type: 'custom_tool_call_output', call_id: 'c', output: 'ok' },
      ],
    })
    expect(tools).toMatchObject([{ type: 'custom', name: 'apply_patch', format: patch.format }])
    expect(turns[0]?.blocks[0]).toMatchObject({ kind: 'custom', input: '*** Begin' })
    expect(turns[1]?.blocks[0]).toMatchObject({ type: 'tool-result', callId: 'c' })
  })

  it('may come in items of the input, all or some of them', () => {
    const { tools, turns, unmapped } = decode({
      input: [
        { type: 'additional_tools', role: 'developer', tools: [functionTool('shell'), patch] },
        { role: 'user', content: 'go' },
        {
          type: 'additional_tools',
          role: 'developer',
          tools: [{ ...functionTool('shell'), description: 'new' }],
        },
      ],
    })
    expect(tools).toMatchObject([
      { name: 'shell', description: 'new', path: 'input[2].tools[0]' },
      { name: 'apply_patch' },
    ])
    expect(turns).toHaveLength(1)
    expect(unmapped).toEqual([])
  })

  it("may be found by the client's own search, which is a function for other formats; found tools can be called", () => {
    const { tools, turns } = decode({
      tools: [
        { type: 'tool_search', execution: 'client', description: 'Find.', parameters: { type: 'object' } },
      ],
      input: [
        {
          type: 'tool_search_call',
          call_id: 's',
          execution: 'client',
          arguments: { query: 'db' },
          status: 'completed',
        },
        {
          type: 'tool_search_output',
          call_id: 's',
          execution: 'client',
          tools: [
            {
              type: 'namespace',
              name: 'db',
              description: '',
              tools: [{ ...functionTool('query'), defer_loading: true }],
            },
          ],
        },
      ],
    })
    expect(tools).toMatchObject([
      { type: 'function', name: 'tool_search', description: 'Find.' },
      { type: 'function', name: 'query', namespace: 'db' },
    ])
    expect(turns[0]?.blocks[0]).toMatchObject({
      type: 'tool-call',
      name: 'tool_search',
      input: '{"query":"db"}',
    })
    expect(turns[1]?.blocks[0]).toMatchObject({
      type: 'tool-result',
      callId: 's',
      content: [{ text: 'These tools can be called now: query' }],
    })
  })

  it('with deferred loading are sent at once, with a note', () => {
    const request = decode({
      input: 'hi',
      tools: [{ type: 'tool_search' }, { ...functionTool('late'), defer_loading: true }],
    })
    expect(request.tools).toMatchObject([{ name: 'late' }])
    expect(unmappedPaths(request, 'drop')).toEqual(['tools[0]', 'tools[1].defer_loading'])
  })

  it.each(['file_search', 'mcp', 'some_tool_of_tomorrow'])('of type %s are hosted', (type) => {
    expect(decode({ input: 'hi', tools: [{ type }] }).tools).toMatchObject([
      { type: 'hosted', name: type, path: 'tools[0]' },
    ])
  })

  it('are chosen by name, by kind, or by a list', () => {
    const chosen = (tool_choice: unknown) => decode({ input: 'hi', tool_choice }).toolChoice
    expect(chosen('required')).toEqual({ type: 'required' })
    expect(chosen({ type: 'function', name: 'f' })).toEqual({ type: 'tool', name: 'f', kind: 'function' })
    expect(chosen({ type: 'custom', name: 'c' })).toEqual({ type: 'tool', name: 'c', kind: 'custom' })
    expect(chosen({ type: 'file_search' })).toEqual({ type: 'tool', name: 'file_search', kind: 'hosted' })
    expect(chosen({ type: 'web_search_preview' })).toEqual({ type: 'web-search' })
    const tools = [{ type: 'function', name: 'f' }, { type: 'image_generation' }]
    expect(chosen({ type: 'allowed_tools', mode: 'auto', tools })).toEqual({
      type: 'allowed',
      mode: 'auto',
      names: ['f', 'image_generation'],
    })
  })
})

describe('settings', () => {
  it('are read into their canonical members, under their own names', () => {
    const request = decode({
      input: 'hi',
      stream: true,
      max_output_tokens: 5,
      temperature: 0.5,
      top_p: 0.9,
      parallel_tool_calls: false,
      reasoning: { effort: 'high', summary: 'detailed' },
      text: { verbosity: 'low', format: { type: 'json_schema', name: 'n', schema: {}, strict: true } },
      safety_identifier: 's',
      metadata: { a: 'b' },
      service_tier: 'flex',
      store: false,
      prompt_cache_key: 'k',
    })
    expect(request).toMatchObject({
      stream: true,
      maxOutputTokens: 5,
      temperature: 0.5,
      topP: 0.9,
      parallelToolCalls: false,
      reasoning: { effort: 'high', summary: 'detailed' },
      verbosity: 'low',
      format: { type: 'json_schema', name: 'n', strict: true },
      userId: 's',
      metadata: { a: 'b' },
      serviceTier: 'flex',
      store: false,
      cacheKey: 'k',
      unmapped: [],
      names: { maxOutputTokens: 'max_output_tokens', userId: 'safety_identifier' },
    })
  })

  it('treat null as absent', () => {
    const nulls = Object.fromEntries(everyMember.map((name) => [name, null]))
    expect(decode({ ...nulls, input: 'hi' })).toEqual(decode({ input: 'hi' }))
  })

  it.each([
    ['previous_response_id', 'resp_1'],
    ['conversation', 'conv_1'],
    ['prompt', { id: 'p' }],
    ['background', true],
    ['moderation', { model: 'm' }],
    ['context_management', [{ type: 'compaction', compact_threshold: 1000 }]],
  ])('refuse %s by name', (name, value) => {
    expect(unmappedPaths(decode({ input: 'hi', [name]: value }), 'refuse')).toEqual([name])
  })

  it.each([
    ['truncation', 'auto', 'truncation'],
    ['store', true, 'store'],
    ['max_tool_calls', 1, 'max_tool_calls'],
    ['client_metadata', {}, 'client_metadata'],
    ['access_programs', {}, 'access_programs'],
    ['image', {}, 'image'],
    ['prompt_cache_retention', '24h', 'prompt_cache_retention'],
    ['prompt_cache_options', {}, 'prompt_cache_options'],
    ['stream_options', { include_obfuscation: true }, 'stream_options.include_obfuscation'],
    ['include', ['web_search_call.results'], 'include[0]'],
    ['reasoning', { context: 'auto' }, 'reasoning.context'],
    ['nobody_knows', 1, 'nobody_knows'],
  ])('note that %s is lost', (name, value, path) => {
    expect(unmappedPaths(decode({ input: 'hi', [name]: value }), 'drop')).toEqual([path])
  })

  it('manage no context with an empty list', () => {
    expect(unmappedPaths(decode({ input: 'hi', context_management: [] }), 'map')).toEqual([
      'context_management',
    ])
  })

  it('ask for log probabilities in one of two ways', () => {
    expect(decode({ input: 'hi', include: ['message.output_text.logprobs'] }).logprobs).toEqual({ top: 0 })
    expect(decode({ input: 'hi', top_logprobs: 2 }).logprobs).toEqual({ top: 2 })
    expect(decode({ input: 'hi', top_logprobs: 0 }).logprobs).toBeUndefined()
  })

  it('can be changed by an item of the input', () => {
    const { reasoning, format } = decode({
      reasoning: { effort: 'low' },
      input: [
        { role: 'user', content: 'hi' },
        {
          type: 'configuration_update',
          reasoning: { effort: 'high' },
          text: { format: { type: 'json_object' } },
        },
      ],
    })
    expect(reasoning).toMatchObject({ effort: 'high' })
    expect(format).toEqual({ type: 'json_object' })
  })
})

describe('items that other formats do not have', () => {
  it.each(['web_search_call', 'mcp_call', 'code_interpreter_call', 'program'])('drop %s', (type) => {
    expect(unmappedPaths(decodeInput({ type, id: 'x' }), 'drop')).toEqual(['input[0]'])
  })

  it.each(['item_reference', 'compaction', 'local_shell', 'image_generation_call', '__proto__'])(
    'refuse %s',
    (type) => {
      expect(unmappedPaths(decodeInput({ type, id: 'x' }), 'refuse')).toEqual(['input[0]'])
    },
  )

  it('treat an item with only an id as a reference', () => {
    expect(decodeInput({ id: 'msg_1' }).unmapped[0]).toMatchObject({ path: 'input[0]', verdict: 'refuse' })
  })

  it('name unknown members of messages, parts and tools by their path', () => {
    const request = decode({
      tools: [{ type: 'function', name: 'f', parameters: null, strict: null, x: 1, output_schema: {} }],
      input: [{ role: 'user', y: 1, content: [{ type: 'input_text', text: 'a', z: 1 }] }],
    })
    expect(unmappedPaths(request, 'drop')).toEqual([
      'tools[0].x',
      'tools[0].output_schema',
      'input[0].content[0].z',
      'input[0].y',
    ])
  })

  it('note unknown members of formats, choices and audio', () => {
    const request = decode({
      tools: [
        { type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'x', z: 1 } },
      ],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'custom', name: 'c', z: 1 }] },
      input: [
        {
          role: 'user',
          content: [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav', z: 1 } }],
        },
      ],
    })
    expect(request.tools).toMatchObject([{ format: { type: 'grammar', syntax: 'lark', definition: 'x' } }])
    expect(unmappedPaths(request, 'drop').sort()).toEqual([
      'input[0].content[0].input_audio.z',
      'tool_choice.tools[0].z',
      'tools[0].format.z',
    ])
  })

  it('note the phase of a message', () => {
    const request = decodeInput({ role: 'assistant', content: 'a', phase: 'commentary' })
    expect(unmappedPaths(request, 'drop')).toEqual(['input[0].phase'])
  })
})

it.each([
  [{ input: 5 }, 'input'],
  [{ input: [5] }, 'input[0]'],
  [{ input: [{}] }, 'input[0].type'],
  [{ input: [{ role: 'tool', content: '' }] }, 'input[0].role'],
  [{ input: [{ role: 'user', content: 5 }] }, 'input[0].content'],
  [{ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }, 'input[0].content[0].text'],
  [{ input: [{ role: 'user', content: [{ type: 'input_image' }] }] }, 'input[0].content[0].image_url'],
  [
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:x,y' }] }] },
    'input[0].content[0].image_url',
  ],
  [{ input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }, 'input[0].call_id'],
  [{ input: [{ type: 'function_call', call_id: 'c', name: 'f', arguments: {} }] }, 'input[0].arguments'],
  [
    { input: 'hi', tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function' }] }] },
    'tools[0].tools[0].name',
  ],
  [{ input: 'hi', tool_choice: 'any' }, 'tool_choice'],
  [{ input: 'hi', reasoning: { effort: 'huge' } }, 'reasoning.effort'],
  [{ input: 'hi', text: { format: { type: 'json_schema', name: 'n' } } }, 'text.format.schema'],
  [{ input: 'hi', temperature: 'warm' }, 'temperature'],
])('refuses the shape of %j, naming %s', (body, field) => {
  try {
    decode(body)
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError)
    expect(error).toMatchObject({ kind: 'invalid_request', field })
    return
  }
  expect.fail('nothing was refused')
})

const everyMember = [
  'access_programs',
  'background',
  'client_metadata',
  'context_management',
  'conversation',
  'image',
  'include',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'moderation',
  'parallel_tool_calls',
  'previous_response_id',
  'prompt',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'safety_identifier',
  'service_tier',
  'store',
  'stream',
  'stream_options',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'truncation',
  'user',
]
