import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { isRecord, type Json, recordsOf } from '../../src/canonical/json.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide, upstreamSide } from '../../src/protocols/index.ts'
import { lacking, sdkType } from '../support/sdk-types.ts'
import { type ClientToolCase, clientToolCases, picture } from './responses-client-tools.ts'

/** Tools of the Responses format that the client runs: functions upstream, items of their own for the client. */

const envelope = makeEnvelope(Buffer.alloc(32))
const upstreams = ['openai-chat', 'anthropic-messages', 'gemini'] as const
type Upstream = (typeof upstreams)[number]
const { decodeRequest, encodeResponse, encodeStream, answerSettings } = clientSide('openai-responses')

function translated(upstream: Upstream, request: Json) {
  const decoded = decodeRequest({ model: 'm', ...request }, { envelope })
  const { body, notes } = upstreamSide(upstream).encodeRequest(decoded, {
    upstreamModel: 'm-3',
    traits: {},
    maxOutputTokensDefault: 4096,
  })
  // As the upstream reads it.
  const wire = JSON.parse(JSON.stringify(body)) as Json
  return { wire, notes, functions: functionsIn(upstream, wire), rounds: roundsIn(upstream, wire) }
}

function functionsIn(upstream: Upstream, { tools }: Json): Json[] {
  return recordsOf(tools).flatMap((tool) => {
    if (upstream === 'openai-chat') return [tool.function as Json]
    if (upstream === 'anthropic-messages') return [{ ...tool, parameters: tool.input_schema }]
    return recordsOf(tool.functionDeclarations).map((one) => ({
      ...one,
      parameters: one.parametersJsonSchema,
    }))
  })
}

/** The calls of the history and the texts of their results; `images`: how many images stand anywhere. */
function roundsIn(upstream: Upstream, wire: Json) {
  const calls: Json[] = []
  const results: string[] = []
  const images = JSON.stringify(wire).split(picture).length - 1
  if (upstream === 'gemini') {
    for (const part of recordsOf(wire.contents).flatMap(({ parts }) => recordsOf(parts))) {
      if (isRecord(part.functionCall))
        calls.push({ name: part.functionCall.name, input: part.functionCall.args })
      const response = isRecord(part.functionResponse) ? (part.functionResponse.response as Json) : undefined
      if (response !== undefined) results.push(JSON.stringify(response))
    }
    return { calls, results, images }
  }
  for (const { role, content, tool_calls } of recordsOf(wire.messages)) {
    for (const { function: called } of recordsOf(tool_calls) as { function: Json }[])
      calls.push({ name: called.name, input: JSON.parse(String(called.arguments)) })
    if (role === 'tool') results.push(JSON.stringify(content))
    for (const block of recordsOf(content)) {
      if (block.type === 'tool_use') calls.push({ name: block.name, input: block.input })
      if (block.type === 'tool_result') results.push(JSON.stringify(block))
    }
  }
  return { calls, results, images }
}

const asked = { role: 'user', content: 'Go on.' }
const table = clientToolCases.map((one) => [one.tool.type, one] as const)

describe.each(upstreams)('to %s', (upstream) => {
  test.each(table)('%s is a function that the model can call, and a note says so', (type, one) => {
    const { functions, notes } = translated(upstream, { tools: [one.tool], input: [asked] })
    expect(functions).toMatchObject([{ name: one.name, description: expect.stringContaining(one.says) }])
    const [{ parameters = {} } = {}] = functions
    expect(Object.keys((parameters as Json).properties as Json)).toEqual(one.members)
    expect((parameters as Json).required).toEqual(one.required)
    expect(notes.filter(({ path }) => path.startsWith('tools'))).toEqual([
      {
        path: 'tools[0]',
        action: 'mapped',
        reason: `replaced by a function equivalent to the vendor's own tool ${type}`,
      },
    ])
  })

  test.each(table)('a call of %s and its result are those of the function', (_type, one) => {
    const input = [asked, { ...one.call, id: 'item_1', status: 'completed' }, one.result]
    const { rounds, notes } = translated(upstream, { tools: [one.tool], input })
    expect(rounds.calls).toEqual([{ name: one.name, input: one.input }])
    expect(rounds.results).toHaveLength(1)
    for (const text of one.tells) expect(rounds.results[0]).toContain(JSON.stringify(text).slice(1, -1))
    expect(rounds.images).toBe(one.name === 'computer' ? 1 : 0)
    expect(notes.filter(({ action }) => action === 'dropped')).toEqual([])
  })

  test.each(table)('a tool choice may demand or allow %s', (_type, { tool, name }) => {
    const tools = [tool, { type: 'function', name: 'other', parameters: { type: 'object', properties: {} } }]
    const { type } = tool
    const forced = translated(upstream, { tools, input: [asked], tool_choice: { type } })
    const of = { openai: { type: 'function', function: { name } }, claude: { type: 'tool', name } }
    const config = { mode: 'ANY', allowedFunctionNames: [name] }
    if (upstream === 'gemini') expect(forced.wire.toolConfig).toEqual({ functionCallingConfig: config })
    else expect(forced.wire.tool_choice).toEqual(of[upstream === 'openai-chat' ? 'openai' : 'claude'])
    const allowed = { type: 'allowed_tools', mode: 'required', tools: [{ type }] }
    const { wire, functions } = translated(upstream, { tools, input: [asked], tool_choice: allowed })
    if (upstream === 'gemini') expect(wire.toolConfig).toEqual({ functionCallingConfig: config })
    else if (upstream === 'openai-chat')
      expect(wire.tool_choice).toMatchObject({ allowed_tools: { mode: 'required', tools: [of.openai] } })
    else {
      expect(wire.tool_choice).toEqual({ type: 'any' })
      expect(functions).toMatchObject([{ name }])
    }
  })

  test.each(table)(
    'a call of %s comes back as its item, whole and streamed, and goes on',
    async (_type, one) => {
      const settings = answerSettings({ model: 'm', tools: [one.tool], input: [asked] })
      const events = upstreamSide(upstream).decodeResponse(answers[upstream](one), { upstreamModel: 'm' })
      const context = { ...contextOf, body: settings }
      const whole = encodeResponse(events, context) as unknown as OpenAI.Responses.Response
      const item = { ...one.item, id: expect.stringMatching(one.id), status: 'completed', call_id: 'call_1' }
      expect(whole.output).toEqual([item])
      expect(lacking(itemType, whole.output)).toEqual([])

      const encoder = encodeStream(context)
      const bytes = events.map((event) => encoder.push(event)).join('')
      const seen: OpenAI.Responses.ResponseStreamEvent[] = []
      const stream = openai(bytes).responses.stream({ model: 'm', input: 'x' })
      for await (const event of stream) seen.push(event)
      expect((await stream.finalResponse()).output).toEqual([item])
      expect(seen.flatMap((event) => lacking(eventType, event)).filter((path) => !ofSdk.test(path))).toEqual(
        [],
      )
      const own = seen.filter(({ type }) => /output_item|shell_call/.test(type))
      expect(own[0]).toMatchObject({ item: { type: one.item.type, status: 'in_progress' } })
      expect(own.at(-1)).toMatchObject({ type: 'response.output_item.done', item })
      expect(own.slice(1, -1)).toMatchObject(one.steps)

      // Our answer repeats the id of the upstream.
      const input = [asked, ...(whole.output as unknown as Json[]), one.result]
      const { rounds } = translated(upstream, { tools: [one.tool], input })
      expect(rounds.calls).toEqual([{ name: one.name, input: one.input }])
      expect(rounds.results).toHaveLength(1)
    },
  )

  test('a shell that the vendor runs is refused, and the refusal says what to set', () => {
    for (const environment of [
      { type: 'container_auto' },
      { type: 'container_reference', container_id: 'cntr_1' },
    ]) {
      const request = { input: [asked], tools: [{ type: 'shell', environment }] }
      const refusal = /^tools\[0\]: this shell runs in a container.* set environment to \{"type": "local"\}/
      expect(() => translated(upstream, request)).toThrow(refusal)
      expect(() => translated(upstream, { ...request, tool_choice: { type: 'shell' } })).toThrow(refusal)
    }
  })

  test('a function of the same name is refused: the answer could not tell them apart', () => {
    const own = { type: 'function', name: 'shell', parameters: {} }
    for (const tools of [
      [own, { type: 'shell' }],
      [{ type: 'shell' }, own],
    ])
      expect(() => translated(upstream, { input: [asked], tools })).toThrow(
        /^tools\[1\]: another tool of the request has the same name "shell" upstream/,
      )
  })
})

/** Only the SDK itself has it. */
const ofSdk = /\.output_text$/
const itemType = sdkType('openai/resources/responses/responses.d.ts', 'ResponseOutputItem')
const eventType = sdkType('openai/resources/responses/responses.d.ts', 'ResponseStreamEvent')

const contextOf = {
  requestId: 'req_1',
  model: 'public',
  createdAtSeconds: 1_790_000_000,
  inputTokensEstimate: 42,
  envelope,
}

function openai(bytes: string): OpenAI {
  const fetch = async () => new Response(bytes, { headers: { 'content-type': 'text/event-stream' } })
  return new OpenAI({ apiKey: 'x', fetch })
}

/** An answer with one call, in each upstream's format. */
const answers: Readonly<Record<Upstream, (one: ClientToolCase) => Json>> = {
  'openai-chat': ({ name, input }) => {
    const called = { name, arguments: JSON.stringify(input) }
    const message = { role: 'assistant', tool_calls: [{ id: 'call_1', type: 'function', function: called }] }
    return { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
  },
  'anthropic-messages': ({ name, input }) => ({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'tool_use' },
    content: [{ type: 'tool_use', id: 'call_1', name, input }],
  }),
  gemini: ({ name, input }) => {
    const content = { role: 'model', parts: [{ functionCall: { id: 'call_1', name, args: input } }] }
    return { candidates: [{ content, finishReason: 'STOP' }], modelVersion: 'm' }
  },
}

/** The output for a call whose arguments are this text; `reason`: why the answer ended. */
function outputFor(tool: Json, name: string, text: string, reason = 'tool_calls') {
  const call = { id: 'call_1', type: 'function', function: { name, arguments: text } }
  const choice = {
    index: 0,
    message: { role: 'assistant', content: null, tool_calls: [call] },
    finish_reason: reason,
  }
  const answer = { id: 'c', model: 'm', choices: [choice] }
  const events = upstreamSide('openai-chat').decodeResponse(answer, { upstreamModel: 'm' })
  return encodeResponse(events, { ...contextOf, body: { tools: [tool] } }).output
}

describe('arguments', () => {
  test.each([
    [{ type: 'shell' }, 'shell', '{"commands":[1]}'],
    [{ type: 'shell' }, 'shell', ''],
    [{ type: 'local_shell' }, 'local_shell', '{"command":"ls"}'],
    [{ type: 'local_shell' }, 'local_shell', '{"command":["ls"],"env":{"A":1}}'],
    [{ type: 'apply_patch' }, 'apply_patch', '{"type":"rename_file","path":"a"}'],
    [{ type: 'apply_patch' }, 'apply_patch', '{"type":"update_file","path":"a"}'],
    [{ type: 'computer' }, 'computer', '{"actions":[{"type":"click","x":1}]}'],
    [{ type: 'computer' }, 'computer', '{"actions":[{"type":"drag","path":[[1,2]]}]}'],
    [{ type: 'computer' }, 'computer', '{"actions":[{"type":"fly"}]}'],
    [{ type: 'computer_use_preview' }, 'computer', '{"actions":[{"type":"wait"}]}'],
  ])('of %o that do not fit are an error: %s %s', (tool, name, text) => {
    expect(() => outputFor(tool, name, text)).toThrow(
      `The upstream called the tool "${name}" with arguments that do not match its parameters. Try again.`,
    )
  })

  test('that are not a JSON object are an error, in a stream, too, and nothing of the call has been sent', () => {
    expect(() => outputFor({ type: 'shell' }, 'shell', '{"commands":["l')).toThrow('are not a JSON object')
    const encoder = encodeStream({ ...contextOf, body: { tools: [{ type: 'shell' }] } })
    const block = { type: 'tool-call', id: 'call_1', name: 'shell', kind: 'function' } as const
    const sent = [
      encoder.push({ type: 'start', id: 'c', model: 'm', usage: undefined }),
      encoder.push({ type: 'block-start', index: 0, block }),
      encoder.push({ type: 'block-delta', index: 0, delta: { type: 'text', text: '{"comm' } }),
      encoder.push({ type: 'block-end', index: 0 }),
    ].join('')
    expect(sent).not.toContain('output_item')
    const finish = { type: 'finish', upstreamReason: 'x', stopSequence: undefined, usage: undefined } as const
    expect(() => encoder.push({ ...finish, reason: 'tool_calls' })).toThrow('are not a JSON object')
  })

  test('that an answer broke off in leave the call out, and a whole call stays', () => {
    const patch = { type: 'apply_patch' }
    expect(outputFor(patch, 'apply_patch', '{"type":"update_file","pa', 'length')).toEqual([])
    const whole = '{"type":"delete_file","path":"a"}'
    expect(outputFor(patch, 'apply_patch', whole, 'length')).toMatchObject([{ status: 'completed' }])
    expect(outputFor({ type: 'shell' }, 'shell', '{"commands":["ls"]}', 'length')).toMatchObject([
      { status: 'incomplete', action: { commands: ['ls'] } },
    ])
  })

  test('are taken as models write them: one command as a text, whole numbers with a point, no bound in words', () => {
    const text = '{"commands":"ls","timeout_ms":1000.0,"max_output_length":"long"}'
    expect(outputFor({ type: 'shell' }, 'shell', text)).toMatchObject([
      { action: { commands: ['ls'], timeout_ms: 1000, max_output_length: null } },
    ])
  })

  test('a function of such a name stays a function', () => {
    expect(outputFor({ type: 'function', name: 'shell' }, 'shell', '{}')).toMatchObject([
      { type: 'function_call', name: 'shell', arguments: '{}' },
    ])
  })

  test('a tool that an item lists, or that a search has found, has its own calls, too', () => {
    for (const type of ['additional_tools', 'tool_search_output']) {
      const item = { type, role: 'developer', tools: [{ type: 'shell' }] }
      const body = answerSettings({ model: 'm', input: [asked, item] })
      const events = upstreamSide('openai-chat').decodeResponse(
        answers['openai-chat'](clientToolCases[0] as ClientToolCase),
        { upstreamModel: 'm' },
      )
      expect(encodeResponse(events, { ...contextOf, body }).output).toMatchObject([{ type: 'shell_call' }])
    }
  })
})

test.each(table.filter(([type]) => type !== 'computer_use_preview'))(
  'a call of %s from a channel of the own format stays, where the answer is written anew',
  (_type, one) => {
    const output = [{ ...one.item, id: 'x_1', call_id: 'call_1', status: 'completed' }]
    const answer = { id: 'resp_1', status: 'completed', output }
    const events = upstreamSide('openai-responses').decodeResponse(answer, { upstreamModel: 'm' })
    const made = encodeResponse(events, { ...contextOf, body: { tools: [one.tool] } })
    expect(made.output).toMatchObject([{ ...one.item, call_id: 'call_1' }])
  },
)

test('what the vendor ran in its own container is not a call for the client', () => {
  const environment = { type: 'container_reference', container_id: 'cntr_1' }
  const output = [
    { ...clientToolCases[0]?.item, id: 'sh_1', call_id: 'call_1', environment },
    { type: 'shell_call' },
  ]
  const events = upstreamSide('openai-responses').decodeResponse(
    { id: 'resp_1', status: 'completed', output },
    { upstreamModel: 'm' },
  )
  expect(events.map(({ type }) => type)).toEqual(['start', 'finish'])
})

describe('results', () => {
  const shellResult = (result: object) => {
    const { call } = clientToolCases[0] as ClientToolCase
    const item = { type: 'shell_call_output', call_id: 'call_1', ...result }
    return translated('anthropic-messages', { tools: [{ type: 'shell' }], input: [asked, call, item] }).rounds
      .results[0]
  }

  test('of a shell are cut where the model asked for less, and keep how the command ended', () => {
    const chunk = { stdout: 'a'.repeat(50), stderr: 'b'.repeat(50), outcome: { type: 'timeout' } }
    const text = shellResult({ max_output_length: 60, output: [chunk] })
    expect(text).toContain(`${'a'.repeat(50)}\\nstderr:\\nbbbbb\\n[40 characters omitted]\\nbbbbb`)
    expect(text).toContain('[timed out]')
  })

  test('of a patch that failed are errors, with or without words', () => {
    const { call } = clientToolCases.find(({ name }) => name === 'apply_patch') as ClientToolCase
    for (const [output, words] of [
      ['No such file.', 'No such file.'],
      [null, 'The patch was not applied.'],
    ]) {
      const item = { type: 'apply_patch_call_output', call_id: 'call_1', status: 'failed', output }
      const { rounds } = translated('anthropic-messages', { input: [asked, call, item] })
      expect(rounds.results[0]).toContain(words)
      expect(rounds.results[0]).toContain('"is_error":true')
    }
  })

  test('of a local shell find their call by its own id, by that of its item, and by call_id', () => {
    const { call } = clientToolCases.find(({ name }) => name === 'local_shell') as ClientToolCase
    for (const id of [{ id: 'call_1' }, { id: 'lsh_1' }, { id: 'other', call_id: 'call_1' }]) {
      const item = { type: 'local_shell_call_output', output: 'Done.', ...id }
      const { rounds } = translated('openai-chat', { input: [asked, { ...call, id: 'lsh_1' }, item] })
      expect(rounds.results).toEqual(['"Done."'])
    }
  })

  test('and calls with safety checks are reported without them, with a note', () => {
    const { call, result } = clientToolCases.find(({ name }) => name === 'computer') as ClientToolCase
    const checks = [{ id: 'sc_1', code: 'malicious', message: 'Careful.' }]
    const { notes } = translated('gemini', {
      input: [
        asked,
        { ...call, pending_safety_checks: checks },
        { ...result, acknowledged_safety_checks: checks },
      ],
    })
    expect(notes.filter(({ action }) => action === 'dropped').map(({ path }) => path)).toEqual([
      'input[1].pending_safety_checks',
      'input[2].acknowledged_safety_checks',
    ])
  })

  test('a skill of a local shell is in its description', () => {
    const skills = [{ name: 'pdf', path: '/skills/pdf', description: 'Reads PDFs.' }]
    const tools = [{ type: 'shell', environment: { type: 'local', skills } }]
    const { functions } = translated('openai-chat', { tools, input: [asked] })
    expect(functions[0]?.description).toContain('- pdf (/skills/pdf): Reads PDFs.')
  })
})
