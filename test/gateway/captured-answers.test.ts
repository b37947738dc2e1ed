import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { listJournals } from '../../src/journal/journal-directory.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { openDatabase } from '../support/database.ts'
import { freeKey, secretKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { startTollgate } from '../support/tollgate.ts'
import { holdsFor, until } from '../support/until.ts'
import type { Plan, Step } from '../support/upstream.ts'

/** Answers that keys ask the usage log to keep: what they hold, and what they must never cost. */

const keepKey = 'keep-key-for-tests-0001'
const groupKey = 'group-key-for-tests-001'
const offKey = 'off-key-for-tests-00001'
const shapeKey = 'shape-key-for-tests-001'
const credential = 'upstream-credential-0001'

const yaml = (url: string) => `
models: [ { id: main } ]
channels:
  - name: scripted
    protocols: { openai-chat: ${url} }
    api_keys: [ "${credential}" ]
    models: [main]
    allow_private_address: true
groups:
  - { name: default, models: ['*'], channels: ['*'], client_gone: { policy: drain, seconds: 5 } }
  - { name: keeping, models: ['*'], channels: ['*'], capture_answers: true }
tenants:
  - name: free
    keys:
      - { name: free, group: default, secret: ${freeKey} }
      - { name: keep, group: default, secret: ${keepKey}, capture_answers: true }
      - { name: group, group: keeping, secret: ${groupKey} }
      - { name: off, group: keeping, secret: ${offKey}, capture_answers: false }
      - { name: shape, group: keeping, secret: ${shapeKey}, capture: shape }
`

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({
    yaml,
    env: {
      CAPTURE_ANSWER_BYTES_MAX: '8192',
      CAPTURE_ANSWER_HELD_BYTES_MAX: '65536',
      ADMIN_TOKEN: 'admin-token-for-tests',
    },
  })
})
afterAll(() => bed.close())
beforeEach(() => bed.upstream.script(() => good))

const frame = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const hello = [frame({ role: 'assistant', content: 'Hel' }), frame({ content: 'lo.' })]
const good: Plan = { chunks: [...hello, frame({}, 'stop'), 'data: [DONE]\n\n'], ending: 'end' }
const question = { model: 'main', stream: true, messages: [{ role: 'user', content: 'Hi' }] }

interface Kept {
  capture: string
  truncated: boolean
  answer: string
}

/** Wait for the answer of a request. */
async function answerOf(id: string | null) {
  const [found] = await until(async () => {
    const rows = await bed.database.sql<Kept[]>`SELECT * FROM request_answers WHERE request_id = ${id}`
    return rows.length > 0 ? rows : undefined
  })
  if (found === undefined) throw new Error(`no answer of ${id}`)
  return { ...found, json: JSON.parse(found.answer) }
}

async function ask(key: string, body: object = question, path = '/v1/chat/completions') {
  const response = await fetch(`${bed.tollgate.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${key}`,
    },
    body: JSON.stringify(body),
  })
  return { id: response.headers.get('x-request-id'), text: await response.text() }
}

test('the key decides, then its group; without content nothing is kept', async () => {
  const kept = [await ask(keepKey), await ask(groupKey)]
  const others = [await ask(freeKey), await ask(offKey), await ask(shapeKey)]
  for (const { id } of kept) {
    expect(await answerOf(id)).toMatchObject({
      capture: 'content',
      truncated: false,
      json: { choices: [{ content: [{ type: 'text', text: 'Hello.' }], end: 'stop' }] },
    })
  }
  for (const { id } of others) {
    await bed.row(id)
    expect(await bed.database.sql`SELECT 1 FROM request_answers WHERE request_id = ${id}`).toEqual([])
  }
})

test('the detail of a request shows the answer, and null where none is kept', async () => {
  const detail = async ({ id }: { id: string | null }) => {
    const response = await fetch(`${bed.tollgate.url}/v1/usage/requests/${id}`, {
      headers: { authorization: `Bearer ${freeKey}` },
    })
    return (await response.json()) as { answer: unknown }
  }
  const kept = await ask(keepKey)
  const { answer } = await answerOf(kept.id)
  expect((await detail(kept)).answer).toEqual({ capture: 'content', truncated: false, body: answer })
  expect((await detail(await ask(freeKey))).answer).toBeNull()
})

test('whole answers, translated ones and completions of a prompt are kept in the format of the client', async () => {
  const message = {
    role: 'assistant',
    content: 'Hello.',
    tool_calls: [
      { id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } },
      { id: 'call_b', type: 'function', function: { name: 'time', arguments: '{}' } },
    ],
  }
  const whole = JSON.stringify({
    id: 'c1',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
  })
  const choices = [
    {
      content: [
        { type: 'text', text: 'Hello.' },
        { type: 'tool_call', name: 'weather', input: '{"city":"Bern"}' },
        { type: 'tool_call', name: 'time', input: '{}' },
      ],
      end: 'tool_calls',
    },
  ]
  const tools = ['weather', 'time'].map((name) => ({ name, input_schema: { type: 'object' } }))
  bed.upstream.script(() => ({ body: whole }))
  const native = await ask(keepKey, { ...question, stream: false })
  const messages = { model: 'main', max_tokens: 9, messages: question.messages, tools }
  const translated = await ask(keepKey, messages, '/v1/messages')
  for (const { id } of [native, translated]) expect((await answerOf(id)).json).toMatchObject({ choices })

  bed.upstream.script(() => good)
  const streams = [
    await ask(
      keepKey,
      { model: 'main', max_tokens: 9, stream: true, messages: question.messages },
      '/v1/messages',
    ),
    await ask(keepKey, { model: 'main', stream: true, input: 'Hi' }, '/v1/responses'),
  ]
  for (const { id } of streams)
    expect((await answerOf(id)).json.choices[0]).toMatchObject({ content: [{ text: 'Hello.' }], end: 'stop' })

  const once = JSON.stringify({
    id: 'c1',
    object: 'text_completion',
    choices: [{ index: 0, text: 'Once upon', finish_reason: 'length' }],
  })
  bed.upstream.script(() => ({ body: once }))
  const prompted = await ask(keepKey, { model: 'main', prompt: 'Begin' }, '/v1/completions')
  expect((await answerOf(prompted.id)).json.choices).toEqual([
    { content: [{ type: 'text', text: 'Once upon' }], end: 'length' },
  ])
})

test('an answer that the upstream cut, and one whose client left, keep what the client got', async () => {
  bed.upstream.script(() => ({ chunks: hello, ending: 'cut' }))
  const cut = await ask(keepKey)
  expect((await answerOf(cut.id)).json.choices[0]).toMatchObject({ content: [{ text: 'Hello.' }], end: null })
  expect(await bed.row(cut.id)).toMatchObject({ stream_end: 'upstream_cut' })

  const gone = Promise.withResolvers<void>()
  const later: Step[] = [
    { waitFor: gone.promise },
    frame({ content: ' Never seen.' }),
    frame({}, 'stop'),
    'data: [DONE]\n\n',
  ]
  bed.upstream.script(() => ({ chunks: [...hello, ...later], ending: 'end' }))
  const leaving = new AbortController()
  const response = await bed.chat(question, { key: keepKey, signal: leaving.signal })
  const reader = response.body?.getReader()
  let seen = ''
  while (!seen.includes('lo.')) seen += Buffer.from((await reader?.read())?.value ?? []).toString()
  leaving.abort()
  const id = response.headers.get('x-request-id')
  gone.resolve()
  const { json, truncated } = await answerOf(id)
  expect(json.choices[0].content[0].text).toMatch(/^Hello\./)
  expect(truncated).toBe(false)
  expect(await bed.row(id)).toMatchObject({ status: 200 })
})

test('no secret survives, wherever chunks split it: the key of the client, the credential of the channel, one that the model wrote', async () => {
  const secrets = [keepKey, credential, `sk-proj-${'aB3dE5gH7jK9'.repeat(4)}`]
  for (const secret of secrets) {
    const at = Math.floor(secret.length / 2)
    bed.upstream.script(() => ({
      chunks: [
        frame({ content: `so: ${secret.slice(0, at)}` }),
        frame({ content: `${secret.slice(at)}.` }),
        frame({}, 'stop'),
        'data: [DONE]\n\n',
      ],
      ending: 'end',
    }))
    const { id, text } = await ask(keepKey)
    expect(text).toContain(secret.slice(0, at))
    const { answer } = await answerOf(id)
    expect(answer).not.toContain(secret)
    expect(answer).toContain('REDACTED')
  }
})

test('of a 50 MB answer the log keeps the beginning and says so; the client gets all of it', async () => {
  const piece = frame({ content: 'x'.repeat(1024) })
  const pieces = 50 * 1024
  bed.upstream.script(() => ({
    chunks: (function* () {
      yield frame({ content: 'It begins. ' })
      for (let at = 0; at < pieces; at++) yield piece
      yield frame({}, 'stop')
      yield 'data: [DONE]\n\n'
    })(),
    ending: 'end',
  }))
  const { id, text } = await ask(keepKey)
  expect(text.length).toBeGreaterThan(pieces * 1024)
  const { answer, truncated, json } = await answerOf(id)
  expect(truncated).toBe(true)
  expect(Buffer.byteLength(String(answer))).toBeLessThanOrEqual(8192)
  expect(json.choices[0].content[0].text).toMatch(/^It begins\. /)

  bed.upstream.script(() => ({
    body: JSON.stringify({
      id: 'c',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: `It begins. ${'x'.repeat(50 * 1024 * 1024)}` },
          finish_reason: 'stop',
        },
      ],
    }),
  }))
  const whole = await ask(keepKey, { ...question, stream: false })
  expect(whole.text.length).toBeGreaterThan(50 * 1024 * 1024)
  const kept = await answerOf(whole.id)
  expect(kept.truncated).toBe(true)
  expect(kept.json.raw).toContain('It begins. ')
})

test('an error instead of an answer is no answer', async () => {
  bed.upstream.script(() => ({
    status: 400,
    body: JSON.stringify({ error: { message: 'no', type: 'invalid_request_error' } }),
  }))
  const { id } = await ask(keepKey)
  expect(await bed.row(id)).toMatchObject({ status: 400 })
  await holdsFor(300, async () => {
    expect(await bed.database.sql`SELECT 1 FROM request_answers WHERE request_id = ${id}`).toEqual([])
  })
})

test('an answer on the disk of a process that was killed is shipped by the next one, once', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-captured-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const env = { SECRET_KEY: secretKey, INSTANCE_DEAD_MS: '1000' }
  const options = { databaseUrl: bed.databaseUrl, gatewayYaml: yaml(bed.upstream.url), dataDir: home }
  const first = await startTollgate({ ...options, env: { ...env, SHIP_INTERVAL_MS: '10000' } })
  const ids: string[] = []
  for (let count = 0; count < 3; count++) {
    const response = await fetch(`${first.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${keepKey}` },
      body: JSON.stringify(question),
    })
    await response.text()
    ids.push(String(response.headers.get('x-request-id')))
    if (count === 1) await until(async () => (bytesOfAnswers(home) > 200 ? true : undefined))
  }
  // The last answer may be on the disk, or not yet: its row is there in any case.
  await first.kill9()
  const second = await startTollgate({ ...options, env: { ...env, SHIP_INTERVAL_MS: '20' } })
  onTestFinished(async () => void (await second.stop()))
  for (const id of ids) expect(await bed.row(id)).toMatchObject({ outcome: 'succeeded' })
  for (const id of ids.slice(0, 2)) expect((await answerOf(id)).json.choices[0].end).toBe('stop')
  const counts = await bed.database.sql`
    SELECT request_id, count(*)::int AS n FROM request_answers WHERE request_id = ANY (${ids}) GROUP BY 1`
  for (const { n } of counts) expect(n).toBe(1)
  const database = openDatabase(bed.databaseUrl)
  const { findings } = await verifyLedger(database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  await database.close()
})

test('past the alarm of the journal answers are dropped and counted, and every row is kept', async () => {
  // Rows wait in the journal, whose alarm two long requests reach.
  const slow = await startTollgate({
    databaseUrl: bed.databaseUrl,
    gatewayYaml: yaml(bed.upstream.url),
    env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '10000', JOURNAL_ALARM_BYTES: '65536' },
  })
  const body = JSON.stringify({
    ...question,
    messages: Array.from({ length: 8 }, () => ({ role: 'user', content: 'x'.repeat(6_000) })),
  })
  const ids: (string | null)[] = []
  const dropped = async () => {
    const response = await fetch(`${slow.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${keepKey}` },
      body,
    })
    await response.text()
    ids.push(response.headers.get('x-request-id'))
    const ready = (await (await fetch(`${slow.url}/readyz`)).json()) as { answers_dropped: number }
    return ready.answers_dropped > 0
  }
  await until(dropped)
  expect(await slow.stop()).toBe(0)
  for (const id of ids) expect(await bed.row(id)).toMatchObject({ outcome: 'succeeded' })
  const [kept] = await bed.database.sql`
    SELECT count(*)::int AS n FROM request_answers WHERE request_id = ANY (${ids})`
  expect(kept?.n).toBeLessThan(ids.length)
})

function bytesOfAnswers(home: string): number {
  return listJournals(join(home, 'journal'))
    .flatMap(({ directory }) =>
      readdirSync(directory).flatMap((name) => (name.startsWith('answers-') ? join(directory, name) : [])),
    )
    .reduce((sum, path) => sum + statSync(path).size, 0)
}
