import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type BackgroundBed, requestIdOf, startBackgroundBed } from '../support/background-bed.ts'
import { type Plan, type ScriptedUpstream, startUpstream } from '../support/upstream.ts'

/** What the gateway adds to a request that makes an answer in the background is taken back where the upstream refuses it. */

let upstream: ScriptedUpstream
let bed: BackgroundBed
beforeAll(async () => {
  upstream = await startUpstream()
  bed = await startBackgroundBed({ channel: { url: upstream.url, protocol: 'openai-responses' } })
})
afterAll(async () => {
  await bed?.close()
  await upstream?.close()
})
beforeEach(async () => {
  upstream.requests.length = 0
  await bed.database.sql`DELETE FROM verdicts`
})

const answer = {
  ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'm', status: 'completed' },
  output: [
    {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'GOOD', annotations: [] }],
    },
  ],
  usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
}
const stream: Plan = {
  chunks: [
    {
      type: 'response.created',
      sequence_number: 0,
      response: { ...answer, status: 'in_progress', output: [] },
    },
    { type: 'response.completed', sequence_number: 1, response: answer },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  ending: 'end',
}
const refusal = (message: string, param: string | null): Plan => ({
  status: 400,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ error: { message, type: 'invalid_request_error', param, code: null } }),
})

test.each([
  ['include', "Unknown parameter: 'include'.", 'include'],
  ['include', 'Encrypted content is not supported with this model.', 'include'],
  ['include', "Invalid value for 'include[0]': not one of the supported values.", 'include[0]'],
  ['include', 'json: unknown field "include"', null],
  ['store', "Unsupported parameter: 'store' is not supported with this model.", 'store'],
  ['store', 'body.store: Extra inputs are not permitted', null],
])('%s: %s', async (member, message, param) => {
  upstream.script(({ body }) => (body.toString().includes(`"${member}":`) ? refusal(message, param) : stream))
  const id = await bed.submit('hi')
  expect(await bed.ended(id)).toMatchObject({ status: 'completed', output_text: 'GOOD' })
  const [first, second, ...more] = upstream.requests.map(({ body }) => JSON.parse(body.toString()))
  expect(more).toEqual([])
  const { [member]: _, ...others } = first
  expect(second).toEqual(others)
  expect(await bed.row(id)).toMatchObject({ outcome: 'succeeded' })
  expect(
    await bed.database
      .sql`SELECT status, reason FROM attempts WHERE request_id = ${requestIdOf(id)} ORDER BY ordinal`,
  ).toMatchObject([{ status: 400 }, { status: 200, reason: `again without ${member}, only candidate` }])
})

test('what the client asks for itself is not taken', async () => {
  upstream.script(() => refusal('Encrypted content is not supported with this model.', 'include'))
  const { id } = await bed.client().responses.create({
    ...{ model: 'words', background: true, input: 'hi' },
    include: ['reasoning.encrypted_content'],
  })
  expect(await bed.ended(id)).toMatchObject({ status: 'failed' })
  expect(upstream.requests).toHaveLength(1)
})
