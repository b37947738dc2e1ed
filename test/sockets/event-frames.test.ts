import { describe, expect, test } from 'vitest'
import { EventFrames } from '../../src/sockets/event-frames.ts'

/** What a client reads from these bytes: the payloads of unmasked text frames. */
function payloadsIn(bytes: Buffer): string[] {
  const payloads: string[] = []
  for (let at = 0; at < bytes.length; ) {
    expect(bytes[at]).toBe(0x81)
    const short = bytes[at + 1] ?? 0
    const length =
      short < 126 ? short : short === 126 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2))
    const start = at + (short < 126 ? 2 : short === 126 ? 4 : 10)
    payloads.push(bytes.toString('utf8', start, start + length))
    at = start + length
  }
  return payloads
}

function framed(chunks: readonly Buffer[], eventBytesMax = 1_000_000) {
  const frames = new EventFrames(eventBytesMax)
  const parts = chunks.flatMap((chunk) => frames.push(chunk) ?? [])
  return { payloads: payloadsIn(Buffer.concat(parts)), last: frames.last.toString() }
}

const long = JSON.stringify({ text: 'x'.repeat(70_000) })
const middle = JSON.stringify({ text: 'é'.repeat(200) })

describe('events become text frames', () => {
  test.each([
    ['named events', 'event: a\ndata: {"a":1}\n\nevent: b\ndata: {"b":2}\n\n', ['{"a":1}', '{"b":2}']],
    ['events without a name or a space', 'data:{"a":1}\n\ndata:{"b":2}\n\n', ['{"a":1}', '{"b":2}']],
    ['events of all lengths', `data: ${middle}\n\ndata: ${long}\n\ndata: {}\n\n`, [middle, long, '{}']],
    ['lines that end in CRLF', 'event: a\r\ndata: {"a":1}\r\n\r\ndata: {}\r\n\r\n', ['{"a":1}', '{}']],
    ['several lines of data', 'data: {\ndata: "a":1}\n\ndata: {}\n\n', ['{\n"a":1}', '{}']],
    ['comments, blanks and the end of a stream', ': on\n\n\n\ndata: {}\n\ndata: [DONE]\n\n', ['{}']],
    ['fields of other names', 'id: 1\nevent: a\ndata: {}\n\ndatum: 1\n\nretry: 5\n\n', ['{}']],
    ['half an event at the end', 'data: {}\n\ndata: {"half"', ['{}']],
  ])('%s, however the bytes are split', (_what, text, expected) => {
    const bytes = Buffer.from(text)
    expect(framed([bytes])).toEqual({ payloads: expected, last: expected.at(-1) })
    const step = Math.max(1, Math.floor(bytes.length / 200))
    for (let at = 1; at < bytes.length; at += step) {
      const { payloads, last } = framed([bytes.subarray(0, at), bytes.subarray(at)])
      expect(payloads).toEqual(expected)
      expect(last).toBe(expected.at(-1))
    }
  })

  test('byte by byte', () => {
    const bytes = Buffer.from('event: a\r\ndata: {"é":1}\r\n\r\nevent: b\ndata: {"b":2}\n\n')
    expect(framed([...bytes].map((byte) => Buffer.from([byte]))).payloads).toEqual(['{"é":1}', '{"b":2}'])
  })

  test('bytes that are not UTF-8 are replaced, because they would break the connection', () => {
    const bytes = Buffer.concat([
      Buffer.from('data: {}\n\ndata: "'),
      Buffer.from([0xff]),
      Buffer.from('"\n\ndata: 1\n\n'),
    ])
    expect(framed([bytes]).payloads).toEqual(['{}', '"\ufffd"', '1'])
  })

  test('after an event that is too large nothing follows, and none was the last', () => {
    const whole = Buffer.from('data: {}\n\n')
    const half = Buffer.from(`data: ${'x'.repeat(100)}`)
    expect(framed([whole, half, whole], 50)).toEqual({ payloads: ['{}'], last: '' })
  })
})
