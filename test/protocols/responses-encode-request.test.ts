import { describe, expect, it } from 'vitest'
import type { Block, ChatRequest, Tool, Turn } from '../../src/canonical/chat.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import { encodeRequest } from '../../src/protocols/openai-responses/encode-request.ts'
import type { EncodeContext } from '../../src/protocols/protocol.ts'

const context = { upstreamModel: 'gpt-up', traits: {}, maxOutputTokensDefault: 4096 }
const path = 'p'
const parameters = { type: 'object', properties: {} }

const user = (...blocks: Block[]): Turn => ({ role: 'user', blocks, path: 'messages[0]' })
const assistant = (...blocks: Block[]): Turn => ({ role: 'assistant', blocks, path: 'messages[1]' })
const text = (words: string): Block => ({ type: 'text', text: words, path })
const call = (id: string, more: object = {}): Block => ({
  type: 'tool-call',
  id,
  name: 'read',
  kind: 'function',
  input: '{}',
  path,
  ...more,
})
const tool = (name: string, more: object = {}): Tool => ({
  type: 'function',
  name,
  description: 'd',
  parameters,
  strict: undefined,
  path: `tools.${name}`,
  ...more,
})
const inputOf = (...turns: Turn[]) => encode({ turns }).body.input

describe('turns', () => {
  it('stay in order, instructions included, as messages of their role', () => {
    const turns: Turn[] = [
      { role: 'system', blocks: [text('s')], path },
      user(text('u'), text('')),
      assistant(text('a'), { type: 'refusal', text: 'no', path }),
      { role: 'developer', blocks: [text('d')], path },
    ]
    expect(inputOf(...turns)).toEqual([
      { type: 'message', role: 'system', content: [{ type: 'input_text', text: 's' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'u' }] },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'a' },
          { type: 'refusal', refusal: 'no' },
        ],
      },
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'd' }] },
    ])
  })

  it('have calls and results as items of their own, in their places', () => {
    expect(
      inputOf(
        assistant(
          text('a'),
          call('call_1'),
          call('c2', { kind: 'custom', name: 'patch', input: '***' }),
          text('b'),
        ),
        user(
          {
            type: 'tool-result',
            callId: 'call_1',
            content: [{ type: 'text', text: 'r', path }],
            isError: false,
            path,
          },
          { type: 'tool-result', callId: 'c2', content: [], isError: false, path },
          text('u'),
        ),
      ),
    ).toEqual([
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
      { type: 'function_call', call_id: 'call_1', name: 'read', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: '***' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'b' }] },
      { type: 'function_call_output', call_id: 'call_1', output: 'r' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: '' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'u' }] },
    ])
  })

  it('put an error into the words of the result, and note it', () => {
    const { body, notes } = encode({
      turns: [
        assistant(call('c')),
        user({
          type: 'tool-result',
          callId: 'c',
          content: [{ type: 'text', text: 'r', path }],
          isError: true,
          path,
        }),
      ],
    })
    expect(body.input).toEqual([
      expect.objectContaining({ type: 'function_call' }),
      { type: 'function_call_output', call_id: 'c', output: 'Error: r' },
    ])
    expect(notes).toContainEqual(expect.objectContaining({ action: 'mapped', path }))
  })

  it('have images and files in the form of the format, in results too', () => {
    const picture = {
      type: 'image',
      source: { kind: 'base64', mediaType: 'image/png', data: 'AA' },
      path,
    } as const
    const pdf = {
      type: 'document',
      source: { kind: 'base64', mediaType: 'application/pdf', data: 'BB' },
      path,
    } as const
    const image = { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'auto' }
    const file = { type: 'input_file', filename: 'document.pdf', file_data: 'data:application/pdf;base64,BB' }
    expect(
      inputOf(
        user(picture, pdf, { type: 'document', source: { kind: 'text', text: 't' }, name: 'n', path }),
        assistant(call('c')),
        user({ type: 'tool-result', callId: 'c', content: [picture, pdf], isError: false, path }),
      ),
    ).toEqual([
      { type: 'message', role: 'user', content: [image, file, { type: 'input_text', text: 'n\n\nt' }] },
      expect.objectContaining({ type: 'function_call' }),
      { type: 'function_call_output', call_id: 'c', output: [image, file] },
    ])
  })

  it('have a result for each call and a call for each result, with notes', () => {
    const result = (callId: string, more: object = {}): Block => ({
      type: 'tool-result',
      callId,
      content: [{ type: 'text', text: 'r', path }],
      isError: false,
      path: `result ${callId}`,
      ...more,
    })
    const lost = { kind: 'custom', path: 'lost call' }
    const { body, notes } = encode({
      turns: [
        assistant(call('c1'), call('c2', lost)),
        user(text('u'), result('c9'), result('c1')),
        assistant(text('a')),
      ],
    })
    expect(body.input).toMatchObject([
      { type: 'function_call', call_id: 'c1' },
      { type: 'custom_tool_call', call_id: 'c2' },
      { type: 'function_call_output', call_id: 'c1', output: 'r' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: '[no result]' },
      { role: 'user', content: [{ text: 'u' }, { text: 'Result of the tool call "c9":' }, { text: 'r' }] },
      { role: 'assistant' },
    ])
    expect(notes).toMatchObject([
      { path: 'result c9', action: 'mapped' },
      { path: 'lost call', action: 'defaulted' },
      { path: 'store' },
    ])
  })

  it('make foreign call ids legal, the same in the call and in its result', () => {
    const id = `toolu/${'x'.repeat(60)}`
    const input = inputOf(
      assistant(call(id)),
      user({ type: 'tool-result', callId: id, content: [], isError: false, path }),
    )
    expect(input).toMatchObject([{ call_id: expect.stringMatching(/^call_[0-9a-f]{24}$/) }, {}])
    expect((input as { call_id: string }[])[1]?.call_id).toBe((input as { call_id: string }[])[0]?.call_id)
  })

  it('send reasoning back only to the model that made it, and ask for more of it', () => {
    const signature = {
      protocol: 'openai-responses',
      model: 'gpt-up',
      kind: 'encrypted',
      value: 'E',
      id: 'rs_1',
    } as const
    const thought = (more: object = {}) =>
      ({ type: 'reasoning', text: 'hm', summary: true, signature: { ...signature, ...more }, path }) as const
    const own = encode({ turns: [assistant(thought(), text('a'))] })
    expect(own.body.input).toMatchObject([
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'hm' }],
        encrypted_content: 'E',
      },
      { type: 'message' },
    ])
    expect(own.body.include).toEqual(['reasoning.encrypted_content'])
    for (const more of [{ model: 'other' }, { protocol: 'anthropic-messages' }, { kind: 'signature' }]) {
      const foreign = encode({ turns: [assistant(thought(more), text('a'))] })
      expect(foreign.body.input).toMatchObject([{ type: 'message' }])
      expect(foreign.body.include).toBeUndefined()
      expect(foreign.notes).toContainEqual(expect.objectContaining({ action: 'dropped', path }))
    }
  })

  it.each<[string, Turn]>([
    ['audio', user({ type: 'audio', data: 'AA', format: 'wav', path: 'here' })],
    ['files of another vendor', user({ type: 'image', source: { kind: 'file', id: 'f' }, path: 'here' })],
    [
      'images of the assistant',
      assistant({ type: 'image', source: { kind: 'url', url: 'u' }, path: 'here' }),
    ],
  ])('refuse %s', (_, turn) => {
    expect(refusalOf({ turns: [turn] })).toMatchObject({ kind: 'unsupported_parameter', field: 'here' })
  })
})

describe('tools', () => {
  it('are flat, and strict only if they say so', () => {
    const custom: Tool = {
      type: 'custom',
      name: 'c',
      description: undefined,
      format: { type: 'grammar' },
      path,
    }
    const { body } = encode({
      tools: [tool('a'), tool('b', { strict: true, parameters: undefined }), custom],
    })
    expect(body.tools).toEqual([
      { type: 'function', name: 'a', description: 'd', parameters, strict: false },
      { type: 'function', name: 'b', description: 'd', parameters, strict: true },
      { type: 'custom', name: 'c', format: { type: 'grammar' } },
    ])
  })

  it('get legal names, also in their calls, which are restored in the answer', () => {
    const { body, tools } = encode({
      tools: [tool('q', { namespace: 'db.x' })],
      toolChoice: { type: 'tool', name: 'q', namespace: 'db.x', kind: 'function' },
      turns: [assistant(call('c', { name: 'q', namespace: 'db.x' }))],
    })
    expect(body.tools).toMatchObject([{ name: 'db_x__q' }])
    expect(body.tool_choice).toEqual({ type: 'function', name: 'db_x__q' })
    expect(body.input).toMatchObject([{ name: 'db_x__q' }, { type: 'function_call_output' }])
    expect(tools.clientTool('db_x__q')).toMatchObject({ name: 'q', namespace: 'db.x' })
  })

  it('that another vendor runs are left out if others can do it, else refused', () => {
    const hosted: Tool = { type: 'hosted', name: 'web_search', path: 'tools[1]' }
    const { body, notes } = encode({ tools: [tool('a'), hosted] })
    expect(body.tools).toHaveLength(1)
    expect(notes).toContainEqual(expect.objectContaining({ action: 'dropped', path: 'tools[1]' }))
    expect(refusalOf({ tools: [hosted] }).field).toBe('tools[1]')
    expect(refusalOf({ tools: [tool('a'), hosted], toolChoice: { type: 'required' } }).field).toBe('tools[1]')
    const forced = { type: 'tool', name: 'web_search', kind: 'hosted' } as const
    expect(refusalOf({ tools: [tool('a')], toolChoice: forced }).field).toBe('tool_choice')
  })

  it('can be allowed by name', () => {
    const { body } = encode({
      tools: [tool('a'), tool('b')],
      toolChoice: { type: 'allowed', mode: 'required', names: ['b'] },
    })
    expect(body.tool_choice).toEqual({
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'b' }],
    })
  })

  it('can be chosen only if there are any', () => {
    const { body } = encode({ toolChoice: { type: 'auto' }, parallelToolCalls: true })
    expect(body).not.toHaveProperty('tool_choice')
    expect(body).not.toHaveProperty('parallel_tool_calls')
    expect(refusalOf({ toolChoice: { type: 'required' } }).field).toBe('tool_choice')
  })
})

describe('settings', () => {
  it('have the names of the format', () => {
    const { body } = encode({
      stream: true,
      maxOutputTokens: 100,
      temperature: 0.5,
      topP: 0.9,
      tools: [tool('a')],
      toolChoice: { type: 'none' },
      parallelToolCalls: false,
      reasoning: { effort: 'low', budgetTokens: undefined, summary: undefined },
      format: { type: 'json_schema', name: 'n', description: undefined, schema: {}, strict: true },
      verbosity: 'low',
      userId: 'u',
      metadata: { a: 'b' },
      serviceTier: 'flex',
      store: true,
      cacheKey: 'k',
    })
    expect(body).toEqual({
      model: 'gpt-up',
      input: [],
      tools: [expect.anything()],
      tool_choice: 'none',
      parallel_tool_calls: false,
      max_output_tokens: 100,
      temperature: 0.5,
      top_p: 0.9,
      reasoning: { effort: 'low', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 'n', schema: {}, strict: true }, verbosity: 'low' },
      safety_identifier: 'u',
      prompt_cache_key: 'k',
      service_tier: 'flex',
      metadata: { a: 'b' },
      store: true,
      include: ['reasoning.encrypted_content'],
      stream: true,
    })
  })

  it('store nothing unless the client asks for it, and note that', () => {
    const { body, notes } = encode({})
    expect(body).toEqual({ model: 'gpt-up', input: [], store: false })
    expect(notes).toEqual([expect.objectContaining({ action: 'defaulted', path: 'store' })])
  })

  it('keep a bound that the offer is known to take', () => {
    const traits = { outputTokensMin: 1 }
    const { body, notes } = encode({ maxOutputTokens: 5 }, { ...context, traits })
    expect(body.max_output_tokens).toBe(5)
    expect(notes.filter(({ action }) => action === 'clamped')).toEqual([])
  })

  it('raise a bound that is too low', () => {
    const { body, notes } = encode({ maxOutputTokens: 5, names: { maxOutputTokens: 'max_tokens' } })
    expect(body.max_output_tokens).toBe(16)
    expect(notes).toContainEqual(expect.objectContaining({ action: 'clamped', path: 'max_tokens' }))
  })

  it('turn a reasoning budget into an effort', () => {
    const effort = (budgetTokens: number) =>
      encode({ reasoning: { effort: undefined, budgetTokens, summary: 'none' } }).body.reasoning
    expect([1024, 8000, 32_000].map(effort)).toEqual([
      { effort: 'low' },
      { effort: 'medium' },
      { effort: 'high' },
    ])
  })

  it.each<[keyof ChatRequest, Partial<ChatRequest>]>([
    ['topK', { topK: 5 }],
    ['seed', { seed: 5 }],
    ['frequencyPenalty', { frequencyPenalty: 1 }],
    ['presencePenalty', { presencePenalty: 1 }],
    ['logitBias', { logitBias: {} }],
    ['stop', { stop: ['x'.repeat(5000)] }],
    ['userId', { userId: 'x'.repeat(65) }],
    ['metadata', { metadata: { a: 1 } }],
    ['serviceTier', { serviceTier: 'gold' }],
  ])('note that %s is lost', (field, change) => {
    const { body, notes } = encode(change)
    expect(body).toEqual({ model: 'gpt-up', input: [], store: false })
    expect(notes).toContainEqual(expect.objectContaining({ action: 'dropped', path: field }))
  })

  it.each<[string, Partial<ChatRequest>]>([
    ['choices', { choices: 2 }],
    ['logprobs', { logprobs: { top: 1 } }],
    ['x', { unmapped: [{ path: 'x', verdict: 'refuse', reason: 'no' }] }],
  ])('refuse %s', (field, change) => {
    expect(refusalOf(change)).toMatchObject({ kind: 'unsupported_parameter', field })
  })

  it('note hints for the cache once', () => {
    const hinted: Block = { type: 'text', text: 'a', cache: { ttl: '5m' }, path: 'here' }
    const { notes } = encode({ turns: [user(hinted, { ...hinted, path: 'there' })] })
    expect(notes.filter(({ action }) => action === 'dropped')).toMatchObject([{ path: 'here' }])
  })
})

function encode(change: Partial<ChatRequest>, withContext: EncodeContext = context) {
  const request: ChatRequest = {
    model: 'm',
    stream: false,
    turns: [],
    tools: [],
    toolChoice: undefined,
    parallelToolCalls: undefined,
    maxOutputTokens: undefined,
    choices: 1,
    temperature: undefined,
    topP: undefined,
    topK: undefined,
    seed: undefined,
    frequencyPenalty: undefined,
    presencePenalty: undefined,
    logitBias: undefined,
    stop: [],
    logprobs: undefined,
    reasoning: undefined,
    format: undefined,
    verbosity: undefined,
    userId: undefined,
    metadata: undefined,
    serviceTier: undefined,
    store: undefined,
    cacheKey: undefined,
    unmapped: [],
    names: { toolChoice: 'tool_choice' },
    ...change,
  }
  return encodeRequest(request, withContext)
}

function refusalOf(change: Partial<ChatRequest>): GatewayError {
  try {
    encode(change)
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
