import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import {
  addLink,
  deleteLink,
  endLinks,
  forgetOldLinks,
  type LinkRow,
  listLinks,
} from '../../access/users/link-queries.ts'
import { findLink, redeemLink } from '../../access/users/redeem.ts'
import { hasTenant, readUserByEmail } from '../../access/users/user-queries.ts'
import { invalid } from '../../canonical/field-error.ts'
import { type AuthenticateContext, requireOwnSite } from './authenticate.ts'
import { type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { uuidText } from './list.ts'
import { deleted, email, newPassword, role, user } from './people-json.ts'
import { conflict, notFound } from './refusals.ts'
import { browserOf } from './session.ts'
import { ownOrigin } from './session-cookie.ts'
import { userForAudit } from './user-audit.ts'

const invitationRequest = z
  .strictObject({
    email,
    role,
    tenant_id: z
      .uuid()
      .nullable()
      .default(null)
      .describe('The tenant of a member. Null for all other roles.'),
  })
  .meta({ id: 'InvitationRequest' })

const link = z.object({
  id: z.uuid(),
  purpose: z.enum(['setup', 'invitation', 'reset']),
  email: z.string().nullable(),
  role: role.nullable(),
  tenant_id: z.uuid().nullable(),
  made_by: z.string(),
  expires_at: z.iso.datetime(),
})

export const madeLink = link
  .extend({
    token: z
      .string()
      .describe(
        'The token, which is shown only once. Anyone who has it can use it with POST /admin/v1/links/use.',
      ),
    url: z
      .string()
      .describe(
        'The console page that uses the token. The part after the `#` does not appear in proxy logs.',
      ),
  })
  .meta({ id: 'MadeLink' })

const openLink = z
  .object({
    purpose: z.enum(['setup', 'invitation', 'reset']),
    email: z
      .string()
      .nullable()
      .describe('The address of the user. Null for a set-up link, whose user chooses it.'),
    expires_at: z.iso.datetime(),
  })
  .meta({ id: 'OpenLink' })

const linkToken = z
  .string()
  .describe('The token of the link. It is sent in the body so that it does not appear in proxy logs.')
const showRequest = z.strictObject({ token: linkToken }).meta({ id: 'ShowLinkRequest' })

const useRequest = z
  .strictObject({
    password: newPassword,
    email: email.optional().describe('The address of the user. Only for a set-up link.'),
    token: linkToken,
  })
  .meta({ id: 'UseLinkRequest' })

/** Links that work once: invitations, password resets, and the set-up link of the first start. */
export function linksEndpoints(context: AuthenticateContext): AdminEndpoint[] {
  return [...invitationsEndpoints(context), ...useEndpoints(context)]
}

function invitationsEndpoints(context: AuthenticateContext): AdminEndpoint[] {
  const { people } = context
  return [
    adminChange({
      method: 'POST',
      path: '/admin/v1/invitations',
      area: 'users',
      summary: 'Invite a user',
      description:
        'The link works once, is replaced by the next one for the same address, and is not shown again.',
      body: invitationRequest,
      answer: madeLink,
      statuses: [201],
      async change({ tx, actor, body, request, audit }) {
        const { email, role, tenant_id: tenantId } = body
        if ((role === 'member') !== (tenantId !== null))
          throw invalid(
            'tenant_id',
            role === 'member' ? 'expected the tenant of the member' : 'only a member has a tenant',
          )
        if (tenantId !== null && !(await hasTenant(tx, tenantId)))
          throw invalid('tenant_id', 'there is no such tenant')
        if ((await readUserByEmail(tx, email)) !== undefined)
          throw conflict(
            'There is already a user with this address. Change the role of that user instead.',
            'email',
          )
        await endLinks(tx, { purpose: 'invitation', email })
        await forgetOldLinks(tx)
        const lifeMs = people.bounds.invitationHours * 3_600_000
        const made = await addLink(tx, {
          purpose: 'invitation',
          email,
          role,
          tenantId,
          madeBy: actor.name,
          lifeMs,
        })
        await audit({
          action: 'invitation.create',
          resource: 'invitation',
          id: made.row.id,
          name: email,
          tenantId,
          before: null,
          after: { email, role, tenant_id: tenantId },
        })
        return { status: 201, body: shownLink(context, request, made, email) }
      },
    }),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/invitations',
      area: 'users',
      summary: 'List unused invitations and password resets',
      answer: z.object({ data: z.array(link) }).meta({ id: 'LinkList' }),
      async handle() {
        const rows = await people.database.keys.ask(({ db }) => listLinks(db))
        return { body: { data: rows.map((row) => linkJson(row, row.email)) } }
      },
    }),
    adminChange({
      method: 'DELETE',
      path: '/admin/v1/invitations/{id}',
      area: 'users',
      summary: 'Delete an invitation or a password reset',
      params: z.object({ id: uuidText }),
      answer: deleted,
      async change({ tx, params, audit }) {
        const row = await deleteLink(tx, params.id)
        if (row === undefined) throw notFound('such unused link')
        await audit({
          action: `${row.purpose}.delete`,
          resource: 'invitation',
          id: row.id,
          name: row.email ?? row.userId ?? row.id,
          tenantId: row.tenantId,
        })
        return { body: { deleted: true as const } }
      },
    }),
  ]
}

function useEndpoints(context: AuthenticateContext): AdminEndpoint[] {
  const { people, publicUrl } = context
  return [
    adminEndpoint({
      method: 'POST',
      path: '/admin/v1/links/show',
      area: 'open',
      summary: 'Get the purpose of a link',
      body: showRequest,
      answer: openLink,
      async handle({ body: { token } }) {
        const { link, email } = await findLink(people, token)
        return { body: { purpose: link.purpose, email, expires_at: link.expiresAt.toISOString() } }
      },
    }),
    adminEndpoint({
      method: 'POST',
      path: '/admin/v1/links/use',
      area: 'open',
      summary: 'Use a link to set the password',
      description: 'A link works once. Sign in afterwards with POST /admin/v1/session.',
      body: useRequest,
      answer: user,
      async handle({ body: { token, password, email }, request, requestId }) {
        requireOwnSite(request, publicUrl)
        const browser = browserOf(context, request, requestId)
        return { body: userForAudit(await redeemLink(people, token, { password, email }, browser)) }
      },
    }),
  ]
}

export function shownLink(
  { publicUrl }: Pick<AuthenticateContext, 'publicUrl'>,
  request: IncomingMessage,
  { row, secret }: { row: LinkRow; secret: string },
  email: string,
): z.input<typeof madeLink> {
  const url = `${ownOrigin(request, publicUrl)}/console/link#${secret}`
  return { ...linkJson(row, email), token: secret, url }
}

function linkJson(row: LinkRow, email: string | null): z.input<typeof link> {
  return {
    id: row.id,
    purpose: row.purpose,
    email,
    role: row.role,
    tenant_id: row.tenantId,
    made_by: row.madeBy,
    expires_at: row.expiresAt.toISOString(),
  }
}
