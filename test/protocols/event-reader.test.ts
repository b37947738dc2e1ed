import { expect, test } from 'vitest'
import type { ServerEvent } from '../../src/protocols/event-reader.ts'
import { EventReader } from '../../src/protocols/event-reader.ts'

/** `test/protocols/decode-sse.test.ts` has the data of events; here are their names, their ids and the ends of streams. */

function read(stream: string, split = Number.POSITIVE_INFINITY) {
  const bytes = Buffer.from(stream)
  const reader = new EventReader()
  const events: ServerEvent[] = []
  for (let at = 0; at < bytes.length; at += split) events.push(...reader.push(bytes.subarray(at, at + split)))
  const held = reader.heldBytes
  const { events: last, isCut } = reader.end()
  return { events, held, last, isCut }
}

test.each(['\n', '\r\n', '\r'])(
  'names, ids and data of events with line ends %j, for any split',
  (lineEnd) => {
    const stream = [
      ': comment\n\n',
      'event: row\nid: 7\ndata: eins\n\n',
      'data:zwei\nevent:a\nevent: b\ndata:  drei\n\n',
      'event\nid\ndata\n\n',
      'event: none\nid: 8\n\n',
      'events: x\nident: y\nretry: 5\ndata: ü\n\n',
    ]
    const whole = [
      { event: 'row', data: 'eins', id: '7' },
      { event: 'b', data: 'zwei\n drei', id: undefined },
      { event: '', data: '', id: '' },
      { event: '', data: 'ü', id: undefined },
    ]
    const text = stream.join('').replaceAll('\n', lineEnd)
    for (let split = 1; split <= Buffer.byteLength(text); split++) {
      const { events, last, isCut } = read(text, split)
      expect([...events, ...last]).toEqual(whole)
      expect(isCut).toBe(false)
    }
  },
)

test.each<[string, { last: string[]; isCut: boolean }]>([
  ['', { last: [], isCut: false }],
  ['data: 1\n\n', { last: [], isCut: false }],
  ['data: 1\n\n\n \n', { last: [], isCut: false }],
  // Only the next byte would show where it ends, but it is whole.
  ['data: 1\r\r', { last: ['1'], isCut: false }],
  ['data: 1\n\ndata: 2\n', { last: ['2'], isCut: true }],
  ['data: 1\n\ndata: 2', { last: ['2'], isCut: true }],
  ['data: 1\n\nevent: x\n', { last: [], isCut: true }],
])('a stream that ends as %j', (stream, { last, isCut }) => {
  const ended = read(stream)
  expect([ended.last.map(({ data }) => data), ended.isCut]).toEqual([last, isCut])
})

test('what is held of an unfinished event is counted, and forgotten when nothing reads it', () => {
  expect(read('data: 1\n\ndata: 23').held).toBe(8)
  const reader = new EventReader()
  reader.push(Buffer.from('data: 1'))
  reader.drop()
  expect([reader.heldBytes, reader.push(Buffer.from('data: 2\n\n'))]).toEqual([
    0,
    [{ event: '', data: '2', id: undefined }],
  ])
})
