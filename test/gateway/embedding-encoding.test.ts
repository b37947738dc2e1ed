import { afterAll, beforeAll, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Embeddings that come in another encoding than the client asked for. */

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed()
})
afterAll(() => bed.close())

const vector = [0.7265625, -0.0703125, 0.34765625, 0.5, -0.25, 1, 0.125, -1]
const base64 = 'AAA6PwAAkL0AALI+AAAAPwAAgL4AAIA/AAAAPgAAgL8='

function answerOf(embeddings: readonly unknown[], spaces = 0): string {
  const data = embeddings.map((embedding, index) => ({ object: 'embedding', index, embedding }))
  const usage = { prompt_tokens: 3, total_tokens: 3 }
  return JSON.stringify({ object: 'list', model: 'm', data, usage }, null, spaces)
}

async function ask(encoding: object, body: string) {
  bed.upstream.script(() => ({ headers: { 'content-type': 'application/json' }, body }))
  const answer = await fetch(`${bed.tollgate.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'main', input: 'hello world', ...encoding }),
  })
  const text = await answer.text()
  expect(answer.status, text).toBe(200)
  const row = await bed.row(answer.headers.get('x-request-id'))
  return { text, row, note: answer.headers.get('x-tollgate-translation') }
}

test.each([
  ['base64', vector, base64, 0],
  ['base64', vector, base64, 2],
  ['float', base64, vector, 0],
  ['float', base64, vector, 2],
] as const)('asked for %s, %j becomes %j, with a note', async (encoding, came, expected, spaces) => {
  const { text, row, note } = await ask({ encoding_format: encoding }, answerOf([came, came], spaces))
  expect(JSON.parse(text).data.map(({ embedding }: { embedding: unknown }) => embedding)).toEqual([
    expected,
    expected,
  ])
  expect(JSON.parse(text).usage).toEqual({ prompt_tokens: 3, total_tokens: 3 })
  expect(note).toBe('openai-chat; mapped=answer.data[].embedding')
  expect(JSON.stringify(row.notes)).toContain(`did not use the requested encoding, ${encoding}`)
  expect(row).toMatchObject({ usage_source: 'upstream', input_tokens: 3 })
})

test('an answer that is larger than what is held to be sent at once is encoded too', async () => {
  const long = Array.from({ length: 30_000 }, (_, at) => at / 7)
  const { text } = await ask({ encoding_format: 'base64' }, answerOf([long, long]))
  const [first] = JSON.parse(text).data
  const bytes = Buffer.from(first.embedding, 'base64')
  expect(bytes.length).toBe(120_000)
  expect(bytes.readFloatLE(4 * 29_999)).toBeCloseTo(29_999 / 7, 2)
})

test.each([
  ['the asked encoding', { encoding_format: 'base64' }, answerOf([base64], 3)],
  ['the asked numbers', { encoding_format: 'float' }, answerOf([vector], 3)],
  ['the encoding of an upstream that was left the choice', {}, answerOf([base64])],
  ['vectors of another type', { encoding_format: 'float', output_dtype: 'int8' }, answerOf([base64])],
  ['lists of vectors', { encoding_format: 'base64' }, answerOf([[vector, vector]])],
  ['what is not a vector', { encoding_format: 'float' }, answerOf(['AAA='])],
  ['no data at all', { encoding_format: 'base64' }, JSON.stringify({ object: 'list', data: [] })],
])('%s passes byte for byte, without a note', async (_, encoding, body) => {
  const { text, note } = await ask(encoding, body)
  expect(text).toBe(body)
  expect(note).toBeNull()
})
