import { describe, expect, test } from 'vitest'
import { isRecord } from '../../src/canonical/json.ts'
import { opaqueObject, parseKeepingDigits } from '../../src/canonical/json-digits.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { clientSide, upstreamSide } from '../../src/protocols/index.ts'
import { type ProtocolName, protocolNames } from '../../src/protocols/protocol.ts'

const envelope = makeEnvelope(Buffer.alloc(32))
const numbers = [
  '1.0',
  '1e400',
  '12345678901234567890',
  '-0',
  '0.10',
  '1E5',
  '1.00000000000000000001',
  '100',
  '-12.5',
  '0',
]
const list = `[${numbers.join(',')}]`
const schema = `{"type":"object","properties":{"n":{"type":"number","enum":${list},"default":1.0,"description":"n"}}}`
const args = `{"n":${list},"deep":{"n":1e400}}`

test.each(numbers)('%s keeps its digits in what is opaque, and is a number elsewhere', (number) => {
  const text = `{"temperature":${number},"metadata":{"n":${number}},"tools":[{"parameters":{"x":[${number}]}}],"input":[{"n":${number}}]}`
  const parsed = parseKeepingDigits(text)
  if (!isRecord(parsed)) throw new Error('no object')
  expect(parsed.temperature).toBe(Number(number))
  expect(parsed.input).toEqual([{ n: Number(number) }])
  expect(JSON.stringify(parsed.metadata)).toBe(`{"n":${number}}`)
  expect(JSON.stringify(parsed.tools)).toBe(`[{"parameters":{"x":[${number}]}}]`)
  expect(JSON.stringify(opaqueObject(`{"n":${number}}`))).toBe(`{"n":${number}}`)
})

const bodies: [ProtocolName, (member: string) => string][] = [
  ['openai-chat', (member) => `{"model":"m","messages":[{"role":"user","content":"hi"}],${member}}`],
  ['openai-responses', (member) => `{"model":"m","input":"hi",${member}}`],
  [
    'anthropic-messages',
    (member) => `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"hi"}],${member}}`,
  ],
]

test.each(bodies)(
  'the scan of a %s body sees each number that a parser would write in another way',
  (protocol, bodyOf) => {
    const losesDigits = (number: string) => {
      const body = Buffer.from(bodyOf(`"tools":[{"a":"1.0","b":[true,${number} ]}]`))
      return clientSide(protocol).readRequest(body, { jsonDepthMax: 100, jsonValuesMax: 1000 }).losesDigits
    }
    for (const number of [...numbers, '1e5', '-1.50', '-0.0', '1234567890123456.7'])
      expect(losesDigits(number), number).toBe(String(Number(number)) !== number)
    for (const number of ['1', '-7', '0.25', '10', '-120', '99.05', '12345678901234'])
      expect(losesDigits(number), number).toBe(false)
  },
)

test('texts that look like numbers stay texts, and broken JSON is refused', () => {
  const text = '{"metadata":{"a":": 1.0, 1e5"},"messages":[{"content":"[12345678901234567890]"}]}'
  expect(JSON.stringify(parseKeepingDigits(text))).toBe(text)
  expect(() => parseKeepingDigits('{"metadata":1.0')).toThrow(SyntaxError)
  expect(opaqueObject('[1.0]')).toBeUndefined()
  expect(opaqueObject('1.0')).toBeUndefined()
})

const requests: Partial<Record<ProtocolName, string>> = {
  'openai-chat': `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":${JSON.stringify(args)}}}]},{"role":"tool","tool_call_id":"a","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}],"temperature":1.0,"max_tokens":100}`,
  'openai-responses': `{"model":"m","input":[{"type":"function_call","call_id":"a","name":"f","arguments":${JSON.stringify(args)}},{"type":"function_call_output","call_id":"a","output":"x"}],"tools":[{"type":"function","name":"f","parameters":${schema}}],"temperature":1.0}`,
  'anthropic-messages': `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":${args}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}],"tools":[{"name":"f","input_schema":${schema}}],"temperature":1.0}`,
}
const pairs = Object.entries(requests).flatMap(([from, text]) =>
  protocolNames.filter((to) => to !== from && to !== 'openai-images').map((to) => ({ from, to, text })),
)

describe('a request', () => {
  test.each(pairs)('from $from to $to', ({ from, to, text }) => {
    const body = parseKeepingDigits(text)
    const client = protocolNames.find((name) => name === from) ?? 'openai-chat'
    if (!isRecord(body)) throw new Error('no object')
    const request = clientSide(client).decodeRequest(body, { envelope })
    const context = { upstreamModel: 'up', traits: {}, maxOutputTokensDefault: 100 }
    const sent = JSON.stringify(upstreamSide(to).encodeRequest(request, context).body)
    expect(sent).toContain(`"enum":${list}`)
    expect(sent.replaceAll('\\"', '"')).toContain(`{"n":${list},"deep":{"n":1e400}}`)
    expect(sent).toContain('"temperature":1')
    expect(sent).not.toContain('rawJSON')
  })
})

const answers: [ProtocolName, string][] = [
  [
    'openai-chat',
    `{"id":"x","choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":${JSON.stringify(args)}}}]}}]}`,
  ],
  [
    'openai-chat',
    `{"id":"x","choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":${args}}}]}}]}`,
  ],
  [
    'anthropic-messages',
    `{"id":"x","type":"message","content":[{"type":"tool_use","id":"a","name":"f","input":${args}}],"stop_reason":"tool_use"}`,
  ],
  [
    'gemini',
    `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":${args}}}]},"finishReason":"STOP"}]}`,
  ],
]

test.each(answers)('the arguments of an answer of %s', (protocol, text) => {
  const body = parseKeepingDigits(text)
  if (!isRecord(body)) throw new Error('no object')
  const events = upstreamSide(protocol).decodeResponse(body, { upstreamModel: 'up' })
  for (const client of ['openai-chat', 'openai-responses', 'anthropic-messages'] as const) {
    const answer = clientSide(client).encodeResponse(events, {
      requestId: 'r',
      model: 'm',
      createdAtSeconds: 1,
      body: {},
      inputTokensEstimate: 1,
      envelope,
    })
    expect(JSON.stringify(answer).replaceAll('\\"', '"')).toContain(`{"n":${list},"deep":{"n":1e400}}`)
  }
})

const frames: [string, ProtocolName, string][] = [
  [
    'arguments',
    'openai-chat',
    `{"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":${args}}}]}}]}`,
  ],
  [
    'arguments of a message instead of a delta',
    'openai-chat',
    `{"id":"x","choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"f","arguments" : ${args}}}]}}]}`,
  ],
  [
    'a second call',
    'openai-chat',
    `{"id":"x","choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"f","arguments":${args}}}]}}]}`,
  ],
  [
    'a function call of old',
    'openai-chat',
    `{"id":"x","choices":[{"delta":{"function_call":{"name":"f","arguments":${args}}}}]}`,
  ],
  [
    'a frame in a list',
    'openai-chat',
    `[{"id":"x","choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":${args}}}]}}]}]`,
  ],
  [
    'the input of a block',
    'anthropic-messages',
    `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":${args}}}`,
  ],
]

test.each(frames)('a frame of a stream whose call has an object: %s', (_name, protocol, frame) => {
  const decoder = upstreamSide(protocol).decodeStream({ upstreamModel: 'up' })
  const around: Partial<Record<ProtocolName, [string[], string[]]>> = {
    'openai-chat': [[], ['{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}', '[DONE]']],
    'anthropic-messages': [
      ['{"type":"message_start","message":{"id":"x"}}'],
      [
        '{"type":"content_block_stop","index":0}',
        '{"type":"message_delta","delta":{"stop_reason":"tool_use"}}',
      ],
    ],
  }
  const [before, after] = around[protocol] ?? [[], []]
  const events = [...before, frame, ...after].flatMap((data) => decoder.push(data))
  expect(JSON.stringify(events).replaceAll('\\"', '"')).toContain(args)
})
