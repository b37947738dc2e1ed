import { expect, test } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import { SseDecoder } from '../../src/protocols/decode-sse.ts'
import type { EventDecoder } from '../../src/protocols/protocol.ts'
import { amount } from '../support/amount.ts'
import { errorOfKind } from '../support/error-of-kind.ts'
import { seeded } from '../support/random.ts'

const text = (words: string): ChatEvent => ({
  type: 'block-delta',
  index: 0,
  delta: { type: 'text', text: words },
})
const finish: ChatEvent = {
  type: 'finish',
  reason: 'stop',
  upstreamReason: undefined,
  stopSequence: undefined,
  usage: undefined,
}

/** The data of every event is a delta, except: `end` ends, `broken` throws, `refused` is a refusal. */
const words: EventDecoder = {
  push(data) {
    if (data === 'broken') throw new TypeError('of our own making')
    if (data === 'refused') throw errorOfKind('rate_limited', 'slower')
    return data === 'end' ? [finish] : [text(data)]
  },
  end: () => [{ type: 'error', error: errorOfKind('upstream_error', 'cut') }],
}

function decode(stream: string, split: number, frameBytesMax = 1000): ChatEvent[] {
  const bytes = Buffer.from(stream)
  const decoder = new SseDecoder(words, frameBytesMax)
  const events: ChatEvent[] = []
  for (let at = 0; at < bytes.length; at += split)
    events.push(...decoder.push(bytes.subarray(at, at + split)))
  return [...events, ...decoder.end()]
}

test('any split of the bytes gives the same events, for every line end, comments and events in many lines', () => {
  const stream =
    ': hello\n\ndata: eins\n\nevent: x\r\ndata:zwei\r\n\r\ndata: drei\ndata: vier\n\nid: 7\n\ndata: ü\r\rdata: end\n\n'
  const whole = [text('eins'), text('zwei'), text('drei\nvier'), text('ü'), finish]
  for (let split = 1; split <= Buffer.byteLength(stream); split++)
    expect(decode(stream, split)).toEqual(whole)
})

test('any split of a stream without CR gives the same events', () => {
  const stream =
    '\uFEFFdata: eins\n\n\n\ndata\ndatabase: x\n: data: y\n\nevent: x\ndata:zwei\ndata:  drei\n\ndata: ü😀\n\ndata: end\n\n'
  const whole = [text('eins'), text(''), text('zwei\n drei'), text('ü😀'), finish]
  for (let split = 1; split <= Buffer.byteLength(stream); split++)
    expect(decode(stream, split)).toEqual(whole)
})

test('any split of any mixture of line ends, comments and marks gives the same events', () => {
  const rounds = amount('FUZZ_ROUNDS', { test: 6_000, chaos: 40_000 })
  const random = seeded(71)
  const pieces = [
    'data: x',
    'data: y',
    'data',
    'event: e',
    ':c',
    '\n',
    '\n',
    '\n',
    '\r',
    '\r\n',
    '\uFEFF',
    'é',
  ]
  for (let round = 0; round < rounds; round++) {
    const stream = Array.from({ length: 1 + random.upTo(9) }, () => random.pick(pieces)).join('')
    const bytes = Buffer.from(stream)
    const decoder = new SseDecoder(words, 1000)
    const split = random.split(bytes, 4).flatMap((piece) => decoder.push(piece))
    expect([...split, ...decoder.end()], JSON.stringify(stream)).toEqual(decode(stream, bytes.length))
  }
})

test('events with lone CRs as line ends come at most one chunk late, and stay separate', () => {
  const decoder = new SseDecoder(words, 100)
  const events = Array.from({ length: 30 }, () => decoder.push(Buffer.from('data: aaaaaaaaaa\r\r')))
  expect(events.slice(1)).toEqual(Array(29).fill([text('aaaaaaaaaa')]))
})

test('nothing comes after the end; if a stream has no end, its decoder decides', () => {
  expect(decode('data: end\n\ndata: more\n\n', 7)).toEqual([finish])
  expect(decode('data: a\n\n', 3)).toMatchObject([text('a'), { type: 'error', error: { message: 'cut' } }])
})

test('the last event counts without its blank line', () => {
  expect(decode('data: a\n\ndata: end', 4)).toEqual([text('a'), finish])
})

test('half an event at the end is a cut stream, not an unreadable event', () => {
  expect(decode('data: a\n\ndata: broken', 4)).toMatchObject([
    text('a'),
    { type: 'error', error: { message: 'cut' } },
  ])
})

test('any exception of a decoder becomes one error', () => {
  expect(decode('data: broken\n\ndata: a\n\n', 5)).toMatchObject([
    { type: 'error', error: { kind: 'upstream_error' } },
  ])
  expect(decode('data: refused\n\n', 5)).toMatchObject([{ type: 'error', error: { kind: 'rate_limited' } }])
})

test('an event that never ends is an error at the bound', () => {
  const endless = `data: ${'x'.repeat(3000)}`
  expect(decode(endless, 100)).toMatchObject([
    { type: 'error', error: { message: expect.stringContaining('more than 1000 bytes') } },
  ])
})
