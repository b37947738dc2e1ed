import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type AdminClient,
  adminClient,
  becomeOwner,
  goodPassword,
  join,
  signedIn,
} from '../support/admin-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

let bed: Testbed
let call: AdminClient
let owner: string
beforeAll(async () => {
  bed = await startTestbed({
    env: { SIGN_IN_ATTEMPTS_MAX: '1000000', SIGN_IN_ADDRESS_ATTEMPTS_MAX: '1000000' },
  })
  call = adminClient(bed.tollgate.url)
  owner = await becomeOwner(bed.tollgate, call)
})
afterAll(() => bed.close())

/** The code of the app, this many steps from now. */
const codeOf = (secret: string, steps = 0) =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + steps * 30_000 })

/** The user has used no code yet. */
const forgetSteps = () => bed.database.sql`UPDATE users SET totp_step = 0`

async function withFactor(email: string) {
  const { id, cookie } = await join(call, owner, { email, role: 'viewer' })
  const begun = await call('POST', 'second-factor', { cookie, body: { password: goodPassword } })
  expect(begun.body.uri).toContain('otpauth://totp/')
  const secret = String(begun.body.secret)
  // It is not asked for yet.
  await signedIn(call, email)
  expect((await call('GET', 'account', { cookie })).body).toMatchObject({
    id,
    email,
    has_second_factor: false,
  })
  const code = codeOf(secret)
  const confirmed = await call('POST', 'second-factor/confirm', { cookie, body: { code } })
  expect(confirmed.status, JSON.stringify(confirmed.body)).toBe(200)
  expect((await call('GET', 'account', { cookie })).body).toMatchObject({ id, has_second_factor: true })
  const recovery: string[] = confirmed.body.recovery_codes
  return { id, cookie, secret, code, recovery }
}

const signIn = (email: string, code?: string) =>
  call('POST', 'session', {
    body: { email, password: goodPassword, ...(code === undefined ? {} : { code }) },
  })

test('a sign-in asks for a code, and each code works once', async () => {
  const email = 'factor@example.com'
  const { secret, code } = await withFactor(email)
  expect(await signIn(email)).toMatchObject({
    status: 401,
    cookie: undefined,
    body: { code: 'second_factor_required' },
  })
  // The code that has confirmed it is used.
  expect((await signIn(email, code)).status).toBe(401)
  await forgetSteps()
  const next = codeOf(secret, 1)
  const both = await Promise.all([signIn(email, next), signIn(email, next)])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
  expect((await signIn(email, next)).status).toBe(401)
  // An earlier code does not work after a later one.
  expect((await signIn(email, codeOf(secret, 0))).status).toBe(401)
})

test('a wrong password with a right code uses nothing up', async () => {
  const email = 'careful@example.com'
  const { secret } = await withFactor(email)
  await forgetSteps()
  const code = codeOf(secret, 1)
  const wrong = await call('POST', 'session', { body: { email, password: 'wrong', code } })
  expect(wrong.status).toBe(401)
  expect(wrong.body.code).toBe('unauthenticated')
  expect((await signIn(email, code)).status).toBe(200)
})

test('codes of other times are refused', async () => {
  const email = 'clock@example.com'
  const { secret } = await withFactor(email)
  await forgetSteps()
  for (const steps of [-3, 3]) expect((await signIn(email, codeOf(secret, steps))).status).toBe(401)
})

test('recovery codes each work once, however they are written', async () => {
  const email = 'recovers@example.com'
  const { recovery } = await withFactor(email)
  const [first = '', second = ''] = recovery
  expect((await signIn(email, first)).status).toBe(200)
  expect((await signIn(email, first)).status).toBe(401)
  expect((await signIn(email, second.replaceAll('-', ' ').toUpperCase())).status).toBe(200)
})

test('the secret is sealed, and is in no audit line; nor do the recovery codes', async () => {
  const email = 'sealed@example.com'
  const { secret, recovery } = await withFactor(email)
  const rows = await bed.database.sql`SELECT totp_secret FROM users WHERE email = ${email}`
  expect(Buffer.from(rows[0]?.totp_secret).toString('latin1')).not.toContain(secret)
  const lines = JSON.stringify(await bed.database.sql`SELECT * FROM audit_log`)
  expect(lines).toContain('second_factor.enable')
  for (const each of [secret, ...recovery]) expect(lines).not.toContain(each)
})

test('it is taken away with password and code, or by an owner', async () => {
  const email = 'without@example.com'
  const { id, cookie, recovery } = await withFactor(email)
  const disable = (code?: string) =>
    call('POST', 'second-factor/disable', {
      cookie,
      body: { password: goodPassword, ...(code === undefined ? {} : { code }) },
    })
  expect((await disable()).status).toBe(400)
  expect((await disable('000000')).status).toBe(400)
  expect((await disable(recovery[0])).body.has_second_factor).toBe(false)
  await signedIn(call, email)

  const lost = await withFactor('lost@example.com')
  const taken = await call('DELETE', `users/${lost.id}/second-factor`, { cookie: owner })
  expect(taken.status).toBe(200)
  expect((await call('GET', 'session', { cookie: lost.cookie })).status).toBe(401)
  await signedIn(call, 'lost@example.com')
  expect((await call('DELETE', `users/${id}/second-factor`, { cookie })).status).toBe(403)
})

test('a reset link does not get round it', async () => {
  const { id } = await withFactor('reset-factor@example.com')
  const made = await call('POST', `users/${id}/reset-link`, { cookie: owner })
  const { token } = made.body
  expect(await call('POST', 'links/use', { body: { token, password: goodPassword } })).toMatchObject({
    status: 200,
    cookie: undefined,
  })
  expect((await signIn('reset-factor@example.com')).body.code).toBe('second_factor_required')
})
