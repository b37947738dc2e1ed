import { expect, test } from 'vitest'
import { addedBy, messagesOf } from '../../console/src/pages/log/conversation.ts'

const ask = { role: 'user', content: 'Is it raining?' }
const call = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{"at":"Rome"}' } }],
}

test('each format has its messages, and a body that is not kept or of none has none', () => {
  expect(messagesOf(JSON.stringify({ messages: [ask] }))).toEqual([ask])
  expect(messagesOf(JSON.stringify({ input: 'Hello' }))).toEqual([{ role: 'user', content: 'Hello' }])
  expect(messagesOf(JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }))).toHaveLength(
    1,
  )
  expect(messagesOf(null)).toBeUndefined()
  expect(messagesOf('{"model":')).toBeUndefined()
  expect(messagesOf('{"prompt":"A cat"}')).toBeUndefined()
})

test('a request adds what the one before did not have, in words', () => {
  const result = {
    role: 'user',
    content: [{ type: 'tool_result', content: [{ type: 'text', text: 'Sun.' }] }],
  }
  const image = { role: 'user', content: [{ type: 'text', text: 'And here?' }, { type: 'image' }] }
  expect(addedBy(undefined, [ask])).toEqual({ said: [{ role: 'user', text: 'Is it raining?' }], gone: 0 })
  expect(addedBy([ask], [ask, call, result, image])).toEqual({
    said: [
      { role: 'assistant', text: 'weather({"at":"Rome"})' },
      { role: 'user', text: 'Sun.' },
      { role: 'user', text: 'And here?\n[image]' },
    ],
    gone: 0,
  })
  expect(addedBy([ask], [ask])).toEqual({ said: [], gone: 0 })
})

test('messages that a client has dropped are counted, but not where nothing is the same', () => {
  expect(addedBy([ask, call], [ask, { role: 'user', content: 'Again' }])).toEqual({
    said: [{ role: 'user', text: 'Again' }],
    gone: 1,
  })
  expect(addedBy([ask, call], [{ type: 'message', content: 'Next' }])).toEqual({
    said: [{ role: 'message', text: 'Next' }],
    gone: 0,
  })
})
