import type { GatewayError } from '../canonical/error.ts'
import { redactText } from '../redaction/redact.ts'
import { type Log, requestLog } from '../telemetry/log.ts'
import type { BreakerCall } from './breakers.ts'
import type { Target } from './candidates.ts'
import { secretsOf } from './credentials.ts'
import type { Routing } from './routing.ts'
import { type Verdict, verdictOn } from './verdict.ts'

/** The parts of a process that recordFailure uses. */
interface Recorder {
  routing: Routing
  log: Log
}

/**
 * Records a failed call in the breaker of its channel and in the cooldowns of its credential, which affect
 * later requests.
 */
export function recordFailure(
  { routing, log }: Recorder,
  requestId: string,
  { channel, credential, upstreamModel, modelNamedBy }: Target,
  error: GatewayError,
  breakerCall: BreakerCall,
): Verdict {
  const verdict = verdictOn(error, modelNamedBy)
  const { openSeconds, cooldown } = verdict
  const openMs = openSeconds === undefined ? undefined : Math.min(openSeconds * 1000, routing.retryAfterMsMax)
  breakerCall.end(verdict.breaker, causeOf(error), openMs)
  if (cooldown === undefined) return verdict
  const isNew = routing.cooldowns.begin(
    channel.id,
    credential,
    upstreamModel,
    cooldown,
    error.retryAfterSeconds,
    causeOf(error),
  )
  if (cooldown !== 'limited' && isNew) {
    const fields = {
      channel: channel.name,
      credentialName: credential.name,
      status: error.upstreamStatus,
      ...(error.cause === undefined
        ? {}
        : { cause: redactText(String(error.cause), secretsOf({ channel, credential })) }),
      ...(cooldown === 'forbidden' ? { upstreamModel: redactText(upstreamModel) } : {}),
    }
    requestLog(log, requestId).warn(
      fields,
      error.reason === 'upstream_request_unsigned'
        ? 'a request could not be signed with a credential of this channel; other credentials are preferred for a while'
        : 'an upstream refused a credential of this channel; other credentials are preferred for a while',
    )
  }
  return verdict
}

/** Returns the cause for operators and other clients, without any text from the upstream. */
function causeOf({ kind, upstreamStatus }: GatewayError): string {
  return upstreamStatus === undefined ? kind : `${kind}, status ${upstreamStatus}`
}
