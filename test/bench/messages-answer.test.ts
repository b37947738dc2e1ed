import { expect, test } from 'vitest'
import { answerFor, answerText } from '../../bench/answers.ts'
import { messagesFault } from '../../bench/messages-answer.ts'

const delta =
  'event: content_block_delta\n' +
  'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" token"}}\n\n'
const stream = [
  'event: message_start\ndata: {"type":"message_start","message":{"content":[]}}\n\n',
  'event: content_block_start\ndata: {"type":"content_block_start","index":0}\n\n',
  delta.repeat(3),
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
  'event: message_delta\n',
  'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":210,"output_tokens":190}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
].join('')
const whole = JSON.stringify({
  content: [{ type: 'text', text: answerText(answerFor('json')) }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 210, output_tokens: 190 },
})

test('a right translation has no fault', () => {
  expect(messagesFault(answerFor('burst-3'), stream)).toBeUndefined()
  expect(messagesFault(answerFor('json'), whole)).toBeUndefined()
})

test.each([
  ['an event too few', [delta, ''], 'event 4: content_block_stop instead of content_block_delta'],
  ['an event too many', [delta, delta + delta], 'event 5: content_block_delta instead of content_block_stop'],
  ['another text', [' token', ' taken'], 'text: '],
  ['a stop reason of another format', ['end_turn', 'stop'], 'stop: stop instead of end_turn'],
  ['an estimate instead of the usage', ['210', '225'], 'input: 225 instead of 210'],
  ['a name that is not the type', ['event: message_stop', 'event: ping'], 'an event named ping'],
  ['an event without a name', ['event: message_stop\n', ''], 'JSON'],
  ['an end within an event', ['{"type":"message_stop"}\n\n', '{"type":'], 'ends within an event'],
  [
    'more after the end',
    ['{"type":"message_stop"}\n\n', '{"type":"message_stop"}\n\nevent: ping\ndata: {"type":"ping"}\n\n'],
    '1 events after the last',
  ],
])('%s is a fault of a stream', (_, [from = '', to = ''], fault) => {
  expect(messagesFault(answerFor('burst-3'), stream.replace(from, to))).toContain(fault)
})

test.each([
  ['text', ['words', 'woods'], 'text: '],
  ['stop reason', ['"end_turn"', 'null'], 'stop: null'],
  ['usage', ['190', '0'], 'output: 0 instead of 190'],
])('a wrong %s is a fault of a whole message', (_, [from = '', to = ''], fault) => {
  expect(messagesFault(answerFor('json'), whole.replaceAll(from, to))).toContain(fault)
})
