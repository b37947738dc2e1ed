import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { watchResponse } from '../../src/protocols/openai-chat/watch-response.ts'
import { readUsage } from '../../src/protocols/openai-chat/wire.ts'

const fixture = (name: string) =>
  readFileSync(new URL(`../fixtures/openai-chat/${name}.json`, import.meta.url))

describe('watchResponse', () => {
  it('reads recorded answers', () => {
    expect(watchResponse(fixture('openai-text'))).toMatchObject({
      usage: { input: 16, cacheRead: 0, cacheWrite: 0, output: 363, reasoning: 0 },
      finishReason: 'stop',
      servedModel: 'gpt-4.1-nano-2025-04-14',
      complete: true,
    })
    expect(watchResponse(fixture('deepseek-tool-call'))).toMatchObject({
      usage: { input: 19, cacheRead: 320, cacheWrite: 0, output: 44, reasoning: 48 },
      finishReason: 'tool_calls',
      complete: true,
    })
    expect(watchResponse(fixture('deepseek-reasoning')).usage).toMatchObject({ output: 30, reasoning: 315 })
  })

  it('is not complete for a body that was cut at any place', () => {
    const body = fixture('deepseek-tool-call')
    const textEnd = body.toString().trimEnd().length
    for (let at = 0; at < textEnd; at++) expect(watchResponse(body.subarray(0, at)).complete).toBe(false)
    expect(watchResponse(Buffer.from('<html>')).complete).toBe(false)
  })

  it('is not misled by text that looks like usage', () => {
    const choices = [{ message: { content: '"usage":{"prompt_tokens":9}', usage: { prompt_tokens: 9 } } }]
    const body = Buffer.from(JSON.stringify({ choices, model: 'm' }))
    expect(watchResponse(body)).toMatchObject({ usage: undefined, complete: true })
  })

  it('finds an error inside an answer of status 200', () => {
    const body = Buffer.from('{"error":{"message":"slow down","code":429}}')
    expect(watchResponse(body).error?.kind).toBe('rate_limited')
  })

  it('observes the same in an answer of any size', () => {
    const answers = [
      fixture('openai-text').toString(),
      '{"choices":[{"message":{"content":"twelve bytes"},"finish_reason":"length"}],"model":"m"}',
      '{"choices":null,"usage":{"prompt_tokens":1,"completion_tokens":2}}',
      '{"choices":[null],"usage":{"prompt_tokens":1,"completion_tokens":2}}',
      '{"choices":[{"finish_reason":""},{"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}',
      '{"error":{"message":"slow down"},"usage":{"prompt_tokens":1,"completion_tokens":2},"model":""}',
      '[]',
    ]
    for (const answer of answers) {
      const small = watchResponse(Buffer.from(answer))
      const { outputTokensEstimate, ...rest } = watchResponse(Buffer.from(answer + ' '.repeat(20_000)))
      expect(small).toMatchObject(rest)
      expect(small.outputTokensEstimate).toBe(small.usage && small.complete ? 0 : outputTokensEstimate)
    }
  })

  it('reads an answer of megabytes', () => {
    const message = { content: null, audio: { data: 'A'.repeat(3_000_000) } }
    const body = Buffer.from(
      JSON.stringify({
        choices: [{ message, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 2 },
      }),
    )
    expect(watchResponse(body)).toMatchObject({
      usage: { input: 1, output: 2 },
      finishReason: 'stop',
      complete: true,
    })
  })
})

describe('readUsage', () => {
  it.each([
    [
      'cached and written tokens are part of the prompt',
      {
        prompt_tokens: 10,
        completion_tokens: 4,
        prompt_tokens_details: { cached_tokens: 6, cache_write_tokens: 3 },
      },
      { input: 1, cacheRead: 6, cacheWrite: 3, output: 4, reasoning: 0 },
    ],
    [
      'parts larger than the whole never make a negative count',
      {
        prompt_tokens: 5,
        completion_tokens: 4,
        prompt_tokens_details: { cached_tokens: 9, cache_write_tokens: 9 },
        completion_tokens_details: { reasoning_tokens: 9 },
      },
      { input: 0, cacheRead: 5, cacheWrite: 0, output: 0, reasoning: 4 },
    ],
    [
      'reasoning beside the completion, as the total shows',
      {
        prompt_tokens: 5,
        completion_tokens: 4,
        total_tokens: 109,
        completion_tokens_details: { reasoning_tokens: 100 },
      },
      { input: 5, cacheRead: 0, cacheWrite: 0, output: 4, reasoning: 100 },
    ],
    [
      'a missing part follows from the total',
      { prompt_tokens: 5, total_tokens: 9 },
      { input: 5, cacheRead: 0, cacheWrite: 0, output: 4, reasoning: 0 },
    ],
  ])('%s', (_, usage, expected) => {
    expect(readUsage(usage)).toEqual(expected)
  })

  it.each([
    null,
    5,
    {},
    { prompt_tokens: -1, completion_tokens: 2 },
    { prompt_tokens: 1.5, completion_tokens: 2 },
    { prompt_tokens: '1', completion_tokens: '2' },
    { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  ])('finds no usage in %j', (usage) => {
    expect(readUsage(usage)).toBeUndefined()
  })
})
