import { z } from 'zod'
import { addLink, endLinks } from '../../access/users/link-queries.ts'
import { auditedUser } from '../../access/users/people.ts'
import { endUserSessions } from '../../access/users/session-queries.ts'
import {
  changeUser,
  deleteUser,
  hasTenant,
  isLastOwner,
  listUsers,
  lockUser,
  readUser,
  type UserChange,
  type UserRow,
} from '../../access/users/user-queries.ts'
import { invalid } from '../../canonical/field-error.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import { removeSecondFactor } from './account.ts'
import type { AuthenticateContext } from './authenticate.ts'
import { type AdminChange, type AdminEndpoint, adminChange, adminEndpoint } from './endpoint.ts'
import { etagOf } from './etag.ts'
import { madeLink, shownLink } from './links.ts'
import { listParameters, pageOf, pageSchema, placeAt, uuidText } from './list.ts'
import { deleted, ended, role, user } from './people-json.ts'
import { conflict, notFound } from './refusals.ts'
import { userForAudit } from './user-audit.ts'

const params = z.object({ id: uuidText })
const userChange = z
  .strictObject({
    role: role.optional(),
    tenant_id: z.uuid().nullable().optional().describe('The tenant of a member. Null for all other roles.'),
    disabled: z.boolean().optional(),
  })
  .meta({ id: 'UserChange' })

/** Users, managed by owners. Admins can read them. */
export function usersEndpoints(context: AuthenticateContext): AdminEndpoint[] {
  const { people } = context
  return [
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/users',
      area: 'users',
      summary: 'List users by e-mail address',
      query: z.strictObject({ ...listParameters(['email']), sort: z.literal('email').default('email') }),
      answer: pageSchema(user).meta({ id: 'UserList' }),
      async handle({ query: { limit, cursor, sort } }) {
        const after = placeAt(sort, cursor)?.value
        const rows = await people.database.keys.ask(({ db }) =>
          listUsers(db, limit + 1, typeof after === 'string' ? after : undefined),
        )
        const page = pageOf(rows, { limit, sort }, ({ email, id }) => ({ value: email, id }))
        return { body: { ...page, data: page.data.map(userForAudit) } }
      },
    }),
    adminEndpoint({
      method: 'GET',
      path: '/admin/v1/users/{id}',
      area: 'users',
      summary: 'Get a user',
      params,
      answer: user,
      async handle({ params: { id } }) {
        const row = await people.database.keys.ask(({ db }) => readUser(db, id))
        if (row === undefined) throw notFound('such user')
        return { body: userForAudit(row), etag: etagOf(auditedUser(row)) }
      },
    }),
    userChangeEndpoint(),
    adminChange({
      method: 'DELETE',
      path: '/admin/v1/users/{id}',
      area: 'users',
      ifMatch: 'user',
      summary: 'Delete a user with its sessions and API tokens',
      params,
      answer: deleted,
      async change({ tx, params, audit, requireMatch }) {
        const before = await requireUser(tx, params.id)
        requireMatch(etagOf(auditedUser(before)))
        await requireOtherOwner(tx, before)
        await deleteUser(tx, before.id)
        await audit({ ...lineOf('user.delete', before), before: auditedUser(before), after: null })
        return { body: { deleted: true as const } }
      },
    }),
    resetLinkEndpoint(context),
    lostFactorEndpoint(),
    adminChange({
      method: 'DELETE',
      path: '/admin/v1/users/{id}/sessions',
      area: 'users',
      summary: 'End all sessions of a user',
      params,
      answer: ended,
      async change({ tx, params, audit }) {
        const before = await requireUser(tx, params.id)
        await endUserSessions(tx, before.id)
        await audit(lineOf('session.end', before))
        return { body: { ended: true as const } }
      },
    }),
  ]
}

function userChangeEndpoint(): AdminEndpoint {
  return adminChange({
    method: 'PATCH',
    path: '/admin/v1/users/{id}',
    area: 'users',
    ifMatch: 'user',
    summary: 'Change the role or the tenant of a user, or disable the user',
    description: 'Ends all sessions of the user. The last owner always remains an owner.',
    params,
    body: userChange,
    answer: user,
    async change(call) {
      const { tx, params, body, requireMatch } = call
      const before = await requireUser(tx, params.id)
      requireMatch(etagOf(auditedUser(before)))
      const after = changed(before, body)
      const isOwner = after.role === 'owner' && after.disabledAt === null
      if (!isOwner) await requireOtherOwner(tx, before)
      if (after.tenantId !== null && !(await hasTenant(tx, after.tenantId)))
        throw invalid('tenant_id', 'there is no such tenant')
      const { role, tenantId, disabledAt } = after
      await applyChange(call, 'user.change', before, { role, tenantId, disabledAt })
      return { body: userForAudit(after), etag: etagOf(auditedUser(after)) }
    },
  })
}

function resetLinkEndpoint(context: AuthenticateContext): AdminEndpoint {
  const { people } = context
  return adminChange({
    method: 'POST',
    path: '/admin/v1/users/{id}/reset-link',
    area: 'users',
    summary: 'Create a link with which a user can set a new password',
    description:
      'The link works once, is replaced by the next one, and is not shown again. Pass it on to the user.',
    params,
    answer: madeLink,
    statuses: [201],
    async change({ tx, params, actor, request, audit }) {
      const before = await requireUser(tx, params.id)
      if (before.disabledAt !== null) throw conflict('The user is disabled.')
      await endLinks(tx, { purpose: 'reset', userId: before.id })
      const made = await addLink(tx, {
        purpose: 'reset',
        userId: before.id,
        madeBy: actor.name,
        lifeMs: people.bounds.resetLinkMinutes * 60_000,
      })
      await audit(lineOf('user.reset', before))
      return { status: 201, body: shownLink(context, request, made, before.email) }
    },
  })
}

function lostFactorEndpoint(): AdminEndpoint {
  return adminChange({
    method: 'DELETE',
    path: '/admin/v1/users/{id}/second-factor',
    area: 'users',
    ifMatch: 'user',
    summary: 'Remove the second factor of a user who has lost it',
    params,
    answer: user,
    async change({ tx, params, audit, requireMatch }) {
      const before = await requireUser(tx, params.id)
      requireMatch(etagOf(auditedUser(before)))
      const after = { ...before, totpSecret: null, totpConfirmedAt: null }
      await removeSecondFactor(tx, before.id)
      await endUserSessions(tx, before.id)
      await audit({
        ...lineOf('second_factor.disable', before),
        before: auditedUser(before),
        after: auditedUser(after),
      })
      return { body: userForAudit(after), etag: etagOf(auditedUser(after)) }
    },
  })
}

function changed(before: UserRow, body: z.output<typeof userChange>): UserRow {
  const role = body.role ?? before.role
  // Only members have a tenant.
  const kept = role === 'member' ? before.tenantId : null
  const tenantId = body.tenant_id === undefined ? kept : body.tenant_id
  if (role === 'member' && tenantId === null) throw invalid('tenant_id', 'expected the tenant of the member')
  if (role !== 'member' && tenantId !== null) throw invalid('tenant_id', 'only a member has a tenant')
  const disabledAt =
    body.disabled === undefined ? before.disabledAt : body.disabled ? (before.disabledAt ?? new Date()) : null
  return { ...before, role, tenantId, disabledAt }
}

async function applyChange(
  { tx, audit }: Pick<AdminChange, 'tx' | 'audit'>,
  action: string,
  before: UserRow,
  change: UserChange,
): Promise<void> {
  await changeUser(tx, before.id, change)
  await endUserSessions(tx, before.id)
  await audit({
    ...lineOf(action, before),
    before: auditedUser(before),
    after: auditedUser({ ...before, ...change }),
  })
}

function lineOf(action: string, { id, email, tenantId }: UserRow) {
  return { action, resource: 'user', id, name: email, tenantId }
}

async function requireUser(tx: TypedTransaction, id: string): Promise<UserRow> {
  const found = await lockUser(tx, id)
  if (found === undefined) throw notFound('such user')
  return found
}

/** Locks all owners. Two changes of owners that block each other run again, one after the other. */
async function requireOtherOwner(tx: TypedTransaction, before: UserRow): Promise<void> {
  if (before.role === 'owner' && before.disabledAt === null && (await isLastOwner(tx, before.id)))
    throw conflict('This is the last owner. Make another user an owner first.', undefined, 'last_owner')
}
