import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import type { AuditEntry } from '../../access/audit-queries.ts'
import { areas, may, verbs } from '../../access/permissions.ts'
import { deviceDays } from '../../access/users/device.ts'
import { isSecret, prefixes } from '../../access/users/secrets.ts'
import { endSession, listSessions } from '../../access/users/session-queries.ts'
import { type Browser, type SignedIn, signIn } from '../../access/users/sign-in.ts'
import { clientAddressOf } from '../../http/client-address.ts'
import { type AuthenticateContext, requireOwnSite } from './authenticate.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { uuidText } from './list.ts'
import { code, email, ended, givenPassword, session } from './people-json.ts'
import { notFound } from './refusals.ts'
import { cookieHeader, cookieOf, deviceCookie, ownOrigin, sessionCookie } from './session-cookie.ts'

const signInRequest = z
  .strictObject({ email, password: givenPassword, code: code.optional() })
  .meta({ id: 'SignInRequest' })

const openSessions = z
  .object({
    data: z.array(
      z.object({
        id: z.uuid(),
        current: z.boolean().describe('Whether this is the session of this call.'),
        method: z.enum(['password', 'oidc']),
        address: z.string(),
        user_agent: z.string(),
        created_at: z.iso.datetime(),
        used_at: z.iso.datetime(),
        expires_at: z.iso.datetime(),
      }),
    ),
  })
  .meta({ id: 'OpenSessions' })

/** Sign-in, sign-out, and the sessions of the calling user. */
export function sessionEndpoints(context: AuthenticateContext): AdminEndpoint[] {
  const { people, publicUrl } = context
  const idleMs = people.bounds.sessionIdleMinutes * 60_000
  return [
    adminEndpoint({
      method: 'POST',
      path: '/admin/v1/session',
      area: 'open',
      summary: 'Sign in',
      description:
        'Sets a session cookie. After the error `second_factor_required`, send the same body again with `code`. Attempts are limited per network, and per account and network. A browser that has signed in before has its own limit.',
      body: signInRequest,
      answer: session,
      async handle({ request, requestId, body }) {
        requireOwnSite(request, publicUrl)
        const signedIn = await signIn(
          people,
          { ...body, code: body.code },
          browserOf(context, request, requestId),
        )
        return { body: shownSession(actorOf(signedIn)), headers: sessionHeaders(context, request, signedIn) }
      },
    }),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/session',
      area: 'any',
      summary: 'Get the caller and its rights',
      answer: session,
      async handle({ actor }) {
        return { body: shownSession(actor) }
      },
    }),
    adminChange({
      method: 'DELETE',
      path: '/admin/v1/session',
      area: 'self',
      summary: 'Sign out',
      answer: ended,
      async change({ tx, actor, request, audit }) {
        await endSession(tx, actor.sessionId ?? '', actor.userId ?? '')
        await audit(endOf(actor))
        return { body: { ended: true as const }, headers: { 'set-cookie': noSession(context, request) } }
      },
    }),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/sessions',
      area: 'self',
      summary: 'List the sessions of the calling user',
      answer: openSessions,
      async handle({ actor }) {
        const rows = await people.database.keys.ask(({ db }) => listSessions(db, actor.userId ?? '', idleMs))
        return {
          body: {
            data: rows.map((row) => ({
              id: row.id,
              current: row.id === actor.sessionId,
              method: row.method,
              address: row.address,
              user_agent: row.userAgent,
              created_at: row.createdAt.toISOString(),
              used_at: row.usedAt.toISOString(),
              expires_at: row.expiresAt.toISOString(),
            })),
          },
        }
      },
    }),
    adminChange({
      method: 'DELETE',
      path: '/admin/v1/sessions/{id}',
      area: 'self',
      summary: 'End a session of the calling user',
      params: z.object({ id: uuidText }),
      answer: ended,
      async change({ tx, actor, params, audit }) {
        const isEnded = await endSession(tx, params.id, actor.userId ?? '')
        if (!isEnded) throw notFound('such session')
        await audit(endOf(actor))
        return { body: { ended: true as const } }
      },
    }),
  ]
}

/** Returns the browser of a call, with its current session. */
export function browserOf(
  { publicUrl }: Pick<AuthenticateContext, 'publicUrl'>,
  request: IncomingMessage,
  requestId: string,
): Browser {
  const isSecure = ownOrigin(request, publicUrl).startsWith('https:')
  const former = cookieOf(request, sessionCookie, isSecure)
  return {
    address: clientAddressOf(request),
    userAgent: (request.headers['user-agent'] ?? '').slice(0, 512),
    formerSession: former !== undefined && isSecret(former, prefixes.session) ? former : undefined,
    device: cookieOf(request, deviceCookie, isSecure),
    requestId,
  }
}

/** Returns the cookies of a new session: one for the session and one for the browser. */
export function sessionHeaders(
  { people, publicUrl }: Pick<AuthenticateContext, 'people' | 'publicUrl'>,
  request: IncomingMessage,
  { session, device }: SignedIn,
): { 'set-cookie': string[] } {
  const isSecure = ownOrigin(request, publicUrl).startsWith('https:')
  return {
    'set-cookie': [
      cookieHeader(sessionCookie, session, { isSecure, seconds: people.bounds.sessionHours * 3600 }),
      cookieHeader(deviceCookie, device, { isSecure, seconds: deviceDays * 86_400 }),
    ],
  }
}

function noSession({ publicUrl }: Pick<AuthenticateContext, 'publicUrl'>, request: IncomingMessage): string {
  const isSecure = ownOrigin(request, publicUrl).startsWith('https:')
  return cookieHeader(sessionCookie, undefined, { isSecure, seconds: 0 })
}

export function actorOf({ user }: Pick<SignedIn, 'user'>): Actor {
  const { id, email, role, tenantId } = user
  return { kind: 'user', id, userId: id, name: email, role, tenantId, scopes: undefined }
}

export function shownSession(actor: Actor): z.input<typeof session> {
  const rights = areas.map((area) => [area, verbs.filter((verb) => may(actor, area, verb))] as const)
  return {
    kind: actor.kind,
    id: actor.id,
    name: actor.name,
    role: actor.role,
    tenant_id: actor.tenantId,
    may: Object.fromEntries(rights),
  }
}

/** Returns the audit line for the end of the actor's own session. */
function endOf({ userId, name, tenantId }: Actor): AuditEntry {
  return { action: 'session.end', resource: 'user', id: userId ?? '', name, tenantId }
}
