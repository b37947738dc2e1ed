import { expect } from 'vitest'
import type { Reached } from './bed.ts'
import { until } from './until.ts'

export interface AdminAnswer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: what a client reads from JSON.
  body: any
  headers: Headers
  /** `name=value` of the session cookie that the answer sets. */
  cookie: string | undefined
}

export interface AdminCallOptions {
  body?: unknown
  /** `name=value`. It goes with the headers by which a browser says that the page is ours. */
  cookie?: string | undefined
  token?: string | undefined
  headers?: Record<string, string>
}

export type AdminClient = (method: string, path: string, options?: AdminCallOptions) => Promise<AdminAnswer>

/** Calls the admin API of a server: `call('GET', 'session', { cookie })`. */
export function adminClient(url: string): AdminClient {
  return async (method, path, { body, cookie, token, headers = {} } = {}) => {
    const response = await fetch(`${url}/admin/v1/${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(cookie === undefined ? {} : { cookie, 'sec-fetch-site': 'same-origin' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const cookie_ = response.headers
      .getSetCookie()
      .map((each) => each.split(';')[0] ?? '')
      .find((each) => /^(__Host-)?tollgate=/.test(each))
    return {
      status: response.status,
      body: text === '' ? undefined : JSON.parse(text),
      headers: response.headers,
      cookie: cookie_,
    }
  }
}

export const ownerEmail = 'owner@example.com'
export const goodPassword = 'correct horse battery'

/** The token of the set-up link that the start has printed. */
export async function setupToken(tollgate: Pick<Reached, 'stdout'>): Promise<string> {
  return await until(() => /(?:"token":"|\/console\/link#)(tgl_\w+)/.exec(tollgate.stdout())?.[1])
}

/** Make the first owner by the printed link, and sign in. Returns the cookie. */
export async function becomeOwner(tollgate: Pick<Reached, 'stdout'>, call: AdminClient): Promise<string> {
  const body = { token: await setupToken(tollgate), email: ownerEmail, password: goodPassword }
  const made = await call('POST', 'links/use', { body })
  expect(made).toMatchObject({ status: 200, body: { email: ownerEmail, role: 'owner' } })
  return await signedIn(call, ownerEmail)
}

export async function signedIn(call: AdminClient, email: string, password = goodPassword): Promise<string> {
  const answer = await call('POST', 'session', { body: { email, password } })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  expect(answer.cookie).toBeDefined()
  return answer.cookie ?? ''
}

/** Invite somebody, who takes the invitation. Returns id and cookie. */
export async function join(
  call: AdminClient,
  owner: string,
  invitation: { email: string; role: string; tenant_id?: string },
): Promise<{ id: string; cookie: string }> {
  const invited = await call('POST', 'invitations', { cookie: owner, body: invitation })
  expect(invited.status, JSON.stringify(invited.body)).toBe(201)
  const { token } = invited.body
  const made = await call('POST', 'links/use', { body: { token, password: goodPassword } })
  expect(made.status, JSON.stringify(made.body)).toBe(200)
  return { id: made.body.id, cookie: await signedIn(call, invitation.email) }
}
