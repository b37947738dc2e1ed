import type { IncomingMessage } from 'node:http'

/**
 * Where a browser says that a request comes from. `unknown`: it is no browser, or an old one, or somebody typed the
 * address. A page cannot write these headers. https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
 */
export function siteOf({ headers }: IncomingMessage, ownOrigin: string): 'own' | 'other' | 'unknown' {
  const site = headers['sec-fetch-site']
  if (site === 'none') return 'unknown'
  if (site !== undefined) return site === 'same-origin' ? 'own' : 'other'
  const { origin } = headers
  if (origin === undefined) return 'unknown'
  return origin === ownOrigin ? 'own' : 'other'
}
