import { expect, test } from 'vitest'
import { translateRequest } from '../../src/bodies/translate-request.ts'
import type { Json } from '../../src/canonical/json.ts'
import { makeEnvelope } from '../../src/protocols/envelope.ts'
import { functionParameters } from '../../src/protocols/function-parameters.ts'
import { clientSide } from '../../src/protocols/index.ts'

const none = { type: 'object', properties: {} }

test.each<[string, Json | undefined, Json]>([
  ['none', undefined, none],
  ['no words', {}, none],
  ['an object', { type: 'object' }, none],
  [
    'an object without other keys',
    { type: 'object', additionalProperties: false },
    { ...none, additionalProperties: false },
  ],
  [
    'an object with keys',
    { type: 'object', properties: { a: {} } },
    { type: 'object', properties: { a: {} } },
  ],
  ['no object', { anyOf: [none] }, { anyOf: [none] }],
])('the parameters of a function: %s', (_, parameters, sent) => {
  expect(functionParameters(parameters)).toEqual(sent)
})

test.each(['openai-chat', 'openai-responses'] as const)('a tool without parameters to %s', (protocol) => {
  const body = {
    model: 'm',
    max_tokens: 99,
    messages: [{ role: 'user', content: 'hi' }],
    tools: [{ name: 'list_clusters', input_schema: { type: 'object' } }],
  }
  const input = { client: clientSide('anthropic-messages'), envelope: makeEnvelope(Buffer.alloc(32)) }
  const sent = translateRequest(
    { ...input, body, strict: true, maxOutputTokensDefault: 9 },
    { protocol, upstreamModel: 'gpt-4.1', traits: {} },
  )
  expect(JSON.stringify(sent.body.tools)).toContain('"parameters":{"type":"object","properties":{}}')
})
