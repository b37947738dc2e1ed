import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freeKey, paidKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import type { Plan, SeenRequest } from '../support/upstream.ts'
import { chat, chatStream, frame } from '../support/upstream-plans.ts'

/** Requests that some of their channels cannot express, and answers that the client's format cannot express. */

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ yaml, env: { ATTEMPTS_MAX: '2' } })
})
afterAll(() => bed.close())
beforeEach(() => {
  bed.upstream.script(answerByPath)
  bed.upstream.requests.length = 0
})

const hello = [{ role: 'user', content: 'Hello' }]
const toMessages = { model: 'native-down', messages: hello, n: 2 }

function answerByPath(seen: SeenRequest): Plan {
  if (!seen.path.startsWith('/down')) return chat(seen)
  const error = { message: `Down for ${seen.headers.authorization}`, type: 'server_error' }
  return seen.stream
    ? { chunks: [frame({ error })], ending: 'end' }
    : { status: 503, body: JSON.stringify({ error }) }
}

async function post(path: string, body: unknown, key = freeKey) {
  const response = await fetch(`${bed.tollgate.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      'anthropic-version': '2023-06-01',
    },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, text, row: await bed.row(response.headers.get('x-request-id')) }
}

test("the client gets an upstream's error if the next channel cannot express the request", async () => {
  const { status, text, row } = await post('/v1/chat/completions', toMessages)
  expect(status).toBe(503)
  expect(text).toContain('overloaded')
  expect(row).toMatchObject({ outcome: 'failed', attempt_count: 1 })
})

test('a credential of a failed channel is not in the attempts when another channel answers', async () => {
  const body = { model: 'first-down', max_tokens: 9, messages: hello, stream: true }
  const { status, row } = await post('/v1/messages', body)
  expect(status).toBe(200)
  const attempts = await bed.database
    .sql`SELECT * FROM attempts WHERE request_id = ${String(row.id)} ORDER BY ordinal`
  expect(attempts).toHaveLength(2)
  expect(JSON.stringify(attempts)).toContain('Down for')
  expect(JSON.stringify(attempts)).not.toContain('credential-of')
})

test('a channel whose format cannot express a request is passed over for one that can', async () => {
  const tool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } })
  const unsayable = [{ tools: [tool('a.b'), tool('a_b')] }, { temperature: '0.5' }, { n: 2 }]
  for (const more of unsayable) {
    const { status, row } = await post('/v1/chat/completions', {
      model: 'native-last',
      messages: hello,
      ...more,
    })
    expect(status, JSON.stringify(more)).toBe(200)
    // One refusal counts for all channels of its format, and none of them counts as called.
    expect(row).toMatchObject({ channel: 'last', attempt_count: 1 })
    const attempts = await bed.database
      .sql`SELECT channel, passed_over FROM attempts WHERE request_id = ${String(row.id)} ORDER BY ordinal`
    expect(attempts.map(({ passed_over: passedOver }) => passedOver)).toEqual([true, false])
  }
  expect(bed.upstream.requests).toHaveLength(unsayable.length)
})

test('a request that no channel can express is refused by name', async () => {
  const { status, text } = await post('/v1/chat/completions', {
    model: 'via-messages',
    messages: hello,
    n: 2,
  })
  expect(status).toBe(400)
  expect(JSON.parse(text)).toMatchObject({ error: { param: 'n' } })
})

test.each([false, true])(
  "an answer that the client's format cannot express is an error, stream %s",
  async (stream) => {
    const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    const call = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'tool_search', arguments: deep },
    }
    bed.upstream.script((seen) =>
      stream
        ? {
            ...chatStream(seen),
            chunks: [
              frame({ id: '1', choices: [{ index: 0, delta: { tool_calls: [call] } }] }),
              frame({ id: '1', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }),
              'data: [DONE]\n\n',
            ],
          }
        : {
            body: JSON.stringify({
              id: '1',
              choices: [
                {
                  index: 0,
                  message: { role: 'assistant', content: null, tool_calls: [call] },
                  finish_reason: 'tool_calls',
                },
              ],
            }),
          },
    )
    const search = {
      type: 'tool_search',
      execution: 'client',
      description: 'd',
      parameters: { type: 'object' },
    }
    const { status, text, row } = await post('/v1/responses', {
      model: 'via-chat',
      input: 'Hello',
      stream,
      tools: [search],
    })
    expect(status).toBe(stream ? 200 : 502)
    expect(text).toContain('cannot be translated')
    expect(row).toMatchObject({ outcome: 'failed' })
  },
)

test("an upstream's error in a translated stream does not show its credential", async () => {
  bed.upstream.script((seen) => ({
    chunks: [
      frame({ id: '1', choices: [{ index: 0, delta: { content: 'x' } }] }),
      frame({ error: { message: `Bad ${seen.headers.authorization}` } }),
    ],
    ending: 'end',
  }))
  const { text, row } = await post('/v1/messages', {
    model: 'via-chat',
    max_tokens: 9,
    messages: hello,
    stream: true,
  })
  expect(text).toContain('event: error')
  expect(text).toContain('Bad')
  expect(text).not.toContain('credential-of')
  expect(row).toMatchObject({ outcome: 'failed' })
  expect(String(row.error_message)).not.toContain('credential-of')
})

test('a request reserves money by the bytes that are sent, even if the translation is much longer', async () => {
  // Each tool becomes a function with a schema and a long name: fourteen times the bytes.
  const tools = Array.from({ length: 400 }, (_, at) => ({ type: 'custom', name: `t${at}` }))
  let held = 0
  bed.upstream.script(async () => {
    const [row] = await bed.database.sql<{ amount: string }[]>`SELECT amount_nano AS amount FROM reservations`
    held = Number(row?.amount)
    return { body: JSON.stringify(messagesAnswer) }
  })
  const asked = { model: 'via-messages', input: 'Hello', max_output_tokens: 16, tools }
  const { status } = await post('/v1/responses', asked, paidKey)
  expect(status).toBe(200)
  const sent = bed.upstream.requests[0]?.body.length ?? 0
  expect(sent).toBeGreaterThan(3 * JSON.stringify(asked).length)
  expect(held).toBeGreaterThanOrEqual(sent)
})

const messagesAnswer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'up',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}

function yaml(url: string): string {
  const origin = url.replace(/\/v1$/, '')
  const channel = (name: string, protocol: string, base: string, models: string, priority = 0) =>
    `  - { name: ${name}, protocols: { ${protocol}: ${base} }, api_keys: [credential-of-${name}], models: [${models}], allow_private_address: true, priority: ${priority} }`
  const model = (id: string) =>
    `  - { id: ${id}, context_length: 100000, max_output_tokens: 1000, price: { input: "0.001", output: "0.001" } }`
  return `
models:
${['via-chat', 'via-messages', 'native-down', 'first-down', 'native-last'].map(model).join('\n')}
channels:
${channel('down', 'openai-chat', `${origin}/down/v1`, 'native-down, first-down', 2)}
${channel('up', 'openai-chat', url, 'via-chat, first-down')}
${channel('messages', 'anthropic-messages', `${origin}/m`, 'via-messages, native-down, native-last', 1)}
${channel('messages-too', 'anthropic-messages', `${origin}/m`, 'native-last', 1)}
${channel('last', 'openai-chat', url, 'native-last')}
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - name: free
    keys: [{ name: free, group: default, secret: ${freeKey} }]
  - name: paid
    balance_usd: "1.00"
    keys: [{ name: paid, group: default, secret: ${paidKey} }]
`
}
