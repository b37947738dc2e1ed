import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { ChatEvent } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import { collect } from '../../src/protocols/collect.ts'
import { SseDecoder } from '../../src/protocols/decode-sse.ts'
import { decodeResponse, decodeStream } from '../../src/protocols/gemini/decode-answer.ts'
import { nameRules, readUsage } from '../../src/protocols/gemini/wire.ts'
import { ToolNames } from '../../src/protocols/tool-names.ts'
import { errorOfKind } from '../support/error-of-kind.ts'
import { seeded } from '../support/random.ts'
import { grammarFault } from './grammar.ts'
import { randomJson } from './random-json.ts'

const context = { upstreamModel: 'gemini-3-pro-preview' }
const fixture = (name: string) =>
  readFileSync(new URL(`../fixtures/gemini/${name}`, import.meta.url), 'utf8').trim()
const whole = (name: string): Json => JSON.parse(fixture(`${name}.json`))
const chunks = (name: string) => fixture(`${name}.chunks.txt`).split('\n')

function streamed(lines: readonly string[], split: (bytes: Buffer) => Buffer[] = (bytes) => [bytes]) {
  const decoder = new SseDecoder(decodeStream(context), 1_000_000)
  const bytes = Buffer.from(lines.map((line) => `data: ${line}\n\n`).join(''))
  return [...split(bytes).flatMap((piece) => decoder.push(piece)), ...decoder.end()]
}

const answer = (candidate: Json, more: Json = {}): Json => ({
  candidates: [{ index: 0, ...candidate }],
  responseId: 'r1',
  modelVersion: 'm',
  ...more,
})
const parts = (...list: Json[]) => ({ content: { role: 'model', parts: list } })
const stop = { finishReason: 'STOP' }
const decoded = (...list: Json[]) => collect(decodeResponse(answer({ ...parts(...list), ...stop }), context))

describe('recorded answers', () => {
  it('give text, signature, usage and end', () => {
    const text = collect(decodeResponse(whole('google-text'), context))
    expect(text).toMatchObject({ id: 'Un6LacrVMcjUxs0PmJfWoQc', model: 'gemini-3-pro-preview' })
    expect(text.finish).toMatchObject({ reason: 'stop', upstreamReason: 'STOP' })
    expect(text.usage).toEqual({ input: 9, cacheRead: 0, cacheWrite: 0, output: 28, reasoning: 244 })
    expect(text.blocks.map(({ block, text }) => [block.type, text.length])).toEqual([
      ['reasoning', 0],
      ['text', 78],
    ])
    expect(text.blocks[0]?.signature).toMatchObject({
      protocol: 'gemini',
      model: 'gemini-3-pro-preview',
      kind: 'encrypted',
      value: expect.stringMatching(/^EtoFCtcF/),
    })
  })

  it('put the signature of a call before the call, and end with tool_calls where the vendor says STOP', () => {
    for (const events of [
      decodeResponse(whole('google-tool-call'), context),
      streamed(chunks('google-tool-call')),
    ]) {
      const { blocks, finish } = collect(events)
      const call = blocks[1]?.block
      expect(call).toMatchObject({ type: 'tool-call', name: 'weather', kind: 'function' })
      expect(blocks[1]?.text).toBe('{"location":"San Francisco"}')
      const id = call?.type === 'tool-call' ? call.id : ''
      expect(id).toMatch(/^call_[0-9a-f]{24}$/)
      expect(blocks[0]).toMatchObject({ block: { type: 'reasoning' }, text: '', signature: { id } })
      expect(blocks).toHaveLength(2)
      expect(finish).toMatchObject({ reason: 'tool_calls', upstreamReason: 'STOP' })
    }
  })

  it('end a text stream with the signature in a block of its own', () => {
    const { blocks, usage } = collect(streamed(chunks('google-reasoning')))
    expect(blocks.map(({ block }) => block.type)).toEqual(['text', 'reasoning'])
    expect(blocks[0]?.text).toBe(
      'There are **3** "r"s in strawberry.\n\nHere is the breakdown: st**r**awbe**rr**y.',
    )
    expect(blocks[1]?.signature?.value).toMatch(/^Eo0HCooHAb4/)
    expect(usage).toMatchObject({ input: 9, output: 29, reasoning: 256 })
  })

  it('give the same events however the bytes are split', () => {
    const random = seeded(5)
    for (const name of ['google-text', 'google-tool-call', 'google-reasoning']) {
      const expected = streamed(chunks(name))
      expect(grammarFault(expected)).toBeUndefined()
      const bytes = Buffer.from(
        chunks(name)
          .map((line) => `data: ${line}\n\n`)
          .join(''),
      )
      for (let at = 0; at <= bytes.length; at++) {
        const cut = (all: Buffer) => [all.subarray(0, at), all.subarray(at)]
        expect(streamed(chunks(name), cut), `${name} split at ${at}`).toEqual(expected)
      }
      for (let round = 0; round < 20; round++) {
        expect(streamed(chunks(name), (all) => random.split(all, 9))).toEqual(expected)
      }
    }
  })
})

describe('parts', () => {
  it('keep thoughts apart from text, and a signature with its thought', () => {
    const { blocks } = decoded(
      { text: 'I think', thought: true, thoughtSignature: 'c2ln' },
      { text: 'Hello' },
    )
    expect(blocks).toMatchObject([
      {
        block: { type: 'reasoning', summary: true },
        text: 'I think',
        signature: { kind: 'signature', value: 'c2ln' },
      },
      { block: { type: 'text' }, text: 'Hello' },
    ])
  })

  it('make no block without text or signature', () => {
    expect(decoded({ text: '' }, { text: '', thought: true }, { executableCode: {} }, {}).blocks).toEqual([])
  })

  it('never join the text of a signed part with text before it', () => {
    const { blocks } = decoded({ text: 'one' }, { text: 'two', thoughtSignature: 'c2ln' })
    expect(blocks.map(({ block, text, signature }) => [block.type, text, signature?.value])).toEqual([
      ['text', 'one', undefined],
      ['reasoning', '', 'c2ln'],
      ['text', 'two', undefined],
    ])
  })

  it('give every call an id that is unique and legal in every format', () => {
    const call = (more: Json) => ({ functionCall: { name: 'f', args: {}, ...more } })
    const { blocks } = decoded(
      call({ id: 'a' }),
      call({ id: 'a' }),
      call({}),
      call({}),
      call({ id: 'x/'.repeat(40) }),
    )
    const ids = blocks.map(({ block }) => (block.type === 'tool-call' ? block.id : ''))
    expect(ids[0]).toBe('a')
    expect(new Set(ids).size).toBe(5)
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/)
    expect(blocks.every(({ text }) => text === '{}')).toBe(true)
  })

  it('restore the names and the free text of the client’s own tools', () => {
    const tools = new ToolNames(nameRules)
    tools.wireName({ name: 'apply_patch', namespace: 'edit', kind: 'custom' }, 'tools[0]')
    const part = { functionCall: { name: 'edit__apply_patch', args: { input: '*** Begin' } } }
    const { blocks } = collect(decodeResponse(answer({ ...parts(part), ...stop }), { ...context, tools }))
    expect(blocks[0]).toMatchObject({
      block: { type: 'tool-call', name: 'apply_patch', namespace: 'edit', kind: 'custom' },
      text: '*** Begin',
    })
  })

  it('are refused if no answer can carry them', () => {
    const image = answer({ ...parts({ inlineData: { mimeType: 'image/png', data: 'AA==' } }), ...stop })
    expect(() => decodeResponse(image, context)).toThrow(/image\/png, which cannot be translated/)
    expect(() =>
      decodeResponse(answer({ ...parts({ functionCall: { args: {} } }), ...stop }), context),
    ).toThrow(/without a name/)
  })

  it('become sources of the text beside them, each once', () => {
    const grounding = {
      groundingChunks: [{ web: { uri: 'https://a.example/', title: 'A' } }, {}],
      groundingSupports: [
        { segment: { endIndex: 5, text: 'Hello' }, groundingChunkIndices: [0, 1, 9] },
        { segment: { endIndex: 5, text: 'Hello' }, groundingChunkIndices: [0] },
      ],
    }
    const cited = (text: string) =>
      collect(
        decodeResponse(
          answer({
            ...parts({ text }, { text: '', thoughtSignature: 'c2ln' }),
            ...stop,
            groundingMetadata: grounding,
          }),
          context,
        ),
      ).blocks[0]?.citations
    const source = { type: 'citation', url: 'https://a.example/', title: 'A' }
    expect(cited('Hello there')).toEqual([{ ...source, start: 0, end: 5 }])
    // These are other words than the vendor means.
    expect(cited('Hällo there')).toEqual([source])
    expect(cited('Oh, Hello there')).toEqual([{ ...source, start: 4, end: 9 }])
    const recited = { citationSources: [{ startIndex: 2, endIndex: 4, uri: 'https://b.example/' }] }
    const events = decodeResponse(
      answer({ ...parts({ text: 'abcdef' }), ...stop, citationMetadata: recited }),
      context,
    )
    expect(collect(events).blocks[0]?.citations).toMatchObject([
      { url: 'https://b.example/', start: 2, end: 4 },
    ])
    // The vendor counts bytes of UTF-8, and the other formats count code units of UTF-16.
    const inBytes = { citationSources: [{ startIndex: 3, endIndex: 8, uri: 'https://b.example/' }] }
    const wide = answer({ ...parts({ text: 'aé😀bc' }), ...stop, citationMetadata: inBytes })
    expect(collect(decodeResponse(wide, context)).blocks[0]?.citations).toMatchObject([{ start: 2, end: 5 }])
  })
})

describe('ends', () => {
  const reasonOf = (finishReason: string, ...list: Json[]) =>
    collect(decodeResponse(answer({ ...parts(...list), finishReason }), context)).finish.reason

  it('mean what the table of reasons says', () => {
    const text = { text: 'Hi' }
    expect(reasonOf('STOP', text)).toBe('stop')
    expect(reasonOf('STOP')).toBe('stop')
    expect(reasonOf('MAX_TOKENS', text)).toBe('length')
    expect(reasonOf('STOP', text, { functionCall: { name: 'f' } })).toBe('tool_calls')
    for (const reason of ['SAFETY', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'RECITATION']) {
      expect(reasonOf(reason)).toBe('content_filter')
    }
    expect(reasonOf('A_NEW_REASON', text)).toBe('stop')
  })

  it('are errors if the model broke off', () => {
    expect(() => reasonOf('MALFORMED_FUNCTION_CALL')).toThrow(
      /aborted its answer with MALFORMED_FUNCTION_CALL/,
    )
    expect(() => reasonOf('OTHER')).toThrow(GatewayError)
    const lines = [
      JSON.stringify(answer({ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'print(x)' })),
    ]
    expect(streamed(lines).at(-1)).toMatchObject({
      type: 'error',
      error: { kind: 'upstream_error', message: expect.stringContaining('print(x)') },
    })
  })

  it('of a blocked prompt are content_filter, with the usage that is billed', () => {
    const blocked = {
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
      usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
      modelVersion: 'gemini-3.7-flash',
    }
    for (const events of [decodeResponse(blocked, context), streamed([JSON.stringify(blocked)])]) {
      expect(collect(events)).toMatchObject({
        blocks: [],
        finish: { reason: 'content_filter', upstreamReason: 'PROHIBITED_CONTENT' },
        usage: { input: 9, output: 0 },
      })
    }
  })

  it('of a stream without a reason are errors, wherever it is cut', () => {
    const lines = chunks('google-text')
    for (let count = 0; count < lines.length; count++) {
      const last = streamed(lines.slice(0, count)).at(-1)
      expect(last).toMatchObject({ type: 'error', error: { kind: 'upstream_error' } })
    }
    expect(() => decodeResponse({}, context)).toThrow(/no answer in the Gemini format/)
  })

  it('wait for usage that comes after the reason', () => {
    const lines = [
      answer({ ...parts({ text: 'Hi' }), ...stop }),
      { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 } },
    ]
    expect(collect(streamed(lines.map((line) => JSON.stringify(line)))).usage).toMatchObject({
      input: 3,
      output: 2,
    })
  })

  it('report an error inside a stream', () => {
    const error = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }
    const events = streamed([JSON.stringify(answer(parts({ text: 'Hi' }))), JSON.stringify(error)])
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { kind: 'upstream_overloaded' } })
    expect(() => decodeResponse(error, context)).toThrow(/overloaded/)
  })
})

describe('usage', () => {
  it('counts each token once: cached tokens in the prompt, tool use beside it, thoughts beside the answer', () => {
    const metadata = {
      promptTokenCount: 55,
      cachedContentTokenCount: 40,
      toolUsePromptTokenCount: 89,
      candidatesTokenCount: 51,
      thoughtsTokenCount: 56,
      totalTokenCount: 251,
    }
    const usage = readUsage(metadata)
    expect(usage).toEqual({ input: 104, cacheRead: 40, cacheWrite: 0, output: 51, reasoning: 56 })
    expect(Object.values(usage ?? {}).reduce((sum, count) => sum + count, 0)).toBe(metadata.totalTokenCount)
    expect(
      readUsage({ promptTokenCount: 2, cachedContentTokenCount: 9, candidatesTokenCount: 1 }),
    ).toMatchObject({
      input: 0,
      cacheRead: 2,
    })
    for (const none of [undefined, null, {}, { promptTokenCount: -1 }, { promptTokenCount: 0 }, 'x']) {
      expect(readUsage(none)).toBeUndefined()
    }
  })
})

describe('any input', () => {
  it('gives events of the grammar or a GatewayError', () => {
    const random = seeded(11)
    const member = () =>
      random.pick<() => string>([
        () => `"text":${randomJson(random, 4)}`,
        () => '"text":"Hi"',
        () => '"thought":true',
        () => '"thoughtSignature":"c2ln"',
        () =>
          `"functionCall":{"name":"f","id":${random.pick(['"a"', '1', 'null'])},"args":${randomJson(random, 3)}}`,
        () => '"functionCall":{}',
        () => '"inlineData":{"mimeType":1}',
      ])()
    const part = () => `{${member()},${member()}}`
    const line = (): string =>
      random.pick<() => string>([
        () => randomJson(random),
        () => `{"candidates":[{"content":{"parts":[${part()},${part()}]}}]}`,
        () =>
          `{"candidates":[{"content":{"parts":[${part()}]},"finishReason":"STOP"}],"usageMetadata":${randomJson(random, 2)}}`,
        () =>
          `{"candidates":[{"finishReason":${randomJson(random, 4)},"groundingMetadata":${randomJson(random, 1)}}]}`,
        () => `{"promptFeedback":${randomJson(random, 2)}}`,
        () => `{"error":${randomJson(random, 2)}}`,
        () => '{"candidates":[',
        () => '[DONE]',
      ])()
    let events: ChatEvent[] = []
    for (let round = 0; round < 20_000; round++) {
      const lines = Array.from({ length: random.upTo(4) }, line)
      const decoder = decodeStream(context)
      events = []
      try {
        for (const data of lines) if (events.at(-1)?.type !== 'error') events.push(...decoder.push(data))
        if (events.at(-1)?.type !== 'error') events.push(...decoder.end())
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError)
        events.push({ type: 'error', error: errorOfKind('upstream_error', 'x') })
      }
      expect(grammarFault(events), lines.join('\n')).toBeUndefined()
      for (const data of lines) {
        try {
          const value: unknown = JSON.parse(data)
          if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
            expect(grammarFault(decodeResponse(value as Json, context))).toBeUndefined()
          }
        } catch (error) {
          if (!(error instanceof SyntaxError)) expect(error).toBeInstanceOf(GatewayError)
        }
      }
    }
  })

  it('survives arguments nested deeper than can be written', () => {
    const deep = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`
    const line = `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${deep}}}]},"finishReason":"STOP"}]}`
    expect(streamed([line]).at(-1)).toMatchObject({ type: 'error', error: { kind: 'upstream_error' } })
  })
})
