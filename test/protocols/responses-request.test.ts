import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { readRequest } from '../../src/protocols/openai-responses/request.ts'
import { patchRequest } from '../../src/protocols/patch-request.ts'
import { seeded } from '../support/random.ts'
import { escapeRandomly, joinRandomly, randomJson, randomMember } from './random-json.ts'

const bounds = { jsonDepthMax: 64, jsonValuesMax: 100_000 }
const read = (body: object) => readRequest(Buffer.from(JSON.stringify(body)), bounds)

describe('readRequest', () => {
  it('reads the members for admission and routing', () => {
    const facts = read({
      model: 'gpt-main',
      input: 'hello',
      stream: true,
      max_output_tokens: 20,
      store: false,
      previous_response_id: 'resp_1',
    })
    expect(facts).toMatchObject({
      model: 'gpt-main',
      stream: true,
      wantsUsageFrame: true,
      maxOutputTokens: 20,
      choices: 1,
      heldId: 'resp_1',
      keepsAnswer: false,
    })
  })

  it('knows that the cost of a background answer is unknown', () => {
    expect(read({ model: 'm', input: 'hi', background: true }).hidesCost).toBe('background')
    for (const background of [false, null, undefined]) {
      expect(read({ model: 'm', input: 'hi', background }).hidesCost).toBeUndefined()
    }
  })

  it('treats null like an absent member', () => {
    const bare = {
      stream: false,
      maxOutputTokens: undefined,
      heldId: undefined,
      keepsAnswer: true,
    }
    expect(read({ model: 'm', input: 'hello' })).toMatchObject(bare)
    const nulls = { stream: null, max_output_tokens: null, previous_response_id: null, conversation: null }
    expect(read({ model: 'm', input: [{ role: 'user' }], ...nulls, tools: null, store: null })).toMatchObject(
      bare,
    )
  })

  it.each(['conv_1', { id: 'conv_1' }])('finds the conversation %j, and its bytes', (conversation) => {
    const { runsIn } = read({ model: 'm', conversation })
    const value = JSON.stringify(conversation)
    const start = JSON.stringify({ model: 'm', conversation }).indexOf(value)
    expect(runsIn).toEqual({ id: 'conv_1', span: { start, end: start + value.length } })
  })

  it.each([
    [{}, {}],
    [1, {}],
    ['', {}],
    ['conv_1', { previous_response_id: 'r' }],
    [{ id: 'conv_1' }, { previous_response_id: 'r' }],
  ])('refuses the conversation %j beside %j by name', (conversation, more) => {
    const refusal = refusalOf(() => read({ model: 'm', input: 'hi', conversation, ...more }))
    expect(refusal).toMatchObject({ kind: 'invalid_request', field: 'conversation' })
  })

  it('accepts an input that is elsewhere: in an earlier answer or a stored prompt', () => {
    for (const elsewhere of [{ previous_response_id: 'r' }, { prompt: { id: 'p' } }]) {
      expect(() => read({ model: 'm', ...elsewhere })).not.toThrow()
      expect(() => read({ model: 'm', input: [], ...elsewhere })).not.toThrow()
    }
  })

  it.each([
    [{ input: 'hi' }, 'model', /^model: required/],
    [{ model: 5, input: 'hi' }, 'model', /^model: expected a string, got number$/],
    [{ model: 'm' }, 'input', /^input: required/],
    [{ model: 'm', input: null }, 'input', /^input: required/],
    [{ model: 'm', input: {} }, 'input', /^input: expected a string or a non-empty array, got object$/],
    [{ model: 'm', input: [] }, 'input', /got an empty one/],
    [{ model: 'm', input: 'hi', stream: 'yes' }, 'stream', /expected a boolean, got string/],
    [{ model: 'm', input: 'hi', max_output_tokens: -1 }, 'max_output_tokens', /0 or more, got -1/],
    [{ model: 'm', input: 'hi', tools: {} }, 'tools', /expected an array, got object/],
  ])('refuses %j naming %s', (body, field, message) => {
    const refusal = refusalOf(() => read(body))
    expect(refusal).toMatchObject({ kind: 'invalid_request', field })
    expect(refusal.message).toMatch(message)
  })

  it('takes 0 for no bound of the output', () => {
    expect(read({ model: 'm', input: 'hi', max_output_tokens: 0 }).maxOutputTokens).toBeUndefined()
  })
})

describe('patchRequest', () => {
  it('returns the same buffer if nothing changes', () => {
    const raw = Buffer.from('{"model":"m","input":"hi","stream":true}')
    expect(patchRequest(raw, readRequest(raw, bounds), { model: 'm' })).toBe(raw)
  })

  it('changes only the bytes of the model', () => {
    const random = seeded(3)
    for (let round = 0; round < 2000; round++) {
      const members = [
        randomMember(random, escapeRandomly(random, 'model'), '"m\\u0031"'),
        randomMember(random, '"input"', `[${randomJson(random)}]`),
        randomMember(random, '"extra"', randomJson(random)),
      ]
      const raw = Buffer.from(joinRandomly(random, '{', '}', random.shuffle(members)))
      const patched = patchRequest(raw, readRequest(raw, bounds), { model: 'up "x"' })
      expect(patched.toString()).toBe(raw.toString().replace('"m\\u0031"', () => '"up \\"x\\""'))
    }
  })

  it('writes the changed bytes to the offered memory', () => {
    const raw = Buffer.from('{"model":"m","input":"hi"}')
    const memory = Buffer.alloc(64)
    const patched = patchRequest(raw, readRequest(raw, bounds), {
      model: 'other',
      allocate: (bytes) => memory.subarray(0, bytes),
    })
    expect(patched.buffer).toBe(memory.buffer)
    expect(patched.toString()).toBe('{"model":"other","input":"hi"}')
  })
})

function refusalOf(run: () => unknown): GatewayError {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was refused')
}
