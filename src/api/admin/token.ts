import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Actor } from '../../access/actor.ts'
import { GatewayError } from '../../canonical/error.ts'

/** ADMIN_TOKEN opens all. */
export function tokenAccess(adminToken: string) {
  return async (request: IncomingMessage): Promise<Actor> => {
    if (bearsAdminToken(request.headers.authorization, adminToken)) return operator
    const message = 'This path needs ADMIN_TOKEN: send it as "authorization: Bearer TOKEN".'
    throw new GatewayError('unauthenticated', message)
  }
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

/** True for `Bearer ADMIN_TOKEN`. A browser never sends a bearer token by itself, so no other site can use one. */
export function bearsAdminToken(authorization: string | undefined, adminToken: string): boolean {
  const [scheme = '', value = ''] = (authorization ?? '').split(/\s+/)
  return scheme.toLowerCase() === 'bearer' && isAdminToken(value, adminToken)
}

/** Takes the same time for every guess. */
export function isAdminToken(given: string, adminToken: string): boolean {
  // All digests have the same length, so the time does not reveal the length of the token.
  return timingSafeEqual(digest(given), digest(adminToken))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
