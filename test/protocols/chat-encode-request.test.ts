import { describe, expect, it } from 'vitest'
import type { Block, ChatRequest, ReasoningSignature, Turn } from '../../src/canonical/chat.ts'
import { type Json, recordsOf } from '../../src/canonical/json.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { decodeRequest } from '../../src/protocols/openai-chat/decode-request.ts'
import { encodeRequest } from '../../src/protocols/openai-chat/encode-request.ts'

const context = { upstreamModel: 'gpt-up', traits: {}, maxOutputTokensDefault: 4096 }
const envelope = makeEnvelope(Buffer.alloc(32))
const parameters = { type: 'object', properties: { a: { type: 'string' } } }

describe('an encoded chat request', () => {
  it('means the same as the decoded one', () => {
    const body = {
      model: 'gpt-up',
      messages: [
        { role: 'system', content: 'be brief' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
            { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
          ],
        },
        {
          role: 'assistant',
          content: 'I see.',
          reasoning_content: 'hmm',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
            { id: 'c2', type: 'custom', custom: { name: 'g', input: 'x y' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { role: 'tool', tool_call_id: 'c2', content: 'two' },
        { role: 'assistant', content: null, refusal: 'No.' },
        { role: 'user', content: 'why?' },
      ],
      tools: [
        { type: 'function', function: { name: 'f', description: 'd', parameters, strict: true } },
        {
          type: 'custom',
          custom: { name: 'g', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
        },
      ],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: {
          mode: 'auto',
          tools: [
            { type: 'function', function: { name: 'f' } },
            { type: 'custom', custom: { name: 'g' } },
          ],
        },
      },
      parallel_tool_calls: true,
      max_completion_tokens: 9,
      temperature: 0.1,
      top_p: 0.2,
      seed: 3,
      frequency_penalty: 0.4,
      presence_penalty: 0.5,
      logit_bias: { 6: 7 },
      stop: ['a', 'b'],
      reasoning_effort: 'low',
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', description: 'd', schema: parameters, strict: true },
      },
      verbosity: 'low',
      user: 'u',
      metadata: { a: 'b' },
      service_tier: 'flex',
      store: true,
      prompt_cache_key: 'k',
      stream: true,
      stream_options: { include_usage: true },
    }
    const encoded = encodeRequest(decodeRequest(body, { envelope }), context)
    expect(encoded.body).toEqual(body)
    expect(encoded.notes).toEqual([])
  })

  it('asks for usage in every stream, and only in streams', () => {
    expect(bodyOf({ stream: true })).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    expect(Object.keys(JSON.parse(JSON.stringify(bodyOf({})))).sort()).toEqual(['messages', 'model'])
  })

  it.each<[Json, string]>([
    [{ n: 2 }, 'n'],
    [{ logprobs: true }, 'logprobs'],
    [{ stop: ['1', '2', '3', '4', '5'] }, 'stop'],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0]'],
    [{ tools: [tool('f')], tool_choice: { type: 'web_search' } }, 'tool_choice'],
    [{ tools: [tool('f')], tool_choice: { type: 'function', function: { name: 'g' } } }, 'tool_choice'],
    [{ modalities: ['audio'] }, 'modalities'],
    [{ messages: [{ role: 'user', content: [{ type: 'video_url' }] }] }, 'messages[0].content[0]'],
    [
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
      'messages[0].content[0]',
    ],
  ])('refuses by its path what cannot be said: %j', (members, path) => {
    expect(() => encode(members)).toThrow(
      expect.objectContaining({ kind: 'unsupported_parameter', field: path }),
    )
  })

  it.each<[Json, string, string]>([
    [{ top_k: 5 }, 'dropped', 'top_k'],
    [{ metadata: { a: 'b' } }, 'dropped', 'metadata'],
    [{ service_tier: 'gold' }, 'dropped', 'service_tier'],
    [{ reasoning: { max_tokens: 2000 } }, 'mapped', 'reasoning'],
    [{ reasoning: { effort: 'low', exclude: true } }, 'dropped', 'reasoning'],
    [{ reasoning: { summary: 'auto' } }, 'mapped', 'reasoning'],
    [{ tools: [tool('f'), { type: 'web_search' }] }, 'dropped', 'tools[1]'],
    [{ user: '{"device_id":"d"}' }, 'mapped', 'user'],
    [
      { response_format: { type: 'json_schema', json_schema: { schema: {} } } },
      'defaulted',
      'response_format',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'a', cache_control: {} }] }] },
      'dropped',
      'messages[0].content[0]',
    ],
    [{ messages: [{ role: 'developer', content: 'x' }] }, 'mapped', 'messages[0]'],
  ])('notes what is said otherwise: %j', (members, action, path) => {
    expect(encode(members).notes).toEqual([{ action, path, reason: expect.any(String) }])
  })

  it('never shows a third party the ids of an agent', () => {
    const { user } = bodyOf({ user: '{"device_id":"d","session_id":"s"}' })
    expect(user).toMatch(/^[0-9a-f]{64}$/)
  })

  it.each([
    [0, 'none'],
    [1024, 'low'],
    [10_000, 'medium'],
    [32_000, 'high'],
  ])('a budget of %i tokens is the effort %s', (max_tokens, effort) => {
    expect(bodyOf({ reasoning: { max_tokens } }).reasoning_effort).toBe(effort)
  })

  it('leaves out members that the vendor accepts only with tools', () => {
    expect(bodyOf({ tools: [], tool_choice: 'auto', parallel_tool_calls: false })).not.toHaveProperty(
      'tool_choice',
    )
    expect(bodyOf({ tools: [], parallel_tool_calls: false })).not.toHaveProperty('tools')
  })

  it('flattens and shortens the names of tools, in tools, choice and history', () => {
    const long = 'x'.repeat(100)
    const request: ChatRequest = {
      ...canonical([
        assistant([call('c', 'read', { namespace: 'files' })]),
        { role: 'user', path: 't', blocks: [result('c')] },
      ]),
      tools: [
        {
          type: 'function',
          name: 'read',
          namespace: 'files',
          path: 'a',
          description: undefined,
          parameters,
          strict: undefined,
        },
        { type: 'function', name: long, path: 'b', description: undefined, parameters, strict: undefined },
      ],
      toolChoice: { type: 'tool', name: 'read', namespace: 'files', kind: 'function' },
    }
    const { body, tools } = encodeRequest(request, context)
    expect(body).toMatchObject({
      tools: [
        { function: { name: 'files__read' } },
        { function: { name: expect.stringMatching(/^x{55}_\w{8}$/) } },
      ],
      tool_choice: { type: 'function', function: { name: 'files__read' } },
      messages: [{ tool_calls: [{ function: { name: 'files__read' } }] }, { role: 'tool' }],
    })
    expect(tools.clientTool('files__read')).toMatchObject({ name: 'read', namespace: 'files' })
  })
})

describe('a history', () => {
  it('joins neighbouring turns of the assistant into one message', () => {
    const messages = messagesOf([
      assistant([text('Let me look.')]),
      assistant([call('a', 'f')]),
      assistant([call('b', 'g')]),
      { role: 'user', path: 't', blocks: [result('a'), result('b'), text('go on')] },
    ])
    expect(messages).toMatchObject([
      { role: 'assistant', content: 'Let me look.', tool_calls: [{ id: 'a' }, { id: 'b' }] },
      { role: 'tool', tool_call_id: 'a' },
      { role: 'tool', tool_call_id: 'b' },
      { role: 'user', content: 'go on' },
    ])
  })

  it('keeps calls apart if their results are between them', () => {
    const messages = messagesOf([
      assistant([call('a', 'f')]),
      user([result('a')]),
      assistant([call('b', 'f')]),
      user([result('b')]),
    ])
    expect(messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant', 'tool'])
  })

  it('puts results right after their calls, before any other message', () => {
    const turns: Turn[] = [
      assistant([call('a', 'f'), call('b', 'g')]),
      user([text('wait')]),
      { role: 'system', path: 's', blocks: [text('be quick')] },
      user([result('b'), result('a')]),
    ]
    expect(messagesOf(turns).map(({ role, tool_call_id: id }) => id ?? role)).toEqual([
      'assistant',
      'a',
      'b',
      'user',
      'system',
    ])
  })

  it('notes a result that moves past a later message of the assistant', () => {
    const turns = [
      assistant([call('a', 'f'), call('b', 'f')]),
      user([result('a')]),
      assistant([text('x')]),
      user([result('b')]),
    ]
    const { body, notes } = encodeRequest(canonical(turns), context)
    expect(body.messages).toMatchObject([
      { role: 'assistant' },
      { tool_call_id: 'a' },
      { tool_call_id: 'b' },
      { content: 'x' },
    ])
    expect(notes).toMatchObject([{ action: 'mapped', path: 'result-b' }])
  })

  it('has a placeholder for a result that is missing, with a note', () => {
    const { body, notes } = encodeRequest(
      canonical([assistant([call('a', 'f')]), user([text('x')])]),
      context,
    )
    expect(body.messages).toMatchObject([{}, { role: 'tool', tool_call_id: 'a', content: '[no result]' }, {}])
    expect(notes).toMatchObject([{ action: 'defaulted', path: 'call-a' }])
  })

  it('has a result without its call as text of the user, with a note', () => {
    const orphan = [user([result('a')])]
    expect(encodeRequest(canonical(orphan), context).notes).toMatchObject([
      { action: 'mapped', path: 'result-a' },
    ])
    expect(messagesOf(orphan)).toEqual([
      { role: 'user', content: [part('Result of the tool call "a":'), part('fine')] },
    ])
    const twice = [assistant([call('a', 'f')]), user([result('a'), result('a')])]
    expect(messagesOf(twice).map(({ role }) => role)).toEqual(['assistant', 'tool', 'user'])
  })

  it('answers each call when the same id comes in every turn', () => {
    const turn = (words: string) => [
      assistant([call('call_0', 'f')]),
      user([result('call_0', [text(words)])]),
    ]
    expect(messagesOf([...turn('one'), ...turn('two')]).filter(({ role }) => role === 'tool')).toMatchObject([
      { content: 'one' },
      { content: 'two' },
    ])
  })

  it('assigns a result to the latest call with its id', () => {
    const turn = [assistant([call('call_0', 'f')]), user([text('never mind')])]
    const messages = messagesOf([...turn, assistant([call('call_0', 'f')]), user([result('call_0')])])
    expect(messages.filter(({ role }) => role === 'tool').map(({ content }) => content)).toEqual([
      '[no result]',
      'fine',
    ])
  })

  it('gives calls and their results the same ids, which the vendor accepts', () => {
    const long = `toolu_${'x'.repeat(60)}`
    const messages = messagesOf([
      assistant([call(long, 'f'), call('twice', 'f'), call('twice', 'f')]),
      user([result(long), result('twice'), result('twice')]),
    ])
    const ids = recordsOf(messages[0]?.tool_calls).map(({ id }) => String(id))
    expect(new Set(ids).size).toBe(3)
    expect(ids.every((id) => id.length <= 40)).toBe(true)
    expect(messages.slice(1).map((message) => message.tool_call_id)).toEqual(ids)
  })

  it('moves images of results into a user message, and marks errors', () => {
    const image: Block = {
      type: 'image',
      path: 'i',
      source: { kind: 'base64', mediaType: 'image/png', data: 'AA' },
    }
    const { body, notes } = encodeRequest(
      canonical([
        assistant([call('a', 'f'), call('b', 'f')]),
        user([
          { ...result('a'), content: [text('shot'), image] },
          { ...result('b'), isError: true },
        ]),
      ]),
      context,
    )
    expect(body.messages).toMatchObject([
      { role: 'assistant' },
      { role: 'tool', content: expect.stringMatching(/^shot\n/) },
      { role: 'tool', content: 'Error: fine' },
      {
        role: 'user',
        content: [{ type: 'text' }, { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }],
      },
    ])
    expect(notes.map(({ action, path }) => [action, path])).toEqual([
      ['mapped', 'i'],
      ['emulated', 'result-b'],
    ])
  })

  it('writes {} for a call without arguments', () => {
    const messages = messagesOf([assistant([{ ...call('a', 'f'), input: '' }]), user([result('a')])])
    expect(messages[0]).toMatchObject({ content: null, tool_calls: [{ function: { arguments: '{}' } }] })
  })

  it('sends no empty message and no empty part', () => {
    expect(
      messagesOf([
        { role: 'system', path: 's', blocks: [text('')] },
        assistant([text('')]),
        user([text(''), text('a')]),
      ]),
    ).toEqual([{ role: 'user', content: 'a' }])
  })

  it('joins the pieces of a cited text, and separates other texts', () => {
    const pieces = assistant([text('The '), text('sky'), call('a', 'f'), text('Done')])
    const turns = [pieces, user([result('a')])]
    expect(messagesOf(turns)[0]?.content).toEqual([part('The sky'), part('Done')])
    const elsewhere = encodeRequest(canonical(turns), { ...context, upstreamModel: 'mistral-large' }).body
    expect(recordsOf(elsewhere.messages)[0]?.content).toBe('The sky\n\nDone')
  })

  it('puts text documents among the texts', () => {
    const document: Block = {
      type: 'document',
      path: 'd',
      name: 'a.txt',
      source: { kind: 'text', text: 'words' },
    }
    const { body, notes } = encodeRequest(canonical([user([document])]), context)
    expect(body.messages).toEqual([{ role: 'user', content: 'a.txt\n\nwords' }])
    expect(notes).toMatchObject([{ action: 'emulated', path: 'd' }])
  })
})

describe('reasoning', () => {
  const own: ReasoningSignature = {
    protocol: 'openai-chat',
    model: 'gpt-up',
    kind: 'signature',
    value: '{"type":"reasoning.text","signature":"S","index":0}',
  }
  const first = (signature: ReasoningSignature | undefined, blocks: Block[] = [call('a', 'f')]) => {
    const thought: Block = { type: 'reasoning', path: 'r', text: 'hm', summary: false, signature }
    const { body, notes } = encodeRequest(canonical([assistant([thought, text('x'), ...blocks])]), context)
    return {
      message: (body.messages as Json[])[0],
      dropped: notes.filter(({ action }) => action === 'dropped'),
    }
  }

  it('goes back without a signature only within a tool loop', () => {
    expect(first(undefined).message).toMatchObject({ reasoning_content: 'hm' })
    const { message, dropped } = first(undefined, [])
    expect(message).toEqual({ role: 'assistant', content: 'x' })
    expect(dropped).toMatchObject([{ path: 'r' }])
  })

  it('goes back unchanged to the model that signed it', () => {
    expect(first(own, []).message).toMatchObject({
      reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 'S', index: 0 }],
    })
    expect(first({ ...own, model: undefined }).message).toHaveProperty('reasoning_details')
  })

  it('goes back unchanged, even if the client calls it a summary', () => {
    const thought: Block = { type: 'reasoning', path: 'r', text: 'hm', summary: true, signature: own }
    const { body } = encodeRequest(canonical([assistant([thought, text('x')])]), context)
    expect((body.messages as Json[])[0]).toMatchObject({
      reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 'S', index: 0 }],
    })
  })

  it('goes back to every model if its signature only names its origin', () => {
    const bare = { ...own, model: 'another', value: '{"member":"reasoning_content"}' }
    expect(first(bare).message).toMatchObject({ reasoning_content: 'hm' })
    expect(first(bare, []).message).toEqual({ role: 'assistant', content: 'x' })
  })

  it('goes back in the member that it came in', () => {
    const { message } = first({ ...own, value: '{"member":"reasoning"}' })
    expect(message).toMatchObject({ reasoning: 'hm' })
    expect(message).not.toHaveProperty('reasoning_content')
  })

  it.each([
    ['another format', { ...own, protocol: 'anthropic-messages' }],
    ['another model', { ...own, model: 'other' }],
    ['nobody who can be read', { ...own, value: 'garbage' }],
  ])('is left out with its text when the signature is of %s', (_, signature) => {
    const { message, dropped } = first(signature)
    expect(Object.keys(message ?? {})).toEqual(['role', 'content', 'tool_calls'])
    expect(dropped).toMatchObject([{ path: 'r' }])
  })
})

function tool(name: string): Json {
  return { type: 'function', function: { name, parameters } }
}

function encode(members: Json) {
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...members }
  return encodeRequest(decodeRequest(body, { envelope }), context)
}

function bodyOf(members: Json): Json {
  return encode(members).body
}

function canonical(turns: Turn[]): ChatRequest {
  const empty = decodeRequest({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }, { envelope })
  return { ...empty, turns }
}

function messagesOf(turns: Turn[]): Json[] {
  return encodeRequest(canonical(turns), context).body.messages as Json[]
}

function assistant(blocks: Block[]): Turn {
  return { role: 'assistant', path: 'turn', blocks }
}

function user(blocks: Block[]): Turn {
  return { role: 'user', path: 'turn', blocks }
}

function part(words: string): Json {
  return { type: 'text', text: words }
}

function text(words: string) {
  return { type: 'text' as const, path: 'text', text: words }
}

function call(id: string, name: string, more: { namespace?: string } = {}) {
  return {
    type: 'tool-call' as const,
    path: `call-${id}`,
    id,
    name,
    kind: 'function' as const,
    input: '{}',
    ...more,
  }
}

function result(callId: string, content = [text('fine')]) {
  return { type: 'tool-result' as const, path: `result-${callId}`, callId, content, isError: false }
}
