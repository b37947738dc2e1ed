import type { IncomingMessage } from 'node:http'
import { gatewayError } from '../../canonical/error.ts'
import { calledOrigin } from '../../http/client-address.ts'

/** A cookie of the admin API. Scripts cannot read it, and browsers only send it to this host. */
export interface CookieKind {
  name: string
  /** `lax`: the browser also sends the cookie when another site links here. */
  sameSite: 'strict' | 'lax'
}

export const sessionCookie: CookieKind = { name: 'tollgate', sameSite: 'strict' }
/**
 * Only proves that this browser has signed in before (access/users/device.ts). It is kept after a sign-out.
 */
export const deviceCookie: CookieKind = { name: 'tollgate-device', sameSite: 'strict' }
export const oidcCookie: CookieKind = { name: 'tollgate-sso', sameSite: 'lax' }

/** Returns the header that sets the cookie, or deletes it if the value is undefined. */
export function cookieHeader(
  { name, sameSite }: CookieKind,
  value: string | undefined,
  { isSecure, seconds }: { isSecure: boolean; seconds: number },
): string {
  return [
    `${fullName(name, isSecure)}=${value ?? ''}`,
    'Path=/',
    `Max-Age=${value === undefined ? 0 : seconds}`,
    'HttpOnly',
    `SameSite=${sameSite === 'strict' ? 'Strict' : 'Lax'}`,
    ...(isSecure ? ['Secure'] : []),
  ].join('; ')
}

/**
 * Returns the value that the browser sent. Undefined if it sent none, or two, of which another site may have
 * set one.
 */
export function cookieOf(
  request: IncomingMessage,
  { name }: CookieKind,
  isSecure: boolean,
): string | undefined {
  const wanted = fullName(name, isSecure)
  const values = (request.headers.cookie ?? '').split(';').flatMap((part) => {
    const at = part.indexOf('=')
    return at > 0 && part.slice(0, at).trim() === wanted ? [part.slice(at + 1).trim()] : []
  })
  return values.length === 1 ? values[0] : undefined
}

/**
 * Returns the origin of this server as seen by browsers. Throws `invalid_request` if the `host` header is not
 * a valid host.
 */
export function ownOrigin(request: IncomingMessage, publicUrl: string | undefined): string {
  const url = URL.parse(publicUrl ?? calledOrigin(request))
  if (url === null) throw gatewayError('host_invalid')
  return url.origin
}

/**
 * A browser accepts `__Host-` only from an HTTPS server, with Path=/ and without a domain, so no other host
 * can set the cookie.
 */
function fullName(name: string, isSecure: boolean): string {
  return isSecure ? `__Host-${name}` : name
}
