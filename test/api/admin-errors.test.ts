import { globSync, readFileSync } from 'node:fs'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addLink } from '../../src/access/users/link-queries.ts'
import {
  type AdminAnswer,
  type AdminClient,
  adminClient,
  goodPassword,
  join,
  ownerEmail,
  signedIn,
} from '../support/admin-client.ts'
import { adminToken } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Each error of the admin API that the document has, as a client gets it. */

let bed: Testbed
let call: AdminClient
let owner: string
beforeAll(async () => {
  bed = await startTestbed({
    env: {
      ADMIN_TOKEN: adminToken,
      SIGN_IN_ATTEMPTS_MAX: '3',
      PUBLIC_URL: 'http://127.0.0.1',
      OIDC_ISSUER: 'http://127.0.0.1:1',
      OIDC_CLIENT_ID: 'tollgate',
      OIDC_CLIENT_SECRET: 'a-client-secret-for-tests',
    },
  })
  call = adminClient(`http://127.0.0.1:${bed.tollgate.port}`)
  const link = await bed.tollgate.context.database.admin.transact((tx) =>
    addLink(tx, { purpose: 'setup', madeBy: 'test', lifeMs: 600_000 }),
  )
  const body = { token: link.secret, email: ownerEmail, password: goodPassword }
  expect((await call('POST', 'links/use', { body })).status).toBe(200)
  owner = await signedIn(call, ownerEmail)
})
afterAll(() => bed?.close())

const operator = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  call(method, path, { token: adminToken, headers, ...(body === undefined ? {} : { body }) })

const signIn = (email: string, password: string) => call('POST', 'session', { body: { email, password } })

const provoked: Record<string, () => Promise<AdminAnswer>> = {
  '400 invalid_request': () => operator('POST', 'tenants', { name: 5 }),
  '401 unauthenticated': () => call('GET', 'tenants', { token: 'wrong' }),
  '401 second_factor_required': async () => {
    const email = 'factor@example.com'
    const { cookie } = await join(call, owner, { email, role: 'viewer' })
    const begun = await call('POST', 'second-factor', { cookie, body: { password: goodPassword } })
    const code = new TOTP({ secret: Secret.fromBase32(begun.body.secret) }).generate()
    expect((await call('POST', 'second-factor/confirm', { cookie, body: { code } })).status).toBe(200)
    return await signIn(email, goodPassword)
  },
  '403 permission_denied': async () => {
    const { cookie } = await join(call, owner, { email: 'viewer@example.com', role: 'viewer' })
    return await call('POST', 'tenants', { cookie, body: { name: 'new' } })
  },
  '404 unknown_path': () => operator('GET', 'tenants/nobody'),
  '409 conflict': () => operator('PATCH', 'tenants/free', { disabled: true }),
  '409 request_in_progress': async () => {
    const headers = { 'idempotency-key': 'runs-still' }
    expect((await operator('POST', 'tenants', { name: 'runs' }, headers)).status).toBe(201)
    // As in the transaction of a call that has not ended.
    await bed.tollgate.context.database.state.ask(({ sql }) => sql`UPDATE admin_answers SET answer = NULL`)
    return await operator('POST', 'tenants', { name: 'runs' }, headers)
  },
  '412 precondition_failed': async () => {
    const { body } = await operator('POST', 'tenants', { name: 'read-before' })
    return await operator('PATCH', `tenants/${body.id}`, { disabled: true }, { 'if-match': '"another"' })
  },
  '413 request_too_large': () => operator('POST', 'tenants', { name: 'x'.repeat(1024 * 1024) }),
  '422 idempotency_mismatch': async () => {
    const headers = { 'idempotency-key': 'used-before' }
    expect((await operator('POST', 'tenants', { name: 'one' }, headers)).status).toBe(201)
    return await operator('POST', 'tenants', { name: 'other' }, headers)
  },
  '429 rate_limited': async () => {
    for (let tries = 0; tries < 3; tries++)
      expect((await signIn('guessed@example.com', 'wrong password')).status).toBe(401)
    return await signIn('guessed@example.com', 'wrong password')
  },
  '503 unavailable': () => call('GET', 'oidc/start'),
}

describe('each documented error', () => {
  test.each(Object.keys(provoked))('%s is what a client gets', async (name) => {
    const answer = await provoked[name]?.()
    expect(`${answer?.status} ${answer?.body.code}`, JSON.stringify(answer?.body)).toBe(name)
    expect(answer?.headers.get('content-type')).toBe('application/problem+json')
    expect(answer?.body.status).toBe(answer?.status)
    const mayWait = ['rate_limited', 'unavailable'].includes(answer?.body.code)
    expect(answer?.headers.has('retry-after')).toBe(mayWait)
  })

  test('stands in the document, and there is no other', () => {
    const page = readFileSync('docs/reference/admin-api.md', 'utf8')
    const rows = [...page.matchAll(/^\| (\d{3}) +\| `(\w+)`/gm)].map(
      ([, status, code]) => `${status} ${code}`,
    )
    expect(rows.sort()).toEqual(Object.keys(provoked).sort())
  })

  test('is all that the sources of the admin API throw', () => {
    const files = globSync('src/{api/admin,access/users}/**/*.ts').map((path) => readFileSync(path, 'utf8'))
    const thrown = files.flatMap((text) => [
      ...[...text.matchAll(/new GatewayError\(\s*'(\w+)'/g)].map(([, kind = '']) => kind),
      ...[...text.matchAll(/\{\s*code: '(\w+)'/g)].map(([, code = '']) => code),
    ])
    const codes = Object.keys(provoked).map((name) => name.split(' ')[1])
    // `custom` is an issue of zod, which becomes `invalid_request`.
    expect([...new Set(thrown)].filter((code) => code !== 'custom' && !codes.includes(code))).toEqual([])
  })
})
