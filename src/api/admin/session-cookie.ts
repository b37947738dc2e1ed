import type { IncomingMessage } from 'node:http'
import { gatewayError } from '../../canonical/error.ts'
import { calledOrigin } from '../../http/client-address.ts'

/** A cookie of the admin API. Scripts cannot read it, and a browser sends it to this host only. */
export interface CookieKind {
  name: string
  /** `lax`: the browser also sends it when another site leads it here. */
  sameSite: 'strict' | 'lax'
}

export const sessionCookie: CookieKind = { name: 'tollgate', sameSite: 'strict' }
/**
 * It proves nothing but that this browser has signed in before (access/users/device.ts). It stays at a
 * sign-out.
 */
export const deviceCookie: CookieKind = { name: 'tollgate-device', sameSite: 'strict' }
export const oidcCookie: CookieKind = { name: 'tollgate-sso', sameSite: 'lax' }

/** The header that sets the cookie, or deletes it if the value is undefined. */
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
 * The value that the browser sent. Undefined: it sent none, or two, of which another site may have set one.
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

/** The origin of this server in browsers. Throws `invalid_request` if the header `host` is not a host. */
export function ownOrigin(request: IncomingMessage, publicUrl: string | undefined): string {
  const url = URL.parse(publicUrl ?? calledOrigin(request))
  if (url === null) throw gatewayError('host_invalid')
  return url.origin
}

/**
 * A browser takes `__Host-` only from an HTTPS server, with Path=/ and without a domain: no other host can
 * set it.
 */
function fullName(name: string, isSecure: boolean): string {
  return isSecure ? `__Host-${name}` : name
}
