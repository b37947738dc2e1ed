import { createHmac, timingSafeEqual } from 'node:crypto'
import { gatewayError } from '../canonical/error.ts'
import { type KeyRing, ringOf } from '../canonical/key-ring.ts'

/**
 * Creates and verifies links to images. A link allows a client to read the image without a key until the link
 * expires.
 */
export class ImageLinks {
  readonly #keys: KeyRing
  readonly #seconds: number

  /** `key` is 32 secret bytes that nothing else uses; `seconds` is the lifetime of a link. */
  constructor(key: Buffer | KeyRing, seconds: number) {
    this.#keys = Buffer.isBuffer(key) ? ringOf(key) : key
    this.#seconds = seconds
  }

  /** Returns the path and query of the image: `/v1/images/files/FILE?expires=SECONDS&signature=BASE64URL`. */
  sign(file: string, nowMs: number): string {
    const expires = String(Math.floor(nowMs / 1000) + this.#seconds)
    return `/v1/images/files/${file}?expires=${expires}&signature=${signatureOf(file, expires, this.#keys.current)}`
  }

  /**
   * Returns the whole seconds until the link expires. Throws a GatewayError if the signature is invalid or
   * the link has expired.
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
   * A former key may have leaked to someone who could sign links that never expire. Therefore a link signed
   * with it is accepted only if the key could have signed it before it was replaced.
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

/** A file name contains no line break, so no other pair of values produces the same text. */
function signatureOf(file: string, expires: string, key: Buffer): string {
  return createHmac('sha256', key).update(`${file}\n${expires}`).digest('base64url')
}

/**
 * Compares in constant time. It compares the texts rather than the decoded bytes, because a signature has
 * only one valid spelling.
 */
function equal(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
