import type { Request, Response } from 'express'
import { GatewayError } from '../canonical/error.ts'
import { beginAnswer, finishAnswer } from '../stages/answer.ts'
import { end } from '../stages/end.ts'
import { answeredEnding, asGatewayError, leftEnding } from '../stages/ending.ts'
import { formatAt } from '../stages/endpoints.ts'
import type { Gateway } from '../stages/gateway.ts'
import { refuseSafely } from '../stages/handle-request.ts'
import { answeredBefore, isKeyed } from '../stages/idempotency.ts'
import { identify } from '../stages/identify.ts'
import { nothingMetered } from '../stages/meter.ts'
import { readWhole } from '../stages/read.ts'
import { type Received, receive } from '../stages/received.ts'
import { refuse } from '../stages/refuse.ts'
import type { OwnAnswer, OwnEndpoint } from './own-endpoint.ts'

/** A route of our own API: the same stages as a model's answer, and the same exit. */
export function answer(gateway: Gateway, endpoint: OwnEndpoint) {
  return async (request: Request, response: Response): Promise<void> => {
    const received = receive(gateway, formatAt(endpoint.path, request.headers), request, response)
    const { requestIdHeader = 'x-request-id' } = received.endpoint.client
    response.setHeader('x-request-id', received.id)
    response.setHeader(requestIdHeader, received.id)
    try {
      const answered = await handle(gateway, endpoint, received, request)
      if (answered === 'answered') return
      await end(gateway, received, endpoint.logged ? endingOf(received) : 'unlogged')
      if (answered !== undefined) send(received, answered)
    } catch (cause) {
      await refuseOwn(gateway, received, cause)
    }
  }
}

/** `answered`: an earlier request with its Idempotency-Key was its answer, and it has its row. */
async function handle(
  gateway: Gateway,
  endpoint: OwnEndpoint,
  received: Received,
  request: Request,
): Promise<OwnAnswer | undefined | 'answered'> {
  const { query } = request
  const params = textsOf(request.params)
  if (!endpoint.needsKey) return await endpoint.handle({ stage: received, params, query })
  const stage = await identify(gateway, received)
  if (endpoint.method === 'POST' && isKeyed(stage)) {
    const body = await readWhole(gateway, stage)
    if (body === undefined) throw notWhole()
    if (await answeredBefore(gateway, stage, body)) return 'answered'
  }
  return await endpoint.handle({ stage, params, query })
}

/** Express gives a list for a part of the path that may have slashes. */
function textsOf(params: Request['params']): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, [value].flat().join('/')]))
}

function send(received: Received, { body, headers }: OwnAnswer): void {
  if (received.response.destroyed) return
  const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body))
  beginAnswer(received, 200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
    ...received.headers,
    ...headers,
  })
  finishAnswer(received, bytes)
}

/** It was answered, unless its client had left. Neither costs anything. */
function endingOf({ life, row }: Received) {
  return life.clientGone ? { ...leftEnding, target: row.asked } : answeredEnding(200, row.asked)
}

async function refuseOwn(gateway: Gateway, received: Received, cause: unknown): Promise<void> {
  const error = asGatewayError(cause)
  try {
    if (received.life.clientGone && error.kind !== 'internal')
      await end(gateway, received, endingOf(received))
    else {
      const target = received.row.asked
      await refuse(gateway, received, error, { target, metered: nothingMetered, refusal: undefined })
    }
  } catch (failure) {
    await refuseSafely(gateway, received, failure)
  }
}

function notWhole(): GatewayError {
  return new GatewayError('invalid_request', 'The request did not arrive whole.')
}
