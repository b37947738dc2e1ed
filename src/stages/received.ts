import { randomUUIDv7 } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { tokenFrom } from '../access/authenticate.ts'
import type { Identity } from '../access/identity.ts'
import type { TranslationNote } from '../canonical/chat.ts'
import { GatewayError } from '../canonical/error.ts'
import { clientAddressOf } from '../http/client-address.ts'
import type { AttemptRecord, OpenRecord } from '../ledger/record.ts'
import type { Candidate } from '../routing/candidates.ts'
import type { PathFormat } from './endpoints.ts'
import type { Gateway } from './gateway.ts'
import { type Life, newLife } from './life.ts'

/**
 * The first stage: a request whose headers have come. From here on there will be one row, whatever happens. Later stages
 * are the same object with more in it: `Identified`, `Asked`, `Admitted`.
 */
export interface Received extends Arrival {
  readonly endpoint: PathFormat
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Response headers of ours, such as rate limits. */
  readonly headers: Record<string, string>
}

/** What every row is of: a request, or bytes that could not be read as one. Everything that `end` needs. */
export interface Arrival {
  /** uuidv7; the client's x-request-id. */
  readonly id: string
  /** `protocol` null: nobody could tell. */
  readonly endpoint: Omit<PathFormat, 'protocol'> & { protocol: PathFormat['protocol'] | null }
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly clientAddress: string | null
  /** Absent: what came could not be read as a request. */
  readonly request?: IncomingMessage
  /** What the client sent as its key, known here or not. */
  readonly token?: string | undefined
  readonly row: RowSoFar
  readonly life: Life
}

/** What is known of the row by now. Null: not known yet, or there is none; that is also what the row then says. */
export interface RowSoFar {
  identity: Identity | null
  requestedModel: string | null
  stream: boolean
  /** Whole, as it came. Not to be read once the request has ended. */
  body: Buffer | null
  /** The account whose money is limited, from the moment a reservation may exist. */
  reservedAccountId: string | null
  /** Set once the request stands in the journal. */
  opened: OpenRecord | null
  sentAt: number | null
  firstTokenAt: number | null
  readonly attempts: AttemptRecord[]
  /** Credentials of the channels that were asked: no text may show them. */
  readonly credentials: string[]
  /** The target of a small question, whose answer or refusal the client gets. */
  asked: AskedTarget | null
  /** What became of the request in its last translation. */
  notes: readonly TranslationNote[] | null
}

/** What a row says of the target that answered, or that refused last. */
export type AskedTarget = Pick<Candidate, 'channel' | 'protocol' | 'native'>

/** The newest request of each connection, until it has come whole and its answer is gone. */
const newest = new WeakMap<Duplex, Received>()

/** Begin a request: it has an id, a clock and an endpoint, and counts as running. */
export function receive(
  gateway: Gateway,
  endpoint: PathFormat,
  request: IncomingMessage,
  response: ServerResponse,
): Received {
  const received: Received = {
    ...arrive(endpoint, clientAddressOf(request)),
    request,
    response,
    token: tokenFrom(request.headers),
    headers: {},
  }
  gateway.requests.add(received.life)
  const { socket } = request
  newest.set(socket, received)
  response.once('close', () => {
    if (!response.writableFinished) leave(received)
    if (received.life.ended) gateway.requests.delete(received.life)
    if (request.complete && newest.get(socket) === received) newest.delete(socket)
  })
  return received
}

/** The request that a connection began last, unless that one is over. */
export function newestOn(socket: Duplex): Received | undefined {
  return newest.get(socket)
}

/** What came, read or not. It does not count as running. */
export function arrive<Endpoint extends Arrival['endpoint']>(
  endpoint: Endpoint,
  clientAddress: string | null,
) {
  return {
    id: randomUUIDv7(),
    endpoint,
    startedAt: Date.now(),
    clientAddress,
    row: emptyRow(),
    life: newLife(),
  } satisfies Arrival
}

function emptyRow(): RowSoFar {
  return {
    identity: null,
    requestedModel: null,
    stream: false,
    body: null,
    reservedAccountId: null,
    opened: null,
    sentAt: null,
    firstTokenAt: null,
    attempts: [],
    credentials: [],
    asked: null,
    notes: null,
  }
}

/** The client is gone. Its group's policy says whether the upstream is read to its end, and for how long. */
function leave({ life }: Received): void {
  if (life.ended) return
  life.clientGone = true
  const { running, whenClientLeaves } = life
  if (running === undefined) return
  const reason = new GatewayError('upstream_error', 'The client went away and the call was ended.', {
    fault: 'client',
  })
  // Where nothing is bought, nothing is worth reading to its end.
  if (whenClientLeaves === undefined || whenClientLeaves.policy === 'abort') {
    running.abort(reason)
    return
  }
  running.resume()
  const timer = setTimeout(() => life.running?.abort(reason), whenClientLeaves.seconds * 1000)
  life.releases.push(() => clearTimeout(timer))
}
