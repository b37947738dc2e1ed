import { createHash, timingSafeEqual } from 'node:crypto'

/** True for `Bearer ADMIN_TOKEN`. Browsers send no bearer token by themselves, so that no other site can act by one. */
export function bearsAdminToken(authorization: string | undefined, adminToken: string): boolean {
  const [scheme = '', value = ''] = (authorization ?? '').split(/\s+/)
  return scheme.toLowerCase() === 'bearer' && isAdminToken(value, adminToken)
}

/** Takes as long for any guess. */
export function isAdminToken(given: string, adminToken: string): boolean {
  // Digests have one length, so that the comparison tells nothing of the token's.
  return timingSafeEqual(digest(given), digest(adminToken))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
