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

/** An upstream's own error answer. */
export interface UpstreamRefusal {
  status: number
  contentType: string
  body: Buffer
}

/** The result of all attempts, when none of them answered. */
export interface Unanswered {
  target: AskedTarget | null
  metered: Metered
  /** The last target's own error answer: a client of the same format gets it unchanged. */
  refusal: UpstreamRefusal | undefined
  /** An HTTP status for this failure, instead of the status of the error kind. */
  ownStatus?: number
}

/** Statuses with which a client may see an upstream's refusal unchanged. */
const clientStatuses: ReadonlySet<number> = new Set([400, 404, 409, 413, 415, 422])

/** Answer with an error: write the row, then send the error in the client's own format. */
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
  logRefusal(gateway, id, error, knownSecrets(received))
  await end(gateway, received, {
    ...refusedEnding(error, status),
    streamEnd: life.shuttingDown ? 'shutdown' : null,
    target,
    metered,
  }).catch((cause: unknown) => {
    // The client gets its error in any case. The row waits for the disk, or another process has written it.
    requestLog(gateway.log, id).warn({ cause: String(cause) }, 'the row of a refused request is not certain')
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

/** The row of a body that is refused as it is read has what the body says about the request. */
function seeRefused({ bounds }: Gateway, { row, endpoint }: Received): void {
  if (row.requestedModel !== null || row.body === null) return
  const { model, stream, places } = seenOfRefused(row.body, endpoint.protocol, bounds.jsonDepthMax)
  Object.assign(row, { requestedModel: model, stream, facts: places })
}

export const noAttempts: Unanswered = { target: null, metered: nothingMetered, refusal: undefined }

function isForClient(refusal: UpstreamRefusal | undefined): refusal is UpstreamRefusal {
  return refusal !== undefined && clientStatuses.has(refusal.status) && refusal.contentType.includes('json')
}

/** The relay has bounded it. */
function redactedWhole(body: Buffer, secrets: readonly string[]): string {
  return maskAccountIds(redactText(body.toString('utf8'), secrets, body.length))
}

function logRefusal(
  { log }: Gateway,
  request: string,
  error: GatewayError,
  secrets: readonly string[],
): void {
  // What an upstream says is wrong with a request is the client's, but for ids of the operator's account in
  // it.
  if (error.fault === 'client' && (error.upstreamStatus === undefined || error.cause === undefined)) return
  const { kind, reason, upstreamStatus, message } = error
  const cause = error.cause === undefined ? undefined : redactText(String(error.cause), secrets)
  requestLog(log, request)[kind === 'internal' ? 'error' : 'warn'](
    { kind, reason, upstreamStatus, cause },
    message,
  )
}
