import { randomUUIDv7 } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { tokenFrom } from '../access/authenticate.ts'
import type { Identity } from '../access/identity.ts'
import type { NamePlaces, Names } from '../bodies/names.ts'
import type { TranslationNote } from '../canonical/chat.ts'
import { gatewayError } from '../canonical/error.ts'
import type { Exchange } from '../http/exchange.ts'
import type { AttemptRecord, OpenRecord } from '../ledger/record.ts'
import type { BackgroundAdditions } from '../protocols/protocol.ts'
import type { Candidate } from '../routing/candidates.ts'
import { kinds } from '../telemetry/traces/span.ts'
import type { Trace } from '../telemetry/traces/trace.ts'
import type { Traces } from '../telemetry/traces/traces.ts'
import type { Books, InnerCaller, JobOf } from './books.ts'
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
  readonly exchange: Exchange
  /** Undefined: a client sent it, with a key in its headers. */
  readonly caller: InnerCaller | undefined
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
  readonly books: Books
  /** Absent: we could not read the bytes as a request. */
  readonly exchange?: Exchange
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

/** The newest request of each connection, until it has come whole and its answer has been sent. */
const newest = new WeakMap<Duplex, Received>()

/**
 * Begin a request: give it an id, and count it as running until its end. Without `caller` it is a client's.
 */
export function receive(
  gateway: Gateway,
  endpoint: PathFormat,
  exchange: Exchange,
  caller?: InnerCaller,
): Received {
  const job = caller?.job
  const books = caller?.books ?? gateway
  const arrived = arrive(books, gateway.clock.now(), endpoint, exchange.clientAddress, job?.id)
  const received: Received = {
    ...arrived,
    exchange,
    caller,
    token: tokenFrom(exchange.headers),
    trace:
      gateway.traces === undefined
        ? undefined
        : beginTrace(gateway.traces, arrived.id, endpoint, exchange, job),
    headers: {},
    added: job?.added,
  }
  const { connection, reply } = exchange
  books.requests.add(received.life)
  if (connection !== undefined) newest.set(connection, received)
  reply.once('close', () => {
    if (!reply.writableFinished) leave(received)
    if (received.life.ended) books.requests.delete(received.life)
    if (connection !== undefined && exchange.hasArrived && newest.get(connection) === received)
      newest.delete(connection)
  })
  return received
}

function beginTrace(
  traces: Traces,
  requestId: string,
  endpoint: PathFormat,
  exchange: Exchange,
  job: JobOf | undefined,
): Trace {
  const trace =
    job === undefined
      ? traces.begin(
          { requestId, name: spanNameOf(exchange, endpoint), kind: kinds.server },
          exchange.headers,
        )
      : traces.continue({ requestId, name: 'make answer', kind: kinds.consumer }, job.traceparent)
  if (job === undefined) traceArrival(trace, { endpoint, exchange })
  return trace
}

/** The last request that began on a connection; undefined when it is over. */
export function newestOn(socket: Duplex): Received | undefined {
  return newest.get(socket)
}

/** Begin a row. This alone does not count as a running request. */
export function arrive<Endpoint extends Arrival['endpoint']>(
  books: Books,
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
    books,
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
