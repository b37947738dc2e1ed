import { createHash } from 'node:crypto'

/**
 * Returns a strong ETag of a resource as shown by the API.
 * https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3
 * `unshown` changes with settings that can be set but are not shown. It must not be a secret itself, because
 * a hash of a text with few possible values can be guessed.
 */
export function etagOf(shown: unknown, unshown?: string | number | null): string {
  const text = JSON.stringify(unshown === undefined ? shown : [shown, unshown])
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
}

/**
 * Whether an `if-match` or `if-none-match` header contains the ETag; `*` matches any. Weak ETags are treated
 * as strong.
 */
export function hasEtag(header: string, etag: string): boolean {
  return header.split(',').some((part) => {
    const one = part.trim().replace(/^W\//, '')
    return one === '*' || one === etag
  })
}
