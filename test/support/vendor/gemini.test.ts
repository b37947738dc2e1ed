import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isRecord, type Json } from '../../../src/canonical/json.ts'
import { startVendor, type Vendor } from './vendor.ts'

let vendor: Vendor

beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 0 })
})
afterAll(() => vendor.close())

const model = 'demo-chat'
const post = async (path: string, body: unknown) =>
  fetch(`${vendor.url}/v1beta${path}`, { method: 'POST', body: JSON.stringify(body) })
const generate = async (body: Json): Promise<Json> => {
  const value: unknown = await (await post(`/models/${model}:generateContent`, body)).json()
  return isRecord(value) ? value : {}
}
const hello = { role: 'user', parts: [{ text: 'hello' }] }
const declare = (...names: string[]) => [
  {
    functionDeclarations: names.map((name) => ({
      name,
      parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
    })),
  },
]
const messageOf = (answer: Json) => (isRecord(answer.error) ? answer.error.message : undefined)

describe('the strict vendor’s generateContent', () => {
  it('labels, signs and counts its answers', async () => {
    const answer = await generate({ contents: [hello] })
    expect(answer).toMatchObject({
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              {
                text: 'This is the strict vendor of these tests; no model is behind it. You said: "hello"',
                thoughtSignature: expect.any(String),
              },
            ],
          },
          finishReason: 'STOP',
        },
      ],
      modelVersion: model,
    })
    const counted = await (await post(`/models/${model}:countTokens`, { contents: [hello] })).json()
    expect(counted).toEqual({ totalTokens: expect.any(Number) })
  })

  it('refuses what the vendor refuses, in its envelope', async () => {
    const call = {
      functionCall: { name: 'f', args: {} },
      thoughtSignature: 'skip_thought_signature_validator',
    }
    const response = { functionResponse: { name: 'f', response: { output: 'x' } } }
    const turn = (role: string, ...parts: Json[]) => ({ role, parts })
    const wrong: [RegExp, Json][] = [
      [/contents: expected a non-empty array/, {}],
      [/Unknown name "messages"/, { messages: [] }],
      [/Unknown name "n" at 'generation_config'/, { contents: [hello], generationConfig: { n: 1 } }],
      [/role: expected one of user, model/, { contents: [turn('assistant', { text: 'a' })] }],
      [/parts: expected a non-empty array/, { contents: [turn('user')] }],
      [/must have one initialized field/, { contents: [turn('user', {})] }],
      [
        /number of function response parts is equal/,
        { contents: [hello, turn('model', call), turn('user', { text: 'a' })] },
      ],
      [/number of function response parts is equal/, { contents: [hello, turn('model', call)] }],
      [/comes immediately after a user turn/, { contents: [turn('model', call), turn('user', response)] }],
      [
        /response: expected an object/,
        {
          contents: [
            hello,
            turn('model', call),
            turn('user', { functionResponse: { name: 'f', response: 'x' } }),
          ],
        },
      ],
      [
        /missing a thought_signature/,
        { contents: [hello, turn('model', { functionCall: call.functionCall }), turn('user', response)] },
      ],
      [
        /Thought signature is not valid/,
        { contents: [hello, turn('model', { text: 'a', thoughtSignature: 'AAAA' })] },
      ],
      [
        /more than the maximum of 5/,
        { contents: [hello], generationConfig: { stopSequences: ['1', '2', '3', '4', '5', '6'] } },
      ],
      [
        /only one of thinking budget and thinking level/,
        {
          contents: [hello],
          generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: 'LOW' } },
        },
      ],
      [/Invalid function name/, { contents: [hello], tools: declare('1st') }],
      [
        /should only be set when function calling mode is ANY/,
        {
          contents: [hello],
          tools: declare('f'),
          toolConfig: { functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['f'] } },
        },
      ],
    ]
    for (const [words, body] of wrong) {
      const answer = await generate(body)
      expect(messageOf(answer), String(words)).toMatch(words)
      expect(answer.error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' })
    }
    const lost = await post('/models/x:embedContent', {})
    expect([lost.status, await lost.json()]).toMatchObject([404, { error: { status: 'NOT_FOUND' } }])
  })
})
