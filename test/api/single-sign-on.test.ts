import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AdminClient, adminClient, becomeOwner, ownerEmail } from '../support/admin-client.ts'
import { type OidcIssuer, startOidcIssuer } from '../support/oidc-issuer.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

let issuer: OidcIssuer
let bed: Testbed
let call: AdminClient
let owner: string
beforeAll(async () => {
  issuer = await startOidcIssuer()
  bed = await startTestbed({
    env: {
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: issuer.clientId,
      OIDC_CLIENT_SECRET: issuer.clientSecret,
      OIDC_DOMAINS: 'example.com',
      OIDC_ROLES: 'ops=admin,free-team=member:free,everybody=viewer',
    },
  })
  call = adminClient(bed.tollgate.url)
  owner = await becomeOwner(bed.tollgate, call)
})
afterAll(async () => {
  await bed.close()
  await issuer.close()
})
beforeEach(() => {
  issuer.forges = false
})

/** A browser that follows the way to the issuer and back: the callback's path, and the cookie that it needs. */
async function begin(): Promise<{ callback: string; cookie: string }> {
  const start = await call('GET', 'oidc/start?return_to=/console')
  expect(start.status).toBe(302)
  const cookie = start.headers.getSetCookie()[0] ?? ''
  expect(cookie).toMatch(/^tollgate-sso=.*HttpOnly; SameSite=Lax$/)
  const asked = await fetch(start.headers.get('location') ?? '', { redirect: 'manual' })
  const back = new URL(asked.headers.get('location') ?? '')
  return { callback: `oidc/callback${back.search}`, cookie: cookie.split(';')[0] ?? '' }
}

const finish = (callback: string, cookie: string) => call('GET', callback, { headers: { cookie } })

async function come(claims: Record<string, unknown>) {
  issuer.claims = claims
  const { callback, cookie } = await begin()
  return await finish(callback, cookie)
}

const person = (name: string, more: Record<string, unknown> = {}) => ({
  sub: `subject-${name}`,
  email: `${name}@example.com`,
  email_verified: true,
  groups: ['everybody'],
  ...more,
})

const rolesOf = async (email: string) =>
  (await bed.database.sql`SELECT role, tenant_id FROM users WHERE email = ${email}`)[0]

describe('a person whom the issuer vouches for', () => {
  test('becomes a user with the greatest role that its claim gives, and is led back', async () => {
    const answer = await come(person('ops', { groups: ['everybody', 'ops'] }))
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe('/console')
    const { body } = await call('GET', 'session', { cookie: answer.cookie })
    expect(body).toMatchObject({ name: 'ops@example.com', role: 'admin' })
  })

  test('may be a member of one tenant', async () => {
    await come(person('member', { groups: 'free-team' }))
    const [tenant] = await bed.database.sql`SELECT id FROM tenants WHERE name = 'free'`
    expect(await rolesOf('member@example.com')).toEqual({ role: 'member', tenant_id: tenant?.id })
  })

  test('is known by its subject, also under a new address, and has its current role: other sessions end', async () => {
    const first = await come(person('moves', { groups: ['ops'] }))
    const second = await come({ ...person('moves'), email: 'moved@example.com' })
    expect((await call('GET', 'session', { cookie: second.cookie })).body).toMatchObject({
      name: 'moves@example.com',
      role: 'viewer',
    })
    expect((await call('GET', 'session', { cookie: first.cookie })).status).toBe(401)
  })

  test('is the user with its verified address; the last owner stays one', async () => {
    const answer = await come({ ...person('boss'), email: ownerEmail })
    const { body } = await call('GET', 'session', { cookie: answer.cookie })
    expect(body).toMatchObject({ name: ownerEmail, role: 'owner' })
    expect((await call('GET', 'session', { cookie: owner })).status).toBe(200)
    // Another account of the issuer with the same address is another person.
    expect((await come({ ...person('impostor'), email: ownerEmail })).status).toBe(403)
  })

  test.each([
    ['has no role here', { groups: ['strangers'] }],
    ['has an address that is not verified', { email_verified: false }],
    ['is of another domain', { email: 'somebody@example.com.evil.example' }],
  ])('stays outside when it %s', async (what, claims: Record<string, unknown>) => {
    const answer = await come({ ...person('outside'), ...claims, sub: what })
    expect(answer).toMatchObject({ status: 403, cookie: undefined })
    expect(answer.headers.get('x-tollgate-reason')).toBe('sso_refused')
  })

  test('stays outside when the user is disabled', async () => {
    await come(person('disabled'))
    await bed.database.sql`UPDATE users SET disabled_at = now() WHERE email = 'disabled@example.com'`
    expect((await come(person('disabled'))).status).toBe(403)
  })
})

describe('an answer that does not hold', () => {
  test('another state: the callback of another sign-on', async () => {
    issuer.claims = person('state')
    const mine = await begin()
    const theirs = await begin()
    const answer = await finish(theirs.callback, mine.cookie)
    expect(answer).toMatchObject({ status: 401, cookie: undefined })
    expect(answer.headers.get('x-tollgate-reason')).toBe('sso_failed')
  })

  test('a callback in a browser that has not begun', async () => {
    issuer.claims = person('stranger')
    const { callback } = await begin()
    expect((await call('GET', callback)).status).toBe(403)
    expect((await finish(callback, 'tollgate-sso=made-up')).status).toBe(401)
  })

  test('a code that was used', async () => {
    issuer.claims = person('twice')
    const { callback, cookie } = await begin()
    expect((await finish(callback, cookie)).status).toBe(303)
    expect((await finish(callback, cookie)).status).toBe(401)
  })

  test.each([
    ['another nonce', { nonce: 'of-another-sign-on' }],
    ['another audience', { aud: 'another-client' }],
    ['another issuer', { iss: 'https://evil.example' }],
    [
      'an expired ID token',
      { exp: Math.floor(Date.now() / 1000) - 3_600, iat: Math.floor(Date.now() / 1000) - 7_200 },
    ],
  ])('%s', async (_, claims: Record<string, unknown>) => {
    expect(await come(person('wrong', claims))).toMatchObject({ status: 401, cookie: undefined })
  })

  test('an ID token that somebody else has signed', async () => {
    issuer.forges = true
    expect(await come(person('forged'))).toMatchObject({ status: 401, cookie: undefined })
  })

  test('an error of the issuer', async () => {
    const { callback, cookie } = await begin()
    const state = new URLSearchParams(callback.split('?')[1]).get('state')
    expect((await finish(`oidc/callback?error=access_denied&state=${state}`, cookie)).status).toBe(401)
  })
})

test('the way back leads to this server only', async () => {
  for (const to of ['//evil.example', 'https://evil.example', '/\\evil.example'])
    expect((await call('GET', `oidc/start?return_to=${encodeURIComponent(to)}`)).status).toBe(400)
})

test('what the browser keeps is unreadable', async () => {
  const { cookie } = await begin()
  const text = Buffer.from(cookie.split('=')[1] ?? '', 'base64url').toString('latin1')
  expect(text).not.toContain('verifier')
})
