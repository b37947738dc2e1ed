import { randomUUIDv7 } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { GatewayError } from '../canonical/error.ts'
import type { UpstreamRefusal } from '../gateway/relay.ts'
import { clientAddressOf } from '../http/client-address.ts'
import { cutWhenStalled, isWaitedFor } from '../http/stalled-client.ts'
import { callsIn } from '../ledger/record.ts'
import { redactText } from '../redaction/redact.ts'
import { openRecordOf } from './admit.ts'
import { type Asked, type Call, closeRecordOf, type Ending, type Endpoint, refusalOf } from './call.ts'
import type { Gateway } from './gateway.ts'
import { type Metered, nothingMetered } from './meter.ts'
import { secretsOf, shown } from './secrets.ts'

/** The newest call of each connection, until its request has come whole and its answer is gone. */
const newestCalls = new WeakMap<Duplex, Call>()

/** Statuses of an upstream's own refusal that are the client's to see as they came. */
const clientStatuses: ReadonlySet<number> = new Set([400, 404, 409, 413, 415, 422])

export function beginCall(
  gateway: Gateway,
  endpoint: Endpoint,
  request: IncomingMessage,
  response: ServerResponse,
): Call {
  const call: Call = {
    id: randomUUIDv7(),
    endpoint,
    request,
    response,
    startedAt: Date.now(),
    clientAddress: clientAddressOf(request),
    token: null,
    credentials: new Set(),
    identity: null,
    facts: null,
    requestedModel: null,
    body: null,
    json: null,
    notes: null,
    price: null,
    lease: null,
    claim: null,
    reservedAccountId: null,
    opened: null,
    sentAt: null,
    firstTokenAt: null,
    attempts: [],
    asked: null,
    place: -1,
    settled: false,
    clientGone: false,
    shuttingDown: false,
    running: undefined,
    releases: [],
    slabs: [],
    headers: {},
  }
  gateway.calls.add(call)
  const { socket } = request
  newestCalls.set(socket, call)
  response.once('close', () => {
    if (!response.writableFinished) leave(call)
    if (call.settled) gateway.calls.delete(call)
    if (request.complete && newestCalls.get(socket) === call) newestCalls.delete(socket)
  })
  return call
}

/** The call that a connection's last request began, unless that request is over. */
export function newestCallOn(socket: Duplex): Call | undefined {
  return newestCalls.get(socket)
}

/** The ending of a request whose client left before anything was sent upstream: nothing was bought. */
export const leftBeforeSending: Ending = {
  status: 499,
  outcome: 'cancelled',
  error: null,
  observation: null,
  streamEnd: 'client_gone',
  target: null,
  metered: nothingMetered,
}

/** Write the request's one row. Whoever comes second finds it written. */
export async function settle(gateway: Gateway, call: Call, ending: Ending): Promise<void> {
  if (call.settled) return
  call.settled = true
  const record = closeRecordOf(call, scrubbed(call, ending))
  const open = call.opened ?? openRecordOf(gateway, call, call.body)
  call.lease?.settle(ending.metered.usage === null ? 0 : tokensOf(ending.metered))
  for (const release of call.releases) release()
  if (isRead(call, ending)) for (const release of call.slabs) release()
  const freed = call.claim?.settled(ending)
  try {
    if (call.opened !== null) await gateway.ledger.close(open, record)
    else if (call.identity !== null) await gateway.ledger.refuse(open, record)
    else await gateway.ledger.refuseUnknown(open, record)
    if (freed !== undefined) await freed
  } finally {
    gateway.calls.delete(call)
  }
}

/**
 * An upstream that answered well has read all of the request. One that refused or broke may not have: bytes of it can
 * still wait in a socket, and must never become another client's.
 */
function isRead(call: Call, ending: Ending): boolean {
  const calls = callsIn(call.attempts)
  return calls === 0 || (calls === 1 && ending.outcome === 'succeeded')
}

/** What is known of a request that no upstream answered. */
export interface Unanswered {
  target: Asked | null
  metered: Metered
  refusal: UpstreamRefusal | undefined
}

/** Write the row of a request that gets an error for an answer, then send it in the client's own format. */
export async function refuse(
  gateway: Gateway,
  call: Call,
  cause: GatewayError,
  unanswered?: Unanswered,
): Promise<void> {
  const error = shown(call, cause)
  const rendered = call.endpoint.client.encodeError(error, call.id)
  const own = unanswered?.refusal
  const asItCame =
    own !== undefined &&
    unanswered?.target?.native === true &&
    clientStatuses.has(own.status) &&
    own.contentType.includes('json')
  const status = asItCame ? own.status : rendered.status
  if (error.fault !== 'client') {
    const fields = {
      request: call.id,
      kind: error.kind,
      upstreamStatus: error.upstreamStatus,
      cause: causeOf(error),
    }
    gateway.log[error.kind === 'internal' ? 'error' : 'warn'](fields, error.message)
  }
  await settle(gateway, call, {
    ...refusalOf(error, status),
    streamEnd: call.shuttingDown ? 'shutdown' : null,
    target: unanswered?.target ?? null,
    metered: unanswered?.metered ?? nothingMetered,
  })
  const { response } = call
  if (call.clientGone || response.destroyed || response.headersSent) return
  const body = asItCame
    ? Buffer.from(redactText(own.body.toString('utf8'), secretsOf(call)))
    : Buffer.from(JSON.stringify(rendered.body))
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-request-id': call.id,
    ...call.headers,
    ...rendered.headers,
  })
  response.end(body)
  if (isWaitedFor(response)) cutWhenStalled(response, gateway.bounds.clientStallMs)
}

/** The client is gone: its group's policy says whether the upstream is read to its end, and for how long. */
function leave(call: Call): void {
  if (call.settled) return
  call.clientGone = true
  const { running, price } = call
  if (running === undefined) return
  const reason = new GatewayError('upstream_error', 'The client went away and the call was ended.', {
    fault: 'client',
  })
  // Where nothing is bought, nothing is worth reading to its end.
  if (price === null || price.clientGone.policy === 'abort') {
    running.abort(reason)
    return
  }
  running.resume()
  const timer = setTimeout(() => call.running?.abort(reason), price.clientGone.seconds * 1000)
  call.releases.push(() => clearTimeout(timer))
}

/** Error texts come from upstreams and may hold anything; no secret of theirs or the client's may reach the log. */
function scrubbed(call: Call, ending: Ending): Ending {
  const secrets = secretsOf(call)
  for (const attempt of call.attempts) {
    if (attempt.error !== null)
      attempt.error = { ...attempt.error, message: redactText(attempt.error.message, secrets) }
  }
  return ending.error === null ? ending : { ...ending, error: shown(call, ending.error) }
}

function tokensOf({ usage }: Metered): number {
  return usage === null
    ? 0
    : usage.input + usage.cacheRead + usage.cacheWrite + usage.output + usage.reasoning
}

function causeOf(error: GatewayError): string | undefined {
  return error.cause === undefined ? undefined : redactText(String(error.cause))
}
