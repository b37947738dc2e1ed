import { describe, expect, it } from 'vitest'
import type { TranslationNote } from '../../src/canonical/chat.ts'
import type { Json } from '../../src/canonical/json.ts'
import type { Traits } from '../../src/canonical/traits.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { upstreamSide } from '../../src/protocols/index.ts'
import { decodeRequest } from '../../src/protocols/openai-chat/decode-request.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'

/** Rules of vendors about what goes together in one request, and about the order of a conversation. */

const envelope = makeEnvelope(Buffer.alloc(32))
const hello = { role: 'user', content: 'hi' }
const fn = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }
const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
const called = { role: 'assistant', content: 'Well', tool_calls: [call] }
const result = { role: 'tool', tool_call_id: 'call_1', content: 'done' }
const json = { response_format: { type: 'json_object' } }

function encode(
  body: Json,
  traits: Traits,
  to: ProtocolName = 'openai-chat',
): { body: Json; notes: Record<string, string> } {
  const request = decodeRequest({ model: 'm', messages: [hello], ...body }, { envelope })
  const encoded = upstreamSide(to).encodeRequest(request, {
    upstreamModel: 'up',
    traits,
    maxOutputTokensDefault: 1000,
  })
  return { body: encoded.body, notes: actions(encoded.notes) }
}

function actions(notes: readonly TranslationNote[]): Record<string, string> {
  return Object.fromEntries(notes.map(({ path, action }) => [path, action]))
}

const efforts = ['none', 'low', 'high'] as const

describe('tools while a model thinks', () => {
  const traits: Traits = { toolsWhileThinking: false, effortLevels: efforts, effortDefault: 'high' }

  it('beside tools a model that takes none while it thinks is told not to think', () => {
    const asked = encode({ tools: [fn], reasoning_effort: 'low' }, traits)
    expect(asked.body).toMatchObject({ reasoning_effort: 'none', tools: [fn] })
    expect(asked.notes).toEqual({ reasoning_effort: 'dropped' })
    const silent = encode({ tools: [fn] }, traits)
    expect(silent.body.reasoning_effort).toBe('none')
    expect(Object.values(silent.notes)).toEqual(['mapped'])
  })

  it('it thinks without tools, and says nothing where it does not think anyway', () => {
    expect(encode({ reasoning_effort: 'low' }, traits).body.reasoning_effort).toBe('low')
    const quiet = encode({ tools: [fn] }, { ...traits, effortDefault: 'none' })
    expect(quiet.body.reasoning_effort).toBeUndefined()
    expect(quiet.notes).toEqual({})
  })
})

describe('sampling while a model thinks', () => {
  const traits: Traits = { samplingWhileThinking: false, effortLevels: efforts, effortDefault: 'none' }

  it('goes only where the model does not think', () => {
    const wish = { temperature: 0.2, top_p: 0.9 }
    expect(encode(wish, traits).body).toMatchObject(wish)
    expect(
      encode({ ...wish, reasoning_effort: 'none' }, { ...traits, effortDefault: 'high' }).body,
    ).toMatchObject(wish)
    const thinking = encode({ ...wish, reasoning_effort: 'low' }, traits)
    expect(thinking.body.temperature).toBeUndefined()
    expect(thinking.body.top_p).toBeUndefined()
    expect(thinking.notes).toEqual({ temperature: 'dropped', top_p: 'dropped' })
    const byDefault = encode({ temperature: 1 }, { ...traits, effortDefault: 'high' })
    expect(byDefault.body.temperature).toBeUndefined()
    expect(byDefault.notes).toEqual({ temperature: 'mapped' })
  })
})

describe('the conversation', () => {
  it('a model that continues no assistant turn is asked to continue it', () => {
    const turns = { messages: [hello, { role: 'assistant', content: 'We' }] }
    const { body, notes } = encode(turns, { prefill: false })
    expect(body.messages).toMatchObject([
      hello,
      { content: 'We' },
      { role: 'user', content: expect.stringMatching(/^Your last/) },
    ])
    expect(notes).toEqual({ 'messages[1]': 'emulated' })
    expect(encode(turns, {}).body.messages).toHaveLength(2)
  })

  it('an assistant message is between results and the user where the upstream wants one', () => {
    const turns = { messages: [hello, called, result, hello], tools: [fn] }
    const { body, notes } = encode(turns, { userAfterToolResults: false })
    expect(roles(body)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
    expect(notes).toEqual({ messages: 'emulated' })
    expect(roles(encode(turns, {}).body)).toEqual(['user', 'assistant', 'tool', 'user'])
    const ended = encode({ messages: [hello, called, result], tools: [fn] }, { userAfterToolResults: false })
    expect(roles(ended.body)).toEqual(['user', 'assistant', 'tool'])
    expect(ended.notes).toEqual({})
  })

  it('messages with calls have thoughts where the upstream demands them, and none where it refuses them', () => {
    const turns = (more: Json) => ({ messages: [hello, { ...called, ...more }, result], tools: [fn] })
    const sent = (more: Json, thoughtsInHistory: 'required' | 'refused') => {
      const { messages } = encode(turns(more), { thoughtsInHistory }).body
      return Array.isArray(messages) ? messages[1] : undefined
    }
    expect(sent({}, 'required')).toMatchObject({ reasoning_content: '' })
    expect(sent({ reasoning_content: 'Hm' }, 'required')).toMatchObject({ reasoning_content: 'Hm' })
    expect(sent({ reasoning_content: 'Hm' }, 'refused')).not.toHaveProperty('reasoning_content')
  })
})

it('a forced call beside a JSON format becomes an instruction where the model takes no such pair', () => {
  const asked = { ...json, tools: [fn], tool_choice: 'required' }
  const traits: Traits = { forcedToolsWithFormat: false }
  const { body, notes } = encode(asked, traits, 'gemini')
  expect(JSON.stringify(body)).not.toContain('responseMimeType')
  expect(notes).toMatchObject({ response_format: 'emulated' })
  const auto = encode({ ...json, tools: [fn] }, traits, 'gemini')
  expect(JSON.stringify(auto.body)).toContain('responseMimeType')
})

function roles({ messages }: Json): unknown {
  return Array.isArray(messages) ? messages.map(({ role }) => role) : undefined
}
