import { createHash, timingSafeEqual } from 'node:crypto'

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
