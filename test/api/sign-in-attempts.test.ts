import { expect, test } from 'vitest'
import { adminClient, becomeOwner, goodPassword, join, ownerEmail } from '../support/admin-client.ts'
import { startGateway } from '../support/gateway.ts'
import { gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { startTestbed } from '../support/testbed.ts'

const bounds = { SIGN_IN_ATTEMPTS_MAX: '5', SIGN_IN_ADDRESS_ATTEMPTS_MAX: '12' }

test('two processes count the attempts on an account and from an address together, and forget them in time', async () => {
  const bed = await startTestbed({ env: bounds })
  const second = await startGateway({
    databaseUrl: bed.databaseUrl,
    gatewayYaml: gatewayYaml(bed.upstream.url),
    env: { SECRET_KEY: secretKey, ...bounds },
  })
  const calls = [adminClient(bed.tollgate.url), adminClient(second.url)]
  const [call = adminClient('')] = calls
  const owner = await becomeOwner(bed.tollgate, call)
  await join(call, owner, { email: 'viewer@example.com', role: 'viewer' })
  const left = async () => await bed.database.sql`SELECT attempts FROM sign_in_attempts WHERE attempts > 0`
  // Good ones do not count.
  expect(await left()).toEqual([])

  const attempt = (index: number, email: string, password: string) =>
    (calls[index % 2] ?? call)('POST', 'session', { body: { email, password } })
  const guesses = await Promise.all(
    Array.from({ length: 10 }, (_, index) => attempt(index, ownerEmail, 'a guess')),
  )
  const statuses = guesses.map(({ status }) => status)
  expect(statuses.filter((status) => status === 401)).toHaveLength(5)
  const refused = guesses.filter(({ status }) => status === 429)
  expect(refused).toHaveLength(5)
  for (const { headers, body } of refused) {
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(body.code).toBe('rate_limited')
  }
  // The right password, too, and in the other process.
  for (const index of [0, 1]) expect((await attempt(index, ownerEmail, goodPassword)).status).toBe(429)

  // Ten guesses and two attempts came from this address: it may make no more, at any account, known or not.
  expect((await attempt(1, 'viewer@example.com', goodPassword)).status).toBe(429)
  expect((await attempt(0, 'nobody@example.com', 'a guess')).status).toBe(429)
  // Who is signed in goes on.
  expect((await call('GET', 'session', { cookie: owner })).status).toBe(200)

  await bed.database.sql`UPDATE sign_in_attempts SET resets_at = now() - interval '1 second'`
  expect((await attempt(1, ownerEmail, goodPassword)).status).toBe(200)
  await second.stop()
  await bed.close()
})

test('a password that is asked for again counts as well', async () => {
  const bed = await startTestbed({ env: bounds })
  const call = adminClient(bed.tollgate.url)
  const cookie = await becomeOwner(bed.tollgate, call)
  const change = () =>
    call('POST', 'password', {
      cookie,
      body: { current_password: 'a guess', new_password: 'another long password' },
    })
  const statuses = []
  for (let index = 0; index < 6; index++) statuses.push((await change()).status)
  expect(statuses).toEqual([400, 400, 400, 400, 400, 429])
  await bed.close()
})
