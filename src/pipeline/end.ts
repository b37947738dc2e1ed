import { longName } from '../journal/column.ts'
import { type CloseRecord, callsIn, type OpenRecord } from '../journal/record.ts'
import { redactText } from '../redaction/redact.ts'
import { closeRecordOf, type Ending } from './ending.ts'
import type { Gateway } from './gateway.ts'
import { openRecordOf } from './open-record.ts'
import type { Arrival, Received, RowSoFar } from './received.ts'
import { knownSecrets, redactError } from './redact-error.ts'
import { limitTokensOf } from './take-limits.ts'
import { traceAnswer, traceRow } from './trace-request.ts'

/**
 * The one exit of every request: writes its row and releases everything it holds. A second call does nothing.
 * Resolves when the row is in the journal: await it before sending the last bytes of the answer.
 *
 * `unlogged` writes no row. Otherwise each read of the usage log would add a row to it.
 */
export async function end(gateway: Gateway, arrival: Arrival, how: Ending | 'unlogged'): Promise<void> {
  const { life } = arrival
  if (life.ended) return
  life.ended = true
  try {
    if (how === 'unlogged') endUnlogged(gateway, arrival)
    else await writeRow(gateway, arrival, how)
  } finally {
    arrival.books.requests.delete(life)
  }
}

/**
 * The exit of a request that became a job. The end of the job writes the row. The request counts as running,
 * also for its limits, until its answer has been sent. `tokens` is the number of tokens that its job charges
 * to its limits.
 */
export function endAsJob(received: Received, tokens = 0): void {
  const { books, exchange, life, row, trace } = received
  const { reply } = exchange
  life.ended = true
  trace?.step('wait for the job')
  const { lease } = life
  for (const release of [...life.releases, ...life.slabs]) release()
  row.body = null
  const finish = () => {
    lease?.settle(tokens)
    books.requests.delete(life)
    traceAnswer(received, reply.statusCode, knownSecrets(received))
  }
  if (reply.destroyed) finish()
  else reply.once('close', finish)
}

function endUnlogged({ clock, onUnlogged }: Gateway, arrival: Arrival): void {
  giveBack(arrival, 0, true)
  const { id, endpoint, row, startedAt, trace, exchange } = arrival
  if (trace === undefined && onUnlogged === undefined) return
  const tell = (status: number) => {
    const { identity } = row
    onUnlogged?.({ id, path: endpoint.path, status, identity, ms: clock.now() - startedAt })
    traceAnswer(arrival, status, knownSecrets(arrival))
  }
  // Its answer may not have been sent yet.
  const reply = exchange?.reply
  if (reply === undefined || reply.destroyed) tell(leftStatus)
  else reply.once('close', () => tell(reply.statusCode))
}

/** The status recorded when the client has left. */
const leftStatus = 499

async function writeRow(gateway: Gateway, arrival: Arrival, ending: Ending): Promise<void> {
  const { books, row, life, trace } = arrival
  trace?.step('record')
  const secrets = knownSecrets(arrival)
  const redacted = redactEnding(arrival, ending, secrets)
  const close = closeRecordOf(arrival, redacted, secrets, gateway.clock.now())
  const open = row.opened ?? openRecordOf(gateway, arrival)
  giveBack(arrival, limitTokensOf(ending.metered), isRead(row, ending))
  const keyFreed = life.claim?.ended(ending)
  try {
    if (row.opened !== null) await closeRow(arrival, close, row.opened)
    else if (row.identity !== null) await books.ledger.refuse(open, close)
    else await books.ledger.refuseUnknown(open, close)
    if (keyFreed !== undefined) await keyFreed
  } finally {
    if (trace !== undefined) traceRow(trace, open, close, secrets)
  }
}

async function closeRow({ books, life }: Arrival, close: CloseRecord, open: OpenRecord) {
  try {
    await books.ledger.close(open, close)
  } catch (error) {
    // The client gets an error, so its answer must not be kept for repeats.
    await life.claim?.failed()
    throw error
  }
}

/**
 * `tokens` is charged to the request's limits. `isRead` means that nothing can still read the request's
 * bytes.
 */
function giveBack({ life }: Arrival, tokens: number, isRead: boolean): void {
  life.lease?.settle(tokens)
  for (const release of life.releases) release()
  if (isRead) for (const release of life.slabs) release()
}

/**
 * A successful upstream has read the whole request. After a refusal or an error, bytes of the request may
 * still be queued in a socket, and their memory must not be reused for another client's request.
 */
function isRead({ attempts }: RowSoFar, { outcome }: Ending): boolean {
  const calls = callsIn(attempts)
  return calls === 0 || (calls === 1 && outcome === 'succeeded')
}

/**
 * Error texts come from upstreams and can contain anything. A model name may be the client's own key by
 * mistake.
 */
function redactEnding(arrival: Arrival, ending: Ending, secrets: readonly string[]): Ending {
  for (const attempt of arrival.row.attempts) {
    const { upstreamModel, error } = attempt
    if (upstreamModel !== null) attempt.upstreamModel = redactText(upstreamModel, secrets, longName.max)
    if (error !== null) attempt.error = { ...error, message: redactText(error.message, secrets) }
  }
  return ending.error === null ? ending : { ...ending, error: redactError(arrival, ending.error) }
}
