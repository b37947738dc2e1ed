import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { watchStream } from '../../src/protocols/openai-chat/watch-stream.ts'
import type { Observation, WatchOptions } from '../../src/protocols/protocol.ts'
import { seeded } from '../support/random.ts'

const frameBytesMax = 64 * 1024
const done = 'data: [DONE]\n\n'

const recordings = ['openai-text', 'deepseek-tool-call', 'azure-model-router.1'] as const

describe('a watched stream', () => {
  it('reads usage, finish reason and model of recorded streams', () => {
    const { usage, ...openai } = watch([recorded('openai-text')]).observation
    const counts = { input: 16, cacheRead: 0, cacheWrite: 0, output: 300, reasoning: 0 }
    expect(usage).toEqual({ ...counts, serviceTier: 'default' })
    expect(openai).toMatchObject({
      finishReason: 'stop',
      servedModel: 'gpt-4.1-nano-2025-04-14',
      error: undefined,
      complete: true,
    })
    expect(watch([recorded('deepseek-tool-call')]).observation).toMatchObject({
      usage: { input: 19, cacheRead: 320, cacheWrite: 0, output: 44, reasoning: 39 },
      finishReason: 'tool_calls',
      servedModel: 'deepseek-reasoner',
    })
    expect(watch([recorded('azure-model-router.1')]).observation).toMatchObject({
      usage: { input: 15, cacheRead: 0, cacheWrite: 0, output: 14, reasoning: 64 },
      finishReason: 'stop',
      servedModel: 'gpt-5-nano-2025-08-07',
    })
  })

  it('estimates the output of recorded streams, in case no usage comes', () => {
    // The upstream counted 300, and 83 including the tokens around a tool call, which no frame shows.
    expect(watch([recorded('openai-text')]).observation.outputTokensEstimate).toBe(301)
    expect(watch([recorded('deepseek-tool-call')]).observation.outputTokensEstimate).toBe(51)
  })

  it('estimates by the text if a frame carries many tokens', () => {
    const frames = Array.from({ length: 10 }, () =>
      contentFrame('four and twenty blackbirds baked in a pie '),
    )
    const { outputTokensEstimate } = watch([Buffer.from(frames.join(''))]).observation
    expect(outputTokensEstimate).toBe(105)
  })

  it('forwards the same chunk if it holds whole frames', () => {
    const watcher = watchStream({ dropUsageFrame: true, frameBytesMax })
    const chunk = Buffer.from(contentFrame('a') + contentFrame('b'))
    const { forward } = watcher.push(chunk)
    expect(forward).toHaveLength(1)
    expect(forward[0]).toBe(chunk)
  })

  it('holds an unfinished frame until it is whole', () => {
    const watcher = watchStream({ dropUsageFrame: false, frameBytesMax })
    const frame = contentFrame('a')
    const push = (text: string) => watcher.push(Buffer.from(text)).forward.map(String)
    expect(push(contentFrame('z') + frame.slice(0, 20))).toEqual([contentFrame('z')])
    expect(push(frame.slice(20, -1))).toEqual([])
    expect(push('\n')).toEqual([frame])
  })

  it('reports the first content and the end', () => {
    const watcher = watchStream({ dropUsageFrame: false, frameBytesMax })
    const push = (text: string) => {
      const { hasContent, terminal } = watcher.push(Buffer.from(text))
      return { hasContent, terminal }
    }
    expect(push(': ping\n\n')).toEqual({ hasContent: false, terminal: false })
    expect(
      push(frameOf({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] })),
    ).toMatchObject({
      hasContent: false,
    })
    expect(push(contentFrame('a'))).toEqual({ hasContent: true, terminal: false })
    expect(push(done)).toEqual({ hasContent: true, terminal: true })
  })

  it.each([
    { content: 'a' },
    { refusal: 'no' },
    { reasoning: 'hm' },
    { reasoning_content: 'hm' },
    { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '' } }] },
    { audio: { data: 'AAAA' } },
    { content: [{ type: 'thinking', thinking: 'hm' }] },
  ])('counts %j as content', (delta) => {
    const { hasContent } = watchStream({ dropUsageFrame: false, frameBytesMax }).push(
      Buffer.from(frameOf({ choices: [{ index: 0, delta, finish_reason: null }] })),
    )
    expect(hasContent).toBe(true)
  })
})

describe('the usage frame', () => {
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
  const head = contentFrame('a') + contentFrame('b')
  const finish = frameOf({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null })
  const counts = { input: 5, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 }

  it.each([
    ['compact', frameOf({ choices: [], usage })],
    ['spaced', `data: ${JSON.stringify({ id: 'c', choices: [], usage }, null, 1).replaceAll('\n', '')}\n\n`],
    ['usage first', frameOf({ usage, object: 'x', choices: [] })],
    ['without a space after the colon', frameOf({ choices: [], usage }).replace('data: ', 'data:')],
  ])('is hidden from a client that did not ask, and counts: %s', (_, frame) => {
    for (const chunks of [
      [head + finish + frame + done],
      [head, finish, frame, done],
      [head + finish, frame + done],
    ]) {
      const watched = watch(
        chunks.map((text) => Buffer.from(text)),
        { dropUsageFrame: true },
      )
      expect(watched.forwarded).toBe(head + finish + done)
      expect(watched.observation).toMatchObject({ usage: counts, finishReason: 'stop', complete: true })
      expect(watch([Buffer.from(chunks.join(''))]).forwarded).toBe(head + finish + frame + done)
    }
  })

  it('is removed completely, with its line ends', () => {
    const crlf = (text: string) => text.replaceAll('\n', '\r\n')
    const stream = crlf(head + finish + frameOf({ choices: [], usage }) + done)
    expect(watch([Buffer.from(stream)], { dropUsageFrame: true }).forwarded).toBe(crlf(head + finish + done))
  })

  it('is the only frame that is removed: an empty list of choices alone does not make one', () => {
    const lines = recorded('azure-model-router.1')
      .toString()
      .split(/(?<=\n\n)/)
    const watched = watch([recorded('azure-model-router.1')], { dropUsageFrame: true })
    expect(watched.forwarded).toBe(lines.filter((line) => !line.includes('"usage":{')).join(''))
    expect(watched.forwarded).toMatch(/^data: {"choices":\[\]/)
  })

  it('is recognised by its shape, not by text that looks like it', () => {
    const text = contentFrame('{"choices":[],"usage":{"prompt_tokens":99}} data: [DONE]\n\n')
    const watched = watch([Buffer.from(head + text + finish + done)], { dropUsageFrame: true })
    expect(watched.forwarded).toBe(head + text + finish + done)
    expect(watched.observation.usage).toBeUndefined()
  })

  it('stays if it also carries choices', () => {
    const last = frameOf({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })
    const watched = watch([Buffer.from(head + last + done)], { dropUsageFrame: true })
    expect(watched.forwarded).toBe(head + last + done)
    expect(watched.observation.usage).toEqual(counts)
  })

  it('is the last one if every frame carries usage', () => {
    const frames = [1, 2, 3].map((completion_tokens) =>
      frameOf({
        choices: [
          { index: 0, delta: { content: 'x' }, finish_reason: completion_tokens === 3 ? 'stop' : null },
        ],
        usage: { prompt_tokens: 5, completion_tokens },
      }),
    )
    expect(watch([Buffer.from(frames.join('') + done)]).observation.usage).toMatchObject({
      input: 5,
      output: 3,
    })
  })

  it('is dropped at the end of a stream that stops without a blank line', () => {
    const frame = frameOf({ choices: [], usage }).trimEnd()
    const watched = watch([Buffer.from(head + finish + frame)], { dropUsageFrame: true })
    expect(watched.forwarded).toBe(head + finish)
    expect(watched.observation.usage).toEqual(counts)
  })
})

describe('streams that end badly', () => {
  it('reports an error inside the stream, and forwards it unchanged', () => {
    const error = frameOf({ error: { message: 'Overloaded, sorry', type: 'overloaded_error', code: 529 } })
    const watched = watch([Buffer.from(contentFrame('a') + error)])
    expect(watched.forwarded).toBe(contentFrame('a') + error)
    expect(watched.observation.complete).toBe(false)
    expect(watched.observation.error).toMatchObject({ kind: 'upstream_overloaded', fault: 'upstream' })
    expect(watched.observation.error?.message).toMatch(/Overloaded, sorry/)
  })

  it('finds an error that a router puts into a frame with choices', () => {
    const choices = [{ index: 0, delta: { content: '' }, finish_reason: 'error' }]
    const error = frameOf({ error: { message: 'gone', code: 502 }, choices })
    expect(watch([Buffer.from(contentFrame('a') + error)]).observation.error?.kind).toBe('upstream_error')
  })

  it('is not complete when it was cut, and is complete when only [DONE] is missing', () => {
    const finish = frameOf({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }] })
    expect(watch([Buffer.from(contentFrame('a'))]).observation).toMatchObject({
      complete: false,
      finishReason: undefined,
      outputTokensEstimate: 1,
    })
    expect(watch([Buffer.from(contentFrame('a') + finish)]).observation).toMatchObject({
      complete: true,
      finishReason: 'length',
    })
  })

  it('is not complete while another choice goes on after a finish reason', () => {
    const finish = frameOf({ choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] })
    const cut = contentFrame('a') + finish + contentFrame('b')
    expect(watch([Buffer.from(cut)]).observation.complete).toBe(false)
  })

  it('forwards a frame that is too large to hold, and watches the frames after it', () => {
    const large = frameOf({
      choices: [{ index: 0, delta: { content: 'x'.repeat(5000) }, finish_reason: 'length' }],
    })
    const stream = Buffer.from(contentFrame('a') + large + contentFrame('b') + done)
    const whole = watch([stream], { frameBytesMax: 1000 })
    for (const size of [1, 7, 300, 1500, 4000]) {
      const pieces = chunksOf(stream, size)
      const watcher = watchStream({ dropUsageFrame: true, frameBytesMax: 1000 })
      let heldMost = 0
      let seen = 0
      let passed = 0
      for (const piece of pieces) {
        seen += piece.length
        passed += sizeOf(watcher.push(piece).forward)
        heldMost = Math.max(heldMost, seen - passed)
      }
      expect(heldMost).toBeLessThanOrEqual(1000)
      expect(passed).toBe(stream.length)
      expect(watcher.observe()).toEqual(whole.observation)
    }
    expect(whole.observation.complete).toBe(true)
  })

  it('never throws and holds little, whatever comes', () => {
    const random = seeded(3)
    const parts = [
      'data: ',
      'data:',
      '\n',
      '\r',
      '\r\n',
      '\n\n',
      '{"choices":[',
      ']}',
      '{"error":',
      '"usage":{',
      '[DONE]',
      '\uFEFF',
      ': ping',
      'null',
      '\u0000',
      '{"choices":[{"delta":{"content":"x"}}]}',
      contentFrame('y'),
      done,
    ]
    const watcher = watchStream({ dropUsageFrame: true, frameBytesMax: 2000 })
    let seen = 0
    let passed = 0
    for (let round = 0; round < 100_000; round++) {
      const bytes =
        random.next() < 0.1
          ? Buffer.from(Array.from({ length: random.upTo(20) }, () => random.upTo(255)))
          : Buffer.from(random.pick(parts))
      seen += bytes.length
      passed += sizeOf(watcher.push(bytes).forward)
      if (round % 1000 === 0) watcher.observe()
      // Not counting dropped frames, at most one frame is held.
      expect(passed).toBeLessThanOrEqual(seen)
    }
    passed += watcher.end()?.length ?? 0
    expect(watcher.observe().complete).toBe(true)
    expect(passed).toBeGreaterThan(seen * 0.9)
  })
})

describe('any split of the bytes', () => {
  const small = [
    contentFrame('h') + contentFrame('ä😀') + done,
    `${contentFrame('h')}: ping\n\n\n\nevent: x\n${contentFrame('i')}${frameOf({
      choices: [],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    })}${done}`,
    `\uFEFF${contentFrame('h')}data: {"choices":[],\ndata: "usage":{"prompt_tokens":3,"completion_tokens":4}}\n\n${done}tail`,
  ]
  const lineEnds = [
    ['LF', '\n'],
    ['CRLF', '\r\n'],
    ['CR', '\r'],
  ] as const

  it.each(lineEnds)('gives the same for short streams with %s, cut in two and three', (_, lineEnd) => {
    for (const text of small) {
      const stream = Buffer.from(text.replaceAll('\n', lineEnd))
      for (const dropUsageFrame of [true, false]) {
        const whole = watch([stream], { dropUsageFrame })
        if (!dropUsageFrame) expect(whole.forwarded).toBe(stream.toString())
        for (let first = 0; first <= stream.length; first++) {
          const second = Math.min(stream.length, first + 1 + (first % 5))
          const pieces = [stream.subarray(0, first), stream.subarray(first, second), stream.subarray(second)]
          expect(watch(pieces, { dropUsageFrame })).toEqual(whole)
        }
        expect(watch(chunksOf(stream, 1), { dropUsageFrame })).toEqual(whole)
      }
    }
  })

  it('gives the same for line ends that mix within a frame', () => {
    const stream = Buffer.from(
      small.join('').replace(/\n/g, (_, at: number) => ['\n', '\r\n', '\r'][at % 3] ?? '\n'),
    )
    const whole = watch([stream], { dropUsageFrame: true })
    for (let first = 0; first <= stream.length; first++) {
      expect(watch([stream.subarray(0, first), stream.subarray(first)], { dropUsageFrame: true })).toEqual(
        whole,
      )
    }
  })

  it.each(recordings)('gives the same for %s', (name) => {
    const random = seeded(5)
    for (const lineEnd of ['\n', '\r\n']) {
      const stream = Buffer.from(recorded(name).toString().replaceAll('\n', lineEnd))
      for (const dropUsageFrame of [true, false]) {
        const whole = watch([stream], { dropUsageFrame })
        expect(watch(chunksOf(stream, 1), { dropUsageFrame })).toEqual(whole)
        for (let round = 0; round < 40; round++) {
          const most = random.pick([3, 50, 400, 3000, 20_000])
          expect(watch(random.split(stream, most), { dropUsageFrame })).toEqual(whole)
        }
        if (!dropUsageFrame) expect(whole.forwarded).toBe(stream.toString())
      }
    }
  })
})

function watch(
  chunks: Buffer[],
  options: Partial<WatchOptions> = {},
): { forwarded: string; observation: Observation } {
  const watcher = watchStream({ dropUsageFrame: false, frameBytesMax, ...options })
  const forwarded: Buffer[] = []
  for (const chunk of chunks) {
    const { forward } = watcher.push(chunk)
    forwarded.push(...forward)
  }
  const last = watcher.end()
  if (last) forwarded.push(last)
  return { forwarded: Buffer.concat(forwarded).toString(), observation: watcher.observe() }
}

function recorded(name: (typeof recordings)[number]): Buffer {
  const file = new URL(`../fixtures/openai-chat/${name}.chunks.txt`, import.meta.url)
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  return Buffer.from(lines.map((line) => `data: ${line}\n\n`).join('') + done)
}

function contentFrame(content: string): string {
  const choices = [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }]
  return frameOf({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model: 'm-1', choices, usage: null })
}

function frameOf(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}

function sizeOf(pieces: Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}

function chunksOf(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
  return chunks
}
