import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import { collect } from '../../src/protocols/collect.ts'
import { SseDecoder } from '../../src/protocols/decode-sse.ts'
import { decodeResponse } from '../../src/protocols/openai-chat/decode-response.ts'
import { decodeStream } from '../../src/protocols/openai-chat/decode-stream.ts'
import { ToolNames } from '../../src/protocols/tool-names.ts'
import { seeded } from '../support/random.ts'
import { grammarFault } from './grammar.ts'

const context = { upstreamModel: 'up' }

describe('a recorded stream', () => {
  it.each(['openai-text', 'deepseek-tool-call', 'azure-model-router.1'])(
    '%s gives the same events at every split',
    (name) => {
      const bytes = recordedStream(name)
      const whole = decodeBytes([bytes])
      expect(grammarFault(whole)).toBeUndefined()
      const random = seeded(7)
      for (let round = 0; round < 60; round++)
        expect(decodeBytes(random.split(bytes, 1 + round))).toEqual(whole)
      const middle = Math.floor(bytes.length / 2)
      for (let at = middle; at < middle + 600; at++) {
        expect(decodeBytes([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole)
      }
    },
  )

  it('has its text, calls, usage and reason', () => {
    const openai = collect(decodeBytes([recordedStream('openai-text')]))
    expect(openai.blocks).toHaveLength(1)
    expect(openai.blocks[0]?.text).toMatch(/^\*\*Holiday Name/)
    expect(openai).toMatchObject({
      id: 'chatcmpl-D8Z5oo6uDh67AD85p73ksdT1KxhE0',
      finish: { reason: 'stop', upstreamReason: 'stop' },
      usage: { input: 16, output: 300 },
    })
    expect(collect(decodeBytes([recordedStream('deepseek-tool-call')]))).toMatchObject({
      blocks: [
        {
          block: { type: 'reasoning', summary: false },
          signature: { value: '{"member":"reasoning_content"}' },
        },
        { block: { type: 'tool-call', name: 'weather' }, text: '{"location": "San Francisco"}' },
      ],
      finish: { reason: 'tool_calls' },
      usage: { cacheRead: 320, reasoning: 39 },
    })
    // Its first frame has neither choices nor an id.
    expect(decodeBytes([recordedStream('azure-model-router.1')])[0]).toMatchObject({
      type: 'start',
      id: 'chatcmpl-CYPS1lijGoK8gd9lYzY3r9Sx50nbt',
      model: 'gpt-5-nano-2025-08-07',
    })
  })
})

describe('a whole answer', () => {
  it.each(['openai-text', 'deepseek-reasoning', 'deepseek-tool-call'])('%s obeys the grammar', (name) => {
    const events = decodeResponse(recorded(name), context)
    expect(grammarFault(events)).toBeUndefined()
    expect(collect(events).usage).toBeDefined()
  })

  it('has its citations, refusal and calls', () => {
    const events = decodeResponse(
      {
        id: 'a',
        model: 'b',
        choices: [
          {
            message: {
              content: 'See there.',
              refusal: null,
              annotations: [
                {
                  type: 'url_citation',
                  url_citation: { url: 'u', title: 't', start_index: 4, end_index: 9 },
                },
              ],
              tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'g', input: 'x' } }],
            },
            finish_reason: 'stop',
          },
        ],
      },
      context,
    )
    expect(collect(events)).toMatchObject({
      blocks: [
        { text: 'See there.', citations: [{ url: 'u', title: 't', start: 4, end: 9 }] },
        { block: { type: 'tool-call', id: 'c', name: 'g', kind: 'custom' }, text: 'x' },
      ],
      finish: { reason: 'tool_calls', upstreamReason: 'stop' },
      usage: undefined,
    })
  })

  it.each<[Json, string]>([
    [{}, 'upstream_error'],
    [{ choices: [] }, 'upstream_error'],
    [{ choices: [{ index: 0 }] }, 'upstream_error'],
    [{ error: { message: 'slow down', code: 429 } }, 'rate_limited'],
    [{ choices: [{ message: {}, finish_reason: 'error' }] }, 'upstream_error'],
    [{ choices: [{ message: { tool_calls: [{ function: { arguments: '{}' } }] } }] }, 'upstream_error'],
  ])('that is none is an error: %j', (body, kind) => {
    expect(() => decodeResponse(body, context)).toThrow(expect.objectContaining({ kind }))
  })
})

describe('a stream', () => {
  it('interleaves the calls that the upstream interleaves', () => {
    const answer = collect(
      decode([
        delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }] }),
        delta({ tool_calls: [{ index: 1, id: 'b', function: { name: 'g', arguments: '{"x"' } }] }),
        delta({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
        delta({ tool_calls: [{ index: 1, function: { arguments: ':1}' } }] }),
        finish('tool_calls'),
      ]),
    )
    expect(answer.blocks.map(({ block, text }) => [block, text])).toEqual([
      [{ type: 'tool-call', id: 'a', name: 'f', kind: 'function' }, '{}'],
      [{ type: 'tool-call', id: 'b', name: 'g', kind: 'function' }, '{"x":1}'],
    ])
  })

  it.each<[string, Json[][]]>([
    [
      'index missing',
      [
        [{ id: 'a', function: { name: 'f', arguments: '{}' } }],
        [{ id: 'b', function: { name: 'g', arguments: '[]' } }],
      ],
    ],
    [
      'index 0 for each',
      [
        [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }],
        [{ index: 0, id: 'b', function: { name: 'g', arguments: '[]' } }],
      ],
    ],
    [
      'id late',
      [
        [{ index: 0, function: { name: 'f', arguments: '{' } }],
        [{ index: 0, id: 'a', function: { arguments: '}' } }],
        [{ index: 1, id: 'b', function: { name: 'g', arguments: '[]' } }],
      ],
    ],
    [
      'ids missing',
      [
        [{ index: 0, function: { name: 'f', arguments: '{}' } }],
        [{ index: 1, function: { name: 'g', arguments: '[]' } }],
      ],
    ],
    [
      'same id twice',
      [
        [
          { index: 0, id: 'a', function: { name: 'f', arguments: '{}' } },
          { index: 1, id: 'a', function: { name: 'g', arguments: '[]' } },
        ],
      ],
    ],
  ])('tells calls apart with %s', (_, fragments) => {
    const events = decode([...fragments.map((calls) => delta({ tool_calls: calls })), finish('stop')])
    const { blocks, finish: end } = collect(events)
    expect(blocks.map(({ block, text }) => [block.type === 'tool-call' && block.name, text])).toEqual([
      ['f', '{}'],
      ['g', '[]'],
    ])
    const ids = blocks.map(({ block }) => (block.type === 'tool-call' ? block.id : ''))
    expect(new Set(ids).size).toBe(2)
    expect(ids.every((id) => /^[\w-]{1,40}$/.test(id))).toBe(true)
    expect(end.reason).toBe('tool_calls')
  })

  it('gives calls the names that the client knows', () => {
    const tools = new ToolNames({ illegal: /[^a-zA-Z0-9_-]/, charactersMax: 64 })
    tools.wireName({ name: 'read', namespace: 'files', kind: 'function' }, 'x')
    tools.wireName({ name: 'apply.patch', kind: 'custom' }, 'x')
    const events = decode(
      [
        delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'files__read', arguments: '{}' } }] }),
        delta({ tool_calls: [{ index: 1, id: 'b', function: { name: 'apply_patch', arguments: '{"inp' } }] }),
        delta({ tool_calls: [{ index: 1, function: { arguments: 'ut":"a\\nb"}' } }] }),
        finish('tool_calls'),
      ],
      tools,
    )
    expect(collect(events).blocks).toMatchObject([
      { block: { name: 'read', namespace: 'files', kind: 'function' }, text: '{}' },
      { block: { name: 'apply.patch', kind: 'custom' }, text: 'a\nb' },
    ])
  })

  it('reads a call in the old form', () => {
    const events = decode([
      delta({ function_call: { name: 'f', arguments: '' } }),
      delta({ function_call: { arguments: '{"a":1}' } }),
      finish('function_call'),
    ])
    expect(collect(events)).toMatchObject({
      blocks: [{ block: { type: 'tool-call', name: 'f' }, text: '{"a":1}' }],
      finish: { reason: 'tool_calls' },
    })
  })

  it('reads reasoning that comes in two members only once, with its signature', () => {
    const detail = { type: 'reasoning.text', index: 0, format: 'v1' }
    const { blocks } = collect(
      decode([
        delta({ reasoning: 'I ', reasoning_details: [{ ...detail, text: 'I ' }] }),
        delta({ reasoning: 'think', reasoning_details: [{ ...detail, text: 'think' }] }),
        delta({ reasoning_details: [{ ...detail, signature: 'SIG' }] }),
        delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'DATA', index: 1 }] }),
        delta({ content: 'so' }),
        finish('stop'),
      ]),
    )
    const signature = { protocol: 'openai-chat', model: 'up' }
    expect(blocks).toMatchObject([
      {
        text: 'I think',
        signature: {
          ...signature,
          kind: 'signature',
          value: JSON.stringify({ ...detail, signature: 'SIG' }),
        },
      },
      { text: '', signature: { ...signature, kind: 'encrypted' } },
      { text: 'so', signature: undefined },
    ])
  })

  it.each(['reasoning_content', 'reasoning'])('reads %s, and its signature names the member', (member) => {
    const { blocks } = collect(decode([delta({ [member]: 'hm' }), delta({ content: 'a' }), finish('stop')]))
    expect(blocks.map(({ block, text, signature }) => [block.type, text, signature?.value])).toEqual([
      ['reasoning', 'hm', JSON.stringify({ member })],
      ['text', 'a', undefined],
    ])
  })

  it("reads Mistral's lists of parts", () => {
    const thinking = [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }]
    const events = decode([
      delta({ content: thinking }),
      delta({ content: [{ type: 'text', text: 'a' }] }),
      finish('stop'),
    ])
    expect(collect(events).blocks.map(({ text }) => text)).toEqual(['hm', 'a'])
  })

  it('reads the first choice alone', () => {
    const other = JSON.stringify({
      choices: [{ index: 1, delta: { content: 'b' }, finish_reason: 'length' }],
    })
    expect(collect(decode([delta({ content: 'a' }), other, finish('stop')]))).toMatchObject({
      blocks: [{ text: 'a' }],
      finish: { reason: 'stop' },
    })
  })

  const usage = { prompt_tokens: 3, completion_tokens: 2 }
  const counts = { input: 3, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 }

  it.each<[string, string[]]>([
    ['in the finish frame', [JSON.stringify({ ...choice({}, 'stop'), usage })]],
    ['in a frame after it', [finish('stop'), JSON.stringify({ choices: [], usage })]],
    ['in the choice', [JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] })]],
    ["in Groq's member", [JSON.stringify({ ...choice({}, 'stop'), x_groq: { usage } })]],
  ])('finds usage %s', (_, frames) => {
    expect(collect(decode([delta({ content: 'a' }), ...frames])).usage).toEqual(counts)
  })

  it('ends with the usage frame, and does not wait for the connection to close', () => {
    const decoder = decodeStream(context)
    decoder.push(finish('stop'))
    expect(decoder.push(JSON.stringify({ choices: [], usage })).map(({ type }) => type)).toEqual(['finish'])
    expect(decoder.end()).toEqual([])
  })

  it('ends without usage, without [DONE], and with [DONE] alone', () => {
    const frames = [delta({ content: 'a' }), finish('length')]
    expect(collect(decode(frames))).toMatchObject({ finish: { reason: 'length' }, usage: undefined })
    expect(decode([...frames, '[DONE]'])).toEqual(decode(frames))
    expect(collect(decode([delta({ content: 'a' }), '[DONE]'])).finish.reason).toBe('stop')
  })

  it('keeps the more specific of two finish reasons', () => {
    const call = delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }] })
    expect(collect(decode([call, finish('stop'), finish('length')])).finish).toMatchObject({
      reason: 'length',
    })
    expect(collect(decode([call, finish('content_filter'), finish('stop')])).finish.reason).toBe(
      'content_filter',
    )
  })

  it('is a refusal when the model refused', () => {
    expect(collect(decode([delta({ refusal: 'No.' }), finish('stop')]))).toMatchObject({
      blocks: [{ block: { type: 'refusal' }, text: 'No.' }],
      finish: { reason: 'refusal', upstreamReason: 'stop' },
    })
  })

  it.each<[string, string[], string]>([
    ['it is cut', [delta({ content: 'a' })], 'The upstream ended its answer before it was complete.'],
    ['it is empty', [], 'The upstream ended its answer before it was complete.'],
    ['[DONE] is all of it', ['[DONE]'], 'The upstream ended its answer before it was complete.'],
    ['a frame says so', [delta({ content: 'a' }), '{"error":{"message":"boom"}}'], 'boom'],
    ['a frame is an error', ['{"object":"error","message":"boom"}'], 'boom'],
    ['a frame is an array', ['[{"error":{"message":"boom"}}]'], 'boom'],
    [
      'the reason says so',
      [delta({ content: 'a' }), finish('insufficient_system_resource')],
      'insufficient_system',
    ],
    ['a frame is not JSON', [delta({ content: 'a' }), '{"choices":'], 'not JSON'],
  ])('ends with an error when %s', (_, frames, message) => {
    const last = decode(frames).at(-1)
    expect(last?.type === 'error' && last.error.message).toContain(message)
  })
})

function choice(delta: Json, reason: string | null = null): Json {
  return { id: 'x', model: 'y', choices: [{ index: 0, delta, finish_reason: reason }], usage: null }
}

function delta(members: Json): string {
  return JSON.stringify(choice(members))
}

function finish(reason: string): string {
  return JSON.stringify(choice({}, reason))
}

/** The events of the frames, checked against the grammar. */
function decode(frames: string[], tools?: ToolNames): ChatEvent[] {
  const decoder = new SseDecoder(
    decodeStream(tools === undefined ? context : { ...context, tools }),
    1024 * 1024,
  )
  const events = frames.flatMap((frame) => decoder.push(Buffer.from(`data: ${frame}\n\n`)))
  events.push(...decoder.end())
  expect(grammarFault(events)).toBeUndefined()
  return events
}

function decodeBytes(pieces: Buffer[]): ChatEvent[] {
  const decoder = new SseDecoder(decodeStream(context), 1024 * 1024)
  return [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()]
}

function recordedStream(name: string): Buffer {
  const lines = readFileSync(new URL(`../fixtures/openai-chat/${name}.chunks.txt`, import.meta.url), 'utf8')
  const frames = lines.split('\n').filter((line) => line !== '')
  return Buffer.from(`${frames.map((line) => `data: ${line}\n\n`).join('')}data: [DONE]\n\n`)
}

function recorded(name: string): Json {
  return JSON.parse(readFileSync(new URL(`../fixtures/openai-chat/${name}.json`, import.meta.url), 'utf8'))
}
