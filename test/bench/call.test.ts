import { expect, test } from 'vitest'
import { answerFor, contentEvent, done, finishFrame, jsonAnswer } from '../../bench/answers.ts'
import { Call } from '../../bench/call.ts'
import { type ClientProtocol, clients, requestBody } from '../../bench/clients.ts'
import { median, percentile } from '../../bench/percentile.ts'

const chatStream = Buffer.concat([Buffer.from(contentEvent(0).repeat(3)), finishFrame, done])
const messagesStream = Buffer.from(
  `${'event: some\ndata: {}\n\n'.repeat(7)}event: message_stop\ndata: {"type":"message_stop"}\n\n`,
)

test.each([
  ['openai-chat', chatStream, 5],
  ['anthropic-messages', messagesStream, 8],
] as const)('a right %s answer has no fault, wherever the stream is split', (protocol, stream, events) => {
  for (let at = 0; at <= stream.length; at++) {
    const call = answered(protocol, 'burst-3', 200, [stream.subarray(0, at), stream.subarray(at)])
    expect([call.fault, call.events]).toEqual([undefined, events])
  }
})

test('a right answer that is not streamed has no fault', () => {
  expect(answered('openai-chat', 'json', 200, [jsonAnswer]).fault).toBeUndefined()
})

test.each([
  ['another status', 500, chatStream, 'status 500'],
  ['an end without [DONE]', 200, chatStream.subarray(0, -done.length), 'bytes instead of'],
  ['a byte too many', 200, Buffer.concat([chatStream, Buffer.from('\n')]), 'bytes instead of'],
  ['two events run into one', 200, replaced(chatStream, '\n\n', '  '), 'events instead of'],
  ['a damaged [DONE]', 200, replaced(chatStream, '[DONE]', '[GONE]'), 'no data: [DONE]'],
])('%s is a fault', (_, status, bytes, fault) => {
  expect(answered('openai-chat', 'burst-3', status, [bytes]).fault).toContain(fault)
})

test('a Messages stream without its last event is a fault', () => {
  const bytes = replaced(messagesStream, '"message_stop"', '"message_slop"')
  expect(answered('anthropic-messages', 'burst-3', 200, [bytes]).fault).toContain('no data: {"type"')
})

test.each([900, 200_000])('a conversation of %d bytes begins and ends with the user', (bytes) => {
  const text = requestBody('burst-8', bytes, true)
  const { messages } = JSON.parse(text)
  expect(text.length).toBeGreaterThan(bytes * 0.9)
  expect(text.length).toBeLessThan(bytes * 1.1)
  messages.forEach(({ role }: { role: string }, index: number) => {
    expect(role).toBe(index % 2 === 0 ? 'user' : 'assistant')
  })
  expect(messages.at(-1).role).toBe('user')
})

test('percentiles are exact values of the samples', () => {
  const samples = Array.from({ length: 100 }, (_, index) => 100 - index)
  expect([percentile(samples, 0.5), percentile(samples, 0.99), percentile(samples, 1)]).toEqual([
    51, 100, 100,
  ])
  expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5])
})

/** Where the bytes cannot be known beforehand, those of `messagesStream` are right. */
function answered(protocol: ClientProtocol, model: string, status: number, chunks: Buffer[]): Call {
  const answer = answerFor(model)
  const client = clients[protocol]
  const expected = {
    bytes: client.bytes(answer) ?? messagesStream.length,
    events: client.events(answer),
    terminal: answer.kind === 'json' ? undefined : client.terminal,
  }
  const call = Call.make(expected, 0)
  call.onResponseStart(undefined, status)
  for (const chunk of chunks) call.onResponseData(undefined, chunk)
  call.onResponseEnd()
  return call
}

function replaced(bytes: Buffer, text: string, by: string): Buffer {
  return Buffer.from(bytes.toString().replace(text, by))
}
