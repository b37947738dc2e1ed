import { type Names, namesIn, noNames } from '../bodies/names.ts'
import type { Headers } from '../canonical/headers.ts'
import { name } from '../journal/column.ts'
import type { OpenRecord } from '../journal/record.ts'
import { type CaptureMode, redactBody, redactText } from '../redaction/redact.ts'
import { sessionNameOf } from '../routing/session.ts'
import { own } from '../telemetry/traces/conventions.ts'
import type { Gateway } from './gateway.ts'
import type { Identified } from './identify.ts'
import { endUserText, labelsOf } from './labels.ts'
import type { Arrival, RowSoFar } from './received.ts'

/**
 * Limits the body in a span, because a collector accepts requests of only a few megabytes, each with many
 * spans.
 */
const tracedBodyBytesMax = 16 * 1024

/**
 * Writes the first half of the row to the journal. Resolves when the row is as durable as DURABILITY
 * requires. Rejects with `unavailable`.
 */
export async function openInJournal(gateway: Gateway, identified: Identified): Promise<OpenRecord> {
  identified.trace?.step('journal')
  const opened = openRecordOf(gateway, identified)
  const { ledger } = identified.books
  const standing = ledger.open(opened)
  // The journal has written the body, and redaction reuses its memory.
  opened.body = null
  await standing
  // From here on the request has a row, even if Postgres does not commit it in time.
  identified.row.opened = opened
  identified.life.inJournal = opened.id
  const durable = ledger.opened(opened)
  if (durable !== undefined) await durable
  return opened
}

/** Creates the first half of a row from everything known about the request so far. */
export function openRecordOf(gateway: Gateway, arrival: Arrival): OpenRecord {
  const { row, endpoint, exchange } = arrival
  const { identity } = row
  const exact = arrival.token === undefined ? [] : [arrival.token]
  const capture = identity?.capture ?? 'none'
  const body = capturedOf(gateway, arrival, capture)
  if (arrival.trace?.isSampled === true && gateway.traces?.content === true && body !== null)
    arrival.trace.root.attributes[own.body] = body.toString('utf8', 0, tracedBodyBytesMax)
  return {
    id: arrival.id,
    tenantId: identity?.tenantId ?? null,
    keyId: identity?.keyId ?? null,
    groupId: identity?.groupId ?? null,
    endpoint: redactText(endpoint.path, exact, name.max),
    clientProtocol: endpoint.protocol,
    requestedModel: row.requestedModel === null ? null : redactText(row.requestedModel, exact, name.max),
    stream: row.stream,
    clientAddress: arrival.clientAddress,
    userAgent: headerText(exchange?.headers['user-agent'], exact),
    idempotencyKey: headerText(exchange?.headers['idempotency-key'], exact),
    ...labelsOf(exchange?.headers ?? {}, namesOf(row), exact),
    reservedAccountId: row.reservedAccountId,
    capture,
    body,
  }
}

/** The session that the client named for a request. */
export function namedSession(row: RowSoFar, headers: Headers): string | undefined {
  return sessionNameOf(headers, namesOf(row).session)
}

/** The end user of a request, as named in its row. */
export function endUserOf(row: RowSoFar): string | null {
  return endUserText(namesOf(row).endUser)
}

function namesOf({ read, body, facts }: RowSoFar): Names {
  if (read !== null) return read.names
  return body === null || facts === null ? noNames : namesIn(body, facts)
}

function capturedOf(
  { redactionKey, bounds }: Gateway,
  { row, token }: Arrival,
  capture: CaptureMode,
): Buffer | null {
  if (row.read !== null) return row.read.captured
  if (row.body === null) return null
  return redactBody(row.body, capture, {
    key: redactionKey,
    bytesMax: bounds.captureBytesMax,
    stringBytesMax: bounds.captureStringBytesMax,
    exact: token === undefined ? [] : [token],
  })
}

function headerText(value: string | string[] | undefined, exact: readonly string[]): string | null {
  const text = Array.isArray(value) ? value[0] : value
  return text === undefined ? null : redactText(text, exact, name.max)
}
