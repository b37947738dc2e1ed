import { readFileSync } from 'node:fs'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addLink } from '../../src/access/users/link-queries.ts'
import { adminReasons } from '../../src/canonical/reasons/admin.ts'
import type { ReasonEntry } from '../../src/canonical/reasons/entry.ts'
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

/** By status and code, with the reason of the catalogue. */
const provoked: Record<string, [reason: string, call: () => Promise<AdminAnswer>]> = {
  '400 invalid_request': ['field_invalid', () => operator('POST', 'tenants', { name: 5 })],
  '401 unauthenticated': ['admin_caller_unknown', () => call('GET', 'tenants', { token: 'wrong' })],
  '401 second_factor_required': [
    'second_factor_required',
    async () => {
      const email = 'factor@example.com'
      const { cookie } = await join(call, owner, { email, role: 'viewer' })
      const begun = await call('POST', 'second-factor', { cookie, body: { password: goodPassword } })
      const code = new TOTP({ secret: Secret.fromBase32(begun.body.secret) }).generate()
      expect((await call('POST', 'second-factor/confirm', { cookie, body: { code } })).status).toBe(200)
      return await signIn(email, goodPassword)
    },
  ],
  '403 permission_denied': [
    'role_insufficient',
    async () => {
      const { cookie } = await join(call, owner, { email: 'viewer@example.com', role: 'viewer' })
      return await call('POST', 'tenants', { cookie, body: { name: 'new' } })
    },
  ],
  '404 unknown_path': ['not_found', () => operator('GET', 'tenants/nobody')],
  '409 conflict': ['managed_elsewhere', () => operator('PATCH', 'tenants/free', { disabled: true })],
  '409 request_in_progress': [
    'admin_call_running',
    async () => {
      const headers = { 'idempotency-key': 'runs-still' }
      expect((await operator('POST', 'tenants', { name: 'runs' }, headers)).status).toBe(201)
      // As in the transaction of a call that has not ended.
      await bed.database.sql`UPDATE admin_answers SET answer = NULL`
      return await operator('POST', 'tenants', { name: 'runs' }, headers)
    },
  ],
  '412 precondition_failed': [
    'precondition_failed',
    async () => {
      const { body } = await operator('POST', 'tenants', { name: 'read-before' })
      return await operator('PATCH', `tenants/${body.id}`, { disabled: true }, { 'if-match': '"another"' })
    },
  ],
  '413 request_too_large': [
    'body_too_large',
    () => operator('POST', 'tenants', { name: 'x'.repeat(1024 * 1024) }),
  ],
  '422 idempotency_mismatch': [
    'admin_call_differs',
    async () => {
      const headers = { 'idempotency-key': 'used-before' }
      expect((await operator('POST', 'tenants', { name: 'one' }, headers)).status).toBe(201)
      return await operator('POST', 'tenants', { name: 'other' }, headers)
    },
  ],
  '429 rate_limited': [
    'sign_in_attempts_spent',
    async () => {
      for (let tries = 0; tries < 3; tries++)
        expect((await signIn('guessed@example.com', 'wrong password')).status).toBe(401)
      return await signIn('guessed@example.com', 'wrong password')
    },
  ],
  '503 unavailable': ['sso_issuer_away', () => call('GET', 'oidc/start')],
}

describe('each documented error', () => {
  test.each(Object.keys(provoked))('%s is what a client gets', async (name) => {
    const [reason, provoke] = provoked[name] ?? []
    const answer = await provoke?.()
    expect(answer?.headers.get('x-tollgate-reason')).toBe(reason)
    expect(`${answer?.status} ${answer?.body.code}`, JSON.stringify(answer?.body)).toBe(name)
    expect(answer?.headers.get('content-type')).toBe('application/problem+json')
    expect(answer?.body.status).toBe(answer?.status)
    const mayWait = ['rate_limited', 'unavailable'].includes(answer?.body.code)
    expect(answer?.headers.has('retry-after')).toBe(mayWait)
  })

  test('is in the document, and there is no other', () => {
    const page = readFileSync('docs/reference/admin-api.md', 'utf8')
    const rows = [...page.matchAll(/^\| (\d{3}) +\| `(\w+)`/gm)].map(
      ([, status, code]) => `${status} ${code}`,
    )
    expect(rows.sort()).toEqual(Object.keys(provoked).sort())
  })

  test.each<[string, () => Promise<Pick<AdminAnswer, 'headers' | 'body'>>]>([
    [
      'link_dead',
      () => call('POST', 'links/use', { body: { token: `tgl_${'x'.repeat(43)}`, password: goodPassword } }),
    ],
    ['not_allowed', () => operator('POST', 'second-factor', { password: goodPassword })],
    ['idempotency_key_invalid', () => operator('POST', 'tenants', { name: 'x' }, { 'idempotency-key': ' ' })],
    ['body_not_json', () => callRaw('{')],
    ['body_not_object', () => callRaw('[]')],
  ])('the reason %s is that of what a client did', async (reason, provoke) => {
    const answer = await provoke()
    expect(answer.headers.get('x-tollgate-reason'), JSON.stringify(answer.body)).toBe(reason)
  })

  test('is all that the catalogue of the admin API has', () => {
    const codes = Object.keys(provoked).map((name) => name.split(' ')[1])
    const entries: Record<string, ReasonEntry> = adminReasons
    expect(Object.keys(entries).filter((reason) => !codes.includes(codeOf(entries[reason])))).toEqual([])
  })
})

const codeOf = (entry: ReasonEntry | undefined) => entry?.code ?? entry?.kind

/** A body as it stands here. */
async function callRaw(body: string): Promise<Pick<AdminAnswer, 'headers' | 'body'>> {
  const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' }
  const url = `http://127.0.0.1:${bed.tollgate.port}/admin/v1/tenants`
  const answer = await fetch(url, { method: 'POST', headers, body })
  return { headers: answer.headers, body: await answer.json() }
}
