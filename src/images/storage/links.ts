import { createHmac, timingSafeEqual } from 'node:crypto'
import { GatewayError } from '../../canonical/error.ts'

/** Links to images. With a link a client may read that image, without a key, until the link expires. */
export class ImageLinks {
  readonly #key: Buffer
  readonly #seconds: number

  /** `key`: 32 secret bytes that nothing else uses. `seconds`: the lifetime of a link. */
  constructor(key: Buffer, seconds: number) {
    this.#key = key
    this.#seconds = seconds
  }

  /** Path and query of the image's address: `/v1/images/files/FILE?expires=SECONDS&signature=BASE64URL`. */
  sign(file: string, nowMs: number): string {
    const expires = String(Math.floor(nowMs / 1000) + this.#seconds)
    return `/v1/images/files/${file}?expires=${expires}&signature=${this.#signatureOf(file, expires)}`
  }

  /** Throws a GatewayError when we did not sign this link, or when it has expired. */
  verify(file: string, expires: string | undefined, signature: string | undefined, nowMs: number): void {
    if (expires === undefined || signature === undefined) {
      throw new GatewayError(
        'permission_denied',
        `The link is not whole: expires and signature belong to it. ${howToGetAnother}`,
      )
    }
    if (!equal(signature, this.#signatureOf(file, expires))) {
      throw new GatewayError(
        'permission_denied',
        `The signature of the link is wrong: it must be used as it was given. ${howToGetAnother}`,
      )
    }
    const expiresMs = Number(expires) * 1000
    if (nowMs < expiresMs) return
    throw new GatewayError(
      'permission_denied',
      `The link expired at ${new Date(expiresMs).toISOString()}. ${howToGetAnother}`,
    )
  }

  /** A file has no line break in its name, so no other pair of values gives the same text. */
  #signatureOf(file: string, expires: string): string {
    return createHmac('sha256', this.#key).update(`${file}\n${expires}`).digest('base64url')
  }
}

const howToGetAnother = 'GET /v1/images/generations/{id} answers with a new one.'

/** In constant time. It compares the texts, not the decoded bytes: a signature has only one spelling. */
function equal(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
