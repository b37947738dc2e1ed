import type { Actor } from '../../access/actor.ts'
import { may } from '../../access/permissions.ts'
import type { AdminEndpoint } from './endpoint.ts'
import { notAllowed, notFound } from './refusals.ts'

/** Throws `permission_denied` where the actor may not call the endpoint. */
export function permit(
  actor: Actor,
  { area, verb, tenants }: Pick<AdminEndpoint, 'area' | 'verb' | 'tenants'>,
): void {
  if (area === 'open' || area === 'any') return
  if (area === 'self') {
    if (actor.kind === 'user') return
    throw notAllowed('This path is for a user who is signed in, not for a program with a token.')
  }
  if (may({ role: actor.role, scopes: undefined }, area, verb)) {
    if (actor.tenantId !== null && tenants === 'all')
      throw notAllowed('A member of one tenant may not call this path.')
    if (may(actor, area, verb)) return
    throw notAllowed(`This API token lacks the scope "${area}:${verb}".`, 'scope_missing')
  }
  throw notAllowed(
    `The role "${actor.role}" may not ${verb} ${area}. An owner can change your role.`,
    'role_insufficient',
  )
}

/**
 * Whether the caller may know of channels: a member where answers name them to clients, and everybody who is
 * no member.
 */
export function seesRouting({ showsRouting }: { showsRouting: boolean }, { tenantId }: Actor): boolean {
  return tenantId === null || showsRouting
}

/** Throws `permission_denied` for a query about channels by a caller who may not see them. */
export function requireRouting(context: { showsRouting: boolean }, actor: Actor): void {
  if (!seesRouting(context, actor))
    throw notAllowed('A member of one tenant sees no channels here. Ask without "channel".')
}

/**
 * The tenant to which a list is bound: the one that was asked for, or a member's own; undefined: all tenants.
 * Throws `unknown_path` where a member asks for another one.
 */
export function listedTenant(actor: Actor, asked?: string): string | undefined {
  if (actor.tenantId === null) return asked
  if (asked !== undefined && asked !== actor.tenantId) throw notFound('such tenant')
  return actor.tenantId
}

/**
 * Throws `unknown_path`, as for an unknown resource, if the resource belongs to another tenant than the
 * member's.
 */
export function requireOwn(actor: Actor, tenantId: string | null, what: string): void {
  if (actor.tenantId !== null && actor.tenantId !== tenantId) throw notFound(what)
}
