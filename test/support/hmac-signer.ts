import { createHash, createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { UnsignedRequest } from '../../src/upstream/signer.ts'

/** A signature as clouds have them: an HMAC over the method, the path, the host, all headers and the hash of the body. */
export function hmacSigner({ method, url, headers, body, credential }: UnsignedRequest): string[] {
  const { host, pathname, search } = new URL(url)
  const named = new Map([['host', host]])
  for (let at = 0; at < headers.length; at += 2)
    named.set(String(headers[at]).toLowerCase(), String(headers[at + 1]))
  const pieces = body === null ? [] : Buffer.isBuffer(body) ? [body] : body.pieces
  const names = [...named.keys()]
  const lines = [method, pathname + search, ...named.values(), hashOf(pieces)]
  return ['authorization', `HMAC ${names.join(';')} ${hmacOf(credential.secret, lines)}`]
}

/** Whether an upstream that has the secret finds that exactly this request was signed. */
export function isSigned(
  secret: string,
  {
    method,
    path,
    headers,
    body,
  }: { method: string; path: string; headers: IncomingHttpHeaders; body: Buffer },
): boolean {
  const [scheme, names = '', signature] = String(headers.authorization).split(' ')
  const values = names.split(';').map((name) => String(headers[name]))
  return scheme === 'HMAC' && signature === hmacOf(secret, [method, path, ...values, hashOf([body])])
}

function hashOf(pieces: readonly Buffer[]): string {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}

function hmacOf(secret: string, lines: readonly string[]): string {
  return createHmac('sha256', secret).update(lines.join('\n')).digest('hex')
}
