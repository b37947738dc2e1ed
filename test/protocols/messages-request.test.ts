import { describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { checkHeaders, readRequest } from '../../src/protocols/anthropic-messages/request.ts'
import { patchRequest } from '../../src/protocols/patch-request.ts'
import { seeded } from '../support/random.ts'
import { randomJson } from './random-json.ts'

const bounds = { jsonDepthMax: 50, jsonValuesMax: 100_000 }
const plain = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }

describe('the facts of a request', () => {
  it('are read without the rest of the body', () => {
    expect(read({ ...plain, stream: true, thinking: { type: 'tomorrow' } })).toMatchObject({
      model: 'm',
      stream: true,
      maxOutputTokens: 10,
      choices: 1,
      wantsUsageFrame: true,
      heldId: undefined,
    })
  })

  it('take 0 for no bound of the output', () => {
    expect(read({ ...plain, max_tokens: 0 }).maxOutputTokens).toBeUndefined()
  })

  it.each([
    [{ model: undefined }, 'model'],
    [{ max_tokens: undefined }, 'max_tokens'],
    [{ max_tokens: null }, 'max_tokens'],
    [{ max_tokens: '5' }, 'max_tokens'],
    [{ max_tokens: -1 }, 'max_tokens'],
    [{ messages: undefined }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: 'Hi' }, 'messages'],
    [{ messages: ['Hi'] }, 'messages[0]'],
    [{ stream: 1 }, 'stream'],
    [
      {
        messages: [
          { role: 'system', content: 'x' },
          { role: 'user', content: 'Hi' },
        ],
      },
      'messages[0].role',
    ],
  ])('refuse %j at %s', (members, field) => {
    expect(() => read({ ...plain, ...members })).toThrow(
      expect.objectContaining({ kind: 'invalid_request', field }),
    )
  })

  it('are refused for a leading system message, and the error says where its text belongs', () => {
    expect(() => read({ ...plain, messages: [{ content: 'x', role: 'system' }] })).toThrow(
      /top-level "system"/,
    )
  })

  it('accept later system messages', () => {
    const messages = [...plain.messages, { role: 'system', content: 'x', output_config: {} }]
    expect(read({ ...plain, messages }).model).toBe('m')
  })

  it('are read or refused for any bytes', () => {
    const random = seeded(2)
    const whole = JSON.stringify({ ...plain, tools: [{}], stream: false })
    for (let round = 0; round < 20_000; round++) {
      const from = random.upTo(whole.length)
      const to = random.next() < 0.5 ? from : from + random.upTo(4)
      const text = whole.slice(0, from) + (random.next() < 0.5 ? randomJson(random, 3) : '') + whole.slice(to)
      try {
        readRequest(Buffer.from(text), bounds)
        JSON.parse(text)
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
      }
    }
  })
})

describe('a patched request', () => {
  const raw = Buffer.from(
    '{ "max_tokens":5 ,"messages": [{"role":"user","content":"m"}], "model" : "m", "future": [1.0, "\\u00e9"]}\n',
  )
  const facts = readRequest(raw, bounds)

  it('differs only in the model', () => {
    expect(patchRequest(raw, facts, { model: 'claude "x"' }).toString()).toBe(
      raw.toString().replace('"model" : "m"', '"model" : "claude \\"x\\""'),
    )
  })

  it('is the same buffer if the name is the same', () => {
    expect(patchRequest(raw, facts, { model: 'm' })).toBe(raw)
  })
})

describe('the version header', () => {
  it.each(['2023-06-01', '2026-10-21', ' 2023-06-01 ', ['2026-10-21']])('%j is known', (version) => {
    expect(() => checkHeaders({ 'anthropic-version': version })).not.toThrow()
  })

  it.each([undefined, '', '2099-01-01', '2023-06-01, 2026-10-21'])(
    '%j is refused with the known dates',
    (version) => {
      expect(() => checkHeaders({ 'anthropic-version': version })).toThrow(
        expect.objectContaining({
          kind: 'invalid_request',
          message: expect.stringMatching(/^anthropic-version: .*2023-06-01, 2026-10-21/),
        }),
      )
    },
  )
})

function read(body: object) {
  return readRequest(Buffer.from(JSON.stringify(body)), bounds)
}
