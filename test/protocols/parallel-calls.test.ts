import { createOpenAI } from '@ai-sdk/openai'
import { jsonSchema, streamText, tool } from 'ai'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { decodeStream } from '../../src/protocols/openai-chat/decode-stream.ts'
import { encodeStream } from '../../src/protocols/openai-responses/encode-answer.ts'
import type { AnswerContext } from '../../src/protocols/protocol.ts'

// Parallel calls of a Chat upstream, on their way to a streaming Responses client.

const context: AnswerContext = {
  requestId: 'req-1',
  model: 'public-model',
  createdAtSeconds: 1_700_000_000,
  body: { model: 'public-model', input: 'hi' },
  inputTokensEstimate: 1,
  envelope: makeEnvelope(Buffer.alloc(32, 3)),
}

const delta = (delta: Json) => JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta }] })
const fragment = (index: number, args: string, id?: string) =>
  delta({
    tool_calls: [
      { index, ...(id === undefined ? {} : { id }), function: { ...(id && { name: id }), arguments: args } },
    ],
  })
const finish = JSON.stringify({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })

const oneAfterTheOther = [
  fragment(0, '', 'sun'),
  fragment(0, '{"at":'),
  fragment(0, '"Rome"}'),
  fragment(1, '', 'moon'),
  fragment(1, '{"at":"Os'),
  fragment(1, 'lo"}'),
]
const interleaved = [
  fragment(0, '', 'sun'),
  fragment(1, '', 'moon'),
  fragment(0, '{"at":'),
  fragment(1, '{"at":"Os'),
  fragment(0, '"Rome"}'),
  fragment(1, 'lo"}'),
]
const amongTexts = [delta({ content: 'Let me see.' }), ...oneAfterTheOther, delta({ content: 'Wait.' })]
const streams: [string, string[]][] = [
  ['one after the other', oneAfterTheOther],
  ['interleaved', interleaved],
  ['among texts', amongTexts],
]

/** The text that the client gets for each event of the upstream. */
function translated(frames: string[]): string[] {
  const decoder = decodeStream({ upstreamModel: 'm' })
  const encoder = encodeStream(context)
  return [...frames, finish, '[DONE]'].map((data) =>
    decoder
      .push(data)
      .map((event: ChatEvent) => encoder.push(event))
      .join(''),
  )
}

describe.each(streams)('calls %s', (_name, frames) => {
  it('are items that do not overlap', () => {
    const events = [
      ...translated(frames)
        .join('')
        .matchAll(/^data: (\{.*\})$/gm),
    ].map(([, data]) => JSON.parse(data ?? ''))
    let open: number | undefined
    let next = 0
    for (const { type, output_index } of events) {
      if (type === 'response.output_item.added') {
        expect(open).toBeUndefined()
        expect(output_index).toBe(next++)
        open = output_index
      } else if (output_index !== undefined) expect(output_index).toBe(open)
      if (type === 'response.output_item.done') open = undefined
    }
    expect(open).toBeUndefined()
    expect(next).toBeGreaterThan(1)
  })

  it("are read by the vendor's SDK", async () => {
    const client = new OpenAI({ apiKey: 'k', baseURL: 'http://gateway.test/v1', fetch: answering(frames) })
    const final = await client.responses.stream({ model: 'm', input: 'hi' }).finalResponse()
    expect(final.output.filter(({ type }) => type === 'function_call')).toMatchObject([
      { name: 'sun', call_id: 'sun', arguments: '{"at":"Rome"}' },
      { name: 'moon', call_id: 'moon', arguments: '{"at":"Oslo"}' },
    ])
  })

  it('are read by the AI SDK', async () => {
    const provider = createOpenAI({
      apiKey: 'k',
      baseURL: 'http://gateway.test/v1',
      fetch: answering(frames),
    })
    const place = tool({
      inputSchema: jsonSchema<{ at: string }>({ type: 'object' }),
      outputSchema: jsonSchema<string>({ type: 'string' }),
    })
    const result = streamText({
      model: provider.responses('m'),
      prompt: 'hi',
      tools: { sun: place, moon: place },
    })
    const errors: unknown[] = []
    for await (const part of result.fullStream) if (part.type === 'error') errors.push(part.error)
    expect(errors).toEqual([])
    expect((await result.toolCalls).map(({ toolName, input }) => [toolName, input])).toEqual([
      ['sun', { at: 'Rome' }],
      ['moon', { at: 'Oslo' }],
    ])
  })
})

it('each fragment goes out at once while the calls come one after the other', () => {
  const texts = translated(oneAfterTheOther)
  expect(texts[1]).toContain(JSON.stringify('{"at":'))
  expect(texts[2]).toContain(JSON.stringify('"Rome"}'))
  expect(texts[3]).toMatch(/output_item\.done.*output_item\.added/s)
  expect(texts[4]).toContain(JSON.stringify('{"at":"Os'))
  expect(texts[5]).toContain(JSON.stringify('lo"}'))
})

it('only fragments that come before the end of the first call are held back', () => {
  const texts = translated(interleaved)
  expect(texts[2]).toContain(JSON.stringify('{"at":'))
  expect(texts[3]).toBe('')
  expect(texts[4]).toContain(JSON.stringify('"Rome"}'))
  // The next fragment shows that the first call is whole.
  expect(texts[5]).toMatch(/output_item\.done.*output_item\.added.*delta":"lo/s)
})

it('arguments that go on after their end are an error, and white space is none', () => {
  const twice = [...oneAfterTheOther, fragment(0, '{"at":"Oslo"}')]
  expect(() => translated(twice)).toThrow('more arguments for a tool call that was already complete')
  const spaced = [...oneAfterTheOther, fragment(0, '\n')]
  expect(translated(spaced).join('')).toContain('response.completed')
})

function answering(frames: string[]): typeof fetch {
  return async () =>
    new Response(translated(frames).join(''), { headers: { 'content-type': 'text/event-stream' } })
}
