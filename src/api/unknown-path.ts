import type { IncomingMessage, ServerResponse } from 'node:http'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { isPreflight } from '../http/cors.ts'
import { HttpExchange } from '../http/http-exchange.ts'
import { asGatewayError } from '../pipeline/ending.ts'
import { type Endpoint, type PathFormat, unroutedFormat, unroutedPath } from '../pipeline/endpoints.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import { refuseSafely } from '../pipeline/handle-request.ts'
import { recognise } from '../pipeline/identify.ts'
import { newestOn, receive } from '../pipeline/received.ts'
import { noAttempts, type Unanswered } from '../pipeline/refuse.ts'
import { redactText } from '../redaction/redact.ts'
import { problemOf } from './admin/problem.ts'

const originCharactersMax = 128

type RoutedRequest = IncomingMessage & { path: string }

/**
 * Handles a request that matches no route. It has a row, and its error suggests the right path. Below
 * `/admin/v1` the error is in the problem details format and the same for every caller, and does not reveal
 * whether the path has other methods.
 */
export function unknownPath(gateway: Gateway, endpoints: readonly Endpoint[]) {
  return async (request: RoutedRequest, response: ServerResponse): Promise<void> => {
    const path = unroutedPath(request.path, request.headers)
    if (isWebSocket(request) && endpoints.some((endpoint) => endpoint.path === path)) {
      response.setHeader('upgrade', 'HTTP/1.1')
      await refuseUnrouted(gateway, request, response, gatewayError('websocket_not_served', { path }), {
        ...noAttempts,
        ownStatus: 426,
      })
      return
    }
    const error = isPreflight(request)
      ? gatewayError('origin_not_allowed', { origin: originOf(request), path })
      : gatewayError('path_unknown', {
          advice: isAdmin(path)
            ? `There is no ${request.method} ${path}. See GET /openapi.json for the available paths.`
            : adviceOn(endpoints, request.method ?? '', path),
        })
    await refuseUnrouted(gateway, request, response, error)
  }
}

/**
 * Called by Express if routing fails because the path contains an invalid escape or we made a mistake. The
 * request has a row, and its error is in the client's format.
 */
export function failedRouting(gateway: Gateway) {
  return async (
    cause: unknown,
    request: RoutedRequest,
    response: ServerResponse,
    _next: unknown,
  ): Promise<void> => {
    const begun = newestOn(request.socket)
    const error = cause instanceof URIError ? gatewayError('path_escape_invalid') : asGatewayError(cause)
    if (begun?.exchange.reply === response) await refuseSafely(gateway, begun, error)
    else await refuseUnrouted(gateway, request, response, error)
  }
}

async function refuseUnrouted(
  gateway: Gateway,
  request: RoutedRequest,
  response: ServerResponse,
  error: GatewayError,
  unanswered?: Unanswered,
): Promise<void> {
  const received = receive(gateway, formatOf(request), new HttpExchange(request, response))
  try {
    await recognise(gateway, received)
    await refuseSafely(gateway, received, error, unanswered)
  } catch (cause) {
    await refuseSafely(gateway, received, cause)
  }
}

/** Express ignores the case of paths. */
function isAdmin(path: string): boolean {
  return /^\/admin\/v1(\/|$)/i.test(path)
}

function formatOf(request: RoutedRequest): PathFormat {
  const format = unroutedFormat(request.path, request.headers)
  return isAdmin(request.path) ? { ...format, client: { ...format.client, encodeError: adminError } } : format
}

/** Not cached, like all responses of the admin API. */
function adminError(error: GatewayError, requestId: string) {
  const { headers, ...problem } = problemOf(error, requestId)
  return { ...problem, headers: { ...headers, 'cache-control': 'no-store' } }
}

/**
 * Some clients try a WebSocket first, such as Codex on /v1/responses. After a 426 they continue over HTTP at
 * once; any other refusal costs them seconds or the whole turn.
 * https://www.rfc-editor.org/rfc/rfc9110#section-15.5.22
 */
function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

function originOf({ headers }: IncomingMessage): string {
  return redactText(headers.origin ?? '', [], originCharactersMax)
}

/** Returns a message that names the endpoint to call instead. */
export function adviceOn(endpoints: readonly Endpoint[], method: string, path: string): string {
  // Only fixed paths are considered, because a path with an id in it would match too much.
  const known = endpoints.filter((endpoint) => !endpoint.path.includes('{'))
  const methods = known.filter((endpoint) => endpoint.path === path).map((endpoint) => endpoint.method)
  if (methods.length > 0) return `${path} does not support ${method}. Use ${methods.join(' or ')}.`
  const none = `There is no ${method} ${path}`
  if (/\/(health(z|check)?|livez|ping|status)\/?$/i.test(path))
    return `${none}. Use GET /healthz or GET /readyz.`
  const tail = path.replace(/\/+$/, '').replace(/\/{2,}/g, '/')
  const meant = nearest(known, tail)
  if (meant === undefined) return `${none}. See GET /openapi.json for the available paths.`
  return [`${none}. Use ${meant.method} ${meant.path}.`, ...baseAdvice(tail, meant.path)].join(' ')
}

/** Returns the endpoint with whose path the requested path ends. */
function nearest(known: readonly Endpoint[], tail: string): Endpoint | undefined {
  return known
    .toSorted((a, b) => b.path.length - a.path.length)
    .find((endpoint) => tail.endsWith(withoutVersion(endpoint.path)))
}

/**
 * Explains what is wrong with the SDK's base URL. Most SDKs expect one that ends in /v1, but Anthropic's adds
 * /v1 itself.
 */
function baseAdvice(tail: string, path: string): string[] {
  const isWhole = tail.endsWith(path)
  const before = tail.slice(0, -(isWhole ? path : withoutVersion(path)).length)
  if (isWhole) return before === '' ? [] : [`Remove ${before} from the SDK's base URL.`]
  if (before.startsWith('/v1/')) return [`Remove ${before.slice('/v1'.length)} from the SDK's base URL.`]
  const place = before === '' ? '' : ` instead of ${before}`
  return path.startsWith('/v1/messages')
    ? [
        `Anthropic's SDK adds /v1${path.slice('/v1'.length)} to the base URL, which must not have a path. For any other SDK, the base URL must end in /v1${place}.`,
      ]
    : [`The SDK's base URL must end in /v1${place}.`]
}

function withoutVersion(path: string): string {
  return path.slice('/v1'.length)
}
