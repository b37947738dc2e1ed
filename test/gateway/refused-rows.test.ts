import { afterAll, beforeAll, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** The row of a refused request has what could be read of its body. */

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ env: { BODY_THREAD_BYTES: '4096' } })
})
afterAll(() => bed?.close())

const head = '"model":"some-model","stream":true'
const openai = `${head},"user":"ann","prompt_cache_key":"thread-1","metadata":{"team":"blue"}`
const messages = `${head},"metadata":{"user_id":"ann"}`
const labels = { end_user: 'ann', session: 'thread-1', tags: ['team:blue'] }

/** By their faults. */
const bodies: [fault: string, body: (members: string) => string][] = [
  ['nothing to answer', (members) => `{${members},"messages":[],"input":7,"prompt":7}`],
  ['no end', (members) => `{${members},"messages":[`],
  ['a broken member', (members) => `{${members},"messages":[{]}`],
  ['a member twice', (members) => `{${members},"model":"another"}`],
  ['too deep a member', (members) => `{${members},"messages":${'['.repeat(2000)}${']'.repeat(2000)}}`],
  ['a byte order mark', (members) => `\ufeff{${members},"messages":[{"role":"user","content":"Hi"}]}`],
]

const endpoints: [path: string, members: string, expected: object][] = [
  ['/v1/chat/completions', openai, labels],
  ['/v1/responses', openai, labels],
  ['/v1/responses/compact', openai, labels],
  ['/v1/messages', messages, { end_user: 'ann' }],
  ['/v1/embeddings', openai, { end_user: 'ann' }],
  ['/v1/moderations', openai, {}],
  ['/v1/completions', openai, { end_user: 'ann' }],
  ['/v1/images/generations', openai, { end_user: 'ann' }],
  ['/v1/messages/count_tokens', messages, {}],
  ['/v1/responses/input_tokens', openai, {}],
]

test.each(endpoints)('%s', async (path, members, expected) => {
  // A count needs less than an answer.
  const isCount = path.endsWith('tokens')
  const asked = bodies
    .filter(([fault]) => !isCount || fault !== 'a member twice')
    .flatMap(([fault, bodyOf]) =>
      ['', `"more":"${'x'.repeat(6000)}",`].map(async (more) => {
        const answer = await fetch(bed.tollgate.url + path, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${freeKey}`,
            'content-type': 'application/json',
            'anthropic-version': '2023-06-01',
          },
          body: bodyOf(members).replace('{', `{${more}`),
        })
        await answer.text()
        return { fault, status: answer.status, id: answer.headers.get('x-request-id') }
      }),
    )
  const answers = await Promise.all(asked)
  const rows = await bed.rows()
  for (const { fault, status, id } of answers) {
    const row = rows.find((each) => each.id === id)
    expect(row, fault).toMatchObject({ requested_model: 'some-model' })
    if (isCount) continue
    expect(status, fault).toBe(400)
    expect(row, fault).toMatchObject({ stream: true, ...expected })
  }
})

test('a model that no row could have is not there', async () => {
  for (const model of ['""', '7', `"${'x'.repeat(300)}"`, '"a\\u0000b"']) {
    const answer = await bed.chat(`{"model":${model},"stream":true,"messages":[]}`)
    expect(answer.status).toBe(400)
    const row = await bed.row(answer.headers.get('x-request-id'))
    expect(row).toMatchObject({ requested_model: null, stream: true })
  }
})
