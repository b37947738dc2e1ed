import { describe, expect, test } from 'vitest'
import { type AnswerReader, readNative } from '../../src/pipeline/answer-reader.ts'
import { namingConversation } from '../../src/pipeline/kept/continue-conversation.ts'
import { conversationState, upstreamSide } from '../../src/protocols/index.ts'
import { answerToKeep } from '../../src/protocols/openai-responses/answer-to-keep.ts'

const { native } = upstreamSide('openai-responses')
if (native === undefined) throw new Error('clients speak it')
const side = native

function reader(isStream: boolean): AnswerReader {
  const read: AnswerReader = readNative(side, { dropUsageFrame: false, frameBytesMax: 65_536 }, () => read)
  return namingConversation(read, conversationState().conversations, 'conv_1', isStream)
}

const item = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Say "response" and "conversation".', annotations: [] }],
}
const response = { id: 'resp_1', object: 'response', status: 'completed', model: 'm', output: [item] }
const delta = { type: 'response.output_text.delta', item_id: 'msg_1', delta: '"response":{"id":"x"}' }

const streams = {
  'with null in its place': [
    { type: 'response.created', response: { ...response, status: 'in_progress', conversation: null } },
    delta,
    { type: 'response.completed', response: { ...response, conversation: null } },
  ],
  'without the member': [
    { type: 'response.created', response: { ...response, status: 'in_progress' } },
    delta,
    { type: 'response.completed', response },
  ],
}

describe.each(Object.entries(streams))('a stream %s', (_what, events) => {
  test.each([
    ['data: ', '\n'],
    ['data:', '\n'],
    ['data: ', '\r\n'],
  ])(
    'with %j before its events and %j at the end of its lines names the conversation, however it is cut',
    (field, end) => {
      const frames = events
        .map((event) => `event: ${event.type}${end}${field}${JSON.stringify(event)}${end}${end}`)
        .join('')
      const bytes = Buffer.from(frames)
      for (const size of [1, 7, 100, bytes.length]) {
        const watcher = reader(true).stream()
        const forwarded: Buffer[] = []
        let last: Buffer | undefined
        for (let at = 0; at < bytes.length; at += size) {
          const { forward, terminal } = watcher.push(bytes.subarray(at, at + size))
          forwarded.push(...forward)
          if (terminal && forward.length > 0) last = Buffer.concat(forward)
        }
        const text = Buffer.concat(forwarded).toString()
        const named = text
          .split(end)
          .filter((line) => line.startsWith(field.trimEnd()))
          .map((line) => JSON.parse(line.slice(field.length)))
        expect(named).toEqual(
          events.map((event) =>
            'response' in event
              ? { ...event, response: { ...event.response, conversation: { id: 'conv_1' } } }
              : event,
          ),
        )
        expect(watcher.observe()).toMatchObject({ complete: true, answerId: 'resp_1' })
        // What is kept is read from the bytes that end the answer.
        expect(answerToKeep(last ?? Buffer.alloc(0))).toMatchObject({
          id: 'resp_1',
          output: JSON.stringify([item]).slice(1, -1),
          answer: { conversation: { id: 'conv_1' } },
        })
      }
    },
  )
})

test.each([
  ['with null in its place', JSON.stringify({ ...response, conversation: null })],
  ['without the member', JSON.stringify(response)],
  ['over several lines', `\n${JSON.stringify({ ...response, conversation: null }, undefined, 2)}`],
])('a whole answer %s names the conversation', (_what, text) => {
  const { body, observation } = reader(false).whole(Buffer.from(text))
  expect(JSON.parse(body.toString())).toEqual({ ...response, conversation: { id: 'conv_1' } })
  expect(observation.complete).toBe(true)
  expect(answerToKeep(body)?.id).toBe('resp_1')
})

test.each(['no JSON', '[]', '{"error":{"message":"x"}}', '{"id":'])('%j passes as it came', (text) => {
  expect(reader(false).whole(Buffer.from(text)).body.toString()).toBe(text)
})

test('an answer of the other kind than asked for, that cannot be rewritten, names it too', () => {
  const other = reader(true).forOtherKind()
  expect(other.contentType).toBe('application/json')
  const { body } = other.whole(Buffer.from(JSON.stringify(response)))
  expect(JSON.parse(body.toString()).conversation).toEqual({ id: 'conv_1' })
})
