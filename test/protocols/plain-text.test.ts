import { expect, test } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import { decodeStream as decodeMessages } from '../../src/protocols/anthropic-messages/decode-answer.ts'
import { decodeStream as decodeChat, plainText } from '../../src/protocols/openai-chat/decode-stream.ts'
import { seeded } from '../support/random.ts'
import { randomJson, randomString } from './random-json.ts'

const start = '{"id":"1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"x"}}]}'

/** The events after the first frame. */
function chatEvents(frame: string): ChatEvent[] | string {
  const decoder = decodeChat({ upstreamModel: 'm' })
  decoder.push(start)
  try {
    return decoder.push(frame)
  } catch (error) {
    return String(error)
  }
}

test('the frames of the vendors are read without parsing', () => {
  const frames = [
    '{"id":"1","object":"chat.completion.chunk","created":1,"model":"m","service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":" a"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"xY"}',
    '{"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": {"content": " a"}, "logprobs": null, "finish_reason": null}]}',
    '{"choices":[{"delta":{"role":"assistant","content":" a","reasoning_content":null},"finish_reason":null,"index":0}],"created":1.5}',
  ]
  for (const frame of frames) expect(plainText(frame)).toBe(' a')
  expect(plainText(start.replace('"x"', '"\\u0041\\n\\"😀"'))).toBe('A\n"😀')
})

test('a frame that has, or may have, more than text is not plain', () => {
  const frame = (members: string, inChoice = '', inDelta = '') =>
    `{${members}"choices":[{"index":0,${inChoice}"delta":{${inDelta}"content":"a"}}]}`
  expect(plainText(frame('"x":1,', '"y":null,', '"z":null,'))).toBe('a')
  for (const more of [
    frame('"error":"e",'),
    frame('"object":"error",'),
    frame('"usage":{"prompt_tokens":1},'),
    frame('"choices":null,'),
    frame('"\\u0065rror":"e",'),
    frame('', '"finish_reason":"stop",'),
    frame('', '"error":"e",'),
    frame('', '"delta":null,'),
    frame('', '', '"content":null,'),
    frame('', '', '"refusal":"no",'),
    frame('', '', '"tool_calls":[],'),
    frame('').replace('"index":0', '"index":1'),
    frame('').replace('}]}', '},{"index":1}]}'),
    frame('"x":1.2.3,'),
    frame('"x":"\n",'),
    frame('').replace('"a"', '"a\u0001"'),
    frame('').slice(0, -1),
    `${frame('')}}`,
  ]) {
    expect(plainText(more), more).toBeUndefined()
  }
})

test('reading without parsing gives the same as parsing', () => {
  const random = seeded(51)
  let plain = 0
  for (let round = 0; round < 20_000; round++) {
    const value = () => (random.next() < 0.7 ? random.pick(['null', '0', '"s"', 'true']) : randomJson(random))
    const name = () =>
      random.pick([
        'id',
        'object',
        'error',
        'usage',
        'choices',
        'delta',
        'content',
        'index',
        'role',
        'refusal',
      ])
    const some = (most: number) =>
      Array.from({ length: random.upTo(most) }, () => `"${name()}":${value()}`).join(',')
    const join = (...members: string[]) => `{${members.filter((text) => text !== '').join(',')}}`
    const delta = join(some(1), `"content":${randomString(random)}`, some(1))
    const choice = join(random.pick(['', '"index":0', some(1)]), `"delta":${delta}`, some(1))
    const frame = join(some(2), `"choices":[${choice}]`, some(1))
    const text = plainText(frame)
    if (text === undefined) continue
    plain++
    // JSON ignores blanks at the end, but a frame with them is not plain.
    expect(chatEvents(`${frame}  `), frame).toEqual(chatEvents(frame))
  }
  expect(plain).toBeGreaterThan(1000)
})

test('a text delta of the Messages format gives the same without parsing', () => {
  const random = seeded(52)
  for (let round = 0; round < 3000; round++) {
    const decoded = (delta: string) => {
      const decoder = decodeMessages({ upstreamModel: 'm' })
      decoder.push('{"type":"message_start","message":{"id":"1","model":"m"}}')
      decoder.push('{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}')
      return decoder.push(delta)
    }
    const body = `"delta":{"type":"text_delta","text":${randomString(random)}}`
    const plain = `{"type":"content_block_delta","index":0,${body}   }`
    expect(decoded(plain), plain).toEqual(decoded(`{"index":0,"type":"content_block_delta",${body}}`))
  }
})
