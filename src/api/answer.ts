import type { Request, Response } from 'express'
import { HttpExchange } from '../http/http-exchange.ts'
import { beginAnswer, finishAnswer } from '../pipeline/answer.ts'
import { end } from '../pipeline/end.ts'
import { answeredEnding, asGatewayError, leftEnding } from '../pipeline/ending.ts'
import { formatAt } from '../pipeline/endpoints.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import { refuseSafely } from '../pipeline/handle-request.ts'
import { identify } from '../pipeline/identify.ts'
import { ClientLeft } from '../pipeline/life.ts'
import { nothingMetered } from '../pipeline/meter.ts'
import { type Received, receive } from '../pipeline/received.ts'
import { refuse } from '../pipeline/refuse.ts'
import { takeLimits } from '../pipeline/take-limits.ts'
import type { OwnAnswer, OwnEndpoint, OwnHttp } from './own-endpoint.ts'
import { readJson } from './read-json.ts'

/**
 * Handles a route of our own API. A request goes through the same stages as one to a model, and ends in the
 * same way.
 */
export function answer(gateway: Gateway, endpoint: OwnEndpoint) {
  return async (request: Request, response: Response): Promise<void> => {
    const exchange = new HttpExchange(request, response)
    const received = receive(gateway, formatAt(endpoint.path, request.headers), exchange)
    const { requestIdHeader = 'x-request-id' } = received.endpoint.client
    response.setHeader('x-request-id', received.id)
    response.setHeader(requestIdHeader, received.id)
    // What a key can see is private to its caller. Shared caches know the `authorization` header, but no
    // other header that carries a key.
    if (endpoint.guard === 'key') response.setHeader('cache-control', 'no-store')
    try {
      const answered = await handle(gateway, endpoint, received, { request, response })
      const ending = endpoint.logged === true ? endingOf(received, answered?.status) : 'unlogged'
      await end(gateway, received, ending)
      if (answered !== undefined) send(received, answered)
    } catch (cause) {
      await refuseOwn(gateway, received, cause)
    }
  }
}

/**
 * Such a call costs nothing, so no response is stored for repeated calls, and an Idempotency-Key is ignored.
 */
async function handle(
  gateway: Gateway,
  endpoint: OwnEndpoint,
  received: Received,
  http: OwnHttp,
): Promise<OwnAnswer | undefined> {
  const params = textsOf(http.request.params)
  const { query } = http.request
  if (endpoint.guard === 'link') {
    return await endpoint.handle({ stage: received, http, params, query, body: undefined })
  }
  const stage = await identify(gateway, received)
  if (endpoint.limited === true) await takeLimits(gateway, stage)
  const body = endpoint.body === undefined ? undefined : await readJson(gateway, stage, endpoint.readLarge)
  return await endpoint.handle({ stage, http, params, query, body })
}

/** Express passes a list for a part of the path that may contain slashes. */
export function textsOf(params: Request['params']): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, [value].flat().join('/')]))
}

function send(received: Received, { status = 200, body, headers }: OwnAnswer): void {
  if (received.exchange.reply.destroyed) return
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body))
  beginAnswer(received, status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
    ...received.headers,
    ...headers,
  })
  finishAnswer(received, bytes)
}

/** The client has received its response or has disconnected. Neither costs anything. */
function endingOf({ life, row }: Received, status = 200) {
  return life.clientGone ? { ...leftEnding, target: row.asked } : answeredEnding(status, row.asked)
}

async function refuseOwn(gateway: Gateway, received: Received, cause: unknown): Promise<void> {
  const error = asGatewayError(cause)
  try {
    if (cause instanceof ClientLeft || (received.life.clientGone && error.kind !== 'internal'))
      await end(gateway, received, endingOf(received))
    else {
      const target = received.row.asked
      await refuse(gateway, received, error, { target, metered: nothingMetered, refusal: undefined })
    }
  } catch (failure) {
    await refuseSafely(gateway, received, failure)
  }
}
