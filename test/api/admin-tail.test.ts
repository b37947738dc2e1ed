import { randomUUIDv7 } from 'node:crypto'
import { get, type IncomingMessage } from 'node:http'
import postgres from 'postgres'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

/** New rows of the usage log, as they come. */

let bed: Testbed
let closed = false
beforeEach(async () => {
  closed = false
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken, KEEP_ALIVE_MS: '50' } })
})
afterEach(async () => {
  if (!closed) await bed.close()
})

interface Followed {
  rows(): { id: string; tenant: { name: string } | null }[]
  ids(): string[]
  dropped(): number
  text(): string
  place(): string
  status: number | undefined
  response: IncomingMessage
  ended: Promise<unknown>
  leave(): void
}

async function follow(query = '', place?: string): Promise<Followed> {
  const headers = {
    authorization: `Bearer ${adminToken}`,
    ...(place === undefined ? {} : { 'last-event-id': place }),
  }
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`http://127.0.0.1:${bed.tollgate.port}/admin/v1/requests/tail${query}`, { headers }, resolve).once(
      'error',
      reject,
    )
  })
  let text = ''
  response.setEncoding('utf8')
  response.on('data', (part) => {
    text += part
  })
  response.on('error', () => {})
  const events = (name: string) =>
    [...text.matchAll(/event: (\w+)\n(?:id: (\S+)\n)?data: (.*)\n\n/g)].filter(([, event]) => event === name)
  const rows = () => events('row').map(([, , , data]) => JSON.parse(data ?? ''))
  return {
    rows,
    ids: () => rows().map(({ id }) => id),
    dropped: () => events('dropped').reduce((sum, [, , , data]) => sum + JSON.parse(data ?? '').dropped, 0),
    text: () => text,
    place: () => events('place').at(-1)?.[2] ?? '',
    status: response.statusCode,
    response,
    ended: new Promise((resolve) => response.once('close', resolve)),
    leave: () => response.destroy(),
  }
}

const rowOf = (changes: Record<string, unknown> = {}) => {
  const id = String(changes.id ?? randomUUIDv7())
  const created = new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))
  return {
    ...{
      id,
      created_at: created,
      endpoint: '/v1/messages',
      stream: false,
      status: 200,
      outcome: 'succeeded',
    },
    ...{ usage_source: 'upstream', attempt_count: 1, ...changes },
  }
}

async function add(changes: Record<string, unknown> = {}, count = 1): Promise<string[]> {
  const rows = Array.from({ length: count }, () => rowOf(changes))
  await bed.database.sql`insert into requests ${bed.database.sql(rows)}`
  return rows.map(({ id }) => id)
}

/** A tail knows no earlier rows from the moment at which it gets the first. */
async function begun(tail: Followed): Promise<void> {
  const ids: string[] = []
  await until(async () => {
    ids.push(...(await add({ endpoint: '/begin' })))
    return tail.rows().length > 0
  })
  const [last = ''] = ids.slice(-1)
  await until(() => tail.ids().includes(last))
}

const idOf = (ms: number) => {
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${randomUUIDv7().slice(24)}`
}

test('a request of a client comes, and one that began before others and ended after them', async () => {
  const tail = await follow()
  expect(tail.status).toBe(200)
  expect(tail.response.headers['content-type']).toContain('text/event-stream')
  await begun(tail)
  const [first] = await add()
  const [late] = await add({ id: idOf(Date.now() - 20 * 60_000) })
  const response = await fetch(`http://127.0.0.1:${bed.tollgate.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer free-key-for-tests-0001', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'main', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  await response.text()
  const id = response.headers.get('x-request-id')
  await until(() => [first, late, id].every((each) => tail.ids().includes(each ?? '')))
  expect(tail.rows().find((row) => row.id === id)).toMatchObject({ tenant: { name: 'free' } })
  expect(tail.ids()).toHaveLength(new Set(tail.ids()).size)
  await until(() => tail.text().includes(': keep-alive'))
  tail.leave()
})

test('rows of requests that began days ago come when they are written, each once, by filters and after a gap', async () => {
  const tail = await follow()
  const images = await follow('?endpoint=/v1/images/generations')
  await begun(tail)
  const dayMs = 86_400_000
  // One has a partition, for the other there is none (any more).
  const partition = new Date(Date.now() - 3 * dayMs).toISOString().slice(0, 10)
  await bed.database.sql`select make_partition('requests', ${partition}::text::date)`
  const rows = [1, 2, 3, 40].map((days) =>
    rowOf({ id: idOf(Date.now() - days * dayMs), endpoint: '/v1/images/generations' }),
  )
  const now = rowOf({ endpoint: '/v1/images/generations' })
  const written = [...rows, now]
  await bed.database.sql`insert into requests ${bed.database.sql(written)}`
  const all = written.map(({ id }) => id).sort()
  await until(() => all.every((id) => tail.ids().includes(id) && images.ids().includes(id)))
  expect(images.ids().toSorted()).toEqual(all)
  expect(tail.ids()).toHaveLength(new Set(tail.ids()).size)
  await until(() => images.text().lastIndexOf('event: place') > images.text().lastIndexOf(now.id))
  const seen = images.place()
  images.leave()
  await images.ended
  const [missed] = await add({ id: idOf(Date.now() - 5 * dayMs), endpoint: '/v1/images/generations' })
  const again = await follow('?endpoint=/v1/images/generations', seen)
  await until(() => again.ids().includes(missed ?? ''))
  expect(again.ids()).toEqual([missed])
  for (const each of [tail, again]) each.leave()
})

test('small rows come too, which Postgres puts into the free room of older blocks', async () => {
  const { state } = bed.tollgate.context.database
  const endpoint = '/filler'
  const fillers = Array.from({ length: 8_000 }, (_, at) => ({
    ...rowOf({ endpoint }),
    user_agent: 'x'.repeat((at * 7_919) % 1_800),
  }))
  for (let at = 0; at < fillers.length; at += 1_000) {
    const some = fillers.slice(at, at + 1_000)
    await state.ask(({ sql }) => sql`insert into requests ${sql(some)}`)
  }
  await state.ask(({ sql }) => sql`vacuum requests`)
  const tail = await follow('?not_endpoint=/filler')
  await begun(tail)
  const small = await add({}, 50)
  // They are not all at the end of the partition, where a tail would look.
  const [places] = await state.ask(
    ({
      sql,
    }) => sql`select (select max((ctid::text::point)[0]) from requests where endpoint = ${endpoint}) as last,
      (select min((ctid::text::point)[0]) from requests where id = any(${small}::text[]::uuid[])) as small`,
  )
  expect(Number(places?.last) - Number(places?.small)).toBeGreaterThan(256)
  await until(() => small.every((id) => tail.ids().includes(id)))
  expect(tail.ids()).toHaveLength(new Set(tail.ids()).size)
  tail.leave()
})

test('rows of a transaction that commits late come too, and once, among rows that were committed before', async () => {
  const tail = await follow()
  await begun(tail)
  const other = postgres(bed.tollgate.context.databaseUrl, { max: 1 })
  const slow = rowOf()
  const after: string[] = []
  await other.begin(async (sql) => {
    await sql`insert into requests ${sql(slow)}`
    after.push(...(await add({}, 30)))
    await until(() => after.every((id) => tail.ids().includes(id)))
    expect(tail.ids()).not.toContain(slow.id)
  })
  await other.end()
  await until(() => tail.ids().includes(slow.id))
  after.push(...(await add()))
  await until(() => after.every((id) => tail.ids().includes(id)))
  expect(tail.ids()).toHaveLength(new Set(tail.ids()).size)
  tail.leave()
})

test('filters hold, several tails have their own, and a client that comes back misses nothing', async () => {
  const failed = await follow('?outcome=failed&endpoint=/v1/messages')
  const all = await follow()
  await begun(all)
  const [bad] = await add({ outcome: 'failed' })
  const [good] = await add()
  await until(() => all.ids().includes(good ?? '') && failed.ids().includes(bad ?? ''))
  expect(failed.ids()).toEqual([bad])
  await until(
    () => all.place() !== '' && all.text().lastIndexOf('event: place') > all.text().lastIndexOf(good ?? ''),
  )
  const seen = all.place()
  all.leave()
  await all.ended
  const missed = await add({}, 3)
  await until(() => false === all.ids().includes(missed[0] ?? ''))
  const again = await follow('', seen)
  await until(() => missed.every((id) => again.ids().includes(id)))
  expect(again.ids()).not.toContain(good)
  const [next] = await add()
  await until(() => again.ids().includes(next ?? ''))
  expect(again.ids()).toEqual([...again.ids().filter((id) => missed.includes(id)), next])
  for (const tail of [failed, again]) tail.leave()
})

test('of too many rows the newest come, and the number of the others', async () => {
  const tail = await follow()
  await begun(tail)
  const before = tail.ids().length
  await add({}, 1_500)
  await until(() => tail.dropped() > 0)
  expect(tail.ids().length - before + tail.dropped()).toBe(1_500)
  expect(tail.ids().length - before).toBeLessThanOrEqual(100)
  tail.leave()
})

test('a tail with filters gets its row among too many others, and does not count those', async () => {
  const failed = await follow('?outcome=failed')
  await until(async () => {
    await add({ outcome: 'failed' })
    return failed.rows().length > 0
  })
  const oldest = rowOf({ outcome: 'failed' })
  const rows = [oldest, ...Array.from({ length: 1_500 }, () => rowOf())]
  await bed.database.sql`insert into requests ${bed.database.sql(rows)}`
  await until(() => failed.ids().includes(oldest.id))
  expect(failed.dropped()).toBe(0)
  failed.leave()
})

test('a wrong id of an event is refused, and so is one that would change the statement', async () => {
  for (const place of [
    'nonsense',
    Buffer.from('["1:1:",{"requests_default; drop table x":0}]').toString('base64url'),
  ])
    expect((await follow('', place)).status).toBe(400)
})

test('a process has a hundred tails at most', async () => {
  const tails = await Promise.all(Array.from({ length: 101 }, () => follow()))
  const [refused, ...more] = tails.filter(({ status }) => status !== 200)
  expect([refused?.status, more]).toEqual([429, []])
  expect(refused?.response.headers['x-tollgate-reason']).toBe('tails_full')
  for (const tail of tails) tail.leave()
})

test('a tail says when rows cannot be read, also one that begins meanwhile, and when they can again', async () => {
  const tail = await follow()
  await begun(tail)
  const { state } = bed.tollgate.context.database
  await state.ask(({ sql }) => sql`alter table noted_requests rename to noted_elsewhere`)
  await until(() => tail.text().includes('event: away\n'))
  const later = await follow()
  await until(() => later.text().includes('event: away\n'))
  expect(tail.text()).not.toContain('event: back\n')
  await state.ask(({ sql }) => sql`alter table noted_elsewhere rename to noted_requests`)
  await until(() => [tail, later].every((each) => each.text().includes('event: back\n')))
  const [row] = await add()
  await until(() => [tail, later].every((each) => each.ids().includes(row ?? '')))
  expect(tail.text().match(/event: (away|back)\n/g)).toHaveLength(2)
  tail.leave()
  later.leave()
})

test('a tail ends when its process drains', async () => {
  const tail = await follow()
  await begun(tail)
  closed = true
  await Promise.all([bed.close(), tail.ended])
  expect(tail.text()).toContain('event: end\n')
})
