import postgres from 'postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { adminClient } from '../support/admin-client.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

/** Verifying the ledger by the admin API, at two processes. */

const path = 'ledger/verification'
let bed: Testbed
let other: Gateway

beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken } })
  other = await startGateway({
    databaseUrl: bed.databaseUrl,
    gatewayYaml: gatewayYaml(bed.upstream.url),
    env: { SECRET_KEY: secretKey, ADMIN_TOKEN: adminToken },
  })
})
afterAll(async () => {
  await other?.stop()
  await bed?.close()
})

const call = (at: { url: string }, method: string, path: string, body?: unknown) =>
  adminClient(at.url)(method, path, { token: adminToken, body })

async function last(at: { url: string } = bed.tollgate) {
  const { status, body } = await call(at, 'GET', path)
  expect(status).toBe(200)
  return body.verification
}

async function ended(at: { url: string } = bed.tollgate) {
  return await until(async () => {
    const found = await last(at)
    return found.state === 'running' ? undefined : found
  })
}

/** No one reads `entries` meanwhile: the first rule waits. */
async function holdEntries(): Promise<() => Promise<void>> {
  const holder = postgres(bed.databaseUrl, { max: 1, onnotice: () => {} })
  await holder.unsafe('BEGIN; LOCK TABLE entries IN ACCESS EXCLUSIVE MODE')
  const release = () => holder.end({ timeout: 0 })
  onTestFinished(release)
  return release
}

async function statements(): Promise<number> {
  const [found] = await bed.database.sql<{ running: number }[]>`
    SELECT count(*)::int AS running FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'tollgate verify' AND state = 'active'`
  return found?.running ?? 0
}

test('before the first one there is none to read, and none to cancel', async () => {
  expect(await last()).toBeNull()
  expect(await call(bed.tollgate, 'POST', `${path}/cancel`)).toMatchObject({ status: 409 })
})

test('it reports every rule, and what breaks one, at each process, and is in the audit log', async () => {
  await bed.chat({ model: 'main', messages: [{ role: 'user', content: 'Hi' }] })
  await until(async () => (await bed.database.sql`SELECT 1 FROM requests`).length === 1)
  const started = await call(bed.tollgate, 'POST', path, {})
  expect(started).toMatchObject({ status: 202, body: { verification: { state: 'running', findings: null } } })
  const { id, progress, findings, ...found } = await ended(other)
  expect(found).toMatchObject({ state: 'ended', holds: true, requests: 1, orphaned: 0, error: null })
  expect(id).toBe(started.body.verification.id)
  expect(progress).toEqual({ done: progress.of, of: progress.of, doing: null })
  expect(progress.of).toBeGreaterThan(10)
  expect(findings).toContainEqual({
    rule: "every account's balance is the sum of its entries",
    differences: 0,
    samples: [],
  })
  const { body: audit } = await call(bed.tollgate, 'GET', 'audit?resource=ledger')
  expect(audit.data).toMatchObject([{ action: 'ledger.verify', resource_id: id }])

  await bed.database.sql`UPDATE accounts SET balance_nano = balance_nano + 5`
  onTestFinished(async () => {
    await bed.database.sql`UPDATE accounts SET balance_nano = balance_nano - 5`
  })
  await call(other, 'POST', path, { since: new Date().toISOString().slice(0, 7) })
  const broken = await ended()
  expect(broken).toMatchObject({ state: 'ended', holds: false, since: new Date().toISOString().slice(0, 7) })
  const [rule] = broken.findings.filter(({ differences }: { differences: number }) => differences > 0)
  expect(rule.rule).toBe("every account's balance is the sum of its entries")
  expect(rule.samples[0]).toMatch(/: balance -?\d+, entries -?\d+$/)
})

test('one runs at a time, and another process cancels it with its statement', async () => {
  await holdEntries()
  expect(await call(bed.tollgate, 'POST', path, {})).toMatchObject({ status: 202 })
  await until(async () => (await statements()) === 1)
  await until(async () => (await last(other)).progress.doing?.startsWith('every account'))
  expect(await call(other, 'POST', path, {})).toMatchObject({ status: 409, body: { code: 'conflict' } })
  expect(await call(other, 'POST', `${path}/cancel`)).toMatchObject({ status: 202 })
  expect(await ended(other)).toMatchObject({ state: 'cancelled', holds: null, findings: null })
  // The table is still held: the statement did not end by itself.
  await until(async () => (await statements()) === 0)
})

test('one whose process has died is reported as failed, and another one may begin', async () => {
  await bed.database.sql`
    UPDATE ledger_verifications SET state = 'running', ended_at = NULL, seen_at = now() - interval '1 minute'`
  expect(await last()).toMatchObject({
    state: 'failed',
    error: expect.stringContaining('no longer responds'),
  })
  expect(await call(other, 'POST', path, {})).toMatchObject({ status: 202 })
  expect(await ended()).toMatchObject({ state: 'ended', holds: true })
})

test('a process that is stopped ends its own', async () => {
  await holdEntries()
  expect(await call(other, 'POST', path, {})).toMatchObject({ status: 202 })
  await until(async () => (await statements()) === 1)
  await other.stop()
  expect(await last()).toMatchObject({ state: 'failed', error: expect.stringContaining('was stopped') })
  await until(async () => (await statements()) === 0)
})

test('a value that is not a month is refused with what it should be', async () => {
  const { status, body } = await call(bed.tollgate, 'POST', path, { since: '2026-13' })
  expect(status).toBe(400)
  expect(JSON.stringify(body)).toContain('expected a month')
})
