import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { adminClient, becomeOwner, goodPassword, ownerEmail, signedIn } from '../support/admin-client.ts'
import { killPostgres, startOwner, temporaryDirectory } from '../support/embedded.ts'
import { gatewayYaml } from '../support/gateway-yaml.ts'
import { startTollgate } from '../support/tollgate.ts'
import { patienceMs } from '../support/until.ts'

test('a Postgres that dies inside a sign-in: 503, the process lives, and the next sign-in works', {
  timeout: 120_000,
}, async () => {
  const dataDir = temporaryDirectory()
  const first = await startOwner(dataDir)
  const tollgate = await startTollgate({
    databaseUrl: first.url,
    gatewayYaml: gatewayYaml('http://127.0.0.1:1'),
  })
  onTestFinished(() => tollgate.kill9())
  const call = adminClient(tollgate.url)
  await becomeOwner(tollgate, call)

  // The sign-in checks the password, begins its transaction, and waits there for the row of its user.
  const holder = await connected(first.url)
  await holder.query('BEGIN')
  await holder.query('SELECT FROM users FOR UPDATE')
  const signingIn = call('POST', 'session', { body: { email: ownerEmail, password: goodPassword } })
  const watcher = await connected(first.url)
  const waiting = `SELECT count(*)::int AS waiting FROM pg_stat_activity
                   WHERE application_name = 'tollgate admin' AND wait_event_type = 'Lock'`
  await expect
    .poll(async () => (await watcher.query(waiting)).rows[0]?.waiting, { timeout: patienceMs })
    .toBe(1)
  await killPostgres(first, dataDir)

  const answer = await signingIn
  expect(answer).toMatchObject({ status: 503, cookie: undefined, body: { code: 'unavailable' } })
  expect(answer.headers.get('retry-after')).not.toBeNull()
  expect(
    (await call('POST', 'session', { body: { email: ownerEmail, password: goodPassword } })).status,
  ).toBe(503)
  expect(tollgate.child.exitCode).toBeNull()

  const second = await startOwner(dataDir)
  expect(second.url).toBe(first.url)
  await expect
    .poll(
      async () =>
        (await call('POST', 'session', { body: { email: ownerEmail, password: goodPassword } })).status,
      { timeout: patienceMs },
    )
    .toBe(200)
  const cookie = await signedIn(call, ownerEmail)
  // The owner's first, the one that was polled for, and this one: the sign-in that broke off left none.
  const sessions = await call('GET', 'sessions', { cookie })
  expect(sessions.body.data).toHaveLength(3)
})

/** A connection whose death the test survives. */
async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  onTestFinished(async () => {
    await client.end().catch(() => {})
  })
  return client
}
