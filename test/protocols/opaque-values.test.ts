import { describe, expect, test } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import { isRecord, type Json, recordsOf } from '../../src/canonical/json.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide, upstreamSide } from '../../src/protocols/index.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'
import { toolsOf } from '../../src/protocols/tool-names.ts'

/** What goes to a client in its own format, and comes back in its next request: signatures, ids of calls, names and arguments. */

const envelope = makeEnvelope(Buffer.alloc(32))
const upstreamModel = 'gemini-3-pro-preview'
const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }]

function encoded(from: ProtocolName, to: ProtocolName, body: Json, traits = {}) {
  const request = clientSide(from).decodeRequest({ model: 'm', ...body }, { envelope })
  return upstreamSide(to).encodeRequest(request, { upstreamModel, traits, maxOutputTokensDefault: 100 })
}

function whole(protocol: ProtocolName, body: Json, answerSeed = 'r-1'): ChatEvent[] {
  return upstreamSide(protocol).decodeResponse(body, { upstreamModel, answerSeed })
}

function streamed(protocol: ProtocolName, frames: readonly Json[], answerSeed = 'r-1'): ChatEvent[] {
  const names = toolsOf(new Map([['get_weather', { name: 'get_weather', kind: 'function' }]]))
  const decoder = upstreamSide(protocol).decodeStream({ upstreamModel, tools: names, answerSeed })
  return [...frames.flatMap((frame) => decoder.push(JSON.stringify(frame))), ...decoder.end()]
}

interface Called {
  id: string
  name: string
  input: string
}

function callsIn(events: readonly ChatEvent[]): Called[] {
  const calls = new Map<number, Called>()
  for (const event of events) {
    if (event.type === 'block-start' && event.block.type === 'tool-call') {
      calls.set(event.index, { id: event.block.id, name: event.block.name, input: '' })
    } else if (event.type === 'block-delta' && event.delta.type === 'text') {
      const call = calls.get(event.index)
      if (call !== undefined) call.input += event.delta.text
    }
  }
  return [...calls.values()]
}

const chunk = (delta: Json, finish_reason: string | null = null) => ({
  id: 'c1',
  choices: [{ index: 0, delta, finish_reason }],
})
const piece = (fn: Json, more: Json = {}) => chunk({ tool_calls: [{ index: 0, function: fn, ...more }] })
const begun = { id: 'a1', type: 'function' }
const ended = chunk({}, 'tool_calls')
const weather = '{"city":"P"}'

describe('a call of a Chat upstream has its name and its arguments', () => {
  test.each<[string, Json[]]>([
    [
      'name in pieces',
      [
        piece({ name: 'get_', arguments: '' }, begun),
        piece({ name: 'weather' }),
        piece({ arguments: weather }),
      ],
    ],
    [
      'name letter by letter',
      [...'get_weather'].map((name) => piece({ name }, begun)).concat(piece({ arguments: weather })),
    ],
    [
      'name repeated',
      [piece({ name: 'get_weather' }, begun), piece({ name: 'get_weather', arguments: weather })],
    ],
    [
      'name repeated with arguments',
      [...weather].map((text) => piece({ name: 'get_weather', arguments: text }, begun)),
    ],
    [
      'name so far repeated',
      [piece({ name: 'get_' }, begun), piece({ name: 'get_weather', arguments: weather })],
    ],
    ['arguments whole', [piece({ name: 'get_weather', arguments: weather }, begun)]],
    ['arguments as an object', [piece({ name: 'get_weather', arguments: { city: 'P' } }, begun)]],
    ['arguments repeated', [1, 2, 3].map(() => piece({ name: 'get_weather', arguments: weather }, begun))],
    [
      'arguments in pieces, then whole',
      [
        piece({ name: 'get_weather', arguments: '{"city":' }, begun),
        piece({ arguments: '"P"}' }),
        piece({ arguments: weather }),
      ],
    ],
  ])('%s', (_, frames) => {
    expect(callsIn(streamed('openai-chat', [...frames, ended]))).toEqual([
      { id: 'a1', name: 'get_weather', input: weather },
    ])
  })

  test('other arguments after whole ones are an error, and no call with both', () => {
    const frames = [piece({ name: 'f', arguments: '{"a":1}' }, begun), piece({ arguments: '{"b":2}' }), ended]
    expect(() => streamed('openai-chat', frames)).toThrow(
      /more arguments for a tool call that was already complete/,
    )
  })

  test('calls without arguments keep their order', () => {
    const both = chunk({
      tool_calls: [
        { index: 0, id: 'a', function: { name: 'one', arguments: '' } },
        { index: 1, id: 'b', function: { name: 'two', arguments: '' } },
      ],
    })
    expect(callsIn(streamed('openai-chat', [both, ended])).map(({ name }) => name)).toEqual(['one', 'two'])
  })
})

test.each<[unknown, string]>([
  ['{"city":"P"}', weather],
  [{ city: 'P' }, weather],
  ['', '{}'],
  [{}, '{}'],
  [undefined, '{}'],
])('a Messages upstream gives the input %j', (input, expected) => {
  const block = { type: 'tool_use', id: 't1', name: 'get_weather', input }
  const message = { id: 'm', type: 'message', role: 'assistant', content: [block], stop_reason: 'tool_use' }
  const stream = [
    { type: 'message_start', message: { ...message, content: [] } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    { type: 'message_stop' },
  ]
  for (const events of [whole('anthropic-messages', message), streamed('anthropic-messages', stream)]) {
    expect(callsIn(events)).toEqual([{ id: 't1', name: 'get_weather', input: expected }])
  }
})

test('Gemini gives arguments as an object or as a text', () => {
  for (const args of [{ city: 'P' }, weather]) {
    const parts = [{ functionCall: { name: 'get_weather', args } }]
    const body = { candidates: [{ content: { parts }, finishReason: 'STOP' }] }
    expect(callsIn(whole('gemini', body))).toMatchObject([{ name: 'get_weather', input: weather }])
  }
})

describe('calls without an id get one that no other answer of the conversation has', () => {
  const fn = { name: 'f', arguments: '{}' }
  const answers: [ProtocolName, Json][] = [
    ['openai-chat', { choices: [{ message: { tool_calls: [{ function: fn }, { function: fn }] } }] }],
    [
      'anthropic-messages',
      { type: 'message', content: [1, 2].map(() => ({ type: 'tool_use', name: 'f', input: {} })) },
    ],
    [
      'gemini',
      { candidates: [{ content: { parts: [1, 2].map(() => ({ functionCall: { name: 'f', args: {} } })) } }] },
    ],
  ]
  test.each(answers)('%s', (protocol, body) => {
    const ids = ['r-1', 'r-2', 'r-1'].map((seed) => callsIn(whole(protocol, body, seed)).map(({ id }) => id))
    expect(ids[0]).toEqual(ids[2])
    expect(new Set([...(ids[0] ?? []), ...(ids[1] ?? [])]).size).toBe(4)
    for (const id of ids.flat()) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/)
  })
})

test('all choices of an answer are read: an upstream divides text and calls between them', () => {
  const call = { id: 'a1', type: 'function', function: { name: 'get_weather', arguments: weather } }
  const said = { role: 'assistant', content: 'Let me see.' }
  const body = {
    id: 'c',
    choices: [
      { index: 0, message: said, finish_reason: 'stop' },
      { index: 1, message: { role: 'assistant', tool_calls: [call] }, finish_reason: 'tool_calls' },
    ],
  }
  const frame = {
    id: 'c',
    choices: [
      { index: 0, delta: said, finish_reason: 'stop' },
      { index: 1, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' },
    ],
  }
  for (const events of [whole('openai-chat', body), streamed('openai-chat', [frame])]) {
    expect(callsIn(events)).toMatchObject([{ name: 'get_weather', input: weather }])
    expect(JSON.stringify(events)).toContain('Let me see.')
    expect(events.at(-1)).toMatchObject({ reason: 'tool_calls' })
  }
})

describe('thought signatures in extra_content come back where they were', () => {
  const extra = (value: string) => ({ extra_content: { google: { thought_signature: value } } })
  const call = (id: string, more: Json = {}) => ({
    id,
    type: 'function',
    function: { name: 'get_weather', arguments: weather },
    ...more,
  })
  const calls = [
    call('a1', extra('c2lnbmF0dXJl')),
    call('functions.get_weather:1'),
    call('functions.get_weather:2', extra('c2Vjb25k')),
  ]
  const message = { role: 'assistant', content: 'So.', ...extra('dGV4dA=='), tool_calls: calls }
  const body = { id: 'x', model: 'm', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
  const frames = [
    chunk({ role: 'assistant', content: 'So.' }),
    chunk(extra('dGV4dA==')),
    ...calls.map((one, index) => chunk({ tool_calls: [{ ...one, index }] })),
    ended,
  ]

  test.each(['anthropic-messages', 'openai-responses'] as const)('through a client of %s', (client) => {
    for (const events of [whole('openai-chat', body), streamed('openai-chat', frames)]) {
      const answer = clientSide(client).encodeResponse(events, {
        requestId: 'r',
        model: 'm',
        createdAtSeconds: 1,
        body: {},
        inputTokensEstimate: 1,
        envelope,
      })
      const { body: second, notes } = encoded(client, 'openai-chat', secondTurn(client, answer))
      const assistant = recordsOf(second.messages).find(({ role }) => role === 'assistant')
      expect(assistant).toMatchObject(extra('dGV4dA=='))
      const sent = recordsOf(assistant?.tool_calls)
      expect(sent.map(({ extra_content }) => extra_content)).toEqual([
        extra('c2lnbmF0dXJl').extra_content,
        undefined,
        extra('c2Vjb25k').extra_content,
      ])
      expect(notes.filter(({ action }) => action === 'dropped')).toEqual([])
      const results = recordsOf(second.messages).filter(({ role }) => role === 'tool')
      expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(sent.map(({ id }) => id))
    }
  })

  test('a Chat client that falls to a native channel of Gemini takes them along', () => {
    const history = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [call('a1', extra('c2lnbmF0dXJl'))] },
      { role: 'tool', tool_call_id: 'a1', content: 'rain' },
    ]
    const { body: sent, notes } = encoded('openai-chat', 'gemini', { messages: history, tools })
    expect(JSON.stringify(sent)).toContain('"thoughtSignature":"c2lnbmF0dXJl"')
    expect(notes).toEqual([])
  })

  function secondTurn(client: 'anthropic-messages' | 'openai-responses', answer: Json): Json {
    if (client === 'openai-responses') {
      const output = recordsOf(answer.output)
      const results = output
        .filter(({ type }) => type === 'function_call')
        .map(({ call_id }) => ({ type: 'function_call_output', call_id, output: 'rain' }))
      return { input: [{ role: 'user', content: 'Hi' }, ...output, ...results] }
    }
    const content = recordsOf(answer.content)
    const results = content
      .filter(({ type }) => type === 'tool_use')
      .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'rain' }))
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content },
      { role: 'user', content: results },
    ]
    return { max_tokens: 100, messages }
  }
})

test('a tool that is listed twice goes to Gemini once, with a note', () => {
  const requests: [ProtocolName, Json][] = [
    ['openai-chat', { messages: [{ role: 'user', content: 'Hi' }], tools: [...tools, ...tools] }],
    ['openai-responses', { input: 'Hi', tools: [1, 2].map(() => ({ type: 'function', name: 'f' })) }],
    [
      'anthropic-messages',
      {
        max_tokens: 9,
        messages: [{ role: 'user', content: 'Hi' }],
        tools: [1, 2].map(() => ({ name: 'f', input_schema: { type: 'object' } })),
      },
    ],
  ]
  for (const [from, request] of requests) {
    const { body, notes } = encoded(from, 'gemini', request)
    const [declared] = recordsOf(body.tools)
    expect(recordsOf(declared?.functionDeclarations)).toHaveLength(1)
    expect(notes).toContainEqual(
      expect.objectContaining({ action: 'dropped', path: expect.stringMatching(/^tools\[[01]\]$/) }),
    )
  }
})

test('a part of Gemini that no other format has leaves a note', () => {
  const parts = [
    { executableCode: { language: 'PYTHON', code: 'print(1)' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
    { text: 'One.' },
  ]
  const finish = whole('gemini', { candidates: [{ content: { parts }, finishReason: 'STOP' }] }).at(-1)
  const losses = isRecord(finish) ? recordsOf(finish.losses) : []
  expect(losses.map(({ path }) => path)).toEqual([
    'answer.parts[].executableCode',
    'answer.parts[].codeExecutionResult',
  ])
})
