import { HttpExchange } from '../http/http-exchange.ts'
import { beginAnswer, finishAnswer } from '../pipeline/client-answer.ts'
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
import type { ApiAnswer, ApiCall, ClientEndpoint, KeyEndpoint, LinkEndpoint, Steps } from './endpoint.ts'
import { readJson } from './read-json.ts'

/**
 * A client's call goes through the same stages as a request to a model, and ends in the same way. It costs
 * nothing, so no response is stored for repeated calls, and an Idempotency-Key is ignored.
 */
export function clientSteps(
  gateway: Gateway,
  endpoint: ClientEndpoint,
  http: Pick<ApiCall, 'request' | 'response' | 'signal'>,
): Steps {
  const { request, response } = http
  const exchange = new HttpExchange(request, response)
  const received = receive(gateway, formatAt(endpoint.path, request.headers), exchange)
  const { requestIdHeader = 'x-request-id' } = received.endpoint.client
  response.setHeader(requestIdHeader, received.id)
  const isLogged = endpoint.guard === 'key' && endpoint.logged === true
  const call = { ...http, requestId: received.id }
  return {
    requestId: received.id,
    ...(endpoint.guard === 'key'
      ? stepsWithKey(gateway, endpoint, received, call)
      : stepsWithLink(endpoint, received, call)),
    async finish(answer) {
      await end(gateway, received, isLogged ? endingOf(received, answer?.status) : 'unlogged')
      if (answer !== undefined) send(received, answer)
    },
    refuse: (cause) => refuseClient(gateway, received, cause),
    release() {},
  }
}

type OwnSteps = Pick<Steps, 'admit' | 'read' | 'handle'>

function stepsWithKey(gateway: Gateway, endpoint: KeyEndpoint, received: Received, call: ApiCall): OwnSteps {
  let stage: Awaited<ReturnType<typeof identify>>
  return {
    async admit() {
      stage = await identify(gateway, received)
      if (endpoint.limited === true) await takeLimits(gateway, stage)
    },
    async read({ params, query }) {
      const body =
        endpoint.body === undefined ? undefined : await readJson(gateway, stage, endpoint.readLarge)
      return { params, query: endpoint.readsQuery?.(stage) === false ? {} : query, body }
    },
    handle: (input) => endpoint.handle({ ...call, stage, ...input }),
  }
}

function stepsWithLink(endpoint: LinkEndpoint, received: Received, call: ApiCall): OwnSteps {
  return {
    async admit() {},
    read: async (input) => ({ ...input, body: undefined }),
    handle: (input) => endpoint.handle({ ...call, stage: received, ...input }),
  }
}

function send(received: Received, { status = 200, body, headers }: ApiAnswer): void {
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

async function refuseClient(gateway: Gateway, received: Received, cause: unknown): Promise<void> {
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
