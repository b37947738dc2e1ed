import { seenOfRefused } from '../bodies/refused-body.ts'
import type { GatewayError } from '../canonical/error.ts'
import { cutWhenStalled, isWaitedFor } from '../http/stalled-client.ts'
import { maskAccountIds } from '../protocols/account-words.ts'
import { redactText } from '../redaction/redact.ts'
import { requestLog } from '../telemetry/log.ts'
import { end } from './end.ts'
import { refusedEnding } from './ending.ts'
import type { Gateway } from './gateway.ts'
import { type Metered, nothingMetered } from './meter.ts'
import type { AskedTarget, Received } from './received.ts'
import { knownSecrets, redactError } from './redact-error.ts'

/** An error answer of an upstream. */
export interface UpstreamRefusal {
  status: number
  contentType: string
  body: Buffer
}

/** The result of all attempts when none of them succeeded. */
export interface Unanswered {
  target: AskedTarget | null
  metered: Metered
  /** The last target's error answer, which a client of the same format gets unchanged. */
  refusal: UpstreamRefusal | undefined
  /** An HTTP status for this failure, in place of the error kind's own. */
  ownStatus?: number
}

/** Statuses of an upstream's refusal that may be passed on unchanged. */
const clientStatuses: ReadonlySet<number> = new Set([400, 404, 409, 413, 415, 422])

/** Answers with an error: writes the row, then sends the error in the client's own format. */
export async function refuse(
  gateway: Gateway,
  received: Received,
  cause: GatewayError,
  { target, metered, refusal, ownStatus }: Unanswered = noAttempts,
): Promise<void> {
  const { id, endpoint, exchange, life } = received
  const { reply } = exchange
  seeRefused(gateway, received)
  const error = redactError(received, cause)
  const rendered = endpoint.client.encodeError(error, id)
  const passedThrough = target?.native === true && isForClient(refusal) ? refusal : undefined
  const status = passedThrough?.status ?? ownStatus ?? rendered.status
  const words =
    error.cause === undefined ? undefined : redactText(String(error.cause), knownSecrets(received))
  logRefusal(gateway, id, error, words)
  if (words !== undefined) received.caller?.onCause?.(words)
  await end(gateway, received, {
    ...refusedEnding(error, status),
    streamEnd: life.shuttingDown ? 'shutdown' : null,
    target,
    metered,
  }).catch((cause: unknown) => {
    // The client gets its error in any case. Either the row is waiting for the disk, or another process has
    // written it.
    requestLog(gateway.log, id).warn(
      { cause: String(cause) },
      'could not confirm that the row of a refused request was written',
    )
  })
  if (life.clientGone || reply.destroyed || reply.headersSent) return
  const body =
    passedThrough === undefined
      ? Buffer.from(JSON.stringify(rendered.body))
      : Buffer.from(redactedWhole(passedThrough.body, knownSecrets(received)))
  reply.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    'x-request-id': id,
    ...received.headers,
    ...rendered.headers,
  })
  reply.end(body)
  if (isWaitedFor(reply)) cutWhenStalled(reply, gateway.bounds.clientStallMs)
}

/** Sets the row's model and stream flag from a body that was refused while being read. */
function seeRefused({ bounds }: Gateway, { row, endpoint }: Received): void {
  if (row.requestedModel !== null || row.body === null) return
  const { model, stream, places } = seenOfRefused(row.body, endpoint.protocol, bounds.jsonDepthMax)
  row.requestedModel = model
  row.stream = stream
  row.facts = places
}

export const noAttempts: Unanswered = { target: null, metered: nothingMetered, refusal: undefined }

function isForClient(refusal: UpstreamRefusal | undefined): refusal is UpstreamRefusal {
  return refusal !== undefined && clientStatuses.has(refusal.status) && refusal.contentType.includes('json')
}

/** The length needs no further limit, because the relay has already bounded it. */
function redactedWhole(body: Buffer, secrets: readonly string[]): string {
  return maskAccountIds(redactText(body.toString('utf8'), secrets, body.length))
}

function logRefusal({ log }: Gateway, request: string, error: GatewayError, words: string | undefined): void {
  // An upstream's verdict on a request is meant for the client, except for ids of the operator's account.
  if (error.fault === 'client' && (error.upstreamStatus === undefined || error.cause === undefined)) return
  const { kind, reason, upstreamStatus, message } = error
  requestLog(log, request)[kind === 'internal' ? 'error' : 'warn'](
    { kind, reason, upstreamStatus, cause: words },
    message,
  )
}
