import { expect, test } from 'vitest'
import type { Json } from '../../src/canonical/json.ts'
import { preparedEvents } from '../../src/protocols/openai-responses/response-object.ts'
import { readAnswer, readEvents } from './open-responses.ts'

/** A handwritten stream of one text. */
function stream(): Json[] {
  const events = preparedEvents('request-1', 'm', {})
  const [created, completed] = events.map(({ response }) => response)
  const place = { item_id: 'msg_1', output_index: 0 }
  const part = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })
  const message = { type: 'message', id: 'msg_1', role: 'assistant' }
  const done = { ...message, status: 'completed', content: [part('Hello.')] }
  const text = { ...place, content_index: 0, logprobs: [] }
  return [
    { type: 'response.created', response: created },
    { type: 'response.in_progress', response: created },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...message, status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', ...place, content_index: 0, part: part('') },
    { type: 'response.output_text.delta', ...text, delta: 'Hel' },
    { type: 'response.output_text.delta', ...text, delta: 'lo.' },
    { type: 'response.output_text.done', ...text, text: 'Hello.' },
    { type: 'response.content_part.done', ...place, content_index: 0, part: part('Hello.') },
    { type: 'response.output_item.done', output_index: 0, item: done },
    { type: 'response.completed', response: { ...completed, output: [done] } },
  ].map((event, at) => ({ ...event, sequence_number: at }))
}

const renumbered = (events: Json[]) => events.map((event, at) => ({ ...event, sequence_number: at }))

test('a stream that keeps every rule is read', () => {
  expect(readEvents(stream())).toMatchObject({ status: 'completed', output: [{ id: 'msg_1' }] })
})

test.each(stream().map(({ type }, at) => [String(type), at] as const))(
  'a stream that lacks %s (event %i) is refused',
  (_type, at) => {
    expect(() => readEvents(renumbered(stream().toSpliced(at, 1)))).toThrow()
  },
)

test.each(stream().map(({ type }, at) => [String(type), at] as const))(
  'a stream with %s (event %i) twice is refused',
  (_type, at) => {
    const events = stream()
    expect(() => readEvents(renumbered(events.toSpliced(at, 0, ...events.slice(at, at + 1))))).toThrow()
  },
)

test('a gap in the numbers is refused, and so is a member that no one knows', () => {
  expect(() => readEvents(stream().map((event) => ({ ...event, sequence_number: 1 })))).toThrow(
    /has the number/,
  )
  expect(() => readEvents(stream().map((event) => ({ ...event, unknown: 1 })))).toThrow(/unrecognized_keys/)
})

test('an answer has phases of its messages, and every setting', () => {
  const answer: Json = readEvents(stream())
  const [message] = readEvents(stream()).output
  const commentary = { ...message, id: 'msg_0', phase: 'commentary' }
  expect(() =>
    readAnswer({ ...answer, output: [commentary, { ...message, phase: 'final_answer' }] }),
  ).not.toThrow()
  expect(() => readAnswer({ ...answer, output: [{ ...message, phase: 'other' }] })).toThrow()
  for (const name of ['completed_at', 'tools', 'text', 'usage', 'store', 'metadata', 'service_tier']) {
    const { [name]: _, ...others } = answer
    expect(() => readAnswer(others)).toThrow(name)
  }
})
