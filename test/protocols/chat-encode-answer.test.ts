import OpenAI, { APIError } from 'openai'
import type { ChatCompletion } from 'openai/resources/chat/completions'
import { describe, expect, it } from 'vitest'
import type { ReasoningSignature } from '../../src/canonical/chat.ts'
import type { AnswerBlock, ChatEvent, Delta, Finish, FinishReason } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { decodeRequest } from '../../src/protocols/openai-chat/decode-request.ts'
import { encodeResponse } from '../../src/protocols/openai-chat/encode-response.ts'
import { encodeStream } from '../../src/protocols/openai-chat/encode-stream.ts'
import type { AnswerContext } from '../../src/protocols/protocol.ts'
import { errorOfKind } from '../support/error-of-kind.ts'

const envelope = makeEnvelope(Buffer.alloc(32, 3))
const usage = { input: 10, cacheRead: 5, cacheWrite: 2, output: 7, reasoning: 3 }
const asksUsage = { stream: true, stream_options: { include_usage: true } }
const signature: ReasoningSignature = {
  protocol: 'anthropic-messages',
  model: 'claude',
  kind: 'signature',
  value: 'SIG',
}

const start: ChatEvent = { type: 'start', id: 'up-1', model: 'claude', usage: undefined }

function deltas(index: number, texts: string[]): ChatEvent[] {
  return texts.map((text) => ({ type: 'block-delta', index, delta: { type: 'text', text } }))
}

function block(index: number, kind: AnswerBlock, texts: string[], last?: Delta): ChatEvent[] {
  return [
    { type: 'block-start', index, block: kind },
    ...deltas(index, texts),
    ...(last === undefined ? [] : [{ type: 'block-delta' as const, index, delta: last }]),
    { type: 'block-end', index },
  ]
}

function finish(reason: FinishReason): Finish {
  return { type: 'finish', reason, upstreamReason: 'word', stopSequence: undefined, usage }
}

/** The upstream reported no usage. */
const unmetered: ChatEvent = { ...finish('stop'), usage: undefined }

const rich: ChatEvent[] = [
  start,
  ...block(0, { type: 'reasoning', summary: false }, ['I ', 'think'], { type: 'signature', signature }),
  ...block(1, { type: 'text' }, ['See ', 'there.'], {
    type: 'citation',
    url: 'https://a.test',
    title: 'A',
    start: 4,
    end: 9,
  }),
  { type: 'block-start', index: 2, block: { type: 'tool-call', id: 'a', name: 'f', kind: 'function' } },
  { type: 'block-start', index: 3, block: { type: 'tool-call', id: 'a', name: 'g', kind: 'custom' } },
  ...deltas(2, ['{"x"']),
  ...deltas(3, ['free ']),
  ...deltas(2, [':1}']),
  ...deltas(3, ['text']),
  { type: 'block-end', index: 2 },
  { type: 'block-end', index: 3 },
  finish('tool_calls'),
]

describe('an encoded answer', () => {
  it('is what the official SDK reads, whole and streamed alike', async () => {
    const whole = await answered(rich)
    const streamed = await streamedWhole(rich)
    const [first, second] = whole.choices[0]?.message.tool_calls ?? []
    expect(whole).toMatchObject({
      id: 'chatcmpl-r1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'public',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'See there.',
            refusal: null,
            annotations: [
              {
                type: 'url_citation',
                url_citation: { url: 'https://a.test', title: 'A', start_index: 4, end_index: 9 },
              },
            ],
            tool_calls: [
              { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
              { type: 'custom', custom: { name: 'g', input: 'free text' } },
            ],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 17,
        completion_tokens: 10,
        total_tokens: 27,
        prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
    })
    expect(first?.id).not.toBe(second?.id)
    expect(streamed.choices[0]?.message.content).toBe('See there.')
    expect(streamed.choices[0]?.finish_reason).toBe('tool_calls')
    expect(streamed.choices[0]?.message.tool_calls?.[0]).toMatchObject(first ?? {})
    expect(streamed.usage).toEqual(whole.usage)
  })

  it('streams chunks in the order that the vendor keeps', () => {
    const frames = framesOf(rich, asksUsage)
    expect(frames.at(-1)).toBe('[DONE]')
    const chunks = frames.slice(0, -1).map((frame) => JSON.parse(frame))
    const choices = chunks.map(({ choices: [choice] }) => choice)
    expect(choices[0].delta).toEqual({ role: 'assistant', content: '', refusal: null })
    expect(choices.slice(1, -2).every(({ finish_reason: reason }) => reason === null)).toBe(true)
    expect(choices.at(-2)).toMatchObject({ delta: {}, finish_reason: 'tool_calls' })
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 27 } })
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true)
    expect(new Set(chunks.map(({ id, model, created }) => `${id} ${model} ${created}`)).size).toBe(1)
    expect(choices.slice(1).flatMap((choice) => choice?.delta.tool_calls ?? [])).toMatchObject([
      { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } },
      { index: 1, type: 'custom', custom: { name: 'g', input: '' } },
      { index: 0, function: { arguments: '{"x"' } },
      { index: 1, custom: { input: 'free ' } },
      { index: 0, function: { arguments: ':1}' } },
      { index: 1, custom: { input: 'text' } },
    ])
  })

  it('shows usage in a stream only if the client asked for it, and never an unknown usage', () => {
    expect(framesOf(rich, { stream: true }).join('')).not.toContain('usage')
    const unknown = framesOf([start, unmetered], asksUsage)
    expect(unknown).toHaveLength(3)
    expect(encodeResponse([start, unmetered], contextOf({}))).not.toHaveProperty('usage')
  })

  it.each<[FinishReason, string]>([
    ['stop', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause', 'stop'],
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['refusal', 'content_filter'],
  ])('that ended for %s has the finish reason %s', (reason, word) => {
    const events = [start, ...block(0, { type: 'text' }, ['a']), finish(reason)]
    expect(finishReasons(events)).toEqual([word, word])
  })

  it('has a refusal in a member of its own', async () => {
    const events = [start, ...block(0, { type: 'refusal' }, ['No', '.']), finish('refusal')]
    expect(finishReasons(events)).toEqual(['stop', 'stop'])
    const messages = [(await answered(events)).choices[0], (await streamedWhole(events)).choices[0]]
    for (const choice of messages) expect(choice?.message).toMatchObject({ refusal: 'No.' })
  })

  it('gives a call without arguments the empty object', async () => {
    const events = [
      start,
      ...block(0, { type: 'tool-call', id: 'a', name: 'f', kind: 'function' }, []),
      finish('tool_calls'),
    ]
    for (const answer of [await answered(events), await streamedWhole(events)]) {
      expect(answer.choices[0]?.message).toMatchObject({ tool_calls: [{ function: { arguments: '{}' } }] })
    }
  })

  it('separates texts with other blocks between them, and counts citations from the first text', async () => {
    const events = [
      start,
      ...block(0, { type: 'text' }, ['One.']),
      ...block(1, { type: 'reasoning', summary: true }, ['hm']),
      ...block(2, { type: 'text' }, ['Two.'], { type: 'citation', url: 'u', title: undefined }),
      ...block(3, { type: 'text' }, ['Three.']),
      finish('stop'),
    ]
    const expected = {
      content: 'One.\n\nTwo.Three.',
      annotations: [{ url_citation: { url: 'u', title: 'u', start_index: 6, end_index: 10 } }],
    }
    expect((await answered(events)).choices[0]?.message).toMatchObject(expected)
    expect((await streamedWhole(events)).choices[0]?.message.content).toBe(expected.content)
    expect(framesOf(events, {}).join('')).toContain('"start_index":6,"end_index":10')
  })

  it('uses function_call for a client that uses functions', () => {
    const body = { functions: [{ name: 'f' }] }
    expect(encodeResponse(rich, contextOf(body))).toMatchObject({
      choices: [
        { message: { function_call: { name: 'f', arguments: '{"x":1}' } }, finish_reason: 'function_call' },
      ],
    })
    const text = framesOf(rich, body).join('\n')
    expect(text).toContain('"function_call":{"name":"f","arguments":""}')
    expect(text).toContain('"finish_reason":"function_call"')
    expect(text).not.toContain('tool_calls')
    expect(text).not.toContain('free ')
  })

  it.each<[string, ReasoningSignature]>([
    ['a signature', signature],
    ['an encrypted thought', { ...signature, protocol: 'openai-responses', kind: 'encrypted', id: 'rs_1' }],
  ])('brings %s back when the client sends the message again', (_, given) => {
    const events = [
      start,
      ...block(0, { type: 'reasoning', summary: false }, ['I ', 'think'], {
        type: 'signature',
        signature: given,
      }),
      ...block(1, { type: 'reasoning', summary: true }, [], {
        type: 'signature',
        signature: { ...given, value: 'OTHER' },
      }),
      ...block(2, { type: 'text' }, ['so']),
      finish('stop'),
    ]
    const whole = encodeResponse(events, contextOf({})) as unknown as ChatCompletion
    const deltas = framesOf(events, {})
      .slice(0, -1)
      .map((frame) => JSON.parse(frame).choices[0].delta)
    const put = {
      role: 'assistant',
      content: 'so',
      reasoning_content: deltas.map((delta) => delta.reasoning_content ?? '').join(''),
      reasoning_details: deltas.flatMap((delta) => delta.reasoning_details ?? []),
    }
    for (const message of [whole.choices[0]?.message, put]) {
      const { turns } = decodeRequest({ model: 'm', messages: [message] }, { envelope })
      expect(turns[0]?.blocks).toMatchObject([
        { type: 'reasoning', text: 'I think', signature: given },
        { type: 'reasoning', text: '', signature: { ...given, value: 'OTHER' } },
        { type: 'text', text: 'so' },
      ])
    }
  })

  it('ends with the error in its stream, and without [DONE]', async () => {
    const error = errorOfKind('upstream_error', 'It broke.')
    const events: ChatEvent[] = [
      start,
      ...block(0, { type: 'text' }, ['a']),
      { type: 'error', error },
      finish('stop'),
    ]
    expect(framesOf(events, {}).at(-1)).toContain('It broke.')
    await expect(streamedWhole(events)).rejects.toThrow(APIError)
  })
})

function contextOf(members: Json): AnswerContext {
  const body = { model: 'public', messages: [{ role: 'user', content: 'hi' }], ...members }
  return {
    requestId: 'r1',
    model: 'public',
    createdAtSeconds: 1_700_000_000,
    body,
    inputTokensEstimate: 1,
    envelope,
  }
}

function streamText(events: ChatEvent[], members: Json): string {
  const encoder = encodeStream(contextOf(members))
  return events.map((event) => encoder.push(event)).join('')
}

/** The text after `data:`. */
function framesOf(events: ChatEvent[], members: Json): string[] {
  const frames = streamText(events, members).split('\n\n')
  expect(frames.pop()).toBe('')
  return frames.map((frame) => frame.slice('data: '.length))
}

function finishReasons(events: ChatEvent[]): string[] {
  const whole = encodeResponse(events, contextOf({})) as unknown as ChatCompletion
  const last = JSON.parse(framesOf(events, {}).at(-2) ?? '')
  return [String(whole.choices[0]?.finish_reason), last.choices[0].finish_reason]
}

function answered(events: ChatEvent[]): Promise<ChatCompletion> {
  const body = JSON.stringify(encodeResponse(events, contextOf({})))
  return client(body, 'application/json').chat.completions.create({ model: 'public', messages: [] })
}

function streamedWhole(events: ChatEvent[]): Promise<ChatCompletion> {
  const sdk = client(streamText(events, asksUsage), 'text/event-stream')
  return sdk.chat.completions
    .stream({ model: 'public', messages: [], stream_options: { include_usage: true } })
    .finalChatCompletion()
}

function client(body: string, type: string): OpenAI {
  const fetch = async () => new Response(body, { headers: { 'content-type': type } })
  return new OpenAI({ apiKey: 'k', baseURL: 'http://upstream.test/v1', maxRetries: 0, fetch })
}
