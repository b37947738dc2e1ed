import { createHash, randomBytes, randomUUID, randomUUIDv7 } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { IdempotencyKeys, type KeyedRequest, type KeyState } from '../../src/access/idempotency-keys.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { patienceMs } from '../support/until.ts'

let url: string
let drop: () => Promise<void>
let database: Database
let open: IdempotencyKeys[]
beforeEach(async () => {
  ;({ url, drop } = await freshDatabase())
  database = openDatabase(url)
  open = []
})
afterEach(async () => {
  for (const keys of open) await keys.end(1_000)
  await database.close()
  await drop()
})

const answer = { status: 201, headers: { 'content-type': 'application/json' }, body: randomBytes(100_000) }

test('when many requests in two processes claim a key at once, one gets it', async () => {
  const processes = [await aProcess(), await aProcess()]
  const first = aRequest()
  const claims = Array.from({ length: 40 }, (_, turn) => processes[turn % 2]?.keys.claim(repeatOf(first)))
  const states = (await Promise.all(claims)).map((found) => found?.state)
  expect(states.filter((state) => state === 'claimed')).toHaveLength(1)
  expect(states.filter((state) => state === 'running')).toHaveLength(39)
})

test('every process finds a kept answer until it is forgotten, and only for the same request', async () => {
  const [one, other] = [await aProcess(), await aProcess()]
  const first = aRequest()
  await one.keys.claim(first)
  await one.keys.keep(first, answer)
  for (const { keys } of [one, other]) {
    expect(await keys.claim(repeatOf(first))).toEqual({
      state: 'answered',
      requestId: first.requestId,
      answer,
    })
    expect(await keys.claim({ ...repeatOf(first), fingerprint: randomBytes(32) })).toMatchObject({
      state: 'different',
    })
  }
  await one.keys.release(first)
  expect(await state(other, first)).toBe('answered')
  await age(first, '23 hours 59 minutes')
  await started(one)
  expect(await state(other, first)).toBe('answered')
  await age(first, '24 hours 1 second')
  expect(await state(other, first)).toBe('claimed')
  await age(first, '24 hours 1 second')
  await started(one)
  await expect.poll(() => database.sql`SELECT FROM idempotency_keys`.then((rows) => rows.length)).toBe(0)
})

test('old answers of the admin API are forgotten with old keys', async () => {
  await database.sql`
    INSERT INTO admin_answers (user_id, key_hash, fingerprint, request_id, created_at)
    SELECT gen_random_uuid(), ''::bytea, ''::bytea, gen_random_uuid(), now() - make_interval(hours => hours)
    FROM unnest(ARRAY[23, 25]) AS t (hours)`
  await aProcess()
  await expect
    .poll(
      () =>
        database.sql`SELECT round(extract(epoch FROM now() - created_at) / 3600)::int AS hours FROM admin_answers`,
    )
    .toEqual([{ hours: 23 }])
})

test('an answer can be decrypted only for its own request and with the same SECRET_KEY', async () => {
  const one = await aProcess()
  const [mine, yours] = [aRequest(), aRequest()]
  for (const request of [mine, yours]) {
    await one.keys.claim(request)
    await one.keys.keep(request, answer)
  }
  const elsewhere = await aProcess({ secretKey: 'another-secret-key-of-32-characters' })
  expect(await state(elsewhere, mine)).toBe('lost')
  await database.sql`
    UPDATE idempotency_keys SET answer = (SELECT answer FROM idempotency_keys WHERE request_id = ${yours.requestId})
    WHERE request_id = ${mine.requestId}`
  expect(await state(one, mine)).toBe('lost')
})

test('a process takes a key over when its owner has ended, was given up or is silent, and never from a living one', async () => {
  await postgresHasRunFor('10 s')
  const taker = await aProcess()
  for (const [changed, expected] of [
    [{}, 'running'],
    [{ silent: '11 s' }, 'claimed'],
    [{ state: 'closed' }, 'claimed'],
    [{ state: 'adopted' }, 'claimed'],
    [{ state: 'lost' }, 'claimed'],
  ] as const) {
    const first = aRequest()
    const owner = await aProcess()
    await owner.keys.claim(first)
    await change(owner.instanceId, changed)
    expect(await state(taker, first), JSON.stringify(changed)).toBe(expected)
  }
})

test('a process does not count as silent while it could not reach Postgres', async () => {
  const owner = await aProcess()
  const [server] = await database.sql<{ ms: number }[]>`
    SELECT (extract(epoch FROM now() - pg_postmaster_start_time()) * 1000 + 3600000)::float8 AS ms`
  const taker = await aProcess({ deadMs: server?.ms ?? 0 })
  const first = aRequest()
  await owner.keys.claim(first)
  await change(owner.instanceId, { silent: `${(server?.ms ?? 0) * 2} ms` })
  expect(await state(taker, first)).toBe('running')
})

test('a process that was thought dead cannot change a key that another process has taken over', async () => {
  const [owner, taker] = [await aProcess(), await aProcess()]
  const first = aRequest()
  await owner.keys.claim(first)
  await change(owner.instanceId, { state: 'adopted' })
  const second = repeatOf(first)
  expect(await taker.keys.claim(second)).toMatchObject({ state: 'claimed' })
  await owner.keys.keep(first, answer)
  await owner.keys.release(first)
  await owner.keys.keepAsJob(first)
  expect(await state(taker, first)).toBe('running')
  await taker.keys.keep(second, answer)
  expect(await owner.keys.claim(repeatOf(first))).toEqual({
    state: 'answered',
    requestId: second.requestId,
    answer,
  })
})

test('a process that has not reported its start yet does not count as dead', async () => {
  await postgresHasRunFor('10 s')
  const [owner, taker] = [await aProcess({ reported: false }), await aProcess()]
  const first = aRequest()
  await owner.keys.claim(first)
  expect(await state(taker, first)).toBe('running')
  await age(first, '11 seconds')
  expect(await state(taker, first)).toBe('claimed')
})

test('a job is the answer even if its process died; the request never runs again', async () => {
  const [owner, taker] = [await aProcess(), await aProcess()]
  const noted = aRequest()
  await owner.keys.claim(noted)
  await owner.keys.keepAsJob(noted)
  expect(await taker.keys.claim(repeatOf(noted))).toEqual({ state: 'job', requestId: noted.requestId })

  // The job was accepted, and the process died before it could note that.
  const unnoted = aRequest()
  await owner.keys.claim(unnoted)
  expect(await state(taker, unnoted)).toBe('running')
  await aJob(unnoted)
  expect(await state(taker, unnoted)).toBe('job')
  await change(owner.instanceId, { state: 'adopted' })
  expect(await state(taker, unnoted)).toBe('job')
  await owner.keys.release(unnoted)
  expect(await state(taker, unnoted)).toBe('job')

  // The process died before the job was accepted.
  const unaccepted = aRequest()
  await owner.keys.claim(unaccepted)
  expect(await state(taker, unaccepted)).toBe('claimed')
})

test('if a dead process had finished the request of a key, the answer is lost, and the request does not run again', async () => {
  const [owner, taker] = [await aProcess(), await aProcess()]
  for (const [outcome, expected] of [
    ['succeeded', 'lost'],
    ['orphaned', 'claimed'],
    ['failed', 'claimed'],
  ] as const) {
    const first = aRequest()
    await owner.keys.claim(first)
    await database.sql`
      INSERT INTO requests (id, created_at, endpoint, stream, status, outcome, usage_source, attempt_count)
      VALUES (${first.requestId}, uuid_moment(${first.requestId}), '/v1/x', false, 200, ${outcome}, 'none', 0)`
    expect(await state(taker, first), outcome).toBe('running')
    await change(owner.instanceId, { state: 'adopted' })
    expect(await state(taker, first), outcome).toBe(expected)
    await change(owner.instanceId, { state: 'live' })
  }
})

test('releasing a claim a second time does not release the next claim', async () => {
  const one = await aProcess()
  const first = aRequest()
  await one.keys.claim(first)
  await one.keys.release(first)
  expect(await state(one, first)).toBe('claimed')
  await one.keys.release(first)
  await one.keys.keep(first, answer)
  expect(await state(one, first)).toBe('running')
})

test('a claim is released when its request did not wait for the answer of Postgres', async () => {
  const only = openDatabase(url, { max: 1, admitMs: 4_000 })
  const slow = await aProcess({ database: only })
  // The first use sends the whole statement at once, so that it runs even when the caller no longer waits.
  expect(await state(slow, aRequest())).toBe('claimed')
  const first = aRequest()
  const unlock = await locked()
  await expect(slow.keys.claim(first)).rejects.toMatchObject({
    kind: 'unavailable',
    cause: { message: 'the database did not answer within 4000 ms' },
  })
  await unlock()
  const other = await aProcess({ deadMs: 3_600_000 })
  const again = repeatOf(first)
  await expect
    .poll(() => other.keys.claim(again).then((found) => found.state), { timeout: patienceMs })
    .toBe('claimed')
  const left = await database.sql`SELECT request_id FROM idempotency_keys WHERE key_hash = ${first.keyHash}`
  expect(left).toEqual([{ request_id: again.requestId }])
  await only.close()
})

test('closing waits for the running writes, and repeats those that Postgres did not take', async () => {
  const hurried = openDatabase(url, { admitMs: 4_000 })
  const one = await aProcess({ database: hurried })
  const first = aRequest()
  await one.keys.claim(first)
  const unlock = await locked()
  await one.keys.keep(first, answer)
  let hasEnded = false
  const ended = one.keys.end(20_000).then(() => {
    hasEnded = true
  })
  await database.sql`SELECT 1`
  expect(hasEnded).toBe(false)
  await unlock()
  await ended
  expect(await state(await aProcess(), first)).toBe('answered')
  await hurried.close()
})

interface OneProcess {
  keys: IdempotencyKeys
  instanceId: string
}

async function aProcess(
  options: { secretKey?: string; reported?: boolean; deadMs?: number; database?: Database } = {},
): Promise<OneProcess> {
  const instanceId = randomUUID()
  if (options.reported !== false) {
    await database.sql`
      INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state) VALUES (${instanceId}, 'h', 1, now(), now(), 'live')`
  }
  const keeper = new SecretKeeper(options.secretKey ?? 'a-secret-key-for-tests-of-32-characters')
  const keys = IdempotencyKeys.start({
    database: options.database ?? database,
    instance: { id: instanceId },
    instanceDeadMs: options.deadMs ?? 10_000,
    idempotencyHours: 24,
    answers: {
      encrypt: (body, requestId) => keeper.encryptAnswer(body, requestId),
      decrypt: (encrypted, requestId) => keeper.decryptAnswer(encrypted, requestId),
    },
    log: silentLog,
  })
  open.push(keys)
  return { keys, instanceId }
}

async function postgresHasRunFor(time: string): Promise<void> {
  const hasRun = async () => {
    const [server] = await database.sql`SELECT now() - pg_postmaster_start_time() > ${time}::interval AS long`
    return server?.long
  }
  await expect.poll(hasRun, { timeout: patienceMs }).toBe(true)
}

/** Locks the table against writes. Resolves with the function that unlocks it. */
async function locked(): Promise<() => Promise<void>> {
  const locker = openDatabase(url, { max: 1 })
  await locker.sql.unsafe('BEGIN; LOCK TABLE idempotency_keys IN SHARE MODE')
  return async () => {
    await locker.sql.unsafe('COMMIT')
    await locker.close()
  }
}

/** A process deletes expired answers right after its start. */
async function started(_: OneProcess): Promise<void> {
  await aProcess()
}

function aRequest(): KeyedRequest {
  const keyHash = createHash('sha256').update(randomUUID()).digest()
  return {
    keyId: randomUUID(),
    tenantId: randomUUID(),
    keyHash,
    fingerprint: randomBytes(32),
    requestId: randomUUIDv7(),
  }
}

function repeatOf(first: KeyedRequest): KeyedRequest {
  return { ...first, requestId: randomUUIDv7() }
}

/** The state that a repeat gets. */
async function state({ keys }: OneProcess, first: KeyedRequest): Promise<KeyState['state']> {
  return (await keys.claim(repeatOf(first))).state
}

async function age({ keyHash }: KeyedRequest, by: string): Promise<void> {
  await database.sql`UPDATE idempotency_keys SET created_at = now() - ${by}::interval WHERE key_hash = ${keyHash}`
}

async function change(
  instanceId: string,
  { state, silent }: { state?: string; silent?: string },
): Promise<void> {
  await database.sql`
    UPDATE instances SET state = ${state ?? 'live'}, heartbeat_at = now() - ${silent ?? '0 s'}::interval WHERE id = ${instanceId}`
}

async function aJob({ requestId }: KeyedRequest): Promise<void> {
  await database.sql`
    INSERT INTO jobs (id, tenant_id, key_id, group_id, state, priority, model, quote, opened, created_at)
    VALUES (${requestId}, ${randomUUID()}, ${randomUUID()}, ${randomUUID()}, 'queued', 0, 'm', '{}', '{}', now())`
}
