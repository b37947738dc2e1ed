import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { checked, integer, optionalMember } from '../../src/canonical/checked.ts'
import { GatewayError } from '../../src/canonical/error.ts'

const part = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), url: z.string() }),
])
const schema = z.strictObject({
  messages: z.array(z.object({ content: z.union([z.string(), z.array(part)]) })),
  n: optionalMember(integer(1, 10)),
  stream: optionalMember(z.boolean()),
  tags: optionalMember(z.record(z.string(), z.string())),
  mode: optionalMember(z.enum(['a', 'b', 'c'])),
})
const hello = { messages: [{ content: 'hello' }] }

it('returns the value, and reads null as absent', () => {
  expect(checked(schema, { ...hello, n: 2, stream: null })).toEqual({ ...hello, n: 2, stream: undefined })
})

describe('a value that does not fit is an error that names the path of the first wrong field', () => {
  it.each([
    [[], 'body', 'body: expected an object, got array'],
    [{}, 'messages', 'messages: expected an array, got nothing'],
    [{ messages: [{ content: 'a' }, 5] }, 'messages[1]', 'messages[1]: expected an object, got number'],
    [
      { messages: [{ content: [{ type: 'text', text: 'a' }, { type: 'video' }] }] },
      'messages[0].content[1].type',
      'messages[0].content[1].type: expected "text" or "image", got "video"',
    ],
    [
      { messages: [{ content: [{ type: 'text' }] }] },
      'messages[0].content[0].text',
      'messages[0].content[0].text: expected a string, got nothing',
    ],
    [{ ...hello, n: 11 }, 'n', 'n: expected an integer from 1 to 10, got 11'],
    [{ ...hello, n: 1.5 }, 'n', 'n: expected an integer from 1 to 10, got 1.5'],
    [{ ...hello, n: '1' }, 'n', 'n: expected an integer, got string'],
    [{ ...hello, stream: 'yes' }, 'stream', 'stream: expected a boolean, got string'],
    [{ ...hello, tags: { a: 1 } }, 'tags.a', 'tags.a: expected a string, got number'],
    [{ ...hello, tags: [] }, 'tags', 'tags: expected an object, got array'],
    [{ ...hello, mode: 'd' }, 'mode', 'mode: expected "a", "b" or "c", got "d"'],
    [{ ...hello, mode: 5 }, 'mode', 'mode: expected "a", "b" or "c", got number'],
    [{ ...hello, odd: 1 }, 'odd', 'odd: unknown parameter, expected one of messages, n, stream, tags, mode'],
  ])('%j: %s', (value, field, message) => {
    const error = errorOf(() => checked(schema, value))
    expect(error).toMatchObject({ kind: 'invalid_request', message })
    expect(error.field ?? 'body').toBe(field)
  })
})

it('quotes only the beginning of a long value', () => {
  const error = errorOf(() => checked(schema, { ...hello, mode: 'x'.repeat(5000) }))
  expect(error.message.length).toBeLessThan(120)
})

function errorOf(run: () => unknown): GatewayError {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
