import { expect, test } from 'vitest'
import type { Turn } from '../../src/canonical/chat.ts'
import { CacheMarks } from '../../src/protocols/anthropic-messages/cache-marks.ts'
import {
  addTurn,
  beginConversation,
  type ConversationState,
  endConversation,
} from '../../src/protocols/anthropic-messages/conversation.ts'
import { toolNameRules } from '../../src/protocols/anthropic-messages/wire.ts'
import { Notes } from '../../src/protocols/notes.ts'
import { ToolNames } from '../../src/protocols/tool-names.ts'
import { actions, call, context, plain, result, turn } from './messages-build.ts'

/** One turn after the other: the state of the conversation, and the messages that go out. */

const thought = (value: string): Turn['blocks'][number] => ({
  type: 'reasoning',
  text: 'Hm',
  summary: true,
  signature: { protocol: 'anthropic-messages', model: undefined, kind: 'signature', value },
  path: value,
})

function start(laterInstructions = false) {
  const notes = new Notes(plain)
  const traits = { laterInstructions }
  const given = { ...context, traits }
  const tools = new ToolNames(toolNameRules)
  const parts = { ...given, notes, tools, marks: new CacheMarks(notes, given) }
  let state: ConversationState = beginConversation
  const add = (next: Turn) => {
    const step = addTurn(state, next, parts)
    state = step.state
    return step.out.map(inShort)
  }
  return { notes, add, state: () => state, end: () => endConversation(state, parts).map(inShort) }
}

function inShort({ role, pieces }: { role: string; pieces: readonly { kind: string }[] }): string {
  return `${role}: ${pieces.map(({ kind }) => kind).join(' ')}`
}

test('a message goes out when the other one begins', () => {
  const { add, end } = start()
  expect(add(turn('user', 'Hi'))).toEqual([])
  expect(add(turn('user', 'there'))).toEqual([])
  expect(add(turn('assistant', 'Yes'))).toEqual(['user: other other'])
  expect(add(turn('user', 'Go'))).toEqual(['assistant: other'])
  expect(end()).toEqual(['user: other'])
})

test('the state knows the calls that wait for results', () => {
  const { add, end, state } = start()
  add(turn('user', 'Hi'))
  add(turn('assistant', call('a'), call('b')))
  expect(state().pairing.calls).toEqual([])
  expect(add(turn('user', result('b', 'rain')))).toEqual(['assistant: call call'])
  expect(state().pairing.calls.map(({ id }) => id)).toEqual(['a', 'b'])
  expect(end()).toEqual(['user: result result'])
})

test('calls at the end get results', () => {
  const { add, end, notes } = start()
  add(turn('user', 'Hi'))
  add(turn('assistant', call('a')))
  expect(end()).toEqual(['assistant: call', 'user: result'])
  expect(actions(notes.list)).toHaveLength(1)
})

test('thinking waits for what it leads to', () => {
  const { add, state, end, notes } = start()
  add(turn('user', 'Hi'))
  expect(add(turn('assistant', thought('one')))).toEqual([])
  expect(state().thoughts).toHaveLength(1)
  expect(add(turn('assistant', 'Yes', thought('two')))).toEqual(['user: other'])
  expect(state().open?.pieces.map(({ kind }) => kind)).toEqual(['thought', 'other'])
  expect(add(turn('user', 'Go'))).toEqual(['assistant: thought other'])
  expect(actions(notes.list)).toEqual(['dropped two'])
  expect(end()).toEqual(['user: other'])
})

test('thinking that leads to nothing leaves the user’s message open', () => {
  const { add, end } = start()
  add(turn('user', 'Hi'))
  add(turn('assistant', thought('one')))
  expect(add(turn('user', 'Go'))).toEqual([])
  expect(end()).toEqual(['user: other other'])
})

test('an instruction waits for the next turn, which decides on its form', () => {
  const { add, end } = start(true)
  add(turn('user', 'Hi'))
  expect(add(turn('system', 'Be brief'))).toEqual([])
  expect(add(turn('assistant', 'Yes'))).toEqual(['user: other', 'system: other'])
  add(turn('user', 'Go'))
  add(turn('system', 'Be long'))
  expect(add(turn('user', 'On'))).toEqual([])
  expect(end()).toEqual(['user: other other other'])
})

test('a turn may have more blocks than the stack has room for', () => {
  const { add, end } = start()
  const blocks = Array.from({ length: 200_000 }, () => ({ type: 'text', text: 'x', path: '' }) as const)
  add({ role: 'user', blocks, path: '' })
  add({ role: 'assistant', blocks, path: '' })
  expect(end()).toHaveLength(1)
})
