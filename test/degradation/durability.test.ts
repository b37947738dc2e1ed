import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { patienceMs } from '../support/until.ts'
import { chatBody, chatPath, type DegradationBed, expectRows, paidKey, startDegradationBed } from './bed.ts'

/** DURABILITY=postgres: Postgres has a row before anybody can count on it. */

const patient = { timeout: patienceMs }
const hello = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'
const rest = [
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
  'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8}}\n\n',
  'data: [DONE]\n\n',
]

function startBed(env: Record<string, string> = {}): Promise<DegradationBed> {
  return startDegradationBed({ env: { DURABILITY: 'postgres', SHIP_INTERVAL_MS: '10000', ...env } })
}

/** The upstream sends the beginning of each stream, and its rest when `release` is called. */
function holdStreams(bed: DegradationBed): { release(): void } {
  const held = Promise.withResolvers<void>()
  bed.upstream.script(({ stream }) =>
    stream
      ? { chunks: [hello, { waitFor: held.promise }, ...rest], ending: 'end' }
      : { body: JSON.stringify(answer) },
  )
  return { release: () => held.resolve() }
}

const answer = {
  id: 'a',
  object: 'chat.completion',
  model: 'priced',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
}

const rowsIn = async ({ database }: DegradationBed) =>
  await database.sql`SELECT id, outcome, status, cost_nano FROM requests ORDER BY id`
const running = async ({ database }: DegradationBed) =>
  (await database.sql`SELECT request_id FROM open_requests`).map(({ request_id }) => String(request_id))

test('Postgres has the beginning of a request before the upstream sees it, and its row before its answer ends', async () => {
  const bed = await startBed()
  const seen: string[][] = []
  bed.upstream.script(async () => {
    seen.push(await running(bed))
    return { body: JSON.stringify(answer) }
  })
  for (let n = 0; n < 5; n++) {
    const { requestId, status } = await bed.call(chatPath, { body: chatBody, key: paidKey })
    expect(status).toBe(200)
    // Nothing asked for the usage log, and the journal is shipped only every ten seconds.
    expect(await rowsIn(bed)).toContainEqual(expect.objectContaining({ id: requestId, outcome: 'succeeded' }))
    expect(seen[n]).toEqual([requestId])
    expect(await running(bed)).toEqual([])
  }
  const refused = await bed.call(chatPath, { body: chatBody, key: 'not-a-key-of-anyone-01' })
  expect(refused.status).toBe(401)
  expect(await rowsIn(bed)).toContainEqual(expect.objectContaining({ id: refused.requestId, status: 401 }))
})

test('a machine that is lost with its disk loses no row of an answered request, and what it ran is orphaned at once', async () => {
  const bed = await startBed({ INSTANCE_DEAD_MS: '1000' })
  holdStreams(bed)
  const survivor = await bed.start()
  const answered = await Promise.all(
    Array.from({ length: 20 }, () => bed.call(chatPath, { body: chatBody, key: paidKey })),
  )
  const streams = Array.from({ length: 10 }, () =>
    bed.call(chatPath, { body: { ...chatBody, stream: true }, key: paidKey }).catch(() => 'cut'),
  )
  await bed.upstream.arrived(30)
  const ran = await running(bed)
  expect(ran).toHaveLength(10)
  await bed.tollgate.kill9()
  rmSync(join(bed.tollgate.dataDir, 'journal'), { recursive: true })
  expect(await Promise.all(streams)).toEqual(Array(10).fill('cut'))

  await expectRows(bed.database, [...answered.map(({ requestId }) => requestId), ...ran])
  const orphans = (await rowsIn(bed)).filter(({ outcome }) => outcome === 'orphaned')
  expect(orphans.map(({ id }) => id)).toEqual(ran.toSorted())
  expect(orphans.every(({ cost_nano }) => cost_nano === null)).toBe(true)
  expect(await bed.database.sql`SELECT * FROM reservations`).toEqual([])
  expect(await running(bed)).toEqual([])
  expect(await bed.database.sql`SELECT state FROM instances WHERE pid = ${bed.tollgate.pid}`).toEqual([
    { state: 'lost' },
  ])
  await expect.poll(() => survivor.stderr(), patient).toContain('a process is lost')
  expect(await survivor.stop()).toBe(0)
  const { findings } = await verifyLedger(bed.database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
})

test('while Postgres is down new requests get 503, and a running answer ends after DURABLE_MS and has its row later', async () => {
  const bed = await startBed({ DURABLE_MS: '700' })
  const { release } = holdStreams(bed)
  const stream = bed.call(chatPath, { body: { ...chatBody, stream: true } })
  await bed.upstream.arrived(1)
  bed.wire.freeze()
  const refused = await bed.call(chatPath, { body: chatBody })
  expect(refused).toMatchObject({ status: 503, retryAfter: '5' })
  expect(refused.elapsedMs).toBeGreaterThan(900)
  expect(refused.reason).toBe('recording_late')
  expect(bed.upstream.requests).toHaveLength(1)
  release()
  const ended = await stream
  expect(ended.text).toContain('[DONE]')
  expect((await bed.call('/readyz')).json).toMatchObject({ late_commits: 1 })
  await bed.wire.mend()
  await expectRows(bed.database, [refused.requestId, ended.requestId])
  expect(await running(bed)).toEqual([])
  await expect.poll(async () => (await bed.call(chatPath, { body: chatBody })).status, patient).toBe(200)
})

test('a process that ends while Postgres is down names what it leaves behind, and where', async () => {
  const bed = await startBed({ DURABLE_MS: '100' })
  const { release } = holdStreams(bed)
  const stream = bed.call(chatPath, { body: { ...chatBody, stream: true } })
  await bed.upstream.arrived(1)
  bed.wire.freeze()
  release()
  const ended = await stream
  expect(await bed.tollgate.stop()).toBe(0)
  const said = bed.tollgate
    .stderr()
    .split('\n')
    .find((line) => line.includes('stay in its journal'))
  expect(JSON.parse(said ?? '{}')).toMatchObject({
    rows: 1,
    running: 0,
    directory: expect.stringContaining(join(bed.tollgate.dataDir, 'journal')),
  })
  await bed.wire.mend()
  await bed.start({}, bed.tollgate.dataDir)
  await expectRows(bed.database, [ended.requestId])
})
