import { randomUUIDv7 } from 'node:crypto'
import { z } from 'zod'
import type { Actor } from '../../access/actor.ts'
import { lesserRole, may, type Verb } from '../../access/permissions.ts'
import {
  type ApiTokenRow,
  addApiToken,
  listApiTokens,
  revokeApiToken,
} from '../../access/users/api-token-queries.ts'
import { hashSecret, makeUserSecret, prefixes, secretHint } from '../../access/users/secrets.ts'
import { hasTenant } from '../../access/users/user-queries.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { AuthenticateContext } from './authenticate.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { listParameters, pageOf, pageSchema, rowPlaceAt, uuidText } from './list.ts'
import { role, scope } from './people-json.ts'
import { notAllowed, notFound } from './refusals.ts'

const tokenRequest = z
  .strictObject({
    name: z.string().min(1).max(128),
    scopes: z.array(scope).min(1).max(64).describe('`keys:write` includes `keys:read`.'),
    role: role
      .optional()
      .describe("The role of the token, with at most the creator's rights. Default: the creator's role."),
    tenant_id: z.uuid().nullable().optional().describe('The tenant, if the role is `member`.'),
    expires_at: z.iso
      .datetime({ offset: true })
      .nullable()
      .optional()
      .describe('When the token expires. Null if it never does.'),
  })
  .meta({ id: 'ApiTokenRequest' })

const apiToken = z
  .object({
    id: z.uuid(),
    name: z.string(),
    user_id: z
      .uuid()
      .nullable()
      .describe('The user who created the token. Null if it was created with ADMIN_TOKEN.'),
    role,
    tenant_id: z.uuid().nullable(),
    scopes: z.array(z.string()),
    hint: z.string().describe('The first characters of the token.'),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable(),
    used_at: z.iso.datetime().nullable().describe('When the token was last used, to the minute.'),
    revoked_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'ApiToken' })

const madeToken = apiToken
  .extend({ token: z.string().describe('The token, which is shown only once. Send it as a bearer token.') })
  .meta({ id: 'MadeApiToken' })

/**
 * API tokens for programs. Users create and see their own tokens, and a token sees itself. Owners and admins
 * see all tokens; owners can revoke any of them.
 */
export function apiTokensEndpoints({ people }: AuthenticateContext): AdminEndpoint[] {
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/api-tokens',
      area: 'any',
      summary: 'List API tokens: your own, or all of them with the right to read users',
      query: z.strictObject({
        ...listParameters(['-created_at']),
        sort: z.literal('-created_at').default('-created_at'),
        user_id: uuidText.optional(),
      }),
      answer: pageSchema(apiToken).meta({ id: 'ApiTokenList' }),
      async handle({ actor, query: { limit, cursor, sort, user_id: asked } }) {
        const filter = { ...seenBy(actor, 'read'), before: rowPlaceAt(sort, cursor)?.id }
        if (filter.userId === undefined) filter.userId = asked
        const rows = await people.database.keys.ask(({ db }) => listApiTokens(db, filter, limit + 1))
        const page = pageOf(rows, { limit, sort }, ({ id }) => ({ value: null, id }))
        return { body: { ...page, data: page.data.map(tokenJson) } }
      },
    }),
    adminChange({
      method: 'POST',
      path: '/admin/v1/api-tokens',
      area: 'any',
      verb: 'write',
      summary: 'Create an API token',
      description:
        'The token has the rights of its role, limited by its scopes, and never more than its creator currently has.',
      body: tokenRequest,
      answer: madeToken,
      statuses: [201],
      async change({ tx, actor, body, audit }) {
        if (actor.kind === 'token')
          throw notAllowed('An API token cannot create another one. Sign in or use ADMIN_TOKEN.')
        const { role, tenantId } = boundOf(actor, body)
        if (tenantId !== null && !(await hasTenant(tx, tenantId)))
          throw invalid('tenant_id', 'there is no such tenant')
        const expiresAt = expiryOf(body.expires_at)
        const token = makeUserSecret(prefixes.apiToken)
        const row: ApiTokenRow = {
          id: randomUUIDv7(),
          name: body.name,
          userId: actor.userId,
          role,
          tenantId,
          scopes: [...new Set(body.scopes)],
          tokenHash: hashSecret(token),
          hint: secretHint(token),
          createdAt: new Date(),
          expiresAt,
          usedAt: null,
          revokedAt: null,
        }
        await addApiToken(tx, row)
        const made = tokenJson(row)
        await audit({ ...lineOf('api_token.create', row), before: null, after: made })
        return { status: 201, body: { ...made, token } }
      },
    }),
    adminChange({
      method: 'DELETE',
      path: '/admin/v1/api-tokens/{id}',
      area: 'any',
      verb: 'write',
      summary: 'Revoke an API token',
      params: z.object({ id: uuidText }),
      answer: apiToken,
      async change({ tx, actor, params, audit }) {
        const { userId, id = params.id } = seenBy(actor, 'write')
        const row = id === params.id ? await revokeApiToken(tx, id, userId) : undefined
        if (row === undefined) throw notFound('such API token')
        const after = tokenJson(row)
        await audit({ ...lineOf('api_token.revoke', row), before: { ...after, revoked_at: null }, after })
        return { body: after }
      },
    }),
  ]
}

/** Returns the role and tenant of a new token, which cannot exceed those of its creator. */
function boundOf(
  actor: Actor,
  { role: asked, tenant_id: tenant }: z.output<typeof tokenRequest>,
): { role: Actor['role']; tenantId: string | null } {
  const role = asked ?? actor.role
  if (lesserRole(role, actor.role) !== role)
    throw invalid('role', `expected at most your own role, ${actor.role}`)
  const tenantId = role === 'member' ? (tenant ?? actor.tenantId) : (tenant ?? null)
  if (role === 'member' && tenantId === null) throw invalid('tenant_id', 'expected the tenant of the member')
  if (role !== 'member' && tenantId !== null) throw invalid('tenant_id', 'only a member has a tenant')
  if (actor.tenantId !== null && tenantId !== actor.tenantId)
    throw invalid('tenant_id', 'expected your own tenant')
  return { role, tenantId }
}

function expiryOf(text: string | null | undefined): Date | null {
  if (text === null || text === undefined) return null
  const expiresAt = new Date(text)
  if (expiresAt.getTime() <= Date.now()) throw invalid('expires_at', 'expected a time in the future')
  return expiresAt
}

/**
 * Selects the API tokens that the caller can see or revoke. With the right on `users`, all of them. Otherwise
 * a user has its own tokens, and a token only itself.
 */
function seenBy(actor: Actor, verb: Verb): { userId?: string | undefined; id?: string | undefined } {
  if (may(actor, 'users', verb)) return {}
  if (actor.kind === 'token') return { id: actor.id ?? nilId }
  return { userId: actor.userId ?? nilId }
}

/** An id that no user has. */
const nilId = '00000000-0000-0000-0000-000000000000'

function lineOf(action: string, { id, name, tenantId }: ApiTokenRow) {
  return { action, resource: 'api_token', id, name, tenantId }
}

function tokenJson(row: ApiTokenRow) {
  return {
    id: row.id,
    name: row.name,
    user_id: row.userId,
    role: row.role,
    tenant_id: row.tenantId,
    scopes: row.scopes,
    hint: row.hint,
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt?.toISOString() ?? null,
    used_at: row.usedAt?.toISOString() ?? null,
    revoked_at: row.revokedAt?.toISOString() ?? null,
  }
}
