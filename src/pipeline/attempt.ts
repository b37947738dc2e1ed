import type { GatewayError } from '../canonical/error.ts'
import { type Headers, headerText } from '../canonical/headers.ts'
import { messageWithCause } from '../canonical/unreachable.ts'
import { blockedFor } from '../catalog/catalog.ts'
import type { Model } from '../catalog/snapshot.ts'
import { longName, name } from '../journal/column.ts'
import type { AttemptRecord } from '../journal/record.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { redactText } from '../redaction/redact.ts'
import type { Candidate } from '../routing/candidates.ts'
import type { Credential } from '../routing/credentials.ts'
import { blockedReason, type ModelCandidates, type PassedOverCandidate } from '../routing/targets.ts'
import type { Asked } from './read.ts'
import type { Received } from './received.ts'

/** Creates the record of an upstream call that has not been made yet. */
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

/** Returns the part of an error that an attempt records. */
export function attemptError(error: GatewayError): AttemptRecord['error'] & object {
  return { kind: error.kind, message: messageWithCause(error) }
}

/**
 * Returns the upstream's own id of a call. Redacted, because an upstream may put anything there, including
 * one of `secrets`.
 */
export function requestIdIn(headers: Headers, secrets: readonly string[]): string | null {
  const id = headerText(headers['x-request-id'])
  return id === undefined ? null : redactText(id, secrets, name.max)
}

/** Creates the record of a candidate that is not called, with the reason. */
export function passedOver(
  { channel, protocol, upstreamModel }: PassedOverCandidate,
  reason: string,
): AttemptRecord {
  const known = { protocol: protocol ?? null, upstreamModel: upstreamModel ?? null }
  return { ...newAttempt({ channel, reason, ...known }), passedOver: true }
}

/** A row with this many attempts records no more passed-over candidates. */
const passedOverMax = 16

/** Records a candidate that is not called, with the reason. */
export function recordPassedOver(
  { row }: Pick<Received, 'row'>,
  { fallback }: Pick<ModelCandidates, 'fallback'>,
  candidate: PassedOverCandidate,
  reason: string,
): void {
  if (row.attempts.length >= passedOverMax) return
  const label = fallback === undefined ? reason : `fallback ${fallback}, ${reason}`
  row.attempts.push(passedOver(candidate, label))
}

/** Records the channels that a person has blocked, for a request that no other channel can serve. */
export function recordBlocked({ row, group }: Pick<Asked, 'row' | 'group'>, model: Model): void {
  for (const channel of blockedFor(model, group))
    recordPassedOver({ row }, { fallback: undefined }, { channel }, blockedReason)
}
