import { describe, expect, test } from 'vitest'
import { responsesFrames } from '../../src/protocols/openai-responses/frames.ts'

/** Responses over WebSocket to an upstream: the frame that asks, and the frames of an answer. */

const asked = (body: string) => responsesFrames.ask(Buffer.from(body))

describe('the frame that asks', () => {
  test.each([
    ['{"model":"m","input":"x"}', '{"type":"response.create","model":"m","input":"x"}'],
    ['{"stream":true,"model":"m"}', '{"type":"response.create","model":"m"}'],
    ['{"stream":true,"background":false,"model":"m"}', '{"type":"response.create","model":"m"}'],
    ['{"model":"m","stream":false}', '{"type":"response.create","model":"m"}'],
    [
      ' { "stream" : true , "type":"x",\n "model":"m" , "background":null } ',
      ' {"type":"response.create",  \n "model":"m"  } ',
    ],
    [
      '{"metadata":{"stream":true,"type":"x"},"stream":true,"model":"é","stream_options":{"a":1}}',
      '{"type":"response.create","metadata":{"stream":true,"type":"x"},"model":"é","stream_options":{"a":1}}',
    ],
  ])('of %s has its type, and not what only HTTP knows', (body, frame) => {
    expect(asked(body)?.frame.toString()).toBe(frame)
    expect(JSON.parse(String(asked(body)?.frame))).toMatchObject({ type: 'response.create' })
  })

  test('names the answer that it continues', () => {
    expect(asked('{"model":"m","previous_response_id":"resp_\\u0031"}')?.continues).toBe('resp_1')
    expect(asked('{"model":"m","previous_response_id":null}')?.continues).toBeUndefined()
  })

  test('cannot ask for work in the background, nor with members that may mean two things', () => {
    expect(asked('{"model":"m","background":true}')).toBeUndefined()
    expect(asked('{"model":"m","type":"a","type":"b"}')).toBeUndefined()
    expect(asked('{"model":"m","Type":"a"}')).toBeUndefined()
  })
})

const bytesMax = 1000
const whole = () => responsesFrames.reader({ stream: false, bytesMax })
const streamed = () => responsesFrames.reader({ stream: true, bytesMax })
const frame = (event: object) => Buffer.from(JSON.stringify(event))

describe('the frames of an answer', () => {
  test('are events for a stream, in the bytes of the upstream, whatever comes first in them', () => {
    const reader = streamed()
    for (const text of ['{"type":"response.created","a":1.0}', '{"a": 1.0, "type":"response.created"}']) {
      expect(reader.push(Buffer.from(text))).toEqual({
        kind: 'event',
        bytes: Buffer.from(`event: response.created\ndata: ${text}\n\n`),
        last: undefined,
      })
    }
    expect(reader.push(Buffer.from('{\r\n"type":"odd"\n}'))).toMatchObject({
      bytes: Buffer.from('event: odd\ndata: {\ndata: "type":"odd"\ndata: }\n\n'),
    })
  })

  test.each(['completed', 'incomplete', 'failed'])(
    'end with response.%s, which names the answer',
    (status) => {
      const last = frame({
        type: `response.${status}`,
        response: { id: 'resp_7', status, output: [{ id: 'x' }] },
      })
      const end = { answerId: 'resp_7', isReusable: true }
      expect(streamed().push(last)).toMatchObject({ kind: 'event', last: end })
      expect(whole().push(last)).toEqual({
        kind: 'event',
        bytes: Buffer.from(JSON.stringify({ id: 'resp_7', status, output: [{ id: 'x' }] })),
        last: end,
      })
    },
  )

  test('give a whole answer its items where the last one has none', () => {
    const reader = whole()
    const item = (id: string, output_index: number) =>
      frame({ type: 'response.output_item.done', output_index, item: { id, n: [1] } })
    for (const each of [item('b', 1), item('a', 0)]) {
      expect(reader.push(each)).toMatchObject({ bytes: Buffer.alloc(0), last: undefined })
    }
    const end = reader.push(
      Buffer.from('{"type":"response.completed","response":{"id":"r","output":[],"word":1.0}}'),
    )
    expect(end).toMatchObject({
      bytes: Buffer.from('{"id":"r","output":[{"id":"a","n":[1]},{"id":"b","n":[1]}],"word":1.0}'),
    })
  })

  test('hold no more than the bound', () => {
    const reader = whole()
    const item = { text: 'x'.repeat(600) }
    reader.push(frame({ type: 'response.output_item.done', output_index: 0, item }))
    expect(() => reader.push(frame({ type: 'response.output_item.done', output_index: 1, item }))).toThrow(
      expect.objectContaining({ reason: 'upstream_answer_too_large', fault: 'gateway' }),
    )
  })

  test.each(['[]', 'x', '{}', '{"type":"a\\nb"}', '{"type":7}'])('are none of the format: %s', (text) => {
    for (const reader of [whole(), streamed()]) {
      expect(() => reader.push(Buffer.from(text))).toThrow(
        'a frame that is not an event in the Responses format',
      )
    }
    expect(() => whole().push(Buffer.from('{"type":"response.completed"}'))).toThrow(
      'not an event in the Responses format',
    )
  })
})

describe('an error', () => {
  const error = { type: 'requests', code: 'rate_limit_exceeded', message: 'Slow down.' }

  test('with a status in place of an answer is what HTTP says with it', () => {
    for (const status of [{ status: 429 }, { status_code: 429 }]) {
      const said = frame({ type: 'error', ...status, error, headers: { 'Retry-After': 3, odd: {} } })
      for (const reader of [whole(), streamed()]) {
        expect(reader.push(said)).toEqual({
          kind: 'refusal',
          status: 429,
          headers: { 'retry-after': '3', 'content-type': 'application/json' },
          body: Buffer.from(JSON.stringify({ error })),
          isOfConnection: false,
        })
      }
    }
  })

  test('of the connection says nothing of the request', () => {
    const old = { code: 'websocket_connection_limit_reached', message: 'Open another.' }
    expect(streamed().push(frame({ type: 'error', status: 400, error: old }))).toMatchObject({
      isOfConnection: true,
    })
  })

  test('within a stream, or without a status, is an event, and the connection is of no more use', () => {
    const end = { kind: 'event', last: { answerId: undefined, isReusable: false } }
    const begun = streamed()
    begun.push(frame({ type: 'response.created' }))
    expect(begun.push(frame({ type: 'error', status: 500, error }))).toMatchObject(end)
    for (const odd of [{ error }, error, { status: 200, error }, { status: 'x', error }]) {
      expect(streamed().push(frame({ ...odd, type: 'error' }))).toMatchObject(end)
    }
    const { type: _, ...words } = error
    const answer = whole().push(frame({ type: 'error', ...words }))
    expect(answer).toMatchObject({ ...end, bytes: Buffer.from(JSON.stringify({ error: words })) })
  })
})
