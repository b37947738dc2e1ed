import type { Actor } from '../../access/actor.ts'
import { may } from '../../access/permissions.ts'
import type { AdminEndpoint } from './endpoint.ts'
import { notAllowed, notFound } from './refusals.ts'

/** Throws `permission_denied` if the actor is not allowed to call the endpoint. */
export function permit(
  actor: Actor,
  { area, verb, tenants }: Pick<AdminEndpoint, 'area' | 'verb' | 'tenants'>,
): void {
  if (area === 'open' || area === 'any') return
  if (area === 'self') {
    if (actor.kind === 'user') return
    throw notAllowed('This path is only for signed-in users, not for programs with a token.')
  }
  if (may({ role: actor.role, scopes: undefined }, area, verb)) {
    if (actor.tenantId !== null && tenants === 'all')
      throw notAllowed('Members of a tenant are not allowed to call this path.')
    if (may(actor, area, verb)) return
    throw notAllowed(`This API token lacks the scope "${area}:${verb}".`, 'scope_missing')
  }
  throw notAllowed(
    `The role "${actor.role}" is not allowed to ${verb} ${area}. An owner can change your role.`,
    'role_insufficient',
  )
}

/**
 * Whether the caller is allowed to see channels. Members are if responses to clients name channels; everyone
 * else always is.
 */
export function seesRouting({ showsRouting }: { showsRouting: boolean }, { tenantId }: Actor): boolean {
  return tenantId === null || showsRouting
}

/** Throws `permission_denied` for a query about channels by a caller who is not allowed to see them. */
export function requireRouting(context: { showsRouting: boolean }, actor: Actor): void {
  if (!seesRouting(context, actor))
    throw notAllowed('Members of a tenant cannot see channels here. Repeat the request without "channel".')
}

/**
 * Returns the tenant to which a list is restricted: the requested one or the member's own; undefined means
 * all tenants. Throws `unknown_path` if a member requests another tenant.
 */
export function listedTenant(actor: Actor, asked?: string): string | undefined {
  if (actor.tenantId === null) return asked
  if (asked !== undefined && asked !== actor.tenantId) throw notFound('such tenant')
  return actor.tenantId
}

/**
 * Throws `unknown_path`, as for an unknown resource, if the resource belongs to a tenant other than the
 * member's.
 */
export function requireOwn(actor: Actor, tenantId: string | null, what: string): void {
  if (actor.tenantId !== null && actor.tenantId !== tenantId) throw notFound(what)
}
