import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deleteKeysOlderThan } from '../../src/access/idempotency-queries.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { deleteExpiredAnswers } from '../../src/state/kept/kept-queries.ts'
import { type FourUpstreams, keepingKey, otherKey, startFourUpstreams } from '../support/four-upstreams.ts'
import { until } from '../support/until.ts'

/** All that a tenant leaves in storage has one bound, whatever kind it is, and however much comes at once. */

const bytesMax = 100_000
const text = 'x'.repeat(20_000)
const model = 'gemini'

let bed: FourUpstreams
beforeAll(async () => {
  // Without workers an answer in the background waits.
  bed = await startFourUpstreams({ env: { KEPT_TENANT_BYTES_MAX: String(bytesMax), ROLE: 'api' } })
})
afterAll(() => bed?.close())
beforeEach(async () => {
  for (const table of [
    'kept_answers',
    'conversations',
    'files',
    'idempotency_keys',
    'background_answers',
    'jobs',
  ])
    await bed.database.sql`DELETE FROM ${bed.database.sql(table)}`
  await bed.database.sql`UPDATE tenant_storage SET bytes = 0`
})

interface Kind {
  /** Rejects, or answers anything but a status of 2xx, where it is refused. Resolves with what `remove` takes. */
  store(): Promise<string>
  remove(stored: string): Promise<unknown>
}

const refused = (status: number, body: string) => Object.assign(new Error(body), { status })

async function call(method: string, path: string, init: Partial<RequestInit> = {}): Promise<Response> {
  const response = await fetch(`${bed.tollgate.url}${path}`, {
    ...init,
    method,
    headers: { authorization: `Bearer ${keepingKey}`, ...init.headers },
  })
  if (!response.ok) throw refused(response.status, await response.text())
  return response
}

const kinds: Record<string, Kind> = {
  'kept answers': {
    store: async () => (await bed.openai().responses.create({ model, input: text })).id,
    remove: (id) => bed.openai().responses.delete(id),
  },
  conversations: {
    store: () => conversationOf(text),
    remove: (id) => bed.openai().conversations.delete(id),
  },
  files: {
    async store() {
      const form = new FormData()
      form.set('purpose', 'user_data')
      form.set('file', new Blob([text]), 'a.txt')
      const file = (await (await call('POST', '/v1/files', { body: form })).json()) as { id: string }
      return file.id
    },
    remove: (id) => call('DELETE', `/v1/files/${id}`),
  },
  'answers in the background that wait': {
    store: async () => (await bed.openai().responses.create({ model, input: text, background: true })).id,
    remove: (id) => bed.openai().responses.cancel(id),
  },
  'answers for repeats': {
    async store() {
      const key = randomUUID()
      const body = JSON.stringify({ model, messages: [{ role: 'user', content: text }] })
      const headers = { 'content-type': 'application/json', 'idempotency-key': key }
      await (await call('POST', '/v1/chat/completions', { body, headers })).text()
      // It is kept, or its key is free again, a moment after its last byte.
      await until(async () => (await running()) === 0)
      return key
    },
    remove: () => bed.tollgate.context.database.upkeep.ask(({ db }) => deleteKeysOlderThan(db, -1)),
  },
}

async function conversationOf(content: string): Promise<string> {
  return (await bed.openai().conversations.create({ items: [{ role: 'user', content }] })).id
}

async function running(): Promise<number> {
  const [row] = await bed.database.sql<{ count: number }[]>`
    SELECT count(*)::int FROM idempotency_keys WHERE instance_id IS NOT NULL`
  return row?.count ?? 0
}

/** What is in the tables, and what is booked. */
async function stored(): Promise<{ real: number; booked: number }> {
  const [row] = await bed.database.sql<{ real: number; booked: number }[]>`
    SELECT (
      coalesce((SELECT sum(octet_length(content)) FROM kept_answers), 0)
      + coalesce((SELECT sum(octet_length(content)) FROM conversation_items), 0)
      + coalesce((SELECT sum(octet_length(metadata)) FROM conversations), 0)
      + coalesce((SELECT sum(bytes) FROM files), 0)
      + coalesce((SELECT sum(octet_length(answer)) FROM idempotency_keys), 0)
      + coalesce((SELECT sum(octet_length(request)) FROM jobs), 0)
    )::float8 AS real,
    coalesce((SELECT sum(bytes) FROM tenant_storage), 0)::float8 AS booked`
  return row ?? { real: -1, booked: -2 }
}

describe.each(Object.keys(kinds))('%s', (name) => {
  const kind = () => kinds[name] as Kind

  test('of a tenant never pass its bound, also when 12 are stored at once, and each gives its bytes back', async () => {
    // Answers for repeats are small here: there is room for some of them.
    const filler = name === 'answers for repeats' ? await conversationOf('x'.repeat(90_000)) : undefined
    const tries = await Promise.allSettled(Array.from({ length: 12 }, () => kind().store()))
    const { real, booked } = await stored()
    expect(real).toBe(booked)
    expect(real).toBeGreaterThan(bytesMax / 2)
    expect(real).toBeLessThanOrEqual(bytesMax)
    const failures = tries.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    for (const failure of failures) {
      expect(failure.status).toBe(429)
      expect(String(failure.message)).toContain(`the ${bytesMax} bytes that this tenant can store`)
    }
    // An answer that no one asked to be kept is not a failure: its repeat runs again.
    if (name !== 'answers for repeats') expect(failures.length).toBeGreaterThan(5)
    const rules = await verifyLedger(bed.database.sql)
    expect(rules.findings.filter(({ differences }) => differences > 0)).toEqual([])

    if (filler !== undefined) await kinds.conversations?.remove(filler)
    for (const each of tries) if (each.status === 'fulfilled') await kind().remove(each.value)
    expect(await stored()).toEqual({ real: 0, booked: 0 })
    expect(await kind().store()).not.toBe('')
  })
})

test('all kinds together have one bound, and a tenant that is full keeps no one else from storing', async () => {
  const all = Object.values(kinds)
  const tries = await Promise.allSettled(Array.from({ length: 15 }, (_, at) => all[at % all.length]?.store()))
  expect(tries.some(({ status }) => status === 'fulfilled')).toBe(true)
  const { real, booked } = await stored()
  expect(real).toBe(booked)
  expect(real).toBeLessThanOrEqual(bytesMax)
  await expect(bed.openai(otherKey).responses.create({ model, input: text })).resolves.toMatchObject({
    status: 'completed',
  })
})

test('a request with an Idempotency-Key is refused before it runs where nothing more can be kept', async () => {
  await kinds.files?.store()
  await bed.database.sql`UPDATE tenant_storage SET bytes = ${bytesMax}`
  await expect(kinds['answers for repeats']?.store()).rejects.toMatchObject({
    status: 429,
    message: expect.stringContaining('Idempotency-Key: this request would exceed'),
  })
})

test('what expires gives its bytes back, and a sum that is wrong is found', async () => {
  await kinds['kept answers']?.store()
  await bed.database.sql`UPDATE kept_answers SET expires_at = now()`
  await deleteExpiredAnswers(bed.database.sql, 0)
  expect(await stored()).toEqual({ real: 0, booked: 0 })
  await bed.database.sql`UPDATE tenant_storage SET bytes = 7`
  const { findings } = await verifyLedger(bed.database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toMatchObject([
    { rule: expect.stringContaining('storage') },
  ])
})
