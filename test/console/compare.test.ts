import { expect, test } from 'vitest'
import { compare, sameHead } from '../../console/src/pages/log/compare.ts'
import {
  addedInWords,
  countsInWords,
  groupsOf,
  removedInWords,
} from '../../console/src/pages/log/compare-words.ts'
import type { Part } from '../../console/src/pages/log/compared-part.ts'

/** Each part that differs, in a line: `- top_k`, `+ messages[0] <- system`. */
function told(parts: readonly Part[]): string[] {
  const linesOf = (part: Part): string[] => {
    switch (part.kind) {
      case 'same':
        return []
      case 'inside':
        return told(part.parts)
      case 'added':
        return [`+ ${part.path}${part.moved.map(({ from }) => ` <- ${from}`).join('')}`]
      case 'removed':
        return [`- ${part.path}${part.moved.map(({ from, to }) => ` ${from} -> ${to}`).join('')}`]
      case 'changed':
        return [`~ ${part.path}`]
    }
  }
  return parts.flatMap(linesOf)
}

const lines = (before: unknown, after: unknown, isLost?: (path: string) => boolean) =>
  told(compare(before, after, isLost)?.parts ?? [])

test('equal bodies have one part, whatever the order of their members', () => {
  const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
  const turned = { messages: [{ content: 'Hi', role: 'user' }], model: 'm' }
  expect(compare(body, turned)).toEqual({
    parts: [{ kind: 'same', name: '', path: '', value: body, members: 3 }],
    counts: { added: 0, removed: 0, changed: 0, moved: 0, same: 3 },
  })
})

test('members are added, removed and changed, and the rest is counted', () => {
  const compared = compare({ model: 'm', top_k: 5, n: [] }, { model: 'm', n: {}, store: false })
  expect(told(compared?.parts ?? [])).toEqual(['- top_k', '~ n', '+ store'])
  expect(compared?.counts).toEqual({ added: 1, removed: 1, changed: 1, moved: 0, same: 1 })
})

test('a number, its text and nothing are three values', () => {
  expect(lines({ a: 1, b: null, c: true }, { a: '1', b: 'null', c: 'true' })).toEqual(['~ a', '~ b', '~ c'])
})

test('the system prompt of Messages becomes the first message of a chat, and no other message changes', () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'Bye' },
  ]
  const compared = compare(
    { model: 'm', max_tokens: 10, system: 'Be short', messages, top_k: 5 },
    {
      model: 'm',
      messages: [{ role: 'system', content: 'Be short' }, ...messages],
      max_completion_tokens: 10,
    },
  )
  expect(told(compared?.parts ?? [])).toEqual([
    '- max_tokens max_tokens -> max_completion_tokens',
    '- system system -> messages[0].content',
    '+ messages[0] <- system',
    '- top_k',
    '+ max_completion_tokens <- max_tokens',
  ])
  expect(compared?.counts).toEqual({ added: 1, removed: 1, changed: 0, moved: 2, same: 7 })
})

test('what is known to be dropped has not moved, though an equal value came', () => {
  expect(lines({ top_k: 5 }, { n: 5 })).toEqual(['- top_k top_k -> n', '+ n <- top_k'])
  expect(lines({ top_k: 5 }, { n: 5 }, (path) => path === 'top_k')).toEqual(['- top_k', '+ n'])
})

test('of values that went or came twice, and of yes and no, no one can say where they are', () => {
  expect(lines({ a: 'x', b: 'x' }, { c: 'x' })).toEqual(['- a', '- b', '+ c'])
  expect(lines({ a: 'x' }, { b: 'x', c: ['x'] })).toEqual(['- a', '+ b', '+ c'])
  expect(lines({ a: true, b: '' }, { c: true, d: '' })).toEqual(['- a', '- b', '+ c', '+ d'])
})

test('a tool that is written in another form is the same tool', () => {
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  expect(
    lines(
      { tools: [{ name: 'weather', description: 'Says it', input_schema: schema }] },
      {
        tools: [
          { type: 'function', function: { name: 'weather', description: 'Says it', parameters: schema } },
        ],
      },
    ),
  ).toEqual([
    '- tools[0].name tools[0].name -> tools[0].function.name',
    '- tools[0].description tools[0].description -> tools[0].function.description',
    '- tools[0].input_schema tools[0].input_schema -> tools[0].function.parameters',
    '+ tools[0].type',
    '+ tools[0].function <- tools[0].name <- tools[0].description <- tools[0].input_schema',
  ])
})

test('a text that stood inside of what was removed is found again, and no word of the format is', () => {
  expect(
    lines(
      { system: [{ type: 'text', text: 'Be short', cache_control: { type: 'ephemeral' } }], messages: [] },
      { messages: [{ role: 'system', content: 'Be short', type: 'text' }] },
    ),
  ).toEqual(['- system system[0].text -> messages[0].content', '+ messages[0] <- system[0].text'])
})

test('items of lists are aligned by what is equal, and then by role and type', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((content) => ({ role: 'user', content }))
  expect(lines([a, b, c], [a, c])).toEqual(['- [1]'])
  expect(lines([a, c], [a, b, c])).toEqual(['+ [1]'])
  expect(lines([a, b, c], [a, { role: 'user', content: 'B' }, c])).toEqual(['~ [1].content'])
  expect(lines([a, b, c], [a, { role: 'tool', content: 'B' }, c])).toEqual(['- [1]', '+ [1]'])
  expect(lines(['x', 'y'], ['x', 'z', 'y'])).toEqual(['+ [1]'])
  // An item that is further down in the second body has its members there.
  expect(
    lines(
      [{ type: 'a', text: 'Hello' }],
      [
        { type: 'b', n: 1 },
        { type: 'a', content: 'Hello' },
      ],
    ),
  ).toEqual(['+ [0]', '- [0].text [0].text -> [1].content', '+ [1].content <- [0].text'])
})

test('any two bodies give every member of both exactly once', () => {
  const before = { a: [1, { b: 2 }, 'x', [3, 4]], c: { d: 1, e: [1, 2, 3] } }
  const after = { a: [{ b: 3 }, 'x', 'y', [4, 3]], c: { e: [3, 2, 1], f: null } }
  const size = (part: Part, side: 'before' | 'after'): number => {
    switch (part.kind) {
      case 'inside':
        return sides(part.parts, side)
      case 'same':
        return part.members
      case 'changed':
        return leaves(part[side])
      case 'removed':
        return side === 'before' ? leaves(part.value) : 0
      case 'added':
        return side === 'after' ? leaves(part.value) : 0
    }
  }
  const sides = (parts: readonly Part[], side: 'before' | 'after'): number =>
    parts.reduce((sum, part) => sum + size(part, side), 0)
  const { parts } = compare(before, after) ?? { parts: [] }
  expect(sides(parts, 'before')).toBe(leaves(before))
  expect(sides(parts, 'after')).toBe(leaves(after))
})

function leaves(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, one) => sum + leaves(one), 0)
}

test('megabytes of text are compared; too many members or too deep ones are not', () => {
  const messages = Array.from({ length: 2_000 }, (_, at) => ({
    role: 'user',
    content: `${at} ${'x'.repeat(4_000)}`,
  }))
  const turned = messages.toReversed().map((message) => ({ ...message, name: 'n' }))
  const compared = compare({ messages }, { messages: [{ role: 'system', content: 'S' }, ...messages] })
  expect(told(compared?.parts ?? [])).toEqual(['+ messages[0]'])
  expect(compare({ messages }, { messages: turned })?.counts.added).toBe(2_000)
  expect(compare([Array.from({ length: 100_000 }, (_, at) => at)], [])).toBeUndefined()
  const deep: unknown = JSON.parse(`${'['.repeat(3_000)}${']'.repeat(3_000)}`)
  expect(compare(deep, [])).toBeUndefined()
})

test('neighbours that are equal are folded into one, and the counts are reported in words', () => {
  const compared = compare({ a: 1, b: [1, 2], c: 3, d: 4 }, { a: 1, b: [1, 2], c: 0, d: 4 })
  const groups = groupsOf(compared?.parts ?? [])
  expect(groups.map(({ part, same }) => part?.path ?? same.map(({ path }) => path))).toEqual([
    ['a', 'b'],
    'c',
    ['d'],
  ])
  expect(countsInWords({ added: 0, removed: 1, changed: 2, moved: 0, same: 1_200 })).toBe(
    '1 removed, 2 changed; 1,200 unchanged members',
  )
  expect(countsInWords({ added: 1, removed: 0, changed: 0, moved: 1, same: 1 })).toBe(
    '1 added, 1 moved; 1 unchanged member',
  )
})

test('of two long texts the head that is the same is left out, but for what appears before the difference', () => {
  expect(sameHead(`${'x'.repeat(1_000)}a`, `${'x'.repeat(1_000)}b`)).toBe(940)
  expect(sameHead('short a', 'short b')).toBe(0)
  expect(sameHead('x'.repeat(1_000), 5)).toBe(0)
})

test('where a value went is reported in words, and of many places the first three', () => {
  const part = { name: 'a', path: 'a', value: 1 }
  const moves = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ from: `a[${at}]`, to: `b[${at}]` }))
  expect(removedInWords({ ...part, kind: 'removed', moved: [] })).toBe('removed')
  expect(removedInWords({ ...part, kind: 'removed', moved: [{ from: 'a', to: 'b' }] })).toBe('moved to b')
  expect(removedInWords({ ...part, kind: 'removed', moved: moves(1) })).toBe('removed; a[0] is at b[0]')
  expect(addedInWords({ ...part, kind: 'added', moved: [] })).toBe('added')
  expect(addedInWords({ ...part, kind: 'added', moved: [{ from: 'b', to: 'a' }] })).toBe('moved from b')
  expect(addedInWords({ ...part, kind: 'added', moved: moves(5) })).toBe(
    'added, with a[0], a[1], a[2] and 2 more',
  )
})
