import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import {
  chatBody,
  chatPath,
  expectRows,
  messages,
  paidKey,
  served,
  startDegradationBed,
} from '../degradation/bed.ts'
import { patienceMs, until, untilSteady } from '../support/until.ts'
import type { SeenRequest } from '../support/upstream.ts'
import { chatAnswer, chatStream } from '../support/upstream-plans.ts'

const lifeMs = 6_000
const patient = { timeout: patienceMs }

test('a process that froze until another adopted its journal sends nothing more of what it ran, and goes on', async () => {
  const dataDir = temporary()
  const bed = await startDegradationBed({
    dataDir,
    env: { ADMIT_MS: '20000', INSTANCE_DEAD_MS: String(lifeMs) },
  })
  const { tollgate, database, upstream } = bed
  const [stopped, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const seen: SeenRequest[] = []
  upstream.script((request) => {
    seen.push(request)
    if (request.stream) return firstFour(request, stopped.promise)
    const answer = chatAnswer()
    // Only the first one waits.
    const isFirst = seen.filter(({ stream }) => !stream).length === 1
    return isFirst
      ? { headers: json, chunks: [{ waitFor: released.promise }, String(answer.body)], ending: 'end' }
      : answer
  })
  const [instance = ''] = journalsIn(dataDir)
  // As if it ran on another host.
  writeFileSync(join(dataDir, 'journal', instance, 'owner.json'), JSON.stringify({ host: 'elsewhere' }))
  const neighbour = await bed.start({}, dataDir)

  const stream = await readStream(`${tollgate.url}${chatPath}`, { ...chatBody, messages, stream: true })
  const keyed = { body: chatBody, key: paidKey, headers: { 'idempotency-key': 'once' } }
  const waiting = bed.call(chatPath, keyed)
  await until(() => stream.text().includes('token-3') && seen.length === 2)

  tollgate.child.kill('SIGSTOP')
  stopped.resolve()
  const state = () => database.sql`SELECT state FROM instances WHERE id = ${instance}`
  await expect.poll(state, patient).toEqual([{ state: 'adopted' }])
  const before = await untilSteady(() => stream.text(), 200)
  // The first process is dead, so another one runs the request again.
  const again = await bed.call(chatPath, { ...keyed, tollgate: neighbour })
  expect(again.status).toBe(200)
  released.resolve()
  tollgate.child.kill('SIGCONT')

  const rest = (await stream.ended).slice(before.length)
  expect(rest).not.toContain('token-')
  expect(rest).toContain('The answer is incomplete')
  expect(await waiting).toMatchObject({ status: 503, reason: 'process_stalled' })
  expect(await bed.call(chatPath, keyed)).toMatchObject({ status: 200, text: again.text })

  const after = await bed.call(chatPath, { body: chatBody, key: paidKey })
  expect(after.status).toBe(200)
  await expectRows(database, [stream.requestId, (await waiting).requestId, again.requestId, after.requestId])
  const orphaned = await database.sql`
    SELECT id, outcome, cost_nano FROM requests WHERE outcome = 'orphaned' ORDER BY id`
  const cut = [stream.requestId, (await waiting).requestId].toSorted()
  expect(orphaned).toEqual(cut.map((id) => ({ id, outcome: 'orphaned', cost_nano: null })))
  // What they came to is kept aside.
  const reasons = () =>
    asideIn(dataDir).map((folder) => JSON.parse(readFileSync(join(folder, 'reason.json'), 'utf8')))
  await until(() => reasons().length > 0)
  for (const reason of reasons())
    expect(reason).toMatchObject({
      instance,
      reason: expect.stringContaining('recorded the request as orphaned'),
    })
  expect(tollgate.stderr()).toContain('it continues with a new journal')
  expect(tollgate.child.exitCode).toBeNull()
  await expect
    .poll(() => database.sql`SELECT count(*)::int AS n FROM reservations`, patient)
    .toEqual([{ n: 0 }])
  expect(await tollgate.stop()).toBe(0)
  expect(await neighbour.stop()).toBe(0)
  const { findings } = await verifyLedger(database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
})

test('a process that froze, but was not taken for dead, goes on with what it ran', async () => {
  const bed = await startDegradationBed({ env: { ADMIT_MS: '20000', INSTANCE_DEAD_MS: String(lifeMs) } })
  const { tollgate, upstream } = bed
  upstream.script((request) => chatStream(request, { tokens: 200, paceMs: 20 }))
  const stream = await readStream(`${tollgate.url}${chatPath}`, { ...chatBody, messages, stream: true })
  await until(() => stream.text().includes('token-3'))
  tollgate.child.kill('SIGSTOP')
  const stoppedAt = performance.now()
  await until(() => performance.now() - stoppedAt > lifeMs)
  tollgate.child.kill('SIGCONT')
  expect(await stream.ended).toContain('data: [DONE]')
  await expectRows(bed.database, [stream.requestId])
  expect(await bed.database.sql`SELECT outcome FROM requests WHERE id = ${stream.requestId}`).toEqual([
    { outcome: 'succeeded' },
  ])
})

test('a process that froze and does not reach Postgres cuts what it ran, and serves on', async () => {
  const bed = await startDegradationBed({ env: { INSTANCE_DEAD_MS: String(lifeMs) } })
  const { tollgate, upstream, wire } = bed
  const stopped = Promise.withResolvers<void>()
  upstream.script((request) => (request.stream ? firstFour(request, stopped.promise) : chatAnswer()))
  // From now on its key is in memory.
  expect((await served(() => bed.call(chatPath, { body: chatBody }))).status).toBe(200)
  const stream = await readStream(`${tollgate.url}${chatPath}`, { ...chatBody, messages, stream: true })
  await until(() => stream.text().includes('token-3'))
  wire.freeze()
  tollgate.child.kill('SIGSTOP')
  stopped.resolve()
  const before = await untilSteady(() => stream.text(), 200)
  const stoppedAt = performance.now()
  await until(() => performance.now() - stoppedAt > lifeMs)
  tollgate.child.kill('SIGCONT')
  const rest = (await stream.ended).slice(before.length)
  expect(rest).not.toContain('token-')
  expect(rest).toContain('The answer is incomplete')
  const after = await bed.call(chatPath, { body: chatBody })
  expect(after.status).toBe(200)
  await wire.mend()
  await expectRows(bed.database, [stream.requestId, after.requestId])
})

test('the directory of a living process is deleted under load: no row is lost, and the process goes on', async () => {
  const dataDir = temporary()
  const bed = await startDegradationBed({ dataDir, env: { ADMIT_MS: '20000', SHIP_INTERVAL_MS: '500' } })
  const { tollgate, database, upstream } = bed
  upstream.script((request) =>
    request.stream ? chatStream(request, { tokens: 200, paceMs: 20 }) : chatAnswer(),
  )
  const ids: string[] = []
  let loading = true
  const load = async () => {
    while (loading) {
      const answer = await served(() => bed.call(chatPath, { body: chatBody, key: paidKey }))
      expect(answer.status).toBe(200)
      ids.push(answer.requestId)
    }
  }
  const running = Promise.all([load(), load(), load()])
  const stream = await readStream(`${tollgate.url}${chatPath}`, { ...chatBody, messages, stream: true })
  for (let times = 1; times <= 2; times++) {
    const enough = ids.length + 50
    await until(() => ids.length > enough)
    rmSync(join(dataDir, 'journal'), { recursive: true, force: true })
    await until(() => tollgate.stderr().split('the journal directory was deleted').length > times)
  }
  expect(await stream.ended).toContain('data: [DONE]')
  loading = false
  await running
  await expectRows(database, [...ids, stream.requestId])
  expect(await database.sql`SELECT DISTINCT outcome, endpoint FROM requests WHERE status <> 503`).toEqual([
    { outcome: 'succeeded', endpoint: chatPath },
  ])
  expect(asideIn(dataDir)).toEqual([])
  expect((await bed.call('/readyz')).status).toBe(200)
  expect(await tollgate.stop()).toBe(0)
  const { findings } = await verifyLedger(database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
})

const json = { 'content-type': 'application/json' }

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-life-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

function journalsIn(dataDir: string): string[] {
  return readdirSync(join(dataDir, 'journal')).flatMap((name) => /^[0-9a-f-]{36}$/.exec(name)?.[0] ?? [])
}

function asideIn(dataDir: string): string[] {
  const root = join(dataDir, 'journal')
  return readdirSync(root)
    .filter((name) => name.startsWith('set-aside-'))
    .map((name) => join(root, name))
}

/** token-0 to token-3, and the rest once its reader freezes. What it handles in that moment no one can hold back. */
function firstFour(request: SeenRequest, stopped: Promise<void>) {
  return chatStream(request, { tokens: 2_000, paceMs: 20, held: { tokens: 4, until: stopped } })
}

/** A stream that is being read. */
async function readStream(url: string, body: object) {
  const ask = () =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${paidKey}` },
      body: JSON.stringify(body),
    })
  // When the machine freezes, the database does not answer in time, and the client is told to try again.
  const answer = await until(async () => {
    const begun = await ask()
    return begun.status === 200 && begun
  })
  let text = ''
  const read = async () => {
    const decoder = new TextDecoder()
    for await (const chunk of answer.body ?? []) text += decoder.decode(chunk, { stream: true })
    return text
  }
  return { requestId: answer.headers.get('x-request-id') ?? '', text: () => text, ended: read() }
}
