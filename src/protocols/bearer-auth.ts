/** `authHeaders` of the formats with a bearer token. Empty for an empty secret: some upstreams want no credential. */
export function bearerAuth(secret: string): Record<string, string> {
  return secret === '' ? {} : { authorization: `Bearer ${secret}` }
}
