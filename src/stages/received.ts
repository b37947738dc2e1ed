import { randomUUIDv7 } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { tokenFrom } from '../access/authenticate.ts'
import type { Identity } from '../access/identity.ts'
import type { NamePlaces, Names } from '../bodies/names.ts'
import type { TranslationNote } from '../canonical/chat.ts'
import { gatewayError } from '../canonical/error.ts'
import { clientAddressOf } from '../http/client-address.ts'
import type { AttemptRecord, OpenRecord } from '../ledger/record.ts'
import type { BackgroundAdditions } from '../protocols/protocol.ts'
import type { Candidate } from '../routing/candidates.ts'
import { kinds } from '../telemetry/traces/span.ts'
import type { Trace } from '../telemetry/traces/trace.ts'
import type { Traces } from '../telemetry/traces/traces.ts'
import type { PathFormat } from './endpoints.ts'
import type { Gateway } from './gateway.ts'
import { type Life, newLife } from './life.ts'
import { spanNameOf, traceArrival } from './trace-request.ts'

/**
 * The first stage: a request whose headers have come. From here on it gets exactly one row. Later stages add
 * properties to the same object: `Identified`, `Asked`, `Admitted`.
 */
export interface Received extends Arrival {
  readonly endpoint: PathFormat
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Our own response headers, such as rate limits. */
  readonly headers: Record<string, string>
  /** Present where a job makes an answer in the background: what the body has of us. */
  readonly added?: BackgroundAdditions | undefined
}

/** The source of one row: a request, or bytes that we could not read as one. It has all that `end` needs. */
export interface Arrival {
  /** uuidv7; the client's x-request-id. */
  readonly id: string
  /** `protocol` null: unknown, because we could not read the request. */
  readonly endpoint: Omit<PathFormat, 'protocol'> & { protocol: PathFormat['protocol'] | null }
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly clientAddress: string | null
  /** Absent: we could not read the bytes as a request. */
  readonly request?: IncomingMessage
  /** The key that the client sent, whether we know it or not. */
  readonly token?: string | undefined
  /** Undefined: traces are off, or we could not read the bytes as a request. */
  readonly trace: Trace | undefined
  readonly row: RowSoFar
  readonly life: Life
}

/** The parts of the row that are known so far. Null: not known yet, or none. The row then has null too. */
export interface RowSoFar {
  identity: Identity | null
  requestedModel: string | null
  /** Where the body has the client's names. */
  facts: NamePlaces | null
  stream: boolean
  /** A small body, whole, as it came. Do not read it after the end of the request. Null for a large one. */
  body: Buffer | null
  /** What threads found in a large body for the row: the part that it keeps, and the client's names. */
  read: { captured: Buffer | null; names: Names } | null
  /** The account whose money is limited, from the moment a reservation may exist. */
  reservedAccountId: string | null
  /** What is held for it, in nano-USD: it is charged no more. Null: its money is not limited. */
  heldNano: bigint | null
  /** Set when the request is in the journal. */
  opened: OpenRecord | null
  sentAt: number | null
  firstTokenAt: number | null
  readonly attempts: AttemptRecord[]
  /** Credentials of the channels that we called: no text may show them. */
  readonly credentials: string[]
  /** The target of `askUpstream`, whose answer or refusal the client gets. */
  asked: AskedTarget | null
  /** The notes of the request's last translation. */
  notes: readonly TranslationNote[] | null
}

/** The part of a target that a row names. */
export type AskedTarget = Pick<Candidate, 'channel' | 'protocol' | 'native'>

/**
 * What a request has of the job that makes it: its id, since the job writes its row, and the place in the
 * trace of who asked for it.
 */
interface JobOf {
  id: string
  traceparent: string | undefined
  added: BackgroundAdditions
}

const jobs = new WeakMap<IncomingMessage, JobOf>()

export function receiveAs(request: IncomingMessage, job: JobOf): void {
  jobs.set(request, job)
}

/** The newest request of each connection, until it has come whole and its answer has been sent. */
const newest = new WeakMap<Duplex, Received>()

/** Begin a request: give it an id, and count it as running until its end. */
export function receive(
  gateway: Gateway,
  endpoint: PathFormat,
  request: IncomingMessage,
  response: ServerResponse,
): Received {
  const job = jobs.get(request)
  const arrived = arrive(gateway.clock.now(), endpoint, clientAddressOf(request), job?.id)
  const received: Received = {
    ...arrived,
    request,
    response,
    token: tokenFrom(request.headers),
    trace:
      gateway.traces === undefined
        ? undefined
        : beginTrace(gateway.traces, arrived.id, endpoint, request, job),
    headers: {},
    added: job?.added,
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

function beginTrace(
  traces: Traces,
  requestId: string,
  endpoint: PathFormat,
  request: IncomingMessage,
  job: JobOf | undefined,
): Trace {
  const trace =
    job === undefined
      ? traces.begin({ requestId, name: spanNameOf(request, endpoint), kind: kinds.server }, request.headers)
      : traces.continue({ requestId, name: 'make answer', kind: kinds.consumer }, job.traceparent)
  if (job === undefined) traceArrival(trace, { endpoint, request })
  return trace
}

/** The last request that began on a connection; undefined when it is over. */
export function newestOn(socket: Duplex): Received | undefined {
  return newest.get(socket)
}

/** Begin a row. This alone does not count as a running request. */
export function arrive<Endpoint extends Arrival['endpoint']>(
  startedAt: number,
  endpoint: Endpoint,
  clientAddress: string | null,
  id: string = randomUUIDv7(),
) {
  return {
    id,
    endpoint,
    startedAt,
    clientAddress,
    trace: undefined,
    row: emptyRow(),
    life: newLife(),
  } satisfies Arrival
}

function emptyRow(): RowSoFar {
  return {
    identity: null,
    requestedModel: null,
    facts: null,
    stream: false,
    body: null,
    read: null,
    reservedAccountId: null,
    heldNano: null,
    opened: null,
    sentAt: null,
    firstTokenAt: null,
    attempts: [],
    credentials: [],
    asked: null,
    notes: null,
  }
}

/**
 * The client has left. Its group's policy decides whether we read the upstream to its end, and for how long.
 */
function leave({ life }: Received): void {
  if (life.ended) return
  life.clientGone = true
  const { running, whenClientLeaves } = life
  if (running === undefined) return
  const reason = gatewayError('upstream_call_abandoned')
  // No policy: the call costs nothing, so its answer is not worth waiting for.
  if (whenClientLeaves === undefined || whenClientLeaves.policy === 'abort') {
    running.abort(reason)
    return
  }
  running.resume()
  const timer = setTimeout(() => life.running?.abort(reason), whenClientLeaves.seconds * 1000)
  life.releases.push(() => clearTimeout(timer))
}
