import type { Identity } from '../access/identity.ts'
import { GatewayError } from '../canonical/error.ts'
import type { Group, Model, Snapshot } from '../catalog/snapshot.ts'
import type { OpenRecord } from '../ledger/record.ts'
import type { RequestFacts } from '../protocols/protocol.ts'
import { redactBody, redactText } from '../redaction/redact.ts'
import type { Candidate } from '../routing/candidates.ts'
import type { Call } from './call.ts'
import type { Gateway } from './gateway.ts'
import { labelsOf } from './labels.ts'
import { isMoneyLimited, reserve } from './reserve.ts'
import { takeLimits } from './take-limits.ts'

export interface Admission {
  identity: Identity
  group: Group
  facts: RequestFacts
  body: Buffer
  /** All that may answer: the model that was asked for first, then its fallbacks. */
  models: readonly Answering[]
}

/** A model that may answer a request. */
export interface Answering {
  model: Model
  /** Those of its targets that do not speak the client's format. */
  translated: readonly Candidate[]
}

const userAgentCharactersMax = 256
const idempotencyKeyCharactersMax = 256

/**
 * Say yes to a request, durably: within its limits, its worst case held where money is limited, and standing in
 * the journal. Nothing may be sent upstream before this resolves.
 * Throws `rate_limited`, `insufficient_credit`, `permission_denied` or `unavailable`.
 */
export async function admit(
  gateway: Gateway,
  call: Call,
  snapshot: Snapshot,
  admission: Admission,
): Promise<void> {
  const { identity, group, facts, body } = admission
  await takeLimits(gateway, call, identity, group, Math.ceil(body.length / 4) + (facts.maxOutputTokens ?? 0))
  if (isMoneyLimited(snapshot, identity, group)) {
    gateway.ledger.requireRoom()
    await reserve(gateway, call, admission)
  }
  await standInJournal(gateway, call, body)
}

/** Throws `unavailable` where this process may begin nothing new. Asked once it is known whose row that is. */
export function requireCapacity({ draining, calls, bounds }: Gateway): void {
  if (draining) {
    throw new GatewayError(
      'unavailable',
      'This gateway process is shutting down. Try again: another one will answer.',
      { retryAfterSeconds: 1 },
    )
  }
  if (calls.size > bounds.inFlightMax) {
    throw new GatewayError(
      'unavailable',
      `This gateway process runs ${bounds.inFlightMax} requests, as many as it may. Try again.`,
      { retryAfterSeconds: 1 },
    )
  }
}

/** Resolves once the call has a row even if this process dies. `body`: what was read of it, or null. */
export async function standInJournal(gateway: Gateway, call: Call, body: Buffer | null): Promise<void> {
  const open = openRecordOf(gateway, call, body)
  const standing = gateway.ledger.open(open)
  // It is written; the memory behind the body is about to be used again.
  open.body = null
  await standing
  call.opened = open
}

/** The first half of the row, as far as the request has come. `body`: what was read of it, or null. */
export function openRecordOf(gateway: Gateway, call: Call, body: Buffer | null): OpenRecord {
  const { identity, request } = call
  const capture = identity?.capture ?? 'none'
  return {
    id: call.id,
    tenantId: identity?.tenantId ?? null,
    keyId: identity?.keyId ?? null,
    groupId: identity?.groupId ?? null,
    endpoint: call.endpoint.path,
    clientProtocol: call.endpoint.protocol,
    requestedModel: call.requestedModel === null ? null : redactText(call.requestedModel),
    stream: call.facts?.stream ?? false,
    clientAddress: call.clientAddress,
    userAgent: headerText(request.headers['user-agent'], userAgentCharactersMax),
    idempotencyKey: headerText(request.headers['idempotency-key'], idempotencyKeyCharactersMax),
    ...labelsOf(request.headers, body, call.facts),
    reservedAccountId: call.reservedAccountId,
    capture,
    body:
      body === null
        ? null
        : redactBody(body, capture, {
            key: gateway.redactionKey,
            bytesMax: gateway.bounds.captureBytesMax,
            stringBytesMax: gateway.bounds.captureStringBytesMax,
            exact: call.token === null ? [] : [call.token],
          }),
  }
}

function headerText(value: string | string[] | undefined, charactersMax: number): string | null {
  const text = Array.isArray(value) ? value[0] : value
  return text === undefined ? null : redactText(text.slice(0, charactersMax))
}
