import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import {
  type BackgroundBed,
  forgettingKey,
  keepingKey,
  otherKey,
  ownKey,
  paidKey,
  requestIdOf,
  startBackgroundBed,
} from '../support/background-bed.ts'
import { adminToken } from '../support/operator-client.ts'
import { reasonOf } from '../support/reason-of.ts'
import { until } from '../support/until.ts'

let bed: BackgroundBed
beforeAll(async () => {
  bed = await startBackgroundBed({})
})
afterAll(() => bed?.close())
beforeEach(() => bed.upstream.hold())

type Event = OpenAI.Responses.ResponseStreamEvent

const asked = (input: string) => ({ model: 'words', background: true, input })

test('an answer that waits or runs is reported as it is, and its events come while it is made', async () => {
  const client = bed.client()
  const id = await bed.submit('words:6 hold:3 told')
  const seen: Event[] = []
  const stream = await client.responses.retrieve(id, { stream: true })
  for await (const event of stream) {
    seen.push(event)
    if (event.type !== 'response.output_text.delta' || !event.delta.startsWith('1.2')) continue
    expect(await client.responses.retrieve(id)).toMatchObject({ status: 'in_progress', output: [] })
    expect((await client.responses.inputItems.list(id)).data).toMatchObject([{ role: 'user' }])
    bed.upstream.release()
  }
  expect(seen.map(({ sequence_number }) => sequence_number)).toEqual(seen.map((_, at) => at))
  expect(await client.responses.retrieve(id)).toMatchObject({
    status: 'completed',
    output_text: '1.0 1.1 1.2 1.3 1.4 1.5 ',
  })
})

test('a client that leaves the stream changes nothing, and comes back at any event', async () => {
  const client = bed.client()
  const stream = await client.responses.create({ ...asked('words:5 hold:2 leaves'), stream: true })
  const seen: Event[] = []
  let id = ''
  for await (const event of stream) {
    seen.push(event)
    if (event.type === 'response.created') id = event.response.id
    if (event.type === 'response.output_text.delta' && event.delta.startsWith('1.1')) break
  }
  stream.controller.abort()
  bed.upstream.release()
  expect(await bed.ended(id)).toMatchObject({ status: 'completed', output_text: '1.0 1.1 1.2 1.3 1.4 ' })
  const last = seen.at(-1)?.sequence_number ?? 0
  for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: last }))
    seen.push(event)
  expect(seen.map(({ sequence_number }) => sequence_number)).toEqual(seen.map((_, at) => at))
  expect(seen.at(-1)?.type).toBe('response.completed')
  expect(await bed.row(id)).toMatchObject({ status: 200, stream: true, stream_end: 'complete' })
})

test('an answer that waits is cancelled at once, and one that runs ends its upstream call; each has one row', async () => {
  const client = bed.client()
  const id = await bed.submit('words:9 hold:2 cancelled')
  await until(() => bed.upstream.open() === 1)
  const cancelled = await client.responses.cancel(id)
  expect(cancelled).toMatchObject({ id, status: 'cancelled' })
  await until(() => bed.upstream.open() === 0)
  expect(await client.responses.cancel(id)).toMatchObject({ status: 'cancelled' })
  const row = await bed.row(id)
  expect(row).toMatchObject({ status: 499, outcome: 'cancelled', stream_end: 'client_gone' })
  expect(Number(row.cost_nano)).toBeGreaterThan(0)
  const events: Event[] = []
  for await (const event of await client.responses.retrieve(id, { stream: true })) events.push(event)
  expect(events.at(-1)).toMatchObject({ type: 'response.cancelled', response: { status: 'cancelled' } })

  await expect(
    client.responses.create({ model: 'words', input: 'go on', previous_response_id: id }),
  ).rejects.toMatchObject({ code: 'previous_response_not_found' })
  const whole = await client.responses.create({ model: 'words', input: 'words:1 whole' })
  await expect(client.responses.cancel(whole.id)).rejects.toMatchObject({
    status: 400,
    code: 'answer_not_cancellable',
  })
})

test('what a client may not ask for is refused by name', async () => {
  const refusals = [
    [bed.client(), { ...asked('x'), store: false }, { status: 400, code: 'background_not_stored' }],
    [bed.client({ key: forgettingKey }), asked('x'), { status: 400, param: 'background' }],
    [bed.client(), { ...asked('x'), model: 'none' }, { status: 404 }],
    [bed.client(), { ...asked('x'), conversation: 'conv_1' }, { status: 400, param: 'background' }],
    [bed.client(), { ...asked('x'), previous_response_id: 'resp_nobody' }, { status: 400 }],
    [bed.client({ headers: { 'x-tollgate-webhook': 'ftp://x' } }), asked('x'), { status: 400 }],
  ] as const
  for (const [client, body, error] of refusals)
    await expect(client.responses.create(body)).rejects.toMatchObject(error)
  const id = await bed.submit('words:1')
  await bed.ended(id)
  await expect(bed.client().get(`/responses/${id}?stream=true&starting_after=-4`)).rejects.toMatchObject({
    status: 400,
    param: 'starting_after',
  })
})

test('nobody else can read, follow, cancel, continue or delete it', async () => {
  const id = await bed.submit('words:4 hold:2 private')
  for (const key of [otherKey, ownKey]) {
    const client = bed.client({ key })
    const missing = { status: 404 }
    await expect(client.responses.retrieve(id)).rejects.toMatchObject(missing)
    const refused = await client.get(`/responses/${id}?stream=true`).catch((error: unknown) => error)
    expect(reasonOf(refused)).toBe('answer_events_not_kept')
    await expect(client.responses.inputItems.list(id)).rejects.toMatchObject(missing)
    await expect(client.responses.cancel(id)).rejects.toMatchObject(missing)
    await expect(client.responses.delete(id)).rejects.toMatchObject(missing)
  }
  bed.upstream.release()
  expect(await bed.ended(id)).toMatchObject({ status: 'completed' })
  for (const key of [otherKey, ownKey]) {
    const client = bed.client({ key })
    await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
    await expect(client.responses.delete(id)).rejects.toMatchObject({ status: 404 })
    await expect(
      client.responses.create({ ...asked('go on'), previous_response_id: id }),
    ).rejects.toMatchObject({ status: 400 })
  }
  expect(await bed.client().responses.retrieve(id)).toMatchObject({ status: 'completed' })
})

test('one that is made is deleted only after it is cancelled, and then nothing of it is left', async () => {
  const client = bed.client()
  const id = await bed.submit('words:4 hold:2 deleted')
  await until(() => bed.upstream.open() === 1)
  await expect(client.responses.delete(id)).rejects.toMatchObject({ code: 'answer_in_progress' })
  bed.upstream.release()
  await bed.ended(id)
  await client.responses.delete(id)
  await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
  const own = requestIdOf(id)
  expect(await bed.database.sql`SELECT 1 FROM answer_events WHERE job_id = ${own}`).toEqual([])
  expect(await bed.database.sql`SELECT 1 FROM background_answers WHERE job_id = ${own}`).toEqual([])
  expect(await bed.database.sql`SELECT 1 FROM jobs WHERE id = ${own}`).toEqual([])
  expect(await bed.database.sql`SELECT 1 FROM kept_answers WHERE id = ${id}`).toEqual([])
})

test('an upstream that fails before the first event is asked again; one that refuses the request is not', async () => {
  const again = 'words:2 status:503 times:4 again'
  expect(await bed.ended(await bed.submit(again))).toMatchObject({
    status: 'completed',
    output_text: '5.0 5.1 ',
  })
  const refused = await bed.ended(await bed.submit('status:400 refused'))
  expect(refused).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('refused with 400') },
  })
  expect(bed.upstream.calls('status:400 refused')).toBe(1)
  const row = await bed.row(refused.id)
  expect(row).toMatchObject({ status: 400, outcome: 'refused', attempt_count: 1, cost_nano: '0' })
})

test('money is held while an answer waits and runs, and charged once', async () => {
  const account = async () => {
    const [row] = await bed.database.sql<{ balance_nano: string; reserved_nano: string }[]>`
      SELECT balance_nano, reserved_nano FROM accounts WHERE id = (SELECT id FROM tenants WHERE name = 'paid')`
    return { balance: Number(row?.balance_nano), held: Number(row?.reserved_nano) }
  }
  const before = await account()
  const id = await bed.submit('words:4 hold:2 paid', paidKey)
  await until(() => bed.upstream.open() === 1)
  expect((await account()).held).toBeGreaterThan(0)
  bed.upstream.release()
  await bed.ended(id, paidKey)
  const row = await bed.row(id)
  // 10 tokens at one dollar a million, 4 at two.
  expect(row.cost_nano).toBe('18000')
  expect(await account()).toEqual({ balance: before.balance - 18_000, held: 0 })
  await expect(
    bed.client({ key: paidKey }).responses.create({ ...asked('x'.repeat(9000)), max_output_tokens: 900_000 }),
  ).rejects.toMatchObject({ status: 402, code: 'insufficient_quota' })
  expect(await bed.differences()).toEqual([])
})

test('a repeat with its Idempotency-Key gets the same answer, as it is then', async () => {
  const client = bed.client({ headers: { 'idempotency-key': 'background-once' } })
  const body = asked('words:4 hold:2 repeated')
  const first = await client.responses.create(body)
  const early = await client.responses.create(body)
  expect(early.id).toBe(first.id)
  bed.upstream.release()
  await bed.ended(first.id)
  expect(await client.responses.create(body)).toMatchObject({ id: first.id, status: 'completed' })
  expect(bed.upstream.calls('words:4 hold:2 repeated')).toBe(1)
})

test('a webhook tells of the end, signed for the tenant', async () => {
  const got: { headers: Record<string, unknown>; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    got.push({ headers: request.headers, body })
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const headers = { 'x-tollgate-webhook': `http://127.0.0.1:${port}/hook` }
  const { id } = await bed.client({ headers }).responses.create(asked('words:1 webhook'))
  await bed.ended(id)
  await until(() => got.length === 1)
  const [sent] = got
  expect(JSON.parse(sent?.body ?? '')).toMatchObject({
    object: 'event',
    type: 'response.completed',
    data: { id },
  })
  const answer = await fetch(`${bed.api.url}/v1/images/webhook-secret`, {
    headers: { authorization: `Bearer ${keepingKey}` },
  })
  const { secret } = (await answer.json()) as { secret: string }
  const signed = `${sent?.headers['webhook-id']}.${sent?.headers['webhook-timestamp']}.${sent?.body}`
  const mac = createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
    .update(signed)
    .digest()
  const given = Buffer.from(String(sent?.headers['webhook-signature']).split(',')[1] ?? '', 'base64')
  expect(timingSafeEqual(mac, given)).toBe(true)
})

test('what is kept of it cannot be read in the database', async () => {
  const secret = 'words:2 a-text-that-nobody-may-read'
  const id = await bed.submit(secret)
  await bed.ended(id)
  const own = requestIdOf(id)
  const tables = [
    await bed.database
      .sql`SELECT encode(coalesce(request, ''), 'escape') AS r, encode(answer, 'escape') AS a, quote, opened FROM jobs JOIN background_answers ON job_id = id WHERE id = ${own}`,
    await bed.database.sql`SELECT encode(content, 'escape') AS c FROM answer_events WHERE job_id = ${own}`,
  ]
  expect(tables.map((rows) => rows.length)).toEqual([1, expect.any(Number)])
  const text = JSON.stringify(tables)
  expect(text).not.toContain('a-text-that-nobody-may-read')
  expect(text).not.toContain('1.0')
})

test('an answer waits while a worker has no memory for its body, and another worker makes it', async () => {
  const apart = await startBackgroundBed({ role: 'api' })
  onTestFinished(apart.close)
  apart.upstream.release()
  const id = await apart.submit(`words:2 ${'large '.repeat(1_000)}`)
  const full = await apart.startWorker({
    BODY_BYTES_MAX: '2000',
    KEY_BODIES_BYTES_MAX: '2000',
    IMAGE_BACKOFF_MS: '50',
  })
  const states = () => apart.database.sql`SELECT state, runs, attempts FROM jobs`
  await until(async () => (await apart.database.sql`SELECT FROM jobs WHERE fence > 2`).length === 1)
  expect(full.context.bodies.bytes).toBe(0)
  expect(await states()).toMatchObject([{ attempts: '[]' }])
  expect(apart.upstream.open()).toBe(0)
  const roomy = await apart.startWorker()
  expect(await apart.ended(id)).toMatchObject({ status: 'completed', output_text: '1.0 1.1 ' })
  await until(() => roomy.context.bodies.bytes === 0)
})

test('an answer in a format of another release is listed, and waits for a worker of that release', async () => {
  const apart = await startBackgroundBed({ role: 'api', env: { ADMIN_TOKEN: adminToken } })
  onTestFinished(apart.close)
  apart.upstream.release()
  const { sql } = apart.database
  const id = await apart.submit('words:2 of another release')
  await sql`UPDATE jobs SET opened = replace(opened, '"openai-responses"', '"smoke-signals"')`
  await apart.startWorker()
  await until(async () => (await sql`SELECT FROM jobs WHERE fence > 4`).length === 1)
  const headers = { authorization: `Bearer ${adminToken}` }
  const listed = await fetch(`${apart.api.url}/admin/v1/background-answers`, { headers })
  expect(await listed.json()).toMatchObject({ data: [{ id: requestIdOf(id), model: 'words' }] })
  await sql`UPDATE jobs SET opened = replace(opened, '"smoke-signals"', '"openai-responses"')`
  expect(await apart.ended(id)).toMatchObject({ status: 'completed', output_text: '1.0 1.1 ' })
})

test('a repeat of a request whose answer was deleted is refused', async () => {
  const client = bed.client({ headers: { 'idempotency-key': 'of-a-deleted-answer' } })
  const { id } = await client.responses.create(asked('words:1 repeated'))
  await bed.ended(id)
  await client.responses.delete(id)
  const refused = await client.responses.create(asked('words:1 repeated')).catch((error: unknown) => error)
  expect(reasonOf(refused)).toBe('idempotent_answer_gone')
})

test('an answer that cannot be made says why, and no more wait than may', async () => {
  const apart = await startBackgroundBed({
    role: 'api',
    env: { IMAGE_QUEUE_WINDOW: '1', BACKGROUND_WAITING_MAX: '2', BACKGROUND_EVENT_BYTES_MAX: '1024' },
  })
  onTestFinished(apart.close)
  apart.upstream.release()
  const { sql } = apart.database
  const long = await apart.submit('words:100 long')
  const tried = await apart.submit('words:1 tried')
  const keyless = await apart.submit('words:1 keyless', ownKey)
  const refused = await apart.submit('words:1 more').catch((error: unknown) => error)
  expect(reasonOf(refused)).toBe('background_queue_full')
  await sql`UPDATE jobs SET runs = 100 WHERE id = ${requestIdOf(tried)}`
  await sql`DELETE FROM keys WHERE name = 'own'`
  await apart.startWorker()
  expect(await apart.row(long)).toMatchObject({ error_reason: 'answer_events_too_large' })
  expect(await apart.row(tried)).toMatchObject({ error_reason: 'workers_lost' })
  expect(await apart.row(keyless)).toMatchObject({ error_reason: 'key_gone' })
})

test('an answer that waits is not made once its key is blocked', async () => {
  const apart = await startBackgroundBed({ role: 'api' })
  onTestFinished(apart.close)
  apart.upstream.release()
  const id = await apart.submit('words:1 blocked', ownKey)
  await apart.database.sql`INSERT INTO key_blocks (key_id, secret_hashes, reason, blocked_at, blocked_by)
    SELECT id, '{}', 'it leaked', now(), 'ada' FROM keys WHERE name = 'own'`
  await apart.startWorker()
  expect(await apart.row(id)).toMatchObject({ error_reason: 'key_blocked' })
  expect(apart.upstream.calls('words:1 blocked')).toBe(0)
})
