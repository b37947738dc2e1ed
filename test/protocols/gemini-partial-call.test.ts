import { expect, test } from 'vitest'
import type { ChatEvent } from '../../src/canonical/event.ts'
import type { Json } from '../../src/canonical/json.ts'
import { collect } from '../../src/protocols/collect.ts'
import { decodeStream } from '../../src/protocols/gemini/decode-answer.ts'

function decoded(calls: Json[], finishReason = 'STOP'): ChatEvent[] {
  const decoder = decodeStream({ upstreamModel: 'gemini-3-pro' })
  const chunks = calls.map((functionCall) => ({ candidates: [{ content: { parts: [{ functionCall }] } }] }))
  const end = { candidates: [{ content: { parts: [] }, finishReason }] }
  return [
    ...[...chunks, end].flatMap((chunk) => decoder.push(JSON.stringify({ responseId: 'r', ...chunk }))),
    ...decoder.end(),
  ]
}
const inputs = (calls: Json[]) =>
  collect(decoded(calls)).blocks.map(({ block, text }) => [
    block.type === 'tool-call' && block.name,
    JSON.parse(text),
  ])
const piece = (jsonPath: string, value: Json, willContinue = false) => ({
  partialArgs: [{ jsonPath, ...value, ...(willContinue ? { willContinue } : {}) }],
  willContinue: true,
})

test('the pieces of the arguments become one call', () => {
  const calls = [
    { name: 'weather', id: 'a', willContinue: true },
    piece('$.city', { stringValue: 'San ' }, true),
    piece('$.city', { stringValue: 'Francisco' }),
    piece('$.days[0].at', { numberValue: 1 }),
    piece('$.days[0].sunny', { boolValue: false }),
    piece('$.days[1]', { nullValue: 'NULL_VALUE' }),
    piece("$['a.b'][\"it's\"]", { stringValue: 'x' }),
    piece('$.__proto__', { stringValue: 'plain' }),
    {},
    { name: 'now', args: { zone: 'utc' } },
  ]
  expect(inputs(calls)).toEqual([
    [
      'weather',
      JSON.parse(
        '{"city":"San Francisco","days":[{"at":1,"sunny":false},null],"a.b":{"it\'s":"x"},"__proto__":"plain"}',
      ),
    ],
    ['now', { zone: 'utc' }],
  ])
  expect(decoded(calls).at(-1)).toMatchObject({ type: 'finish', reason: 'tool_calls' })
})

test('a call may come with its first and last piece at once', () => {
  const whole = { name: 'f', partialArgs: [{ jsonPath: '$.a', stringValue: 'x' }] }
  expect(inputs([whole, whole])).toEqual([
    ['f', { a: 'x' }],
    ['f', { a: 'x' }],
  ])
})

test('a call that is not finished is an error, unless the answer was cut off', () => {
  const begun = [{ name: 'f', willContinue: true }, piece('$.a', { stringValue: 'x' }, true)]
  const message = 'The upstream did not finish a tool call.'
  expect(decoded(begun).at(-1)).toMatchObject({ type: 'error', error: { message } })
  expect(decoded([...begun, { name: 'g', args: {} }]).at(-1)).toMatchObject({
    type: 'error',
    error: { message },
  })
  expect(decoded(begun, 'MAX_TOKENS').at(-1)).toMatchObject({ type: 'finish', reason: 'length' })
})

test.each(['', '$', 'a', '$.a[5]', '$.a[x]', '$..a', `$${'.a'.repeat(200)}`])(
  'the path %j is an error',
  (path) => {
    const events = decoded([{ name: 'f', willContinue: true }, piece(path, { stringValue: 'x' }), {}])
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      error: { message: 'The upstream sent a part of a tool call that cannot be parsed.' },
    })
  },
)
