import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { patienceMs } from '../support/until.ts'
import {
  type Answer,
  adminToken,
  bounds,
  budgetKey,
  type CallOptions,
  chatBody,
  chatPath,
  coldKey,
  type DegradationBed,
  expectRows,
  messages,
  paidKey,
  startDegradationBed,
} from './bed.ts'

/** The time that a busy machine may add to a bound. A hang takes longer. */
const slackMs = 5_000

/** The promise of docs/reference/failures.md for each kind of request while Postgres is down. */
interface Promised {
  name: string
  call: CallOptions & { path: string }
  status: number
  /** The answer comes within this time and the slack. Undefined: the document names no time. */
  withinMs?: number
  /** If it succeeds, it writes no row. The pages of the queues never write one. */
  unlogged?: true
}

const images = '/v1/images/generations'

function promises(done: { jobId: string; link: string; requestId: string }): Promised[] {
  const anthropic = { 'anthropic-version': '2023-06-01' }
  const chat = { path: chatPath, body: chatBody }
  const response = { model: 'priced', input: 'Hello' }
  const draw = { model: 'draw', prompt: 'not now' }
  const keyed = () => ({ 'idempotency-key': randomUUID() })
  const admin = { headers: { authorization: `Bearer ${adminToken}` } }
  const usageMs = bounds.SHIP_ON_QUERY_MS + 5_000
  return [
    { name: 'a chat', call: chat, status: 200 },
    { name: 'a streamed chat', call: { ...chat, body: { ...chatBody, stream: true } }, status: 200 },
    { name: 'a message', call: { path: '/v1/messages', body: chatBody, headers: anthropic }, status: 200 },
    {
      name: 'a chat with a key not in memory',
      call: { ...chat, key: coldKey },
      status: 503,
      withinMs: 2_000,
    },
    {
      name: 'a chat with limited money',
      call: { ...chat, key: paidKey },
      status: 503,
      withinMs: bounds.ADMIT_MS,
    },
    {
      name: 'a chat with a budget',
      call: { ...chat, key: budgetKey },
      status: 503,
      withinMs: bounds.ADMIT_MS,
    },
    {
      name: 'a chat with an Idempotency-Key',
      call: { ...chat, headers: keyed() },
      status: 503,
      withinMs: bounds.ADMIT_MS,
    },
    {
      name: 'a held answer of this process',
      call: { path: '/v1/responses', body: { ...response, previous_response_id: 'resp_held' } },
      status: 200,
    },
    {
      name: 'a held answer of another',
      call: { path: '/v1/responses', body: { ...response, previous_response_id: 'resp_elsewhere' } },
      status: 503,
      withinMs: 2_000,
    },
    {
      name: 'reading a held answer of another',
      call: { path: '/v1/responses/resp_elsewhere' },
      status: 503,
      withinMs: 2_000,
    },
    { name: 'an image', call: { path: images, body: draw }, status: 503, withinMs: 1.5 * bounds.ADMIT_MS },
    {
      name: 'an image with limited money',
      call: { path: images, body: draw, key: paidKey },
      status: 503,
      withinMs: 1.5 * bounds.ADMIT_MS,
    },
    {
      name: 'an image with an Idempotency-Key',
      call: { path: images, body: draw, headers: keyed() },
      status: 503,
      withinMs: bounds.ADMIT_MS,
    },
    { name: 'the list of images', call: { path: images }, status: 503, withinMs: bounds.ADMIT_MS },
    {
      name: 'the state of an image',
      call: { path: `${images}/${done.jobId}` },
      status: 503,
      withinMs: bounds.ADMIT_MS,
    },
    {
      name: 'the events of an image',
      call: { path: `${images}/${done.jobId}/events` },
      status: 503,
      withinMs: bounds.ADMIT_MS,
    },
    {
      name: 'cancelling an image',
      call: { path: `${images}/${done.jobId}`, method: 'DELETE' },
      status: 503,
      withinMs: bounds.ADMIT_MS,
    },
    { name: 'an image by its link', call: { path: done.link }, status: 200, unlogged: true },
    { name: 'the webhook secret', call: { path: '/v1/images/webhook-secret' }, status: 200, unlogged: true },
    { name: 'the usage log', call: { path: '/v1/usage/requests' }, status: 503, withinMs: usageMs },
    {
      name: 'a row of the usage log',
      call: { path: `/v1/usage/requests/${done.requestId}` },
      status: 503,
      withinMs: usageMs,
    },
    {
      name: 'the sums of the usage log',
      call: { path: '/v1/usage/summary' },
      status: 503,
      withinMs: usageMs,
    },
    { name: 'the models', call: { path: '/v1/models' }, status: 200 },
    {
      name: 'counting tokens',
      call: { path: '/v1/messages/count_tokens', body: chatBody, headers: anthropic },
      status: 200,
    },
    {
      name: 'translating',
      call: {
        path: '/v1/translate',
        body: { from: 'openai-chat', to: 'anthropic-messages', model: 'm', request: chatBody },
      },
      status: 200,
    },
    { name: 'a wrong path', call: { path: '/v1/nothing', body: {} }, status: 404 },
    {
      name: 'an unknown key',
      call: { ...chat, key: 'nobody-has-this-key-at-all' },
      status: 503,
      withinMs: 2_000,
    },
    {
      name: 'the pages of the queues',
      call: { path: '/admin/v1/queues/api/queues', ...admin },
      status: 503,
      withinMs: 5_000,
      unlogged: true,
    },
    { name: 'GET /healthz', call: { path: '/healthz' }, status: 200, unlogged: true },
    { name: 'GET /readyz', call: { path: '/readyz' }, status: 200, unlogged: true },
  ]
}

describe.each(['cut', 'frozen'] as const)('with Postgres %s', (how) => {
  test('every request gets the promised answer within its bound, never a 500, and service resumes by itself', async () => {
    const bed = await startDegradationBed()
    const done = await warmUp(bed)
    if (how === 'cut') await bed.wire.cut()
    else bed.wire.freeze()

    const promised = promises(done)
    // Once at the beginning, and again when all parts of the process know about the outage.
    // The hashes of all keys count as current for a moment more, and an unknown key is 401 in that moment.
    await expectKept(
      bed,
      promised.filter(({ name }) => name !== 'an unknown key'),
    )
    await expect
      .poll(async () => (await bed.call('/readyz')).json, { timeout: patienceMs })
      .toMatchObject({ status: 'ready', postgres: 'away' })
    const guess = async () =>
      (await bed.call(chatPath, { body: chatBody, key: 'nobody-has-this-key-at-all' })).status
    await expect.poll(guess, { timeout: patienceMs }).toBe(503)
    const answers = await expectKept(bed, promised)

    await bed.wire.mend()
    await untilServed(bed, paidKey)
    await expect
      .poll(async () => (await bed.call('/readyz')).json, { timeout: patienceMs })
      .toMatchObject({ postgres: 'reached' })
    for (const { name, call } of promised) {
      if (name === 'an unknown key' || name === 'a wrong path') continue
      const { path, ...options } = call
      let answer = await bed.call(path, options)
      // The claim of a refused request may reach Postgres late. Its release is tried at most two seconds apart.
      const until = performance.now() + 5_000
      while (answer.status === 409 && name.includes('Idempotency-Key') && performance.now() < until)
        answer = await bed.call(path, options)
      const isOther = name.endsWith('of another')
      expect(
        isOther ? answer.status >= 400 && answer.status < 500 : answer.status < 300,
        `${name}: ${answer.text}`,
      ).toBe(true)
    }
    const ids = answers
      .filter((_, index) => promised[index]?.unlogged !== true)
      .map(({ requestId }) => requestId)
    await expectRows(bed.database, ids)
    expect(await bed.tollgate.stop()).toBe(0)
    const { findings } = await verifyLedger(bed.database.sql)
    expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  })
})

/** Calls everything once, so that the caches are filled. */
async function warmUp(bed: DegradationBed) {
  const { call } = bed
  await untilServed(bed, paidKey)
  await untilServed(bed, budgetKey)
  await call('/v1/responses', { body: { model: 'priced', input: 'Hello' } })
  const made = await call(images, { body: { model: 'draw', prompt: 'a picture', response_format: 'url' } })
  expect(made.text).toContain('http')
  const listed = (await call(images)).json as { data: { id: string; result: { data: { url: string }[] } }[] }
  const { pathname, search } = new URL(listed.data[0]?.result.data[0]?.url ?? '')
  const { requestId } = await call(chatPath, { body: chatBody })
  await call('/admin/v1/queues', { headers: { authorization: `Bearer ${adminToken}` } })
  return { jobId: listed.data[0]?.id ?? '', link: pathname + search, requestId }
}

async function expectKept(bed: DegradationBed, promised: Promised[]): Promise<Answer[]> {
  const answers = await Promise.all(promised.map(({ call: { path, ...options } }) => bed.call(path, options)))
  for (const [index, answer] of answers.entries()) {
    const { name, status, withinMs = 0 } = promised[index] ?? { name: '', status: 0 }
    expect({ name, status: answer.status, text: answer.text }).toMatchObject({ name, status })
    expect(answer.tookMs, name).toBeLessThan(withinMs + slackMs)
    if (status !== 503) continue
    expect(answer.retryAfter, name).toMatch(/^[1-9]\d*$/)
    expect(answer.json, name).toMatchObject({ error: { message: expect.stringMatching(/[Tt]ry again/) } })
  }
  return answers
}

async function untilServed(bed: DegradationBed, key: string): Promise<void> {
  await expect
    .poll(async () => (await bed.call(chatPath, { body: { ...chatBody, messages }, key })).status, {
      timeout: patienceMs,
    })
    .toBe(200)
}
