import { longName } from '../ledger/column.ts'
import type { AttemptRecord } from '../ledger/record.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { redactText } from '../redaction/redact.ts'
import type { Candidate } from '../routing/candidates.ts'
import type { Credential } from '../routing/credentials.ts'
import type { PassedOverCandidate } from '../routing/targets.ts'

/** The record of an upstream call before the call. */
export function newAttempt({
  channel,
  protocol,
  upstreamModel,
  reason,
  credential,
}: Pick<Candidate, 'channel' | 'reason'> & {
  protocol: ProtocolName | null
  upstreamModel: string | null
  credential?: Credential
}): AttemptRecord {
  return {
    channel: channel.name,
    upstreamProtocol: protocol,
    upstreamModel: upstreamModel === null ? null : redactText(upstreamModel, [], longName.max),
    reason,
    passedOver: false,
    status: null,
    error: null,
    firstByteMs: null,
    totalMs: null,
    upstreamRequestId: null,
    credential: credential === undefined || credential.secret === '' ? null : credential.name,
  }
}

/** The record of a candidate that we do not call, with the reason. */
export function passedOver(
  { channel, protocol, upstreamModel }: PassedOverCandidate,
  reason: string,
): AttemptRecord {
  const known = { protocol: protocol ?? null, upstreamModel: upstreamModel ?? null }
  return { ...newAttempt({ channel, reason, ...known }), passedOver: true }
}
