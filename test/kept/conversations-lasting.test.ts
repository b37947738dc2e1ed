import { once } from 'node:events'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import WebSocket from 'ws'
import { sentenceOf } from '../../src/canonical/reasons/catalogue.ts'
import { resealAll } from '../../src/secrets/reseal.ts'
import { sealedColumns } from '../../src/secrets/reseal-queries.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { deleteExpiredConversations } from '../../src/state/kept/conversation-queries.ts'
import { removeLeftovers } from '../../src/usage/erasure/other-places.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'
import {
  type FourUpstreams,
  fourUpstreamsYaml,
  keepingKey,
  limitedKey,
  otherKey,
  startFourUpstreams,
  upstreamModels,
} from '../support/four-upstreams.ts'
import { secretKey } from '../support/gateway-yaml.ts'
import { startTollgate } from '../support/tollgate.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor/vendor.ts'
import { startWire } from '../support/wire.ts'

/** Conversations, while processes, Postgres, keys and time get in their way. */

let bed: FourUpstreams
beforeAll(async () => {
  bed = await startFourUpstreams()
})
afterAll(() => bed?.close())

const model = 'openai-chat'
const marker = 'a-marker-that-nobody-reads'

async function made(client: OpenAI, content = 'Before.'): Promise<string> {
  return (await client.conversations.create({ metadata: { marker }, items: [{ role: 'user', content }] })).id
}

async function count(client: OpenAI, id: string): Promise<number> {
  return (await client.conversations.items.list(id, { limit: 100 })).data.length
}

/** The status of the next request that gets in. */
async function next(client: OpenAI, conversation: string): Promise<string> {
  return await client.responses.create({ model, input: 'Next.', conversation }).then(
    ({ status }) => String(status),
    (error: unknown) => String(error),
  )
}

test.each(upstreamModels)('frames of a WebSocket run in a conversation over %s', async (over) => {
  const client = bed.openai()
  const id = await made(client)
  const socket = new WebSocket(`${bed.tollgate.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${keepingKey}` },
  })
  onTestFinished(() => socket.terminate())
  const events: { type: string; response?: { conversation: unknown }; error?: { param: unknown } }[] = []
  socket.on('message', (data) => events.push(JSON.parse(String(data))))
  await once(socket, 'open')
  const create = async (more: object) => {
    const frame = { type: 'response.create', model: over, input: 'Hello.', conversation: id, ...more }
    socket.send(JSON.stringify(frame))
    const before = events.length
    return await until(() =>
      events.slice(before).find(({ type }) => type === 'response.completed' || type === 'error'),
    )
  }
  expect((await create({})).response?.conversation).toEqual({ id })
  expect((await create({ store: false })).response?.conversation).toEqual({ id })
  expect((await create({ generate: false })).error).toMatchObject({
    param: 'conversation',
    message: sentenceOf('prepared_not_in_conversation', {}),
  })

  const items = await client.conversations.items.list(id)
  expect(items.data.filter(({ type }) => type === 'message')).toHaveLength(5)
})

test('nothing of a conversation can be read in the database, and a new master key seals all of it anew', async () => {
  const own = await startFourUpstreams()
  onTestFinished(own.close)
  const client = own.openai()
  const id = await made(client, marker)
  await client.responses.create({ model, input: marker, conversation: id })
  const { sql } = own.database
  const sealed = sealedColumns.filter(({ name }) => /conversation|later requests/.test(name))
  expect(sealed).toHaveLength(3)
  const contents = async () =>
    await sql<{ content: Buffer; owner: string }[]>`
      SELECT metadata AS content, tenant_id || ' ' || id AS owner FROM conversations
      UNION ALL SELECT content, tenant_id || ' ' || conversation_id || ' ' || item_id FROM conversation_items`
  const before = await contents()
  expect(before).toHaveLength(4)
  for (const { content } of before) expect(content.includes(marker)).toBe(false)
  // What is sealed for one conversation does not open in another.
  await sql`UPDATE conversation_items SET item_id = item_id || 'x' WHERE position = 1`
  await expect(client.conversations.items.list(id)).rejects.toMatchObject({ status: 500 })
  await sql`UPDATE conversation_items SET item_id = left(item_id, -1) WHERE position = 1`

  const other = 'another-secret-key-for-these-tests'
  const former = [{ secret: secretKey, retiredMs: Number.POSITIVE_INFINITY }]
  const outcomes = await resealAll(sql, new SecretKeeper(other, former))
  expect(outcomes).toContainEqual({ name: 'conversations', resealed: 1, unreadable: 0 })
  expect(outcomes).toContainEqual({ name: 'conversation items', resealed: 3, unreadable: 0 })
  const alone = new SecretKeeper(other)
  const opened = (await contents()).map(({ content, owner }) => alone.open('keptAnswer', content, owner))
  expect(opened.filter((text) => text.includes(marker))).toHaveLength(4)
})

test('a conversation goes when its days after the last use are over, and its items with it', async () => {
  const client = bed.openai()
  const { sql } = bed.database
  const [used, unused] = [await made(client), await made(client)]
  const ids = [used, unused]
  const days = async (id: string) => {
    const [row] = await sql<{ days: number }[]>`
      SELECT extract(epoch FROM expires_at - now())::float8 / 86400 AS days FROM conversations WHERE id = ${id}`
    return Math.round(row?.days ?? -1)
  }
  for (const use of [
    () => client.responses.create({ model, input: 'x', conversation: used }),
    () => client.conversations.items.create(used, { items: [{ role: 'user', content: 'x' }] }),
    () => client.conversations.update(used, { metadata: {} }),
  ]) {
    await sql`UPDATE conversations SET expires_at = now() + interval '1 day' WHERE id = ANY (${ids})`
    await use()
    expect(await days(used)).toBe(30)
  }
  expect(await days(unused)).toBe(1)

  await sql`UPDATE conversations SET expires_at = now() WHERE id = ${unused}`
  await expect(client.conversations.retrieve(unused)).rejects.toThrow(OpenAI.NotFoundError)
  await expect(client.responses.create({ model, input: 'x', conversation: unused })).rejects.toThrow(
    OpenAI.NotFoundError,
  )
  await deleteExpiredConversations(sql, 0)
  const left =
    await sql`SELECT DISTINCT conversation_id AS id FROM conversation_items WHERE conversation_id = ANY (${ids})`
  expect(left).toEqual([{ id: used }])
  expect(await sql`SELECT id FROM conversations WHERE id = ANY (${ids})`).toEqual([{ id: used }])
})

test('an erasure of a tenant removes its conversations, and of a longer one the items of that time', async () => {
  const own = await startFourUpstreams()
  onTestFinished(own.close)
  const { sql } = own.database
  const [client, other] = [own.openai(), own.openai(otherKey)]
  const [old, gone, theirs] = [await made(client), await made(client), await made(other)]
  await sql`UPDATE conversations SET created_at = now() - interval '3 days' WHERE id = ${old}`
  await sql`UPDATE conversation_items SET created_at = now() - interval '3 days' WHERE conversation_id = ${old}`
  await client.responses.create({ model, input: 'Erased.', conversation: old })
  const [tenant] = await sql<{ id: string }[]>`SELECT id FROM tenants WHERE name = 'a'`
  const counts: Record<string, number>[] = []
  await removeLeftovers(
    { ask: async (question) => await question(sql), storage: { remove: async () => {} } },
    {
      tenantId: tenant?.id ?? '',
      endUser: null,
      from: new Date(Date.now() - 86_400_000),
      to: new Date(Date.now() + 1000),
    } as Parameters<typeof removeLeftovers>[1],
    async (removed) => void counts.push(removed),
  )

  expect(counts).toContainEqual({ conversations: 1 })
  await expect(client.conversations.retrieve(gone)).rejects.toThrow(OpenAI.NotFoundError)
  expect(JSON.stringify((await client.conversations.items.list(old)).data)).not.toContain('Erased.')
  expect(await count(client, old)).toBe(1)
  expect(await count(other, theirs)).toBe(1)
  const [sums] = await sql`
    SELECT c.items, c.bytes - octet_length(c.metadata) - sum(i.bytes) AS differs FROM conversations c
    JOIN conversation_items i ON i.conversation_id = c.id WHERE c.id = ${old} GROUP BY c.items, c.bytes, c.metadata`
  expect(sums).toEqual({ items: 1, differs: '0' })
})

test('a conversation that has become large goes on, and its money is held for all that is sent again', {
  timeout: 180_000,
}, async () => {
  const own = await startFourUpstreams({ env: { BODY_THREAD_BYTES: '65536' } })
  onTestFinished(own.close)
  const client = own.openai(limitedKey)
  const text = 'many words '.repeat(5_000)
  for (const over of [model, 'openai-responses']) {
    const id = await made(client, text)
    const one = await client.responses.create({ model: over, input: text, conversation: id })
    const two = await client.responses.create({ model: over, input: 'Short.', conversation: id })
    expect(two.output_text).toContain('You said: "Short."')
    expect(two.conversation).toEqual({ id })
    expect(two.usage?.input_tokens).toBeGreaterThan(one.usage?.input_tokens ?? 0)
    expect(await count(client, id)).toBe(5)
  }
})

test('a process that is killed in the middle of its answer keeps no one out, and has added nothing', {
  timeout: 180_000,
}, async () => {
  const { url, drop } = await freshDatabase()
  onTestFinished(drop)
  const slow = await startVendor({ tokenDelayMs: 300 })
  onTestFinished(slow.close)
  const [first, second] = [await start(url, slow.url), await start(url, slow.url)]
  const [dying, living] = [openai(first.url), openai(second.url)]
  const id = await made(living)
  const stream = await dying.responses.create({ model, input: words, conversation: id, stream: true })
  for await (const event of stream) if (event.type === 'response.output_text.delta') break
  expect(await next(living, id)).toContain('Another process is currently operating on this conversation')
  await first.kill9()

  await until(async () => (await next(living, id)) === 'completed', 60_000)
  expect(await count(living, id)).toBe(3)
})

test.each([model, 'openai-responses'])(
  'an answer over %s that breaks off in the middle adds nothing, and the next request gets in',
  async (over) => {
    const { url, drop } = await freshDatabase()
    onTestFinished(drop)
    const [slow, good] = [await startVendor({ tokenDelayMs: 100 }), await startVendor({ tokenDelayMs: 0 })]
    onTestFinished(good.close)
    const client = openai((await start(url, slow.url)).url)
    const id = await made(client)
    const asked = { model: over, input: words, conversation: id, stream: true } as const
    const types: string[] = []
    const ended = await (async () => {
      for await (const event of await client.responses.create(asked)) {
        types.push(event.type)
        if (types.length === 6) await slow.close()
      }
      return 'the end'
    })().catch(String)
    expect(types).not.toContain('response.completed')
    expect(`${ended} ${types}`).toMatch(/error|failed/i)
    // Its channels are those of the other vendor, for all processes.
    const other = openai((await start(url, good.url)).url)
    await until(async () => (await next(other, id)) === 'completed')
    expect(await count(client, id)).toBe(3)
  },
)

test('a client that leaves in the middle leaves its conversation free', async () => {
  const { url, drop } = await freshDatabase()
  onTestFinished(drop)
  const slow = await startVendor({ tokenDelayMs: 20 })
  onTestFinished(slow.close)
  const client = openai((await start(url, slow.url)).url)
  const id = await made(client)
  const stream = await client.responses.create({ model, input: words, conversation: id, stream: true })
  for await (const event of stream) if (event.type === 'response.output_text.delta') break
  stream.controller.abort()

  await until(async () => (await next(client, id)) === 'completed')
})

test('while Postgres is down no answer pretends to be in its conversation, and the claim ends when it is back', {
  timeout: 180_000,
}, async () => {
  const { url, drop } = await freshDatabase()
  onTestFinished(drop)
  const wire = await startWire(url)
  const slow = await startVendor({ tokenDelayMs: 100 })
  onTestFinished(slow.close)
  const tollgate = await start(wire.url, slow.url, { ADMIT_MS: '1000' })
  const client = openai(tollgate.url)
  const id = await made(client)
  const stream = await client.responses.create({ model, input: words, conversation: id, stream: true })
  const types: string[] = []
  const ended = await (async () => {
    for await (const event of stream) {
      types.push(event.type)
      if (types.length === 6) await wire.cut()
    }
    return 'the end'
  })().catch(String)
  expect(types).not.toContain('response.completed')
  expect(`${ended} ${types}`).toMatch(/error|failed/i)
  await wire.mend()

  await until(async () => (await next(client, id)) === 'completed', 60_000)
  const { sql, close } = openDatabase(url, { max: 1 })
  onTestFinished(close)
  expect(await sql`SELECT FROM conversation_items WHERE conversation_id = ${id}`).toHaveLength(3)
  expect(await sql`SELECT FROM kept_answers`).toHaveLength(1)
})

const words = 'Say many words. '.repeat(10)

async function start(databaseUrl: string, vendorUrl: string, env: Record<string, string> = {}) {
  const tollgate = await startTollgate({
    databaseUrl,
    gatewayYaml: fourUpstreamsYaml(vendorUrl),
    env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20', INSTANCE_DEAD_MS: '3000', ...env },
  })
  onTestFinished(() => tollgate.kill9())
  return tollgate
}

function openai(url: string): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: keepingKey, maxRetries: 0 })
}
