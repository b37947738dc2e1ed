import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sweepAttempts } from '../../src/access/users/attempts-queries.ts'
import {
  type AdminAnswer,
  type AdminClient,
  adminClient,
  becomeOwner,
  goodPassword,
  join,
  ownerEmail,
} from '../support/admin-client.ts'
import { startGateway } from '../support/gateway.ts'
import { gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

const bounds = { SIGN_IN_ATTEMPTS_MAX: '5', SIGN_IN_ADDRESS_ATTEMPTS_MAX: '7' }

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

  // Five attempts were made from this address, and after two more none is, at any account, known or not.
  for (const index of [0, 1]) expect((await attempt(index, 'nobody@example.com', 'a guess')).status).toBe(401)
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

/** A password takes long to check. */
const few = { SIGN_IN_ATTEMPTS_MAX: '2', SIGN_IN_ADDRESS_ATTEMPTS_MAX: '4' }

describe('callers of several networks', () => {
  let bed: Testbed
  let call: AdminClient
  let owner: string
  beforeAll(async () => {
    const env = { ...few, TRUSTED_PROXIES: '127.0.0.0/8', ADMIN_TOKEN: adminToken, PLAIN_HTTP: 'allow' }
    bed = await startTestbed({ env })
    call = adminClient(bed.tollgate.url)
    owner = await becomeOwner(bed.tollgate, call)
  })
  afterAll(() => bed?.close())

  interface Attempt {
    email?: string
    from: string
    password?: string
    code?: string
    device?: string
  }

  const attempt = ({ email = ownerEmail, from, password = goodPassword, code, device }: Attempt) =>
    call('POST', 'session', {
      body: { email, password, ...(code === undefined ? {} : { code }) },
      headers: { 'x-forwarded-for': from, ...(device === undefined ? {} : { cookie: device }) },
    })

  const guess = async (times: number, how: Attempt) => {
    const statuses: number[] = []
    for (let index = 0; index < times; index++)
      statuses.push((await attempt({ password: 'a guess', ...how })).status)
    return statuses
  }

  const deviceIn = ({ headers }: AdminAnswer) =>
    headers
      .getSetCookie()
      .map((each) => each.split(';')[0] ?? '')
      .find((each) => each.startsWith('tollgate-device=')) ?? ''

  const forget = () => bed.database.sql`DELETE FROM sign_in_attempts`

  test('the cookie of a browser is for this server alone, and hides from scripts', async () => {
    await forget()
    const [, device = ''] = (await attempt({ from: '192.0.2.1' })).headers.getSetCookie()
    expect(device).toMatch(
      /^tollgate-device=[\w-]{60,}; Path=\/; Max-Age=15552000; HttpOnly; SameSite=Strict$/,
    )
  })

  test.each([
    ['IPv4', '203.0.113.1', '203.0.113.2', '192.0.2.1'],
    ['a /64 of IPv6', '2001:db8::1', '2001:db8::2', '2001:db8:0:1::1'],
  ])('ten wrong passwords from elsewhere lock nobody out: %s', async (_, elsewhere, beside, home) => {
    await forget()
    const device = deviceIn(await attempt({ from: home }))
    expect(await guess(10, { from: elsewhere })).toEqual([401, 401, ...Array(8).fill(429)])
    expect((await attempt({ from: home })).status).toBe(200)
    expect((await attempt({ from: home, device })).status).toBe(200)
    // There, the right password is refused as well; a browser that has signed in before is not.
    expect((await attempt({ from: elsewhere })).status).toBe(429)
    expect((await attempt({ from: elsewhere, device })).status).toBe(200)
    // Another address is another network, unless both are of one block.
    expect((await attempt({ from: beside })).status).toBe(beside.includes(':') ? 429 : 200)
  })

  test('a browser that signed in before has its own count, which no one else uses up', async () => {
    await forget()
    const device = deviceIn(await attempt({ from: '192.0.2.1' }))
    expect(await guess(3, { from: '192.0.2.1', device })).toEqual([401, 401, 429])
    expect((await attempt({ from: '198.51.100.1', device })).status).toBe(429)
    expect((await attempt({ from: '192.0.2.1' })).status).toBe(200)
  })

  test('a cookie that is forged, or of another account, makes no browser known', async () => {
    await forget()
    const email = 'neighbour@example.com'
    await join(call, owner, { email, role: 'viewer' })
    const other = deviceIn(await attempt({ email, from: '192.0.2.7' }))
    const own = deviceIn(await attempt({ from: '192.0.2.1' }))
    const changed = own.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'))
    await guess(2, { from: '203.0.113.9' })
    for (const device of [other, changed, 'tollgate-device=', `tollgate-device=${'A'.repeat(5000)}`])
      expect((await attempt({ from: '203.0.113.9', device })).status).toBe(429)
    expect((await attempt({ from: '203.0.113.9', device: own })).status).toBe(200)
  })

  test('codes of a second factor are counted over all networks; a known browser signs in even so', async () => {
    const email = 'factor@example.com'
    const { cookie } = await join(call, owner, { email, role: 'viewer' })
    const begun = await call('POST', 'second-factor', { cookie, body: { password: goodPassword } })
    const codeNow = () => new TOTP({ secret: Secret.fromBase32(begun.body.secret) }).generate()
    await call('POST', 'second-factor/confirm', { cookie, body: { code: codeNow() } })
    const forgetSteps = () => bed.database.sql`UPDATE users SET totp_step = 0`
    await forget()
    await forgetSteps()
    const known = await attempt({ email, from: '192.0.2.1', code: codeNow() })
    expect(known.status, JSON.stringify(known.body)).toBe(200)
    const device = deviceIn(known)
    const wrong = { email, password: goodPassword, code: '000000x' }
    for (let index = 1; index <= 2; index++)
      expect(await guess(1, { ...wrong, from: `203.0.113.${index}` })).toEqual([401])
    expect(await guess(1, { ...wrong, from: '203.0.113.6' })).toEqual([429])
    await forgetSteps()
    expect((await attempt({ email, from: '192.0.2.1', code: codeNow(), device })).status).toBe(200)
  })

  test('a wrong password of one session keeps no other from the account', async () => {
    await forget()
    const sessions = [await attempt({ from: '192.0.2.1' }), await attempt({ from: '192.0.2.2' })]
    const begin = (cookie: string | undefined, password: string) =>
      call('POST', 'second-factor', { cookie, body: { password } })
    const statuses = []
    for (let index = 0; index < 3; index++)
      statuses.push((await begin(sessions[0]?.cookie, 'a guess')).status)
    expect(statuses).toEqual([400, 400, 429])
    expect((await begin(sessions[1]?.cookie, goodPassword)).status).toBe(200)
  })

  test('600 sign-ins from one address leave a bounded number of rows, which go with their time', async () => {
    await forget()
    const statuses: number[] = []
    let sent = 0
    await Promise.all(
      Array.from({ length: 32 }, async () => {
        while (sent++ < 600) {
          const email = `u${sent}@example.com`
          const { status } = await attempt({ email, from: '203.0.113.77', password: 'x' })
          // The database has not answered in time, as may happen on a busy machine.
          if (status === 503) sent--
          else statuses.push(status)
        }
      }),
    )
    expect(statuses.filter((status) => status === 401)).toHaveLength(4)
    expect(statuses.filter((status) => status === 429)).toHaveLength(596)
    const rows = async () => (await bed.database.sql`SELECT 1 FROM sign_in_attempts`).length
    // That of the network, and for each attempt that was made those of the account.
    expect(await rows()).toBe(1 + 2 * 4)
    await bed.database.sql`UPDATE sign_in_attempts SET resets_at = now() - interval '1 second'`
    expect(await bed.tollgate.context.database.upkeep.ask(({ db }) => sweepAttempts(db))).toBe(9)
    expect(await rows()).toBe(0)
  })

  test('wrong passwords from many networks leave a bounded number of lines in the audit log', async () => {
    await forget()
    await bed.database.sql`DELETE FROM audit_log`
    for (let index = 1; index <= 6; index++) await guess(1, { from: `203.0.113.${index}` })
    const lines = await bed.database.sql`SELECT 1 FROM audit_log WHERE action = 'session.refuse'`
    expect(lines).toHaveLength(4)
  })

  describe('guesses of ADMIN_TOKEN', () => {
    const ask = (token: string, from: string, path = 'session') =>
      call('GET', path, { token, headers: { 'x-forwarded-for': from } })

    test('are bounded for each network, over all paths, and leave no row', async () => {
      await forget()
      const statuses = []
      for (let index = 0; index < 6; index++) {
        const path = index % 2 === 0 ? 'session' : 'queues'
        statuses.push((await ask(`guess-number-${index}`, '203.0.113.50', path)).status)
      }
      expect(statuses).toEqual([401, 401, 401, 401, 429, 429])
      const refused = await ask(adminToken, '203.0.113.50')
      expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
      expect(refused.headers.get('x-tollgate-reason')).toBe('admin_token_guessed')
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800)
      expect((await ask(adminToken, '203.0.113.50', 'queues')).status).toBe(429)
      expect((await ask(adminToken, '192.0.2.1')).status).toBe(200)
      expect(await bed.database.sql`SELECT 1 FROM sign_in_attempts`).toHaveLength(0)
    })

    test('do not close the network to sessions and API tokens, and a former token is one guess', async () => {
      const from = { 'x-forwarded-for': '203.0.113.60' }
      for (let index = 0; index < 20; index++)
        expect((await ask('the-former-admin-token', '203.0.113.60')).status).toBe(401)
      const body = { name: 'script', scopes: ['log:read'] }
      const made = await call('POST', 'api-tokens', { token: adminToken, headers: from, body })
      expect(made.status, JSON.stringify(made.body)).toBe(201)
      for (let index = 0; index < 9; index++) await ask(`guess-number-${index}`, '203.0.113.60')
      expect((await ask(adminToken, '203.0.113.60')).status).toBe(429)
      expect((await ask(made.body.token, '203.0.113.60')).status).toBe(200)
      expect((await call('GET', 'session', { cookie: owner, headers: from })).status).toBe(200)
    })
  })
})
