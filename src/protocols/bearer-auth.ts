/**
 * `authHeaders` of formats with a bearer token. An empty secret results in no header, because some upstreams
 * require no credential.
 */
export function bearerAuth(secret: string): Record<string, string> {
  return secret === '' ? {} : { authorization: `Bearer ${secret}` }
}
