import { describe, expect, it } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import { isRecord, type Json, recordsOf } from '../../src/canonical/json.ts'
import { SseDecoder } from '../../src/protocols/decode-sse.ts'
import { clientSide, upstreamSide } from '../../src/protocols/index.ts'
import type { UpstreamName } from './hostile-streams.ts'
import {
  bases,
  callingAnswers,
  claudeRequest,
  clientNames,
  codexRequest,
  contextOf,
  counted,
  countedAnswers,
  emptyHistories,
  losable,
  pairs,
  refusalOf,
  refusals,
  repliesWith,
  signatures,
  signedAnswers,
  thrownBy,
  tooLong,
  translated,
  upstreamModel,
  upstreamNames,
  usagesIn,
  wordsThatAgentsActOn,
} from './trap-tables.ts'

/** Known faults of gateways with requests, histories, counts and errors. */

describe.each(pairs)('%s to %s', (client, upstream) => {
  const refused = refusals[client].filter(({ but }) => !but?.includes(upstream))
  it.each(refused)('refuses $field, by name: $why', ({ field, or = field, more }) => {
    const error = thrownBy(() => translated(client, upstream, { ...bases[client], ...more }))
    expect([field, or]).toContain(error.field)
    expect(error.message).toContain(error.field)
    expect(clientSide(client).encodeError(error, 'req_1').status).toBe(400)
  })

  it.each(Object.entries(losable[client]))('never refuses a request for its %s', (_name, more) => {
    expect(() => translated(client, upstream, { ...bases[client], ...more })).not.toThrow()
  })

  it.each(emptyHistories[client])('sends no empty list, text or assistant for %j', (more) => {
    let sent: Json
    try {
      sent = translated(client, upstream, { ...bases[client], ...more }).body
    } catch (error) {
      // A Gemini request cannot be empty.
      expect(upstream).toBe('gemini')
      expect(error).toMatchObject({
        kind: 'invalid_request',
        message: expect.stringContaining('contains nothing'),
      })
      return
    }
    const turns = recordsOf(sent.messages ?? sent.input ?? sent.contents)
    expect(turns).not.toEqual([])
    for (const { role, content, parts = content } of turns) {
      expect(parts).not.toEqual([])
      if (role === 'assistant') expect(parts).not.toBe('')
      for (const part of recordsOf(parts)) expect(part.text).not.toBe('')
    }
  })

  it('sends a single stop text as a list, as the format demands', () => {
    if (client !== 'openai-chat' || upstream === 'openai-responses') return
    const { body } = translated(client, upstream, { ...bases[client], stop: 'END' })
    const config = isRecord(body.generationConfig) ? body.generationConfig : body
    expect(config.stop_sequences ?? config.stopSequences).toEqual(['END'])
  })

  it('sends a signed thought back to the model that signed it, and to no other', () => {
    for (const [signer, answer] of Object.entries(signedAnswers) as [UpstreamName, Json][]) {
      const events = upstreamSide(signer).decodeResponse(answer, { upstreamModel })
      const asked = bases[client]
      const body = repliesWith[client](clientSide(client).encodeResponse(events, contextOf(asked)))
      for (const model of [upstreamModel, 'gemini-3-flash']) {
        const sent = JSON.stringify(translated(client, upstream, body, model).body)
        const isOwn = signer === upstream && model === upstreamModel
        for (const signature of signatures[signer])
          expect(sent.includes(signature), `${signer} ${model} ${sent}`).toBe(isOwn)
        expect(sent).not.toContain('tg1.')
      }
    }
  })
})

describe.each(upstreamNames)('from an upstream of %s', (upstream) => {
  it.each(clientNames)('each token is counted once in the usage of %s', (client) => {
    const events = upstreamSide(upstream).decodeResponse(countedAnswers[upstream], { upstreamModel })
    const context = contextOf(bases[client])
    const whole = clientSide(client).encodeResponse(events, context)
    const encoder = clientSide(client).encodeStream({
      ...context,
      body: { ...context.body, stream: true, stream_options: { include_usage: true } },
    })
    const stream = events.map((event) => encoder.push(event)).join('')
    const written = upstream === 'gemini' ? 0 : 10
    const counts = counted[client](written)
    expect(whole.usage).toMatchObject(counts)
    const usages = stream.split('\n').flatMap((line) => usagesIn(line.replace(/^data: /, '')))
    expect(usages.at(-1)).toMatchObject(counts)
  })

  it.each(wordsThatAgentsActOn)('the text of a refusal stays as it is: %s', (words) => {
    const body = Buffer.from(JSON.stringify(refusalOf[upstream](words)))
    const error = upstreamSide(upstream).decodeError(400, {}, body)
    for (const client of clientNames) {
      const rendered = clientSide(client).encodeError(error, 'req_1')
      expect(rendered.status).toBe(400)
      expect(rendered.body).toMatchObject({ error: { message: words, type: 'invalid_request_error' } })
    }
  })

  it('an error about a too long context has the words on which agents of each format act', () => {
    const error = upstreamSide(upstream).decodeError(400, {}, Buffer.from(JSON.stringify(tooLong[upstream])))
    for (const client of ['openai-chat', 'openai-responses'] as const) {
      expect(clientSide(client).encodeError(error, 'r').body).toMatchObject({
        error: { code: 'context_length_exceeded' },
      })
    }
    const { body } = clientSide('anthropic-messages').encodeError(error, 'r')
    expect(body).toMatchObject({
      error: { message: expect.stringMatching(/^prompt is too long: 9000 tokens > 8192 maximum/) },
    })
  })
})

describe.each(['openai-chat', 'anthropic-messages', 'gemini'] as const)(
  "Codex's request to %s",
  (upstream) => {
    it('has the tools of namespaces, items and free text, and gets their calls under its own names', () => {
      const { body, tools } = translated('openai-responses', upstream, codexRequest)
      const sent = JSON.stringify(body)
      const name = tools.wireName({ name: 'query', namespace: 'mcp__db', kind: 'function' }, '')
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      for (const known of [name, 'apply_patch', 'exec_command', 'start: \\"x\\"'])
        expect(sent).toContain(known)
      // The name is in the history, too.
      expect(sent.split(`"${name}"`).length).toBeGreaterThan(2)

      const answer = callingAnswers[upstream](name)
      const events = upstreamSide(upstream).decodeResponse(answer, { upstreamModel, tools })
      const { output } = clientSide('openai-responses').encodeResponse(events, contextOf(codexRequest))
      expect(output).toMatchObject([
        { type: 'function_call', namespace: 'mcp__db', name: 'query', arguments: '{"a":1}' },
        { type: 'custom_tool_call', name: 'apply_patch', input: 'free "text"' },
      ])
    })
  },
)

describe.each(['openai-chat', 'openai-responses', 'gemini'] as const)(
  "Claude Code's request to %s",
  (upstream) => {
    it('is the same for any billing line, so that caches work', () => {
      const bodies = ['cc_version=2.1.1; cch=aaaaa;', 'cc_version=2.1.1; cch=bbbbb;'].map(
        (line) => translated('anthropic-messages', upstream, claudeRequest(line)).body,
      )
      expect(bodies[0]).toEqual(bodies[1])
      expect(JSON.stringify(bodies[0])).not.toContain('billing')
      expect(JSON.stringify(bodies[0])).toContain('Be brief.')
    })

    it('keeps its instructions between the turns, in any place', () => {
      const sent = JSON.stringify(translated('anthropic-messages', upstream, claudeRequest('x')).body)
      const places = ['Hi', 'Instruction one', 'sunny', 'Instruction two'].map((words) => sent.indexOf(words))
      expect(places).not.toContain(-1)
      expect([...places].sort((a, b) => a - b)).toEqual(places)
    })
  },
)

describe('a Chat upstream that sends its usage late, early or never', () => {
  const finish = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'
  const counts = '"usage":{"prompt_tokens":9,"completion_tokens":4}'
  it.each([
    ['after the reason', [finish, `{"choices":[],${counts}}`, '[DONE]'], 4],
    ['after the reason, without [DONE]', [finish, `{"choices":[],${counts}}`], 4],
    ['with the reason', [finish.replace(/}$/, `,${counts}}`), '[DONE]'], 4],
    ['before the reason', [`{"choices":[],${counts}}`, finish, '[DONE]'], 4],
    ['never', [finish, '[DONE]'], 1],
    ['never, without [DONE]', [finish], 1],
    ['never, without a reason before [DONE]', ['[DONE]'], 1],
  ])('%s: a Messages client gets one end, with the known counts', (_when, last, outputTokens) => {
    const content = '{"choices":[{"index":0,"delta":{"content":"a"}}]}'
    const bytes = Buffer.from([content, ...last].map((data) => `data: ${data}\n\n`).join(''))
    const decoder = new SseDecoder(upstreamSide('openai-chat').decodeStream({ upstreamModel }), 1 << 16)
    const events = [...decoder.push(bytes), ...decoder.end()]
    const encoder = clientSide('anthropic-messages').encodeStream(contextOf(bases['anthropic-messages']))
    const text = events.map((event) => encoder.push(event)).join('')
    expect(text.match(/event: message_delta/g)).toHaveLength(1)
    expect(text).toMatch(/"stop_reason":"end_turn".*\n\nevent: message_stop\n.*\n\n$/)
    expect(usagesIn(/event: message_delta\ndata: (.*)/.exec(text)?.[1] ?? '')).toMatchObject([
      { output_tokens: outputTokens },
    ])
  })
})

describe('a Responses upstream that sends a call only at its end', () => {
  const item = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'query', arguments: '{"a":1}' }
  const added = { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } }
  const at = { output_index: 0, item_id: 'fc_1' }
  const done = { type: 'response.output_item.done', output_index: 0, item }
  const completed = (output: Json[]) => ({ type: 'response.completed', response: { id: 'r', output } })
  it.each<[string, Json[]]>([
    [
      'in its arguments',
      [added, { type: 'response.function_call_arguments.done', ...at, arguments: '{"a":1}' }, completed([])],
    ],
    ['in its item', [added, done, completed([])]],
    ['in its item, never announced', [done, completed([])]],
    ['in the answer', [added, completed([item])]],
    ['in the answer alone', [completed([item])]],
    [
      'everywhere',
      [
        added,
        { type: 'response.function_call_arguments.delta', ...at, delta: '{"a"' },
        { type: 'response.function_call_arguments.done', ...at, arguments: '{"a":1}' },
        done,
        completed([item]),
      ],
    ],
  ])('%s: the call is there once, whole', (_where, data) => {
    const bytes = Buffer.from(data.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))
    const decoder = new SseDecoder(upstreamSide('openai-responses').decodeStream({ upstreamModel }), 1 << 16)
    const events: ChatEvent[] = [...decoder.push(bytes), ...decoder.end()]
    const answer = clientSide('openai-chat').encodeResponse(events, contextOf(bases['openai-chat']))
    expect(answer.choices).toMatchObject([
      {
        finish_reason: 'tool_calls',
        message: { tool_calls: [{ id: 'call_1', function: { name: 'query', arguments: '{"a":1}' } }] },
      },
    ])
  })
})

it('keeps connections alive with a comment if clients parse all data, and with a ping if they know it', () => {
  expect(clientSide('openai-chat').keepAlive).toMatch(/^:[^\n]*\n\n$/)
  expect(clientSide('openai-responses').keepAlive).toMatch(/^:[^\n]*\n\n$/)
  expect(clientSide('anthropic-messages').keepAlive).toMatch(/^event: ping\ndata: \{"type": ?"ping"\}\n\n$/)
})

it('reads a stream that begins with a byte order mark, and data without a space or a colon', () => {
  const chunk = '{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}'
  const bytes = Buffer.from(`\uFEFFdata:${chunk}\r\n\r\ndata\r\rdata:[DONE]\n\n`)
  const decoder = new SseDecoder(upstreamSide('openai-chat').decodeStream({ upstreamModel }), 1 << 16)
  const events = [...decoder.push(bytes.subarray(0, 2)), ...decoder.push(bytes.subarray(2)), ...decoder.end()]
  expect(events).toContainEqual(expect.objectContaining({ delta: { type: 'text', text: 'a' } }))
  expect(events.at(-1)).toMatchObject({ type: 'finish', reason: 'stop' })
})
