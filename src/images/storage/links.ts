import { createHmac, timingSafeEqual } from 'node:crypto'
import { gatewayError } from '../../canonical/error.ts'
import { type KeyRing, ringOf } from '../../canonical/key-ring.ts'

/** Links to images. With a link a client may read that image, without a key, until the link expires. */
export class ImageLinks {
  readonly #keys: KeyRing
  readonly #seconds: number

  /** `key`: 32 secret bytes that nothing else uses. `seconds`: the lifetime of a link. */
  constructor(key: Buffer | KeyRing, seconds: number) {
    this.#keys = Buffer.isBuffer(key) ? ringOf(key) : key
    this.#seconds = seconds
  }

  /** Path and query of the image's address: `/v1/images/files/FILE?expires=SECONDS&signature=BASE64URL`. */
  sign(file: string, nowMs: number): string {
    const expires = String(Math.floor(nowMs / 1000) + this.#seconds)
    return `/v1/images/files/${file}?expires=${expires}&signature=${signatureOf(file, expires, this.#keys.current)}`
  }

  /**
   * The whole seconds until the link expires. Throws a GatewayError when we did not sign it, or when it has
   * expired.
   */
  verify(file: string, expires: string | undefined, signature: string | undefined, nowMs: number): number {
    if (expires === undefined || signature === undefined || !this.#isSigned(signature, file, expires)) {
      throw gatewayError('image_link_unsigned')
    }
    const expiresMs = Number(expires) * 1000
    if (nowMs < expiresMs) return Math.floor((expiresMs - nowMs) / 1000)
    throw gatewayError('image_link_expired', { at: new Date(expiresMs).toISOString() })
  }

  /**
   * A former key may be known to others, who could sign links that never expire: of its links only those
   * count that it can have signed before another key took its place.
   */
  #isSigned(signature: string, file: string, expires: string): boolean {
    if (equal(signature, signatureOf(file, expires, this.#keys.current))) return true
    return this.#keys.former.some(
      ({ key, retiredMs }) =>
        Number(expires) * 1000 <= retiredMs + this.#seconds * 1000 &&
        equal(signature, signatureOf(file, expires, key)),
    )
  }
}

/** A file has no line break in its name, so no other pair of values gives the same text. */
function signatureOf(file: string, expires: string, key: Buffer): string {
  return createHmac('sha256', key).update(`${file}\n${expires}`).digest('base64url')
}

/** In constant time. It compares the texts, not the decoded bytes: a signature has only one spelling. */
function equal(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
