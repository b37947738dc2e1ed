import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Identity } from '../../src/access/identity.ts'
import { usageEndpoints } from '../../src/api/usage.ts'
import { positionCursor } from '../../src/api/usage-query.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { RunningExports } from '../../src/usage/log/running-exports.ts'
import { emptyArchive } from '../support/archive.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { manualClock } from '../support/manual-clock.ts'
import { anyGroup, emptySnapshot, identity, keyId, serve, tenantId } from './serve.ts'

const otherTenant = '00000000-0000-4000-8000-000000000002'
const otherKey = '00000000-0000-4000-8000-0000000000a2'
const priceId = '00000000-0000-4000-8000-0000000000c1'
const bounds = { logQueryMs: 2_000, exportRowsMax: 1_000, clientStallMs: 5_000, rollupHoursDays: 400 }
const start = Date.parse('2026-11-01T00:00:00.000Z')
const hourMs = 3_600_000

let drop: () => Promise<void>
let database: Database
let api: Awaited<ReturnType<typeof serve>>
let caller: Identity
let shipped = 0

/** A uuidv7 of the given time. The same time and count give the same id. */
function idAt(ms: number, count = 0): string {
  const time = ms.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.toString(16).padStart(3, '0')}-8000-000000000000`
}

async function add(ms: number, changes: Record<string, unknown> = {}, count = 0): Promise<string> {
  const row = {
    id: idAt(ms, count),
    created_at: new Date(ms),
    tenant_id: tenantId,
    key_id: keyId,
    endpoint: '/v1/chat/completions',
    requested_model: 'small',
    served_model: 'small-2026-01-01',
    stream: false,
    status: 200,
    outcome: 'succeeded',
    usage_source: 'upstream',
    attempt_count: 1,
    ...changes,
  }
  await database.sql`insert into requests ${database.sql(row)}`
  return row.id
}

async function ids(query: string): Promise<string[]> {
  const { status, body } = await api.get(`/v1/usage/requests${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.data.map((row: { id: string }) => row.id)
}

beforeAll(async () => {
  const fresh = await freshDatabase()
  drop = fresh.drop
  database = openDatabase(fresh.url, { max: 2 })
  const usage = usageEndpoints({
    database,
    bounds,
    exports: new RunningExports({ exportsMax: 2 }),
    showsRouting: true,
    archive: emptyArchive(database),
    shipNow: async () => void shipped++,
    clock: manualClock(start + 10 * 24 * hourMs),
  })
  api = await serve(usage, () => ({ identity: caller, group: anyGroup, snapshot: emptySnapshot }))
  await database.sql`insert into models (id, managed_by) values ('small', 'admin')`
  await database.sql`insert into prices (id, model_id, input_nano, output_nano) values (${priceId}, 'small', 2500000000, 10000000000)`
})

afterAll(async () => {
  api.close()
  await database.close()
  await drop()
})

beforeEach(async () => {
  caller = identity()
  await database.sql`truncate requests, request_tags, request_payloads, attempts, rollup_deltas`
})

describe('GET /v1/usage/requests', () => {
  test('a row has the names and the nulls of the contract', async () => {
    const id = await add(start + 1, {
      status: 502,
      outcome: 'failed',
      error_kind: 'upstream_error',
      error_reason: 'upstream_failed',
      error_message: 'it broke',
      error_upstream_status: 500,
      input_tokens: 7,
      output_tokens: 0,
      cost_nano: '9007199254740993',
      total_ms: 12,
      notes: '[{"path":"x","action":"dropped","reason":"y"}]',
    })
    const { body } = await api.get('/v1/usage/requests')
    expect(body).toEqual({
      data: [
        {
          id,
          created_at: '2026-11-01T00:00:00.001Z',
          endpoint: '/v1/chat/completions',
          client_protocol: null,
          upstream_protocol: null,
          requested_model: 'small',
          served_model: 'small-2026-01-01',
          channel: null,
          stream: false,
          end_user: null,
          session: null,
          tags: [],
          status: 502,
          outcome: 'failed',
          error: {
            kind: 'upstream_error',
            reason: 'upstream_failed',
            message: 'it broke',
            upstream_status: 500,
          },
          finish_reason: null,
          tokens: { input: 7, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 },
          images: null,
          usage_source: 'upstream',
          stream_end: null,
          cost_nano_usd: '9007199254740993',
          charged_nano_usd: '9007199254740993',
          latency_ms: { queue: null, first_token: null, total: 12 },
          attempts: 1,
          notes: [{ path: 'x', action: 'dropped', reason: 'y' }],
          upstream_request_id: null,
          folded: 1,
        },
      ],
      next_cursor: null,
    })
  })

  test('pages run newest first, each row once, even if many rows share a millisecond and rows arrive meanwhile', async () => {
    const all: string[] = []
    for (let i = 0; i < 23; i++) all.unshift(await add(start + Math.floor(i / 5), {}, i))
    const seen: string[] = []
    let cursor = ''
    for (let page = 0; page < 10 && cursor !== 'null'; page++) {
      const { body } = await api.get(`/v1/usage/requests?limit=4${cursor}`)
      seen.push(...body.data.map((row: { id: string }) => row.id))
      await add(start + hourMs + page)
      if (body.next_cursor === null) break
      cursor = `&cursor=${body.next_cursor}`
    }
    expect(seen).toEqual(all)
  })

  test('pages of a tag run newest first, each row once, and only rows that the key may see', async () => {
    const all: string[] = []
    for (let i = 0; i < 11; i++)
      all.unshift(await add(start + Math.floor(i / 3), { tags: ['x', `n${i}`] }, i))
    const foreign = { tenant_id: otherTenant, key_id: otherKey }
    await add(start + 1, { ...foreign, tags: ['x'] }, 20)
    const sibling = await add(start + 9, { key_id: otherKey, tags: ['x'] }, 21)
    await add(start + 9, { tenant_id: null, key_id: null, tags: ['x'] }, 22)
    const seen: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await api.get(`/v1/usage/requests?tag=x&limit=4${cursor}`)
      seen.push(...body.data.map((row: { id: string }) => row.id))
      if (body.next_cursor === null) break
      cursor = `&cursor=${body.next_cursor}`
    }
    expect(seen).toEqual([sibling, ...all])
    expect(await ids('?tag=n3')).toEqual([all[7]])
    caller = identity({ usageScope: 'key' })
    expect(await ids('?tag=x')).toEqual(all)
  })

  test('the log is shipped first, so that a client finds its last request', async () => {
    const before = shipped
    await ids('')
    expect(shipped).toBe(before + 1)
  })

  test('each filter finds its rows and no others', async () => {
    const plain = await add(start)
    const failed = await add(start + hourMs, { status: 502, outcome: 'failed' })
    const refused = await add(start + 2 * hourMs, {
      status: 404,
      outcome: 'refused',
      requested_model: 'none',
      served_model: null,
    })
    const listed = await add(start + 24 * hourMs, {
      endpoint: '/v1/models',
      requested_model: null,
      served_model: null,
    })
    const same = await add(start + 25 * hourMs, {
      requested_model: 'small-2026-01-01',
      end_user: 'user 7',
      session: 's\u00e9ance',
      tags: ['a', 'b, c', 'env:prod'],
    })
    const expected: [string, string[]][] = [
      ['', [same, listed, refused, failed, plain]],
      ['?end_user=user%207', [same]],
      ['?end_user=user', []],
      ['?session=s%C3%A9ance', [same]],
      ['?session=s%C3%A9ance&end_user=user%207&tag=a&model=small', []],
      ['?tag=env:prod', [same]],
      ['?tag=b,%20c&tag=a', [same]],
      ['?tag=a&tag=c', []],
      ['?tag=c', []],
      [
        '?tag=a&model=small-2026-01-01&status=2xx&outcome=succeeded&end_user=user%207&from=2026-11-02',
        [same],
      ],
      ['?tag=a&to=2026-11-01', []],
      [`?tag=a&request_id=${same}`, [same]],
      [`?tag=a&request_id=${plain}`, []],
      ['?model=small', [failed, plain]],
      ['?model=small-2026-01-01', [same, failed, plain]],
      ['?model=nothing', []],
      ['?status=200', [same, listed, plain]],
      ['?status=404', [refused]],
      ['?status=4xx', [refused]],
      ['?status=2XX', [same, listed, plain]],
      ['?status=3xx', []],
      ['?outcome=succeeded', [same, listed, plain]],
      ['?outcome=failed', [failed]],
      ['?outcome=orphaned', []],
      ['?endpoint=/v1/models', [listed]],
      ['?endpoint=%2Fv1%2Fchat%2Fcompletions', [same, refused, failed, plain]],
      [`?request_id=${failed.toUpperCase()}`, [failed]],
      [`?request_id=${idAt(5)}`, []],
      ['?from=2026-11-01T01:00:00Z&to=2026-11-01T02:00:00Z', [failed]],
      ['?from=2026-11-01T02:00:00%2B01:00&to=2026-11-01', [refused, failed]],
      ['?from=2026-11-02', [same, listed]],
      ['?model=small&outcome=failed&status=5xx&endpoint=/v1/chat/completions', [failed]],
    ]
    for (const [query, rows] of expected) expect(await ids(query), query).toEqual(rows)
  })

  test('a tenant sees only its own rows, and a restricted key only the rows of that key', async () => {
    const own = await add(start)
    const sibling = await add(start + 1, { key_id: otherKey })
    const foreign = await add(start + 2, { tenant_id: otherTenant, key_id: otherKey })
    await add(start + 3, { tenant_id: null, key_id: null })
    expect(await ids('')).toEqual([sibling, own])
    expect(await ids(`?request_id=${foreign}`)).toEqual([])
    caller = identity({ usageScope: 'key' })
    expect(await ids('')).toEqual([own])
    expect(await ids(`?request_id=${sibling}`)).toEqual([])
    expect((await api.get(`/v1/usage/requests/${sibling}`)).body.kind).toBe('unknown_path')
    expect((await api.get('/v1/usage/summary')).body.data).toMatchObject([{ requests: 1 }])
  })

  const wrong: [string, string][] = [
    ['?cursor=abc', 'cursor'],
    [`?cursor=${Buffer.from(`${new Date(start).toISOString()} x`).toString('base64url')}`, 'cursor'],
    [`?cursor=${positionCursor({ createdAt: new Date('+010000-01-01'), id: randomUUIDv7() })}`, 'cursor'],
    [`?cursor=${positionCursor({ createdAt: new Date('0000-01-01'), id: randomUUIDv7() })}`, 'cursor'],
    ['?limit=0', 'limit'],
    ['?limit=201', 'limit'],
    ['?limit=1.5', 'limit'],
    ['?status=600', 'status'],
    ['?status=4x', 'status'],
    ['?outcome=good', 'outcome'],
    ['?from=yesterday', 'from'],
    ['?from=2026-02-30', 'from'],
    ['?from=2026-02-30T00:00:00Z', 'from'],
    ['?to=2026-11-01T00:00:00', 'to'],
    ['?from=2026-11-02T00:00:00Z&to=2026-11-01', 'to'],
    ['?request_id=1', 'request_id'],
    ['?model=', 'model'],
    ['?model=a%00b', 'model'],
    ['?model=a&model=b', 'model'],
    ['?colour=red', 'colour'],
    ['?end_user=', 'end_user'],
    ['?session=a&session=b', 'session'],
    ['?tag=', 'tag'],
    ['?tag=a&tag=', 'tag'],
    [`?${'tag=a&'.repeat(17)}`, 'tag'],
  ]
  test.each(wrong)('%s is refused, naming %s', async (query, field) => {
    const { body } = await api.get(`/v1/usage/requests${query}`)
    expect(body).toMatchObject({
      kind: 'invalid_request',
      field,
      message: expect.stringContaining(`${field}: `),
    })
  })
})

describe('GET /v1/usage/requests/:id', () => {
  test('has the body, the attempts and the parts of the cost', async () => {
    const id = await add(start + 5, {
      input_tokens: 1000,
      cache_read_tokens: 100,
      output_tokens: 10,
      price_id: priceId,
      price_multiplier: '2',
      cost_nano: '5700000',
      attempt_count: 2,
    })
    const at = new Date(start + 5)
    const { sql } = database
    await sql`insert into request_payloads ${sql({ request_id: id, created_at: at, capture: 'content', body: '{"a":"\\u0000"}' })}`
    for (const ordinal of [1, 0]) {
      const attempt = {
        request_id: id,
        created_at: at,
        ordinal,
        channel: `c${ordinal}`,
        reason: 'only candidate',
        error_kind: 'upstream_error',
        error_message: 'm',
      }
      await sql`insert into attempts ${sql(attempt)}`
    }
    const { body } = await api.get(`/v1/usage/requests/${id}`)
    expect(body).toMatchObject({
      id,
      cost_nano_usd: '5700000',
      cost_parts_nano_usd: {
        input: '5000000',
        cache_read: '500000',
        cache_write: '0',
        output: '200000',
        reasoning: '0',
        image: '0',
      },
      attempts: [{ channel: 'c0', error: { kind: 'upstream_error', message: 'm' } }, { channel: 'c1' }],
      capture: 'content',
      body: '{"a":"\\u0000"}',
    })
    await sql`update requests set cost_nano = 1`
    expect((await api.get(`/v1/usage/requests/${id}`)).body.cost_parts_nano_usd).toBeNull()
  })

  test('an id that is unknown, of another tenant or malformed is not found', async () => {
    const foreign = await add(start, { tenant_id: otherTenant })
    for (const id of [foreign, idAt(start, 9), 'x', '%00', `${foreign}0`]) {
      expect((await api.get(`/v1/usage/requests/${id}`)).body.kind, id).toBe('unknown_path')
    }
  })

  test('shows what was charged beside the cost; a row of an older release was charged its cost', async () => {
    const [bounded, old, unknown] = [
      await add(start, { cost_nano: '9', charged_nano: '4' }),
      await add(start + 1, { cost_nano: '9' }),
      await add(start + 2, {}),
    ]
    const shown = async (id: string) => {
      const { body } = await api.get(`/v1/usage/requests/${id}`)
      return [body.cost_nano_usd, body.charged_nano_usd]
    }
    expect(await shown(bounded)).toEqual(['9', '4'])
    expect(await shown(old)).toEqual(['9', '9'])
    expect(await shown(unknown)).toEqual([null, null])
    const { body } = await api.get('/v1/usage/summary')
    expect(body.data).toMatchObject([{ cost_nano_usd: '18', charged_nano_usd: '13', unpriced_requests: 1 }])
  })

  test('takes no parameters', async () => {
    expect((await api.get(`/v1/usage/requests/${idAt(start)}?x=1`)).body).toMatchObject({ field: 'x' })
  })
})

describe('GET /v1/usage/summary', () => {
  test('adds up by day and model; requests of unknown cost are counted, not taken as free', async () => {
    await add(start, { input_tokens: 1, output_tokens: 2, cost_nano: '9007199254740993' })
    await add(start + 1, { cost_nano: '7', input_tokens: 10, reasoning_tokens: 5 })
    await add(start + 2, { outcome: 'refused', status: 401, folded: 40 })
    await add(start + 3, { requested_model: 'large', cost_nano: '0' })
    await add(start + 24 * hourMs, { outcome: 'failed', status: 502 })
    await add(start - 60 * 24 * hourMs)
    const { body } = await api.get('/v1/usage/summary')
    expect(body).toMatchObject({ from: '2026-10-12T00:00:00.000Z', to: '2026-11-11T00:00:00.000Z' })
    expect(body.data).toMatchObject([
      {
        day: '2026-11-02',
        model: 'small',
        requests: 1,
        succeeded: 0,
        failed: 1,
        cost_nano_usd: '0',
        unpriced_requests: 1,
      },
      { day: '2026-11-01', model: 'large', requests: 1, cost_nano_usd: '0', unpriced_requests: 0 },
      {
        day: '2026-11-01',
        model: 'small',
        requests: 42,
        succeeded: 2,
        failed: 40,
        tokens: { input: 11, cache_read: 0, cache_write: 0, output: 2, reasoning: 5 },
        cost_nano_usd: '9007199254741000',
        unpriced_requests: 40,
      },
    ])
    const large = await api.get('/v1/usage/summary?model=large&from=2026-11-01&to=2026-11-01')
    expect(large.body.data).toMatchObject([{ model: 'large', requests: 1 }])
  })

  test('covers 92 days at most', async () => {
    expect((await api.get('/v1/usage/summary?from=2026-01-01&to=2026-11-01')).body).toMatchObject({
      field: 'from',
    })
    expect((await api.get('/v1/usage/summary?from=2026-08-01&to=2026-10-31')).status).toBe(200)
  })
})

test('while Postgres is down the answer is unavailable', async () => {
  const away = openDatabase('postgres://nobody:x@127.0.0.1:9/none')
  const usage = usageEndpoints({
    database: away,
    bounds,
    exports: new RunningExports({ exportsMax: 2 }),
    showsRouting: true,
    archive: emptyArchive(away),
    shipNow: async () => {},
    clock: systemClock,
  })
  const lost = await serve(usage, () => ({ identity: caller, group: anyGroup, snapshot: emptySnapshot }))
  expect((await lost.get('/v1/usage/requests')).body.kind).toBe('unavailable')
  lost.close()
  await away.close()
})
