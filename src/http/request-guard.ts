import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { GatewayError } from '../canonical/error.ts'
import { cameSafely, hostSyntax } from './client-address.ts'
import type { Intake } from './intake.ts'

/**
 * What every request passes before anything of it is used. Refused are requests that came unprotected, and requests that
 * two readers could understand as two different ones. A refused request gets a row, an error in the caller's format, and
 * the end of its connection; its key is neither looked up nor kept. `allowsPlain`: plain HTTP is protected enough.
 */
export function requestGuard(intake: Intake, allowsPlain: boolean): RequestListener {
  return (request, response) => {
    // What follows a refused request is not read any more, even when it came along with it.
    if (shut.has(request.socket)) return
    // It is answered in this protocol, but the parser has dropped what came behind it: nothing may come after that.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    const refusal = refusalOf(request, allowsPlain)
    if (refusal === undefined) intake.serve(request, response)
    else turnAway(intake, request, response, refusal)
  }
}

/** Refuses every request that it hears of, with what `explain` says of it. */
export function refuseAll(intake: Intake, explain: (request: IncomingMessage) => string): RequestListener {
  return (request, response) => turnAway(intake, request, response, badRequest(explain(request)))
}

/** Connections that end with the answer they are getting now. */
const shut = new WeakSet<Duplex>()

/** Answered over plain HTTP as well: they hold no secrets, and a health check has no certificate. */
const openPaths: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

/** Headers that may come only once: a second one means another body, host or key to some readers. */
const singleHeaders: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'content-encoding',
  'expect',
  'authorization',
  'x-api-key',
])

/** Headers that may be repeated only with the same value: of two that differ, some readers take the first, some the last. */
const agreeingHeaders: ReadonlySet<string> = new Set(['content-type', 'anthropic-version', 'idempotency-key'])

function refusalOf(request: IncomingMessage, allowsPlain: boolean): GatewayError | undefined {
  const { headers } = request
  const url = request.url ?? ''
  if (!allowsPlain && !cameSafely(request) && !openPaths.has(url)) {
    return new GatewayError(
      'permission_denied',
      'This request came over plain HTTP, where its key can be read by others. Call https:// instead, and change the key if it was sent like this.',
    )
  }
  if (request.httpVersionMajor !== 1) return badRequest('Send HTTP/1.1.')
  // Two slashes begin the name of a host, for some readers.
  if (!url.startsWith('/') || url.startsWith('//') || url.includes('#')) {
    return badRequest(
      'The target of the request must be a path that begins with one slash, such as /v1/models.',
    )
  }
  const { host } = headers
  if (host === undefined ? request.httpVersionMinor > 0 : !hostSyntax.test(host)) {
    return badRequest('Send one "host" header with the name, or address, and port that you call.')
  }
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || request.httpVersionMinor === 0)) {
    return badRequest(
      'Send "transfer-encoding: chunked" with HTTP/1.1, or a "content-length"; nothing else frames a body here.',
    )
  }
  const twice = headerGivenTwice(request)
  return twice === undefined ? undefined : badRequest(twice)
}

/** A message about a repeated header; undefined when there is none. Repeats that agree become one header. */
function headerGivenTwice({ headers, rawHeaders }: IncomingMessage): string | undefined {
  let names = 0
  for (const _ in headers) names++
  // As many names as headers: none of them came twice.
  if (names * 2 === rawHeaders.length) return undefined
  const seen = new Map<string, string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase()
    const mayAgree = agreeingHeaders.has(name) || name.startsWith('x-tollgate-')
    if (!mayAgree && !singleHeaders.has(name)) continue
    const value = rawHeaders[i + 1] ?? ''
    const before = seen.get(name)
    seen.set(name, value)
    if (before === undefined) continue
    if (!mayAgree || before !== value) return `The header "${name}" came more than once. Send it once.`
    // Node joins those that it does not know.
    headers[name] = value
  }
  return undefined
}

function turnAway(
  intake: Intake,
  request: IncomingMessage,
  response: ServerResponse,
  refusal: GatewayError,
): void {
  shut.add(request.socket)
  intake.refuse(request, response, refusal)
}

function badRequest(message: string): GatewayError {
  return new GatewayError('invalid_request', message)
}
