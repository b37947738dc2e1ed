import type { IncomingMessage, ServerResponse } from 'node:http'
import { authenticate, tokenFrom } from '../access/authenticate.ts'
import { GatewayError } from '../canonical/error.ts'
import { redactText } from '../ledger/redact.ts'
import { clientSide } from '../protocols/index.ts'
import { asGatewayError, type Call, type Endpoint } from './call.ts'
import type { Gateway } from './gateway.ts'
import { beginCall, refuse } from './settle.ts'

/** Public paths and how each is called; what the advice about a wrong path is made from. */
const knownPaths: Readonly<Record<string, 'GET' | 'POST'>> = {
  '/v1/chat/completions': 'POST',
  '/v1/models': 'GET',
  '/v1/usage/requests': 'GET',
  '/v1/usage/summary': 'GET',
}

const pathCharactersMax = 128

export function endpointOf(path: string): Endpoint {
  return { path, protocol: 'openai-chat', client: clientSide('openai-chat') }
}

/** Whatever no route took: a row, and an error that says which path to use. */
export function unknownPath(gateway: Gateway) {
  return async (request: IncomingMessage & { path: string }, response: ServerResponse): Promise<void> => {
    const path = redactText(request.path.slice(0, pathCharactersMax))
    const call = beginCall(gateway, endpointOf(path), request, response)
    await recognise(gateway, call)
    await refuse(gateway, call, new GatewayError('unknown_path', adviceOn(request.method ?? '', path)))
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
  if (known !== undefined) return `${path} is called with ${known}, not ${method}.`
  const meant = nearest(path)
  if (meant === undefined) {
    return `There is no ${method} ${path} here. The paths are ${Object.keys(knownPaths).join(', ')}.`
  }
  const advice = `There is no ${method} ${path} here; use ${knownPaths[meant]} ${meant}.`
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
