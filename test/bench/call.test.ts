import { expect, test } from 'vitest'
import { answerBytes, answerEvents, answerFor, contentEvent, done, jsonAnswer } from '../../bench/answers.ts'
import { Call } from '../../bench/call.ts'
import { median, percentile } from '../../bench/percentile.ts'

const stream = Buffer.concat([Buffer.from(contentEvent(0).repeat(3)), done])

test('a right answer has no fault, wherever the stream is split', () => {
  for (let at = 0; at <= stream.length; at++) {
    const call = answered('burst-3', 200, [stream.subarray(0, at), stream.subarray(at)])
    expect([call.fault, call.events]).toEqual([undefined, 4])
  }
  expect(answered('json', 200, [jsonAnswer]).fault).toBeUndefined()
})

test.each([
  ['another status', 500, stream, 'status 500'],
  ['an end without [DONE]', 200, stream.subarray(0, -done.length), 'bytes in place of'],
  ['a byte too many', 200, Buffer.concat([stream, Buffer.from('\n')]), 'bytes in place of'],
  [
    'two events run into one',
    200,
    Buffer.from(stream.toString().replace('\n\n', '  ')),
    'events in place of',
  ],
  ['a damaged [DONE]', 200, Buffer.from(stream.toString().replace('[DONE]', '[GONE]')), 'no [DONE]'],
])('%s is a fault', (_, status, bytes, fault) => {
  expect(answered('burst-3', status, [bytes]).fault).toContain(fault)
})

test('percentiles are exact values of the samples', () => {
  const samples = Array.from({ length: 100 }, (_, index) => 100 - index)
  expect([percentile(samples, 0.5), percentile(samples, 0.99), percentile(samples, 1)]).toEqual([
    51, 100, 100,
  ])
  expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5])
})

function answered(model: string, status: number, chunks: Buffer[]): Call {
  const answer = answerFor(model)
  const isStream = answer.kind !== 'json'
  const call = Call.make({ bytes: answerBytes(answer), events: answerEvents(answer), isStream }, 0)
  call.onResponseStart(undefined, status)
  for (const chunk of chunks) call.onResponseData(undefined, chunk)
  call.onResponseEnd()
  return call
}
