import { createHash } from 'node:crypto'

/**
 * A strong ETag of a resource as the API shows it. https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3
 * `unshown` changes with what can be set and is not shown. It is not a secret itself: a hash of few possible
 * texts can be guessed.
 */
export function etagOf(shown: unknown, unshown?: string | number | null): string {
  const text = JSON.stringify(unshown === undefined ? shown : [shown, unshown])
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
}

/**
 * Whether a header `if-match` or `if-none-match` has the ETag; `*` has each. Weak ones count as strong here.
 */
export function hasEtag(header: string, etag: string): boolean {
  return header.split(',').some((part) => {
    const one = part.trim().replace(/^W\//, '')
    return one === '*' || one === etag
  })
}
