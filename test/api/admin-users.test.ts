import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type AdminClient,
  adminClient,
  becomeOwner,
  goodPassword,
  join,
  ownerEmail,
  setupToken,
  signedIn,
} from '../support/admin-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** No ADMIN_TOKEN: the users alone open the admin API. */

let bed: Testbed
let call: AdminClient
let owner: string
let tenant: string
beforeAll(async () => {
  bed = await startTestbed({ env: { SIGN_IN_ADDRESS_ATTEMPTS_MAX: '1000000' } })
  call = adminClient(bed.tollgate.url)
  owner = await becomeOwner(bed.tollgate, call)
  const [row] = await bed.database.sql`SELECT id FROM tenants WHERE name = 'free'`
  tenant = String(row?.id)
})
afterAll(() => bed.close())

const audited = async (action: string) =>
  await bed.database.sql`SELECT * FROM audit_log WHERE action = ${action} ORDER BY id`

describe('the set-up link', () => {
  test('works once; a replay makes nobody', async () => {
    const token = await setupToken(bed.tollgate)
    expect((await call('POST', 'links/show', { body: { token } })).status).toBe(404)
    const again = await call('POST', 'links/use', {
      body: { token, email: 'second@example.com', password: goodPassword },
    })
    expect(again.status).toBe(404)
    const [count] = await bed.database.sql`SELECT count(*)::int AS owners FROM users WHERE role = 'owner'`
    expect(count?.owners).toBe(1)
  })

  test('another unused one does nothing once there is a user', async () => {
    const { addLink } = await import('../../src/access/users/link-queries.ts')
    const { secret } = await addLink(bed.database.db, { purpose: 'setup', madeBy: 'test', lifeMs: 60_000 })
    const body = { token: secret, email: 'late@example.com', password: goodPassword }
    expect((await call('POST', 'links/use', { body })).status).toBe(404)
  })

  test('is stored as a hash only', async () => {
    const token = await setupToken(bed.tollgate)
    const rows = await bed.database.sql`SELECT * FROM user_links`
    expect(JSON.stringify(rows)).not.toContain(token)
  })
})

describe('signing in', () => {
  test('answers who I am and what I may, with a cookie that scripts cannot read', async () => {
    const answer = await call('POST', 'session', {
      body: { email: 'OWNER@example.com', password: goodPassword },
    })
    expect(answer).toMatchObject({ status: 200, body: { kind: 'user', name: ownerEmail, role: 'owner' } })
    expect(answer.body.may.data).toEqual(['read', 'write'])
    const [cookie = ''] = answer.headers.getSetCookie()
    expect(cookie).toMatch(/^tollgate=tgs_\w+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/)
    expect((await call('GET', 'session', { cookie: answer.cookie })).body).toEqual(answer.body)
  })

  test('a wrong password and an unknown user look the same', async () => {
    const wrong = await call('POST', 'session', { body: { email: ownerEmail, password: 'wrong' } })
    const unknown = await call('POST', 'session', {
      body: { email: 'nobody@example.com', password: 'wrong' },
    })
    const { instance: _, ...shape } = wrong.body
    expect(wrong.status).toBe(401)
    expect(unknown.status).toBe(401)
    expect(unknown.body).toMatchObject(shape)
  })

  test('a session that was there before ends, and its id never becomes that of the new one', async () => {
    const { cookie: planted } = await join(call, owner, { email: 'fixed@example.com', role: 'viewer' })
    const body = { email: 'fixed@example.com', password: goodPassword }
    const again = await call('POST', 'session', { body, cookie: planted })
    expect(again.cookie).not.toBe(planted)
    expect((await call('GET', 'session', { cookie: planted })).status).toBe(401)
    expect((await call('GET', 'session', { cookie: again.cookie })).status).toBe(200)
  })

  test('a secret that somebody plants in a browser never becomes a session', async () => {
    const { makeUserSecret: makeSecret } = await import('../../src/access/users/secrets.ts')
    const planted = `tollgate=${makeSecret('tgs_')}`
    const body = { email: ownerEmail, password: goodPassword }
    const answer = await call('POST', 'session', { body, cookie: planted })
    expect(answer.cookie).not.toBe(planted)
    expect((await call('GET', 'session', { cookie: planted })).status).toBe(401)
  })

  test('a session is stored as a hash, and ends with its time or without use', async () => {
    const cookie = await signedIn(call, ownerEmail)
    const secret = cookie.split('=')[1] ?? ''
    const rows = await bed.database.sql`SELECT * FROM user_sessions`
    expect(JSON.stringify(rows)).not.toContain(secret)
    const { hashSecret } = await import('../../src/access/users/secrets.ts')
    const hash = hashSecret(secret)
    await bed.database
      .sql`UPDATE user_sessions SET used_at = now() - interval '13 hours' WHERE token_hash = ${hash}`
    expect((await call('GET', 'session', { cookie })).status).toBe(401)
    await bed.database
      .sql`UPDATE user_sessions SET used_at = now(), expires_at = now() - interval '1 second' WHERE token_hash = ${hash}`
    expect((await call('GET', 'session', { cookie })).status).toBe(401)
  })

  test('signing out ends the session, and the others are listed and ended one by one', async () => {
    const { cookie: first } = await join(call, owner, { email: 'sessions@example.com', role: 'viewer' })
    const second = await signedIn(call, 'sessions@example.com')
    const list = await call('GET', 'sessions', { cookie: first })
    expect(list.body.data.map((each: { current: boolean }) => each.current).sort()).toEqual([false, true])
    const other = list.body.data.find((each: { current: boolean }) => !each.current)
    expect((await call('DELETE', `sessions/${other.id}`, { cookie: first })).status).toBe(200)
    expect((await call('GET', 'session', { cookie: second })).status).toBe(401)
    expect((await call('DELETE', `sessions/${other.id}`, { cookie: first })).status).toBe(404)
    const gone = await call('DELETE', 'session', { cookie: first })
    expect(gone.headers.getSetCookie()[0]).toContain('Max-Age=0')
    expect((await call('GET', 'session', { cookie: first })).status).toBe(401)
  })

  test("nobody ends another user's session", async () => {
    const { cookie } = await join(call, owner, { email: 'thief@example.com', role: 'admin' })
    const list = await call('GET', 'sessions', { cookie: owner })
    expect((await call('DELETE', `sessions/${list.body.data[0].id}`, { cookie })).status).toBe(404)
  })
})

describe('a page of another site', () => {
  const change = (headers: Record<string, string>) =>
    call('POST', 'api-tokens', {
      headers: { cookie: owner, ...headers },
      body: { name: 'csrf', scopes: ['keys:read'] },
    })

  test.each([
    ['says so', { 'sec-fetch-site': 'cross-site' }],
    ['is of the same site, but not ours', { 'sec-fetch-site': 'same-site' }],
    ['has another origin', { origin: 'https://evil.example' }],
    ['hides its origin', { origin: 'null' }],
    ['says nothing', {}],
  ])('changes nothing with the cookie when it %s', async (_, headers: Record<string, string>) => {
    const answer = await change(headers)
    expect(answer).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    expect(answer.headers.get('x-tollgate-reason')).toBe('other_site')
  })

  test('signs no one in', async () => {
    const body = { email: ownerEmail, password: goodPassword }
    const answer = await call('POST', 'session', { body, headers: { 'sec-fetch-site': 'cross-site' } })
    expect(answer.status).toBe(403)
    expect(answer.cookie).toBeUndefined()
  })

  test('our own page does, by either header', async () => {
    expect((await change({ 'sec-fetch-site': 'same-origin' })).status).toBe(201)
    expect((await change({ origin: bed.tollgate.url })).status).toBe(201)
  })
})

describe('users', () => {
  test('are listed in pages, read with an ETag, changed only by owners, and each change is in the audit log', async () => {
    const { id, cookie } = await join(call, owner, { email: 'a-promoted@example.com', role: 'viewer' })
    expect((await call('GET', 'users', { cookie })).status).toBe(403)
    const page = await call('GET', 'users?limit=1', { cookie: owner })
    expect(page.body.data).toHaveLength(1)
    const next = await call('GET', `users?limit=1&cursor=${page.body.next_cursor}`, { cookie: owner })
    expect(next.body.data[0].email > page.body.data[0].email).toBe(true)
    const read = await call('GET', `users/${id}`, { cookie: owner })
    const etag = read.headers.get('etag') ?? ''
    const promoted = await call('PATCH', `users/${id}`, {
      cookie: owner,
      body: { role: 'admin' },
      headers: { 'if-match': etag },
    })
    expect(promoted).toMatchObject({ status: 200, body: { role: 'admin' } })
    const stale = await call('PATCH', `users/${id}`, {
      cookie: owner,
      body: { role: 'viewer' },
      headers: { 'if-match': etag },
    })
    expect(stale.status).toBe(412)
    expect((await call('GET', 'session', { cookie })).status).toBe(401)
    const admin = await signedIn(call, 'a-promoted@example.com')
    expect((await call('GET', 'users', { cookie: admin })).status).toBe(200)
    expect((await call('PATCH', `users/${id}`, { cookie: admin, body: { role: 'owner' } })).status).toBe(403)
    const [line] = (await audited('user.change')).slice(-1)
    expect(line).toMatchObject({
      actor_name: ownerEmail,
      address: '127.0.0.1',
      resource_id: id,
      before: { role: 'viewer' },
      after: { role: 'admin' },
    })
    const found = await call('GET', `audit?id=${line?.id}`, { cookie: owner })
    expect(found.body).toMatchObject({ data: [{ id: line?.id, action: 'user.change' }], next_cursor: null })
  })

  test('the last owner is neither demoted, disabled nor deleted', async () => {
    const { body: me } = await call('GET', 'session', { cookie: owner })
    const path = `users/${me.id}`
    expect((await call('PATCH', path, { cookie: owner, body: { role: 'viewer' } })).status).toBe(409)
    expect((await call('PATCH', path, { cookie: owner, body: { disabled: true } })).status).toBe(409)
    const refused = await call('DELETE', path, { cookie: owner })
    expect([refused.status, refused.headers.get('x-tollgate-reason')]).toEqual([409, 'last_owner'])
  })

  test('two owners who step down at once leave one', async () => {
    const other = await join(call, owner, { email: 'other-owner@example.com', role: 'owner' })
    const { body: me } = await call('GET', 'session', { cookie: owner })
    const answers = await Promise.all([
      call('PATCH', `users/${me.id}`, { cookie: owner, body: { role: 'viewer' } }),
      call('PATCH', `users/${other.id}`, { cookie: other.cookie, body: { role: 'viewer' } }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const owners = await bed.database.sql`SELECT email FROM users WHERE role = 'owner'`
    expect(owners).toHaveLength(1)
    await bed.database.sql`UPDATE users SET role = 'owner' WHERE email = ${ownerEmail}`
    await bed.database.sql`UPDATE users SET role = 'viewer' WHERE email = 'other-owner@example.com'`
    owner = await signedIn(call, ownerEmail)
  })

  test('a disabled user is out at once, with its API tokens', async () => {
    const { id, cookie } = await join(call, owner, { email: 'out@example.com', role: 'admin' })
    const made = await call('POST', 'api-tokens', { cookie, body: { name: 't', scopes: ['audit:read'] } })
    const { token } = made.body
    expect((await call('GET', 'audit', { token })).status).toBe(200)
    expect((await call('PATCH', `users/${id}`, { cookie: owner, body: { disabled: true } })).status).toBe(200)
    expect((await call('GET', 'session', { cookie })).status).toBe(401)
    expect((await call('GET', 'audit', { token })).status).toBe(401)
    const body = { email: 'out@example.com', password: goodPassword }
    expect((await call('POST', 'session', { body })).status).toBe(401)
  })

  test('a member has a tenant, and no one else has one', async () => {
    const invite = (body: unknown) => call('POST', 'invitations', { cookie: owner, body })
    expect((await invite({ email: 'm@example.com', role: 'member' })).status).toBe(400)
    expect((await invite({ email: 'm@example.com', role: 'admin', tenant_id: tenant })).status).toBe(400)
    const { cookie } = await join(call, owner, { email: 'm@example.com', role: 'member', tenant_id: tenant })
    const { body } = await call('GET', 'session', { cookie })
    expect(body).toMatchObject({ role: 'member', tenant_id: tenant })
    expect(body.may).toMatchObject({ keys: ['read', 'write'], log: ['read'], users: [], catalog: [] })
    const [line] = await audited('setup.redeem')
    expect((await call('GET', `audit?id=${line?.id}`, { cookie })).body).toMatchObject({ data: [] })
  })
})

describe('invitations and resets', () => {
  test('a second invitation ends the first, and one can be taken back', async () => {
    const invite = () =>
      call('POST', 'invitations', { cookie: owner, body: { email: 'two@example.com', role: 'viewer' } })
    const first = await invite()
    const second = await invite()
    const tokenOf = (answer: typeof first) => String(answer.body.token)
    expect((await call('POST', 'links/show', { body: { token: tokenOf(first) } })).status).toBe(404)
    expect((await call('POST', 'links/show', { body: { token: tokenOf(second) } })).body).toMatchObject({
      purpose: 'invitation',
      email: 'two@example.com',
    })
    expect((await call('DELETE', `invitations/${second.body.id}`, { cookie: owner })).status).toBe(200)
    expect(
      (await call('POST', 'links/use', { body: { token: tokenOf(second), password: goodPassword } })).status,
    ).toBe(404)
  })

  test('an expired link does nothing', async () => {
    const invited = await call('POST', 'invitations', {
      cookie: owner,
      body: { email: 'late@example.com', role: 'viewer' },
    })
    await bed.database
      .sql`UPDATE user_links SET expires_at = now() - interval '1 second' WHERE id = ${invited.body.id}`
    const token = String(invited.body.token)
    expect((await call('POST', 'links/use', { body: { token, password: goodPassword } })).status).toBe(404)
  })

  test('a reset sets the password once and ends all sessions', async () => {
    const { id, cookie } = await join(call, owner, { email: 'forgot@example.com', role: 'viewer' })
    const made = await call('POST', `users/${id}/reset-link`, { cookie: owner })
    const use = (password: string) =>
      call('POST', 'links/use', { body: { token: made.body.token, password } })
    expect((await use('short')).status).toBe(400)
    const uses = await Promise.all([1, 2].map(() => use('another long password')))
    expect(uses.map(({ status }) => status).sort()).toEqual([200, 404])
    expect((await call('GET', 'session', { cookie })).status).toBe(401)
    const old = await call('POST', 'session', {
      body: { email: 'forgot@example.com', password: goodPassword },
    })
    expect(old.status).toBe(401)
    await signedIn(call, 'forgot@example.com', 'another long password')
  })

  test('a changed password ends all sessions and opens a new one', async () => {
    const { cookie } = await join(call, owner, { email: 'changes@example.com', role: 'viewer' })
    const other = await signedIn(call, 'changes@example.com')
    const change = (current: string) =>
      call('POST', 'password', {
        cookie,
        body: { current_password: current, new_password: 'another long password' },
      })
    expect((await change('wrong')).status).toBe(400)
    const changed = await change(goodPassword)
    expect(changed.status).toBe(200)
    for (const ended of [cookie, other])
      expect((await call('GET', 'session', { cookie: ended })).status).toBe(401)
    expect((await call('GET', 'session', { cookie: changed.cookie })).status).toBe(200)
  })
})

describe('API tokens', () => {
  test('do what role and scopes both allow, until they expire or are revoked', async () => {
    const { cookie } = await join(call, owner, { email: 'robot@example.com', role: 'viewer' })
    const make = (body: unknown) => call('POST', 'api-tokens', { cookie, body })
    expect((await make({ name: 'x', scopes: ['audit:read'], role: 'admin' })).status).toBe(400)
    expect((await make({ name: 'x', scopes: ['everything'] })).status).toBe(400)
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const made = await make({ name: 'reader', scopes: ['audit:read', 'users:write'], expires_at })
    const { token, id, hint } = made.body
    expect(token).toMatch(/^tga_\w{46}$/)
    expect(token.startsWith(hint.slice(0, -1))).toBe(true)
    expect((await call('GET', 'audit', { token })).status).toBe(200)
    expect((await call('GET', 'users', { token })).status).toBe(403)
    expect((await call('GET', 'ledger', { token })).status).toBe(403)
    expect(
      (await call('POST', 'api-tokens', { token, body: { name: 'x', scopes: ['audit:read'] } })).status,
    ).toBe(403)
    expect((await call('GET', 'sessions', { token })).status).toBe(403)
    expect((await call('GET', 'session', { token })).body.may.audit).toEqual(['read'])
    const list = await call('GET', 'api-tokens', { cookie })
    expect(list.body.data).toHaveLength(1)
    expect(JSON.stringify(list.body)).not.toContain(token)
    await bed.database.sql`UPDATE api_tokens SET expires_at = now() - interval '1 second' WHERE id = ${id}`
    expect((await call('GET', 'audit', { token })).status).toBe(401)
    await bed.database.sql`UPDATE api_tokens SET expires_at = NULL WHERE id = ${id}`
    expect((await call('GET', 'audit', { token })).status).toBe(200)
    expect((await call('DELETE', `api-tokens/${id}`, { cookie })).status).toBe(200)
    expect((await call('GET', 'audit', { token })).status).toBe(401)
    expect(JSON.stringify(await bed.database.sql`SELECT * FROM audit_log`)).not.toContain(token)
  })

  test('lose what their user loses', async () => {
    const { id, cookie } = await join(call, owner, { email: 'shrinks@example.com', role: 'admin' })
    const made = await call('POST', 'api-tokens', { cookie, body: { name: 'all', scopes: ['users:read'] } })
    const { token } = made.body
    expect((await call('GET', 'users', { token })).status).toBe(200)
    await call('PATCH', `users/${id}`, { cookie: owner, body: { role: 'member', tenant_id: tenant } })
    expect((await call('GET', 'users', { token })).status).toBe(403)
  })

  test('do not what their user may not, whatever their own role is', async () => {
    const { cookie } = await join(call, owner, { email: 'reads@example.com', role: 'viewer' })
    const body = { name: 'm', role: 'member', tenant_id: tenant, scopes: ['keys:write', 'playground:write'] }
    const { token } = (await call('POST', 'api-tokens', { cookie, body })).body
    expect((await call('GET', 'keys', { token })).status).toBe(200)
    const key = { tenant: 'free', name: 'taken' }
    expect((await call('POST', 'keys', { token, body: key })).status).toBe(403)
    expect((await call('GET', 'session', { token })).body.may.keys).toEqual(['read'])
  })

  test('get no answer that was kept for another token of their user', async () => {
    const other = '00000000-0000-7000-8000-000000000042'
    await bed.database.sql`INSERT INTO tenants (id, name, managed_by) VALUES (${other}, 'other', 'admin')`
    const make = async (tenant_id: string) => {
      const body = { name: 'm', role: 'member', tenant_id, scopes: ['keys:write'] }
      return String((await call('POST', 'api-tokens', { cookie: owner, body })).body.token)
    }
    const [ofFree, ofOther] = [await make(tenant), await make(other)]
    const ask = (token: string) =>
      call('POST', 'keys', {
        token,
        body: { tenant: 'free', name: 'of one tenant' },
        headers: { 'idempotency-key': 'key-1' },
      })
    const made = await ask(ofFree)
    expect(made.status).toBe(201)
    expect((await ask(ofFree)).body.secret).toBe(made.body.secret)
    const stolen = await ask(ofOther)
    expect(stolen.status).toBe(400)
    expect(stolen.body.secret).toBeUndefined()
  })

  test('of few scopes neither see nor revoke other tokens of their user', async () => {
    const { cookie } = await join(call, owner, { email: 'several@example.com', role: 'viewer' })
    const make = async () =>
      (await call('POST', 'api-tokens', { cookie, body: { name: 't', scopes: ['log:read'] } })).body
    const [one, other] = [await make(), await make()]
    const seen = await call('GET', 'api-tokens', { token: one.token })
    expect(seen.body.data).toMatchObject([{ id: one.id }])
    expect((await call('DELETE', `api-tokens/${other.id}`, { token: one.token })).status).toBe(404)
    expect((await call('GET', 'session', { token: other.token })).status).toBe(200)
    expect((await call('DELETE', `api-tokens/${one.id}`, { token: one.token })).status).toBe(200)
    expect((await call('GET', 'session', { token: one.token })).status).toBe(401)
  })

  test("nobody but an owner revokes another's token", async () => {
    const { cookie } = await join(call, owner, { email: 'jealous@example.com', role: 'admin' })
    const made = await call('POST', 'api-tokens', {
      cookie: owner,
      body: { name: 'o', scopes: ['audit:read'] },
    })
    expect((await call('DELETE', `api-tokens/${made.body.id}`, { cookie })).status).toBe(404)
    expect((await call('DELETE', `api-tokens/${made.body.id}`, { cookie: owner })).status).toBe(200)
  })

  test('a guess, a wrong checksum and a broken scheme are refused', async () => {
    for (const authorization of ['Bearer tga_guess', `Bearer tga_${'a'.repeat(46)}`, 'Basic eDp5', 'Bearer'])
      expect((await call('GET', 'audit', { headers: { authorization } })).status).toBe(401)
  })
})
