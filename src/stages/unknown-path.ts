import type { IncomingMessage, ServerResponse } from 'node:http'
import { authenticate, tokenFrom } from '../access/authenticate.ts'
import { GatewayError } from '../canonical/error.ts'
import { redactText } from '../redaction/redact.ts'
import { asGatewayError, type Call } from './call.ts'
import { endpointOf, knownPaths } from './endpoints.ts'
import type { Gateway } from './gateway.ts'
import { beginCall, newestCallOn, refuse } from './settle.ts'

const pathCharactersMax = 128

/** Whatever no route took: a row, and an error that says which path to use. */
export function unknownPath(gateway: Gateway) {
  return async (request: IncomingMessage & { path: string }, response: ServerResponse): Promise<void> => {
    const path = redactText(request.path.slice(0, pathCharactersMax))
    const call = beginCall(gateway, endpointOf(path, request.headers), request, response)
    await recognise(gateway, call)
    await refuse(gateway, call, new GatewayError('unknown_path', adviceOn(request.method ?? '', path)))
  }
}

/**
 * Whatever Express itself could not deal with: a path whose escapes are broken, or a mistake of ours. A row, and an
 * error in the caller's format.
 */
export function failedRouting(gateway: Gateway) {
  return async (
    cause: unknown,
    request: IncomingMessage & { path: string },
    response: ServerResponse,
    _next: unknown,
  ): Promise<void> => {
    const begun = newestCallOn(request.socket)
    const error =
      cause instanceof URIError
        ? new GatewayError('invalid_request', 'The path holds a % that begins no escape; write it as %25.')
        : asGatewayError(cause)
    if (begun?.request === request) return await refuse(gateway, begun, error)
    const path = redactText(request.path.slice(0, pathCharactersMax))
    const call = beginCall(gateway, endpointOf(path, request.headers), request, response)
    await recognise(gateway, call)
    await refuse(gateway, call, error)
  }
}

/** The row should be its owner's to find, so a good key counts here too; a bad one changes nothing. */
async function recognise(gateway: Gateway, call: Call): Promise<void> {
  try {
    call.token = tokenFrom(call.request.headers) ?? null
    call.identity = await authenticate(
      gateway.keys,
      gateway.catalog.snapshot,
      call.request.headers,
      call.clientAddress,
      call.startedAt,
    )
  } catch (error) {
    if (asGatewayError(error).kind === 'internal') throw error
  }
}

export function adviceOn(method: string, path: string): string {
  const known = knownPaths[path]
  if (known !== undefined) return `${path} is called with ${known.method}, not ${method}.`
  const meant = nearest(path)
  if (meant === undefined) {
    return `There is no ${method} ${path} here. The paths are ${Object.keys(knownPaths).join(', ')}.`
  }
  const advice = `There is no ${method} ${path} here; use ${knownPaths[meant]?.method} ${meant}.`
  if (path.startsWith('/v1/v1/'))
    return `${advice} The SDK adds its path to a base URL that ends in /v1, so /v1 must stand there once.`
  if (!path.startsWith('/v1/')) return `${advice} Let the SDK's base URL end in /v1.`
  return advice
}

/** The known path whose end this one has, whatever stands before it. */
function nearest(path: string): string | undefined {
  const tail = path.replace(/\/+$/, '').replace(/\/{2,}/g, '/')
  return Object.keys(knownPaths)
    .sort((a, b) => b.length - a.length)
    .find((known) => tail.endsWith(known.slice('/v1'.length)))
}
