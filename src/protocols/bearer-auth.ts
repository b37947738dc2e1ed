/**
 * `authHeaders` of formats with a bearer token. An empty secret gives no header: some upstreams want no
 * credential.
 */
export function bearerAuth(secret: string): Record<string, string> {
  return secret === '' ? {} : { authorization: `Bearer ${secret}` }
}
