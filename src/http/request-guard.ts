import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { cameSafely, hostSyntax } from './client-address.ts'
import { HttpExchange } from './http-exchange.ts'
import type { Intake } from './intake.ts'

/**
 * Checks every request before any of it is used. Refuses a request over plain HTTP, and one that two HTTP
 * parsers could read as two different requests. A refused request gets a row and an error in the caller's
 * format, and its connection closes. Its key is neither looked up nor stored. `allowsPlain` permits plain
 * HTTP.
 */
export function requestGuard(intake: Intake, allowsPlain: boolean): RequestListener {
  return (request, response) => {
    // Ignore requests that follow a refused one on its connection.
    if (closingSockets.has(request.socket)) return
    // An upgrade request is answered in HTTP/1.1. Node's parser has dropped the bytes after it, so the
    // connection must close.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    const violation = violationIn(request, allowsPlain)
    if (violation === undefined) intake.serve(request, response)
    else refuse(intake, request, response, violation)
  }
}

/** A listener that refuses every request, for those with an unknown `expect`. */
export function refuseExpectation(intake: Intake): RequestListener {
  return (request, response) => refuse(intake, request, response, gatewayError('expectation_unknown'))
}

/** Connections that close after the answer that is being sent on them. */
const closingSockets = new WeakSet<Duplex>()

/**
 * Paths that are also served over plain HTTP: they show no secrets, and health checks have no certificate.
 */
const openPaths: ReadonlySet<string> = new Set(['/healthz', '/health', '/readyz'])

/**
 * Headers that may appear only once, because some parsers would use the second one as another body length,
 * host or key.
 */
const singleHeaders: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'content-encoding',
  'expect',
  'authorization',
  'x-api-key',
])

/**
 * Headers that may repeat only with the same value, because given two values, some parsers use the first and
 * some the last.
 */
const agreeingHeaders: ReadonlySet<string> = new Set(['content-type', 'anthropic-version', 'idempotency-key'])

function violationIn(request: IncomingMessage, allowsPlain: boolean): GatewayError | undefined {
  const { headers } = request
  const url = request.url ?? ''
  if (!allowsPlain && !cameSafely(request) && !openPaths.has(url)) {
    return gatewayError('plain_http_refused')
  }
  if (request.httpVersionMajor !== 1) return gatewayError('not_http')
  // Some parsers read a host name after two slashes.
  if (!url.startsWith('/') || url.startsWith('//') || url.includes('#')) {
    return gatewayError('request_target_invalid')
  }
  const { host } = headers
  if (host === undefined ? request.httpVersionMinor > 0 : !hostSyntax.test(host)) {
    return gatewayError('host_invalid')
  }
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || request.httpVersionMinor === 0)) {
    return gatewayError('body_framing_invalid')
  }
  const name = repeatedHeader(request)
  return name === undefined ? undefined : gatewayError('header_repeated', { name })
}

/**
 * Returns the name of a repeated header; undefined if there is none. Joins repeats with the same value into
 * one header.
 */
function repeatedHeader({ headers, rawHeaders }: IncomingMessage): string | undefined {
  let names = 0
  for (const _ in headers) names++
  // There are as many names as headers, so none is repeated.
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
    if (!mayAgree || before !== value) return name
    // Node joins the values of headers that it does not know.
    headers[name] = value
  }
  return undefined
}

function refuse(
  intake: Intake,
  request: IncomingMessage,
  response: ServerResponse,
  violation: GatewayError,
): void {
  closingSockets.add(request.socket)
  intake.refuse(new HttpExchange(request, response), violation)
}
