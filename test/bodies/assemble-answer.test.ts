import { expect, test } from 'vitest'
import type { ClientAnswerFormat } from '../../src/bodies/answer-choices.ts'
import { assembleAnswer } from '../../src/bodies/assemble-answer.ts'
import type { ChatEvent } from '../../src/canonical/event.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide } from '../../src/protocols/index.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'
import { seeded } from '../support/random.ts'

const redaction = { key: Buffer.alloc(32, 9) }
const token = 'tg-a-key-of-the-client-000001'
const formats: ProtocolName[] = ['openai-chat', 'openai-responses', 'anthropic-messages']

/** A thought, a text, two calls whose inputs come in turns, and the end. */
const events: ChatEvent[] = [
  { type: 'start', id: 'answer_1', model: 'm', usage: undefined },
  { type: 'block-start', index: 0, block: { type: 'reasoning', summary: true } },
  ...texts(0, ['First I ', 'look it up.']),
  { type: 'block-end', index: 0 },
  { type: 'block-start', index: 1, block: { type: 'text' } },
  ...texts(1, ['Hello ', 'wörld 🌍', '.']),
  { type: 'block-end', index: 1 },
  {
    type: 'block-start',
    index: 2,
    block: { type: 'tool-call', id: 'call_1', name: 'weather', kind: 'function' },
  },
  {
    type: 'block-start',
    index: 3,
    block: { type: 'tool-call', id: 'call_2', name: 'time', kind: 'function' },
  },
  ...texts(2, ['{"city":']),
  ...texts(3, ['{"zone":']),
  ...texts(2, ['"Bern"}']),
  ...texts(3, ['"CET"}']),
  { type: 'block-end', index: 2 },
  { type: 'block-end', index: 3 },
  {
    type: 'finish',
    reason: 'tool_calls',
    upstreamReason: undefined,
    stopSequence: undefined,
    usage: undefined,
  },
]
const content = [
  { type: 'reasoning', text: 'First I look it up.' },
  { type: 'text', text: 'Hello wörld 🌍.' },
  { type: 'tool_call', id: 'call_1', name: 'weather', input: '{"city":"Bern"}' },
  { type: 'tool_call', id: 'call_2', name: 'time', input: '{"zone":"CET"}' },
]

function texts(index: number, pieces: string[]): ChatEvent[] {
  return pieces.map((text) => ({ type: 'block-delta', index, delta: { type: 'text', text } }))
}

function contextOf() {
  return {
    requestId: '0198-1',
    model: 'm',
    createdAtSeconds: 1,
    body: {},
    inputTokensEstimate: 1,
    envelope: makeEnvelope(Buffer.alloc(32, 7)),
  }
}

function streamOf(format: ProtocolName): Buffer {
  const encoder = clientSide(format).encodeStream(contextOf())
  return Buffer.from(events.map((event) => encoder.push(event)).join(''))
}

function assemble(
  bytes: Buffer | readonly Uint8Array[],
  options: {
    format?: ClientAnswerFormat
    streams?: boolean
    isCut?: boolean
    exact?: string[]
    bytesMax?: number
  } = {},
) {
  const {
    format = 'openai-chat',
    streams = true,
    isCut = false,
    exact = [token],
    bytesMax = 65_536,
  } = options
  const pieces = (Buffer.isBuffer(bytes) ? [bytes] : bytes).map((piece) => new Uint8Array(piece))
  const result = assembleAnswer({ pieces, format, streams, isCut, exact, bytesMax }, redaction)
  if (result === undefined) throw new Error('nothing was put together')
  const text = Buffer.from(result.bytes).toString()
  return { ...result, text, answer: parsed(text) }
}

function parsed(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const chunk = (delta: object, finish: string | null = null, index = 0) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index, delta, finish_reason: finish }] })}\n\n`

test.each(formats)('%s: thought, text and parallel calls are put together from a stream', (format) => {
  const { answer, truncated } = assemble(streamOf(format), { format })
  expect(answer.choices).toHaveLength(1)
  expect(answer.choices[0]).toMatchObject({ content, end: 'tool_calls' })
  expect(answer.choices[0].error).toBeUndefined()
  expect(truncated).toBe(false)
})

test.each(formats)('%s: and from a whole answer', (format) => {
  const body = clientSide(format).encodeResponse(events, contextOf())
  const { answer, truncated } = assemble(Buffer.from(JSON.stringify(body)), { format, streams: false })
  expect(answer.choices[0]).toMatchObject({ content, end: 'tool_calls' })
  expect(truncated).toBe(false)
})

test.each(formats)('%s: any split of the bytes gives the same, and any cut what came before it', (format) => {
  const bytes = streamOf(format)
  const whole = assemble(bytes, { format }).text
  const random = seeded(38)
  for (let round = 0; round < 20; round++) {
    const pieces = random.split(bytes, 60)
    expect(assemble(pieces, { format }).text).toBe(whole)
  }
  for (let end = 1; end < bytes.length; end += 7) {
    const { answer } = assemble(bytes.subarray(0, end), { format })
    if (answer.raw !== undefined) continue
    for (const [at, part] of answer.choices[0].content.entries()) {
      const expected = content[at]
      if (expected === undefined) throw new Error('a part that nobody sent')
      expect(expected.type).toBe(part.type)
      expect(expected.text ?? expected.input ?? '').toContain(part.text ?? part.input)
    }
  }
})

test('a stream that broke off keeps what came, has no end, and is not called truncated', () => {
  const { answer, truncated } = assemble(
    Buffer.from(chunk({ content: 'Half an ans' }) + chunk({ content: 'wer' })),
  )
  expect(answer.choices).toEqual([{ content: [{ type: 'text', text: 'Half an answer' }], end: null }])
  expect(truncated).toBe(false)
})

test('each choice of a chat is kept, streamed and whole', () => {
  const stream =
    chunk({ role: 'assistant', content: 'A' }) +
    chunk({ role: 'assistant', content: 'B' }, null, 1) +
    chunk({ content: 'a' }) +
    chunk({ content: 'b' }, null, 1) +
    chunk({}, 'length', 1) +
    chunk({}, 'stop') +
    'data: [DONE]\n\n'
  const choices = [
    { content: [{ type: 'text', text: 'Aa' }], end: 'stop' },
    { content: [{ type: 'text', text: 'Bb' }], end: 'length' },
  ]
  expect(assemble(Buffer.from(stream)).answer).toEqual({ choices })
  const body = {
    id: 'c',
    choices: [
      { index: 1, message: { role: 'assistant', content: 'Bb' }, finish_reason: 'length' },
      { index: 0, message: { role: 'assistant', content: 'Aa' }, finish_reason: 'stop' },
    ],
  }
  expect(assemble(Buffer.from(JSON.stringify(body)), { streams: false }).answer).toEqual({ choices })
})

test('completions of a prompt are kept, streamed and whole', () => {
  const frame = (text: string, finish: string | null, index = 0) =>
    `data: ${JSON.stringify({ id: 'c', object: 'text_completion', choices: [{ text, index, finish_reason: finish }] })}\n\n`
  const stream = `${frame('Once ', null)}${frame('Zwei', 'stop', 1)}${frame('upon', 'length')}data: [DONE]\n\n`
  const choices = [
    { content: [{ type: 'text', text: 'Once upon' }], end: 'length' },
    { content: [{ type: 'text', text: 'Zwei' }], end: 'stop' },
  ]
  expect(assemble(Buffer.from(stream), { format: 'completions' }).answer).toEqual({ choices })
  const body = { id: 'c', choices: [{ text: 'Once upon', index: 0, finish_reason: 'length' }] }
  const whole = assemble(Buffer.from(JSON.stringify(body)), { format: 'completions', streams: false })
  expect(whole.answer).toEqual({ choices: choices.slice(0, 1) })
})

const secrets: [string, string][] = [
  ["the client's own key", token],
  ['a key of OpenAI', `sk-proj-${'aB3dE5gH7jK9'.repeat(4)}`],
  ['a key of AWS', 'AKIAIOSFODNN7EXAMPLE'],
]

test.each(secrets)(
  '%s never survives, wherever chunks split it, in a text, a thought and a call',
  (_, secret) => {
    for (let at = 1; at < secret.length; at++) {
      const [head, tail] = [secret.slice(0, at), secret.slice(at)]
      const stream =
        chunk({ reasoning_content: `I see ${head}` }) +
        chunk({ reasoning_content: `${tail} here` }) +
        chunk({ content: `It is ${head}` }) +
        chunk({ content: `${tail} indeed` }) +
        chunk({
          tool_calls: [{ index: 0, id: 'c1', function: { name: 'use', arguments: `{"key":"${head}` } }],
        }) +
        chunk({ tool_calls: [{ index: 0, function: { arguments: `${tail}"}` } }] }) +
        chunk({}, 'tool_calls') +
        'data: [DONE]\n\n'
      const { text, answer } = assemble(Buffer.from(stream))
      expect(text).not.toContain(secret)
      expect(text.match(/REDACTED/g)).toHaveLength(3)
      expect(answer.choices[0].content.map((part: { type: string }) => part.type)).toEqual([
        'reasoning',
        'text',
        'tool_call',
      ])
    }
  },
)

test('a secret with escapes in the input of a call does not survive', () => {
  const written = [...token].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join('')
  const stream = chunk({
    tool_calls: [{ index: 0, id: 'c1', function: { name: 'use', arguments: `{"key":"${written}"}` } }],
  })
  expect(assemble(Buffer.from(stream)).text).not.toMatch(/u0074|tg-a-key/)
  const raw = Buffer.from(`{"odd":"${written}"}`)
  expect(assemble(raw, { streams: false }).text).not.toMatch(/u0074|tg-a-key/)
})

test('the first part of a secret at the end of what came does not survive', () => {
  for (const isCut of [false, true]) {
    for (let at = 8; at < token.length; at++) {
      const stream = chunk({ content: `Your key is ${token.slice(0, at)}` })
      expect(assemble(Buffer.from(stream), { isCut }).text).not.toContain(token.slice(0, 8))
    }
  }
  const pattern = `sk-proj-${'aB3dE5gH7jK9'.repeat(4)}`
  const cut = assemble(Buffer.from(chunk({ content: `${'x '.repeat(400)}${pattern.slice(0, 14)}` })), {
    isCut: true,
  })
  expect(cut.text).not.toContain('sk-proj')
  expect(cut.answer.choices[0].content[0].text).toMatch(/^(x )+$/)
  expect(cut.truncated).toBe(true)
})

test('a long text is cut in its middle, marked as bodies are, and the JSON stays whole', () => {
  const long = `begin ${'word '.repeat(20_000)} finish`
  const { text, answer, truncated } = assemble(Buffer.from(chunk({ content: long }, 'stop')), {
    bytesMax: 8_192,
  })
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8_192)
  expect(answer.choices[0].content[0].text).toMatch(/^begin .* …\[\d+ bytes cut\]… .* finish$/)
  expect(answer.choices[0].end).toBe('stop')
  expect(truncated).toBe(true)
})

test('an answer that its format cannot express is kept as it came, without secrets', () => {
  const { answer, truncated } = assemble(Buffer.from(`{"odd": "${token}", "cut`), { streams: false })
  expect(answer.raw).toMatch(/^\{"odd": ".*REDACTED.*", "cut$/)
  expect(truncated).toBe(true)
})

test('a stream of very many choices takes no more decoders than a client may ask for', () => {
  const frames = Array.from({ length: 5_000 }, (_, index) => chunk({ content: 'x' }, null, index))
  const { answer, truncated } = assemble(Buffer.from(frames.join('')), { bytesMax: 10_000_000 })
  expect(answer.choices.length).toBeLessThanOrEqual(129)
  expect(truncated).toBe(true)
})

test('an error that the client got in its stream is kept, without secrets', () => {
  const stream = `${chunk({ content: 'Hel' })}data: ${JSON.stringify({ error: { message: `bad key ${token}`, type: 'server_error' } })}\n\n`
  const [choice] = assemble(Buffer.from(stream)).answer.choices
  expect(choice).toMatchObject({ content: [{ type: 'text', text: 'Hel' }], end: null })
  expect(choice.error).toMatch(/bad key .*REDACTED/)
})
