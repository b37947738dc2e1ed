import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { openKept } from '../../src/process/open-services.ts'
import { conversationState } from '../../src/protocols/index.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { claimConversation } from '../../src/state/kept/conversation-queries.ts'
import type { Conversations } from '../../src/state/kept/conversations.ts'
import type { KeptAnswers } from '../../src/state/kept/kept-answers.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

/** The store of conversations on a database of its own, without a gateway before it. */

let database: Database
let drop: () => Promise<void>
let kept: KeptAnswers
let conversations: Conversations
const instanceId = randomUUID()
const scope = { tenantId: randomUUID(), keyId: undefined }
const keyId = randomUUID()
const deadMs = 60_000

beforeAll(async () => {
  const fresh = await freshDatabase()
  drop = fresh.drop
  database = openDatabase(fresh.url, { max: 4 })
  kept = openKept(database, new SecretKeeper('a-secret-key-for-these-tests-0001'), readConfig({}).bounds)
  conversations = kept.conversations
  await database.sql`
    INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
    VALUES (${instanceId}, 'here', 1, now(), now(), 'live')`
})
afterAll(async () => {
  await database?.close()
  await drop?.()
})

async function made(): Promise<string> {
  const owner = { tenantId: scope.tenantId, keyId }
  const items = [{ role: 'user', content: 'Before.' }]
  return (await conversations.create(owner, { metadata: {}, items, days: 30 })).id
}

function begin(id: string, requestId: string) {
  return conversations.begin(scope, id, { requestId, instanceId, days: 30 })
}

const lockedError = { code: 'conversation_locked' }

describe('a claim', () => {
  test.each<[string, (id: string) => Promise<unknown>]>([
    ['a request', (id) => begin(id, randomUUID())],
    [
      'a call that adds items',
      (id) => conversations.add(scope, id, { items: [{ role: 'user' }], requestId: randomUUID(), days: 30 }),
    ],
  ])('that commits while %s waits for its row is seen by it', async (_who, attempt) => {
    const id = await made()
    const requestId = randomUUID()
    let waiting: Promise<unknown> | undefined
    const tx = await database.sql.reserve()
    try {
      await tx`BEGIN`
      const claimant = { requestId, instanceId, deadMs, days: 30 }
      expect(await claimConversation(tx, scope, id, claimant)).toMatchObject({ items: 1, next_position: 1 })
      waiting = attempt(id).catch((error: unknown) => error)
      await until(async () => {
        const waits = await database.sql`
          SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
        return waits.length > 0
      })
      await tx`COMMIT`
    } finally {
      tx.release()
    }

    expect(await waiting).toMatchObject(lockedError)
  })

  test('is of its request: that one may begin again, and another ends nothing', async () => {
    const id = await made()
    const requestId = randomUUID()
    await begin(id, requestId)
    await begin(id, requestId)
    await conversations.release({ tenantId: scope.tenantId, id, requestId: randomUUID() })
    await expect(begin(id, randomUUID())).rejects.toMatchObject(lockedError)
    await conversations.release({ tenantId: scope.tenantId, id, requestId })
    await begin(id, randomUUID())
  })

  test.each([
    ['has ended', `UPDATE instances SET state = 'released' WHERE id = $1`],
    ['is silent', `UPDATE instances SET heartbeat_at = now() - interval '1 hour' WHERE id = $1`],
  ])('of a process that %s does not count', async (_what, change) => {
    const id = await made()
    await begin(id, randomUUID())
    await expect(begin(id, randomUUID())).rejects.toMatchObject(lockedError)
    await database.sql.unsafe(change, [instanceId])
    await begin(id, randomUUID())
    await database.sql`UPDATE instances SET state = 'live', heartbeat_at = now() WHERE id = ${instanceId}`
  })
})

describe('a turn', () => {
  const answer = (id: string) => ({
    tenantId: scope.tenantId,
    keyId,
    protocol: 'openai-responses' as const,
    id,
    previousId: undefined,
    model: 'm',
    days: 30,
    endUser: null,
    claimedFor: undefined,
  })
  const content = {
    input: '{"role":"user","content":"Asked."}',
    output: '{"type":"message","id":"msg_1","role":"assistant","content":[]}',
    answer: {},
  }

  test('is there with its answer, and its claim has ended', async () => {
    const id = await made()
    const { turn, items } = await begin(id, randomUUID())
    expect(items).toEqual({ text: '{"role":"user","content":"Before."}', count: 1 })
    await kept.addTo(turn, content, answer('resp_kept'))

    const again = await begin(id, randomUUID())
    expect(again.items.text).toBe(`${items.text},${content.input},${content.output}`)
    const chain = await kept.chain({ ...scope, protocol: 'openai-responses' }, 'resp_kept')
    expect(chain).toMatchObject([{ input: items.text }, { input: content.input, output: content.output }])
  })

  test.each<[string, (id: string) => Promise<unknown>]>([
    ['was deleted', (id) => conversations.delete(scope, id)],
    [
      'was claimed by another request, because its process seemed dead',
      (id) => database.sql`UPDATE conversations SET claimed_for = gen_random_uuid() WHERE id = ${id}`,
    ],
  ])('of a conversation that %s leaves nothing, and no answer', async (_what, meanwhile) => {
    const id = await made()
    const { turn } = await begin(id, randomUUID())
    await meanwhile(id)
    await expect(kept.addTo(turn, content, answer('resp_lost'))).rejects.toMatchObject({
      reason: 'conversation_lost',
      code: 'conversation_not_found',
    })

    expect(await kept.read({ ...scope, protocol: 'openai-responses' }, 'resp_lost')).toBeUndefined()
    const items =
      await database.sql`SELECT FROM conversation_items WHERE conversation_id = ${id} AND position > 0`
    expect(items).toHaveLength(0)
  })

  test('whose answer is too large leaves nothing', async () => {
    const small = { ...readConfig({}).bounds, keptAnswerBytesMax: 1024 }
    const bounded = openKept(database, new SecretKeeper('a-secret-key-for-these-tests-0001'), small)
    const id = await made()
    const { turn } = await begin(id, randomUUID())
    const large = { ...content, output: JSON.stringify({ type: 'message', content: 'x'.repeat(2_000) }) }
    for (const named of [answer('resp_large'), undefined]) {
      await expect(bounded.addTo(turn, large, named)).rejects.toMatchObject({ code: 'kept_answer_too_large' })
    }
    const [row] = await database.sql`SELECT items, next_position FROM conversations WHERE id = ${id}`
    expect(row).toEqual({ items: 1, next_position: 1 })
  })
})

test('reasoning that only its vendor can look up is listed, but not sent, and the items beside it go without ids', async () => {
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [] }
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{}' }
  const { id: _, ...callSent } = call
  const sealed = { ...reasoning, encrypted_content: 'sealed' }
  expect(conversationState().items.answered([sealed, call])).toEqual([
    { id: 'rs_1', text: JSON.stringify(sealed), isSent: true },
    { id: 'fc_1', text: JSON.stringify(call), isSent: true },
  ])

  const id = await made()
  const { turn } = await begin(id, randomUUID())
  const output = JSON.stringify([reasoning, call]).slice(1, -1)
  await kept.addTo(turn, { input: '', output, answer: {} }, undefined)
  const { text } = await conversations.read(scope, id)
  expect(JSON.parse(`[${text}]`)).toEqual([{ role: 'user', content: 'Before.' }, callSent])
  const { items } = await conversations.page(scope, id, { after: undefined, order: 'asc', limit: 10 })
  expect(items.slice(1)).toEqual([reasoning, { ...call, status: 'completed' }])
})

test('items that have the same id stand side by side, and go together', async () => {
  const id = await made()
  const item = { type: 'message', id: 'msg_same', role: 'user', content: 'x' }
  await conversations.add(scope, id, { items: [item, item], requestId: randomUUID(), days: 30 })
  const page = { after: 'msg_same', order: 'asc', limit: 10 } as const
  expect(await conversations.page(scope, id, page)).toEqual({ items: [], hasMore: false })
  await conversations.deleteItem(scope, id, 'msg_same')

  const [row] = await database.sql`
    SELECT items, bytes = octet_length(metadata) + (SELECT sum(bytes) FROM conversation_items WHERE conversation_id = ${id}) AS fits
    FROM conversations WHERE id = ${id}`
  expect(row).toEqual({ items: 1, fits: true })
})
