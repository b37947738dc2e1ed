import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { startOwner, temporaryDirectory } from '../support/embedded.ts'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { patienceMs, until } from '../support/until.ts'
import { type ScriptedUpstream, startUpstream } from '../support/upstream.ts'
import { type chatAnswer, planByModel } from '../support/upstream-plans.ts'

let url: string
let drop: () => Promise<void>
let database: Database
let upstream: ScriptedUpstream
beforeEach(async () => {
  ;({ url, drop } = await freshDatabase())
  database = openDatabase(url)
  upstream = await startUpstream()
})
afterEach(async () => {
  await upstream.close()
  await database.close()
  await drop()
})

test('after kill -9 the next request with the key runs, when the process is known to be dead', {
  timeout: 180_000,
}, async () => {
  const dataDir = temporaryDirectory()
  const first = await start({ dataDir })
  upstream.script(never)
  const key = randomUUID()
  const cut = ask(first, key).catch(() => 'cut')
  await upstream.arrived(1)
  // A process that dies before Postgres knows it is only known to be dead after INSTANCE_DEAD_MS.
  await expect.poll(() => database.sql`SELECT FROM instances`.then(({ length }) => length)).toBe(1)
  await first.kill9()
  expect(await cut).toBe('cut')

  upstream.script(planByModel)
  // The new process adopts the journal beside its own.
  const second = await start({ dataDir })
  const answers = await untilAnswered(second, key)
  expect(answers.at(-1)).toMatchObject({ status: 200, replayed: null })
  const repeated = await untilAnswered(second, key)
  expect(repeated.at(-1)).toMatchObject({ replayed: 'true', originalId: answers.at(-1)?.id })
  expect(upstream.requests).toHaveLength(2)
  const outcomesOfAll = await outcomes(key, 1 + answers.length + repeated.length)
  expect(outcomesOfAll).toMatchObject({ orphaned: 1, succeeded: 2 })
})

test('when the heartbeat of a process on another machine is old, one of the waiting requests takes its key', {
  timeout: 180_000,
}, async () => {
  const first = await start()
  const second = await start({ env: { INSTANCE_DEAD_MS: '8000' } })
  upstream.script(never)
  const key = randomUUID()
  const cut = ask(first, key).catch(() => 'cut')
  await upstream.arrived(1)
  expect((await ask(second, key)).status).toBe(409)
  await first.kill9()
  await cut
  expect((await ask(second, key)).status).toBe(409)
  await database.sql`UPDATE instances SET heartbeat_at = now() - interval '1 hour' WHERE pid = ${first.pid}`
  // Postgres has been back for long enough that a living process would have renewed its heartbeat.
  await expect
    .poll(
      async () => (await database.sql`SELECT now() - pg_postmaster_start_time() > interval '8 s' AS old`)[0],
      { timeout: patienceMs },
    )
    .toEqual({ old: true })

  const released = Promise.withResolvers<void>()
  upstream.script(async (request) => {
    await released.promise
    return planByModel(request)
  })
  const takers = Array.from({ length: 10 }, () => ask(second, key))
  await upstream.arrived(2)
  await expect.poll(async () => (await rowsWith(key)).filter(({ status }) => status === 409).length).toBe(11)
  released.resolve()
  const statuses = (await Promise.all(takers)).map(({ status }) => status)
  expect(statuses.sort()).toEqual([200, ...Array(9).fill(409)])
  expect(upstream.requests).toHaveLength(2)
})

test('while Postgres is down a keyed request is a 503 with Retry-After; when it is back, repeats get the answers of the meantime', {
  timeout: 180_000,
}, async () => {
  const directory = temporaryDirectory()
  const owner = await startOwner(directory)
  const tollgate = await start({ databaseUrl: owner.url, env: { ADMIT_MS: '4000' } })
  const released = Promise.withResolvers<void>()
  upstream.script(async (request) => {
    if (request.model === 'slow') await released.promise
    return planByModel(request)
  })
  const key = randomUUID()
  const running = ask(tollgate, key, 'slow')
  await upstream.arrived(1)
  await owner.stop()
  released.resolve()
  const first = await running
  expect(first).toMatchObject({ status: 200, replayed: null })

  const refused = await ask(tollgate, randomUUID())
  expect(refused).toMatchObject({ status: 503, retryAfter: '2' })
  expect(JSON.parse(refused.text).error).toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('Idempotency-Key'),
  })
  expect(await ask(tollgate, undefined)).toMatchObject({ status: 200 })
  expect(upstream.requests).toHaveLength(2)

  const back = await startOwner(directory)
  const answers = await untilAnswered(tollgate, key, 'slow')
  expect(answers.at(-1)).toMatchObject({
    status: 200,
    replayed: 'true',
    originalId: first.id,
    text: first.text,
  })
  expect(upstream.requests).toHaveLength(2)
  const again = openDatabase(back.url)
  await expect
    .poll(async () => (await again.sql`SELECT FROM requests WHERE id = ${first.id}`).length, {
      timeout: patienceMs,
    })
    .toBe(1)
  const { findings } = await verifyLedger(again.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  await again.close()
  expect(await tollgate.stop()).toBe(0)
})

test('a process that ends keeps its last answer', { timeout: 180_000 }, async () => {
  const first = await start()
  const key = randomUUID()
  const answered = await ask(first, key)
  expect(await first.stop()).toBe(0)
  const second = await start()
  expect(await ask(second, key)).toMatchObject({
    replayed: 'true',
    originalId: answered.id,
    text: answered.text,
  })
})

interface KeyedAnswer {
  status: number
  id: string | null
  originalId: string | null
  replayed: string | null
  retryAfter: string | null
  text: string
}

async function start(
  options: { dataDir?: string; databaseUrl?: string; env?: Record<string, string> } = {},
): Promise<TollgateProcess> {
  const tollgate = await startTollgate({
    databaseUrl: url,
    gatewayYaml: gatewayYaml(upstream.url),
    ...options,
    env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20', ROLE: 'api', ...options.env },
  })
  onTestFinished(() => tollgate.kill9())
  return tollgate
}

async function ask({ url }: TollgateProcess, key: string | undefined, model = 'any'): Promise<KeyedAnswer> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${freeKey}`,
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  })
  const { status, headers } = response
  return {
    status,
    id: headers.get('x-request-id'),
    originalId: headers.get('x-tollgate-original-request-id'),
    replayed: headers.get('idempotency-replayed'),
    retryAfter: headers.get('retry-after'),
    text: await response.text(),
  }
}

/** All answers, up to the first that is neither a 409 nor a 503. */
async function untilAnswered(tollgate: TollgateProcess, key: string, model?: string): Promise<KeyedAnswer[]> {
  const answers: KeyedAnswer[] = []
  await until(async () => {
    const answer = await ask(tollgate, key, model)
    answers.push(answer)
    return answer.status !== 409 && answer.status !== 503
  }).catch((error) => {
    throw new Error(`no answer, at last: ${answers.at(-1)?.text}`, { cause: error })
  })
  return answers
}

function rowsWith(key: string) {
  return database.sql<{ status: number; outcome: string }[]>`
    SELECT status, outcome FROM requests WHERE idempotency_key = ${key}`
}

/** The outcomes of the requests with a key, when they have this many rows. */
async function outcomes(key: string, count: number): Promise<Record<string, number>> {
  await expect.poll(async () => (await rowsWith(key)).length).toBe(count)
  const counts: Record<string, number> = {}
  for (const { outcome } of await rowsWith(key)) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

function never() {
  return new Promise<ReturnType<typeof chatAnswer>>(() => {})
}
