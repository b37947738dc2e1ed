import { describe, expect, it } from 'vitest'
import type { Block, Turn } from '../../src/canonical/chat.ts'
import { Notes } from '../../src/protocols/notes.ts'
import { pairToolResults } from '../../src/protocols/pair-tool-results.ts'

const text = (words: string): Block => ({ type: 'text', text: words, path: words })
const call = (id: string): Block => ({
  type: 'tool-call',
  id,
  name: 'f',
  kind: 'function',
  input: '{}',
  path: `call ${id}`,
})
const result = (callId: string, words = 'fine', isError = false): Block => ({
  type: 'tool-result',
  callId,
  content: [{ type: 'text', text: words, path: words }],
  isError,
  path: `result ${callId}`,
})
const turn = (role: Turn['role'], ...blocks: Block[]): Turn => ({ role, blocks, path: role })
const user = (...blocks: Block[]) => turn('user', ...blocks)
const assistant = (...blocks: Block[]) => turn('assistant', ...blocks)

/** Each round in a few words, and the notes. */
function rounds(...turns: Turn[]) {
  const notes = new Notes({ names: {}, unmapped: [] })
  const wordsOf = (block: Block) =>
    block.type === 'text' ? block.text : block.type === 'tool-call' ? `call ${block.id}` : block.type
  const found = pairToolResults(turns, notes).map(({ assistant: said, calls, others }) => ({
    said: said.flatMap(({ blocks }) => blocks.map(wordsOf)),
    results: calls.map(({ call: { id }, result: { content } }) => [id, ...content.map(wordsOf)].join(': ')),
    others: others.flatMap(({ blocks }) => blocks.map(wordsOf)),
  }))
  return { found, notes: notes.list.map(({ action, path }) => `${action} ${path}`) }
}

describe('a conversation', () => {
  it('is one round for each time that the assistant speaks', () => {
    const { found, notes } = rounds(
      turn('system', text('be kind')),
      user(text('one')),
      assistant(text('a')),
      assistant(call('c1')),
      user(result('c1')),
      assistant(text('b')),
    )
    expect(found).toEqual([
      { said: [], results: [], others: ['be kind', 'one'] },
      { said: ['a', 'call c1'], results: ['c1: fine'], others: [] },
      { said: ['b'], results: [], others: [] },
    ])
    expect(notes).toEqual([])
  })

  it('has the results in the order of the calls, before what else the user says', () => {
    const { found } = rounds(
      assistant(call('c1'), call('c2')),
      user(text('wait')),
      user(result('c2', 'two'), text('and'), result('c1', 'one')),
    )
    expect(found).toEqual([
      { said: ['call c1', 'call c2'], results: ['c1: one', 'c2: two'], others: ['wait', 'and'] },
    ])
  })

  it('has a text for a result that is missing, and text of the user for one too many', () => {
    const { found, notes } = rounds(
      user(result('c0', 'early')),
      assistant(call('c1')),
      user(result('c9', 'bad', true), text('go on')),
      assistant(call('c2')),
    )
    expect(found).toEqual([
      { said: [], results: [], others: ['Result of the tool call "c0":', 'early'] },
      {
        said: ['call c1'],
        results: ['c1: [no result]'],
        others: ['Error of the tool call "c9":', 'bad', 'go on'],
      },
      { said: ['call c2'], results: ['c2: [no result]'], others: [] },
    ])
    expect(notes).toEqual(['mapped result c0', 'mapped result c9', 'defaulted call c1', 'defaulted call c2'])
  })

  it('has a late result at its call, with a note', () => {
    const { found, notes } = rounds(
      assistant(call('c1')),
      user(text('wait')),
      assistant(text('yes')),
      user(result('c1')),
    )
    expect(found).toMatchObject([{ results: ['c1: fine'] }, { said: ['yes'], others: [] }])
    expect(notes).toEqual(['mapped result c1'])
  })

  it('gives a result to the latest call with its id, and each of several calls with one id its own', () => {
    const again = rounds(assistant(call('c')), user(text('no')), assistant(call('c')), user(result('c')))
    expect(again.found.map(({ results }) => results)).toEqual([['c: [no result]'], ['c: fine']])
    const twice = rounds(assistant(call('c'), call('c')), user(result('c', 'one'), result('c', 'two')))
    expect(twice.found[0]?.results).toEqual(['c: one', 'c: two'])
  })

  it('goes on after a turn that says nothing', () => {
    expect(rounds(assistant(text('a')), user(), assistant(text('b'))).found).toHaveLength(1)
  })

  it('may have a result in a turn of the assistant', () => {
    const { found } = rounds(assistant(call('c'), result('c'), text('so'), result('d', 'lost')))
    expect(found).toEqual([
      { said: ['call c', 'so'], results: ['c: fine'], others: ['Result of the tool call "d":', 'lost'] },
    ])
  })
})
