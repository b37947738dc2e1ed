import { randomUUIDv7 } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { tokenFrom } from '../access/authenticate.ts'
import type { Identity } from '../access/identity.ts'
import type { NamePlaces, Names } from '../bodies/names.ts'
import type { TranslationNote } from '../canonical/chat.ts'
import { gatewayError } from '../canonical/error.ts'
import type { Exchange } from '../http/exchange.ts'
import type { AttemptRecord, OpenRecord } from '../journal/record.ts'
import type { BackgroundAdditions } from '../protocols/protocol.ts'
import type { Candidate } from '../routing/candidates.ts'
import type { CalledChannel } from '../routing/credentials.ts'
import { kinds } from '../telemetry/traces/span.ts'
import type { Trace } from '../telemetry/traces/trace.ts'
import type { Traces } from '../telemetry/traces/traces.ts'
import type { Books, InnerCaller, JobOf } from './books.ts'
import type { PathFormat } from './endpoints.ts'
import type { Gateway } from './gateway.ts'
import { type Life, newLife } from './life.ts'
import { spanNameOf, traceArrival } from './trace-request.ts'

/**
 * The first stage: a request whose headers have arrived. From here on it gets exactly one row. Later stages
 * add members to the same object with `extend`: `Identified`, `Asked`, `Admitted`.
 */
export interface Received extends Arrival {
  readonly endpoint: PathFormat
  readonly exchange: Exchange
  /** Undefined when a client sent the request with a key in its headers. */
  readonly caller: InnerCaller | undefined
  /** The gateway's own response headers, such as rate limits. */
  readonly headers: Record<string, string>
  /** Present when a job generates a background answer: the parts of the body that the gateway added. */
  readonly added?: BackgroundAdditions | undefined
}

/**
 * The source of one row: a request, or bytes that could not be read as one. It has everything that `end`
 * needs.
 */
export interface Arrival {
  /** A UUIDv7, sent to the client as x-request-id. */
  readonly id: string
  /** `protocol` is null when the request could not be read. */
  readonly endpoint: Omit<PathFormat, 'protocol'> & { protocol: PathFormat['protocol'] | null }
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly clientAddress: string | null
  readonly books: Books
  /** Absent when the bytes could not be read as a request. */
  readonly exchange?: Exchange
  /** The key that the client sent, whether it is known or not. */
  readonly token?: string | undefined
  /** Undefined when tracing is off, or when the bytes could not be read as a request. */
  readonly trace: Trace | undefined
  readonly row: RowSoFar
  readonly life: Life
}

/**
 * Makes the next stage of a request: the same object, with more members. The types refuse a member that the
 * stage already has.
 */
export function extend<Stage extends Arrival, Added extends object>(
  stage: Stage,
  added: Added & Readonly<Record<keyof Stage & keyof Added, never>>,
): Stage & Added {
  return Object.assign(stage, added)
}

/** The parts of the row that are known so far. Null means unknown or none, and is null in the row too. */
export interface RowSoFar {
  identity: Identity | null
  requestedModel: string | null
  /** Where the body contains the client's names. */
  facts: NamePlaces | null
  stream: boolean
  /**
   * A small body, complete and unchanged; null for a large one. It must not be read after the end of the
   * request.
   */
  body: Buffer | null
  /**
   * What worker threads found in a large body for the row: the part that the row keeps, and the client's
   * names.
   */
  read: { captured: Buffer | null; names: Names } | null
  /** The account whose money is limited, from the moment a reservation may exist. */
  reservedAccountId: string | null
  /**
   * The amount held for the request, in nano-USD, which is also the most it is charged. Null when its money
   * is not limited.
   */
  heldNano: bigint | null
  /** Set when the request is in the journal. */
  opened: OpenRecord | null
  sentAt: number | null
  firstTokenAt: number | null
  readonly attempts: AttemptRecord[]
  /** The channels that were called. No text may show their secrets. */
  readonly called: CalledChannel[]
  /** The target of `askUpstream`, whose answer or refusal is sent to the client. */
  asked: AskedTarget | null
  /** The notes of the request's last translation. */
  notes: readonly TranslationNote[] | null
}

/** The part of a target that a row names. */
export type AskedTarget = Pick<Candidate, 'channel' | 'protocol' | 'native'>

/**
 * The newest request of each connection, until it has been received completely and its answer has been sent.
 */
const newest = new WeakMap<Duplex, Received>()

/**
 * Begins a request: gives it an id, and counts it as running until its end. Without `caller`, it is a
 * client's request.
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

/** Returns the last request that began on a connection; undefined when it is over. */
export function newestOn(socket: Duplex): Received | undefined {
  return newest.get(socket)
}

/** Begins a row, without counting a running request. */
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
    called: [],
    asked: null,
    notes: null,
  }
}

/**
 * Handles a client that has left. Its group's policy decides whether the upstream's answer is read to its
 * end, and for how long.
 */
function leave({ life }: Received): void {
  if (life.ended) return
  life.clientGone = true
  const { running, whenClientLeaves } = life
  if (running === undefined) return
  const reason = gatewayError('upstream_call_abandoned')
  // Without a policy, and before it is sent, the call costs nothing: its answer is not worth waiting for.
  if (whenClientLeaves === undefined || whenClientLeaves.policy === 'abort' || running.isSent === false) {
    running.abort(reason)
    return
  }
  running.resume()
  const timer = setTimeout(() => life.running?.abort(reason), whenClientLeaves.seconds * 1000)
  life.releases.push(() => clearTimeout(timer))
}
