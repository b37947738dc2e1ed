import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Config } from '../config/config.ts'

/**
 * Adds CORS headers to the answer for a page of another origin. Returns true when the request was a
 * preflight, which is then answered.
 */
export type CrossOrigin = (request: IncomingMessage, response: ServerResponse) => boolean

/**
 * Returns the handler for requests from pages of other origins. They are allowed without credentials: a page
 * sends a key that it was given, and none of our cookies. Undefined when no origin is set, so that nothing is
 * allowed. `isOpen` says whether pages may call a path.
 *
 * https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export function crossOrigin(
  { corsOrigins: origins, corsHeaders, corsExposedHeaders }: CorsSettings,
  isOpen: (path: string) => boolean,
): CrossOrigin | undefined {
  if (origins === undefined) return undefined
  const isAny = origins.includes('*')
  const exposed = corsExposedHeaders.join(', ')
  return (request, response) => {
    const { origin, 'access-control-request-headers': wanted = '' } = request.headers
    if (origin === undefined || !(isAny || origins.includes(origin.toLowerCase()))) return false
    if (!isOpen((request.url ?? '').replace(/\?.*$/s, ''))) return false
    response.setHeader('access-control-allow-origin', isAny ? '*' : origin)
    if (!isAny) response.appendHeader('vary', 'origin')
    if (!isPreflight(request)) {
      response.setHeader('access-control-expose-headers', exposed)
      return false
    }
    const headers = corsHeaders?.join(', ') ?? headerNames(wanted)
    response.writeHead(204, {
      'access-control-allow-methods': 'GET, POST, DELETE',
      ...(headers !== '' && { 'access-control-allow-headers': headers }),
      'access-control-max-age': String(preflightSeconds),
    })
    response.end()
    return true
  }
}

type CorsSettings = Pick<Config, 'corsOrigins' | 'corsHeaders' | 'corsExposedHeaders'>

/** True for a preflight, in which a browser asks whether a page may send a request. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  )
}

/** How long a browser may cache a preflight; no browser caches it longer. */
const preflightSeconds = 7200

/** Returns the header names in a list. */
function headerNames(list: string): string {
  const names = list.split(',').map((name) => name.trim())
  return names.filter((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name)).join(', ')
}
