import type { IncomingMessage } from 'node:http'
import type { Actor } from '../../access/actor.ts'
import { isScope, lesserRole, scopesWithin } from '../../access/permissions.ts'
import { noteApiTokenUse, readApiToken } from '../../access/users/api-token-queries.ts'
import type { People } from '../../access/users/people.ts'
import { hashSecret, isSecret, prefixes } from '../../access/users/secrets.ts'
import { noteSessionUse, readSession } from '../../access/users/session-queries.ts'
import { gatewayError } from '../../canonical/error.ts'
import type { Queries } from '../../db/transactions.ts'
import { clientAddressOf } from '../../http/client-address.ts'
import { cookieOf, ownOrigin, sessionCookie } from './session-cookie.ts'
import type { AdminToken } from './token.ts'

export interface AuthenticateContext {
  people: People
  publicUrl: string | undefined
}

const useNotedMs = 60_000

/**
 * Identifies the caller of the admin API, by ADMIN_TOKEN or an API token as the bearer token, otherwise by a
 * session cookie. Without `adminToken` there is no break-glass token. Rejects with `unauthenticated`, with
 * `rate_limited` for a network that guesses ADMIN_TOKEN, and with `permission_denied` for a change that
 * another site may have caused the browser to send.
 */
export async function authenticateAdmin(
  context: AuthenticateContext,
  adminToken: AdminToken | undefined,
  request: IncomingMessage,
): Promise<Actor> {
  const { authorization } = request.headers
  if (authorization === undefined) return await bySession(context, request)
  const [scheme = '', token = ''] = authorization.trim().split(/\s+/)
  if (scheme.toLowerCase() !== 'bearer') throw gatewayError('admin_caller_unknown')
  // An API token is too long to be guessed, so it does not count as a guess.
  if (isSecret(token, prefixes.apiToken)) return await byApiToken(context.people, token)
  if (adminToken?.accepts(token, clientAddressOf(request)) === true) return operator
  throw gatewayError('admin_caller_unknown')
}

const operator: Actor = {
  kind: 'operator',
  id: null,
  userId: null,
  name: 'ADMIN_TOKEN',
  role: 'owner',
  tenantId: null,
  scopes: undefined,
}

async function byApiToken(people: People, token: string): Promise<Actor> {
  const row = await people.database.keys.ask(({ db }) => readApiToken(db, hashSecret(token)))
  if (row === undefined) throw gatewayError('admin_caller_unknown')
  const role = row.userRole === null ? row.role : lesserRole(row.role, row.userRole)
  const tenantId = role === 'member' ? (row.userTenantId ?? row.tenantId) : null
  // The token is for a tenant other than the user's current one.
  if (row.tenantId !== null && tenantId !== row.tenantId) throw gatewayError('admin_caller_unknown')
  noteUse(people, row.usedAt, (db) => noteApiTokenUse(db, row.id))
  const scopes = row.scopes.filter(isScope)
  return {
    kind: 'token',
    id: row.id,
    userId: row.userId,
    name: row.name,
    role,
    tenantId,
    // A token can never do what its user cannot, whatever its own role is.
    scopes: row.userRole === null ? scopes : scopesWithin(row.userRole, scopes),
  }
}

async function bySession(
  { people, publicUrl }: AuthenticateContext,
  request: IncomingMessage,
): Promise<Actor> {
  const origin = ownOrigin(request, publicUrl)
  const secret = cookieOf(request, sessionCookie, origin.startsWith('https:'))
  if (secret === undefined || !isSecret(secret, prefixes.session)) throw gatewayError('admin_caller_unknown')
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const site = siteOf(request, origin)
  if (site === 'other' || (site === 'unknown' && !isRead)) throw gatewayError('other_site', { origin })
  const { database, bounds } = people
  const session = await database.keys.ask(({ db }) =>
    readSession(db, hashSecret(secret), bounds.sessionIdleMinutes * 60_000),
  )
  if (session === undefined) throw gatewayError('admin_caller_unknown')
  noteUse(people, session.usedAt, (db) => noteSessionUse(db, session.id))
  return {
    kind: 'user',
    id: session.userId,
    userId: session.userId,
    name: session.email,
    role: session.role,
    tenantId: session.tenantId,
    sessionId: session.id,
    scopes: undefined,
  }
}

/** Runs in the background. If it fails, the next use is recorded instead. */
function noteUse({ database, log }: People, usedAt: Date | null, note: (db: Queries) => Promise<void>): void {
  if (usedAt !== null && Date.now() - usedAt.getTime() < useNotedMs) return
  database.keys
    .ask(({ db }) => note(db))
    .catch((cause: unknown) =>
      log.info({ cause: String(cause) }, 'cannot record the use of a session or an API token'),
    )
}

/**
 * Refuses a sign-in, or a call to another open endpoint, that another site has caused the browser to send.
 */
export function requireOwnSite(request: IncomingMessage, publicUrl: string | undefined): void {
  const origin = ownOrigin(request, publicUrl)
  if (siteOf(request, origin) === 'other') throw gatewayError('other_site', { origin })
}

/**
 * Returns the site that the browser reports as the origin of a request. `unknown`: not a browser, an old
 * browser, or an address that was typed in. Pages cannot set these headers.
 * https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
 */
export function siteOf({ headers }: IncomingMessage, ownOrigin: string): 'own' | 'other' | 'unknown' {
  const site = headers['sec-fetch-site']
  if (site === 'none') return 'unknown'
  if (site !== undefined) return site === 'same-origin' ? 'own' : 'other'
  const { origin } = headers
  if (origin === undefined) return 'unknown'
  return origin === ownOrigin ? 'own' : 'other'
}
