import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lastWords } from '../support/dying-thread-preload.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { type ProcessTestbed, startProcessTestbed } from '../support/process-testbed.ts'
import { serverArgs } from '../support/tollgate.ts'
import { until } from '../support/until.ts'
import { chatAnswer } from '../support/upstream-plans.ts'

/** Threads read, translate and redact large bodies. Clients, upstreams and rows see no difference. */

let inThreads: ProcessTestbed
let onLoop: ProcessTestbed

beforeAll(async () => {
  const beds = await Promise.all([
    startProcessTestbed({ env: { BODY_THREAD_BYTES: '50000', BODY_THREADS: '2' } }),
    startProcessTestbed({ env: { BODY_THREAD_BYTES: '1000000000' } }),
  ])
  inThreads = beds[0]
  onLoop = beds[1]
  for (const bed of beds) bed.upstream.script(() => chatAnswer())
})
afterAll(() => Promise.all([inThreads.close(), onLoop.close()]))

const picture = Buffer.alloc(90_000, 'a picture').toString('base64')
const prose = 'A long text: "quoted",\nwith über and 漢字 in it. '.repeat(3_000)
const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789'
const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } }
const chat = (content: unknown, more: object = {}) => ({
  path: '/v1/chat/completions',
  body: {
    model: 'main',
    user: 'someone',
    metadata: { team: 'blue' },
    messages: [{ role: 'user', content }],
    ...more,
  },
})
const messages = (content: unknown, more: object = {}) => ({
  path: '/v1/messages',
  body: { model: 'main', max_tokens: 50, messages: [{ role: 'user', content }], ...more },
})

const asked: Record<string, { path: string; body: object }> = {
  'a picture in a chat': chat([{ type: 'text', text: `Look. ${secret}` }, image]),
  'a long text in a chat, streamed': chat(prose, { stream: true }),
  'a long text in a Messages request': messages(prose, { metadata: { user_id: 'someone' }, top_k: 5 }),
  'a picture in a Messages request': messages([
    { type: 'text', text: 'Look.' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture } },
  ]),
  'a picture in a Responses request': {
    path: '/v1/responses',
    body: {
      model: 'main',
      instructions: 'Be brief.',
      store: false,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look.' },
            { type: 'input_image', image_url: image.image_url.url },
          ],
        },
      ],
    },
  },
  'a body that is refused': chat(prose, { n: 'two' }),
  'a translation that is refused': messages([{ type: 'text' }, { type: 'text', text: prose }]),
  'a count of tokens': { path: '/v1/messages/count_tokens', body: messages(prose).body },
  'a count of tokens that is refused': {
    path: '/v1/messages/count_tokens',
    body: messages(5, { x: prose }).body,
  },
  'a count of tokens without a model': { path: '/v1/responses/input_tokens', body: { input: prose } },
  'a count of tokens in a conversation': {
    path: '/v1/responses/input_tokens',
    body: { model: 'main', input: prose, conversation: 'conv_1' },
  },
  'an embedding': { path: '/v1/embeddings', body: { model: 'main', input: prose } },
}

const headers = (more: Record<string, string> = {}) => ({
  'content-type': 'application/json',
  authorization: `Bearer ${freeKey}`,
  'anthropic-version': '2023-06-01',
  ...more,
})

async function send(
  bed: ProcessTestbed,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  more: Record<string, string> = {},
) {
  const answer = await fetch(`${bed.tollgate.url}${path}`, { method: 'POST', headers: headers(more), body })
  const text = await answer.text()
  return {
    status: answer.status,
    id: answer.headers.get('x-request-id'),
    text,
    notes: answer.headers.get('x-tollgate-translation'),
  }
}

async function sentAndKept(
  bed: ProcessTestbed,
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  more: Record<string, string> = {},
) {
  const before = bed.upstream.requests.length
  const { id, status, text, notes } = await send(bed, path, body, more)
  const row = await bed.row(id)
  const kept = await bed.database.sql`SELECT capture, body FROM request_payloads WHERE request_id = ${id}`
  const sent = bed.upstream.requests.slice(before).map((request) => request.body.toString())
  const same = [
    'endpoint',
    'requested_model',
    'stream',
    'outcome',
    'error_kind',
    'error_message',
    'notes',
    'end_user',
    'session',
    'tags',
    'input_tokens',
    'cost_nano',
    'usage_source',
  ]
  return {
    status,
    text: text
      .replaceAll(String(id), 'ID')
      .replace(/"(created|completed)(_at)?":\d+/g, '"$1":0')
      .replaceAll(String(id).replaceAll('-', ''), 'ID'),
    notes,
    row: Object.fromEntries(same.map((name) => [name, row[name]])),
    kept: kept.map((one) => ({ ...one })),
    sent,
  }
}

async function threadsDone(bed: ProcessTestbed): Promise<number> {
  const ready = (await (await fetch(`${bed.tollgate.url}/readyz`)).json()) as { body_threads_done: number }
  return ready.body_threads_done
}

test.each(Object.entries(asked))(
  '%s: the same answer, upstream request and row',
  async (_name, { path, body }) => {
    const text = JSON.stringify(body)
    const expected = await sentAndKept(onLoop, path, text)
    const done = await threadsDone(inThreads)
    expect(await sentAndKept(inThreads, path, text)).toEqual(expected)
    expect(await threadsDone(inThreads)).toBeGreaterThan(done)
    expect(JSON.stringify(expected.kept)).not.toContain(secret)
    expect(await threadsDone(onLoop)).toBe(0)
  },
)

test('a body in gzip, and one without a declared length', async () => {
  const { path, body } = chat([{ type: 'text', text: 'Look.' }, image])
  const text = JSON.stringify(body)
  const expected = await sentAndKept(onLoop, path, text)
  const done = await threadsDone(inThreads)
  expect(await sentAndKept(inThreads, path, gzipSync(text), { 'content-encoding': 'gzip' })).toEqual(expected)
  const stream = new Blob([text]).stream()
  const answer = await fetch(`${inThreads.tollgate.url}${path}`, {
    method: 'POST',
    headers: headers(),
    body: stream,
    duplex: 'half',
  })
  expect(answer.status).toBe(200)
  await answer.text()
  expect(inThreads.upstream.requests.at(-1)?.body.toString()).toBe(expected.sent[0])
  expect(await threadsDone(inThreads)).toBe(done + 2)
})

test('a repeat with an Idempotency-Key gets the first answer, and another body a refusal', async () => {
  const { path, body } = chat(prose)
  const key = { 'idempotency-key': 'large-1' }
  const first = await send(inThreads, path, JSON.stringify(body), key)
  const upstream = inThreads.upstream.requests.length
  await until(async () => (await send(inThreads, path, JSON.stringify(body), key)).text === first.text)
  expect(inThreads.upstream.requests).toHaveLength(upstream)
  const other = await send(inThreads, path, JSON.stringify({ ...body, n: 2 }), key)
  expect(other.status).toBe(422)
})

test('clients that leave while their bodies are read or translated leave rows that say so, and nothing that waits', async () => {
  const { path, body } = messages('x'.repeat(3_000_000))
  const text = JSON.stringify(body)
  const done = await threadsDone(inThreads)
  const leavers = Array.from({ length: 20 }, () => new AbortController())
  const asking = Promise.allSettled(
    leavers.map(({ signal }) =>
      fetch(`${inThreads.tollgate.url}${path}`, {
        method: 'POST',
        headers: headers({ 'user-agent': 'leaver' }),
        body: text,
        signal,
      }).then((answer) => answer.text()),
    ),
  )
  for (const [index, leaver] of leavers.entries()) {
    await until(async () => (await threadsDone(inThreads)) >= done + index)
    leaver.abort()
  }
  await asking
  await until(async () => {
    const ready: unknown = await (await fetch(`${inThreads.tollgate.url}/readyz`)).json()
    return JSON.stringify(ready).includes('"body_threads_waiting":0')
  })
  const last = await send(inThreads, path, text, { 'user-agent': 'leaver' })
  expect(last.status).toBe(200)
  await inThreads.row(last.id)
  const rows = (await inThreads.rows()).filter((row) => row.user_agent === 'leaver')
  expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(['cancelled', 'succeeded']))
  for (const row of rows.filter(({ outcome }) => outcome === 'cancelled'))
    expect(row.stream_end).toBe('client_gone')
})

test('a body whose thread dies is a 500 with a row; other bodies are served by another thread', async () => {
  const preload = new URL('../support/dying-thread-preload.ts', import.meta.url).href
  const bed = await startProcessTestbed({
    env: { BODY_THREADS: '1' },
    nodeArgs: [...serverArgs, '--import', preload],
  })
  bed.upstream.script(() => chatAnswer())
  const { path, body } = messages('y'.repeat(1_000_000))
  const [failed, ...served] = await Promise.all([
    send(bed, '/v1/messages', JSON.stringify(messages('z'.repeat(1_000_000) + lastWords).body)),
    send(bed, path, JSON.stringify(body)),
    send(bed, path, JSON.stringify(body)),
  ])
  expect(failed.status).toBe(500)
  expect(JSON.parse(failed.text)).toMatchObject({ type: 'error', error: { type: 'api_error' } })
  expect(served.map(({ status }) => status)).toEqual([200, 200])
  expect(await bed.row(failed.id)).toMatchObject({ status: 500, outcome: 'failed', error_kind: 'internal' })
  expect(bed.tollgate.stdout() + bed.tollgate.stderr()).toContain('a thread for large bodies died')
  await bed.close()
})
