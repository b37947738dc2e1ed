import type { Identity } from '../access/identity.ts'
import { GatewayError } from '../canonical/error.ts'
import type { Group, Model, Snapshot } from '../catalog/snapshot.ts'
import { worstCaseNano } from '../ledger/price.ts'
import type { OpenRecord } from '../ledger/record.ts'
import { redactBody, redactText } from '../ledger/redact.ts'
import type { RequestFacts } from '../protocols/protocol.ts'
import type { Call } from './call.ts'
import type { Gateway } from './gateway.ts'
import { addLimitHeaders } from './limit-headers.ts'
import { largestTranslation } from './prepare.ts'
import type { Target } from './route.ts'

export interface Admission {
  identity: Identity
  group: Group
  model: Model
  facts: RequestFacts
  body: Buffer
  /** Those of its targets that do not speak the client's format. */
  translated: readonly Target[]
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
  takeLimits(gateway, call, identity, group, Math.ceil(body.length / 4) + (facts.maxOutputTokens ?? 0))
  if (snapshot.tenants.get(identity.tenantId)?.limited === true) {
    gateway.ledger.requireRoom()
    await reserve(gateway, call, admission)
  }
  await standInJournal(gateway, call, body)
}

/** Throws `unavailable` where this process may begin nothing new. */
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

/** Charge the limits of a key, until the call is settled. Throws `rate_limited`. */
export function takeLimits(
  gateway: Gateway,
  call: Call,
  identity: Identity,
  group: Group,
  tokensEstimate: number,
): void {
  const lease = gateway.limits.take(identity.keyId, group.limits, tokensEstimate, call.startedAt)
  addLimitHeaders(call.headers, lease)
  if (!lease.granted) {
    throw new GatewayError('rate_limited', refusalText[lease.limit], {
      retryAfterSeconds: lease.retryAfterSeconds,
    })
  }
  call.lease = lease
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

const refusalText = {
  requests: 'This key has used up its requests per minute. Wait as long as retry-after says.',
  tokens: 'This key has used up its tokens per minute. Wait as long as retry-after says, or send less.',
  concurrency: 'This key has as many requests running as it may have. Wait for one of them to end.',
} as const

/** A smaller bound is raised to this where a format takes none below it. */
const leastOutputTokens = 16

async function reserve(
  gateway: Gateway,
  call: Call,
  { identity, group, model, facts, body, translated }: Admission,
): Promise<void> {
  const { hidesCost } = facts
  if (hidesCost !== undefined) {
    throw new GatewayError(
      'permission_denied',
      `${hidesCost}: this key has a spending limit, and what an answer costs that is made in the background is not seen here. Leave "${hidesCost}" out.`,
      { field: hidesCost },
    )
  }
  const amount = worstCaseNano(
    {
      bodyBytes: Math.max(body.length, largestTranslation(gateway, call, translated)),
      hasMedia: facts.hasMedia,
      maxOutputTokens:
        facts.maxOutputTokens === undefined || translated.length === 0
          ? facts.maxOutputTokens
          : Math.max(facts.maxOutputTokens, leastOutputTokens),
      choices: facts.choices,
    },
    model,
    group.priceMultiplier,
  )
  if (amount === undefined) {
    throw new GatewayError(
      'permission_denied',
      `This key has a spending limit and what model "${facts.model}" may cost is not bounded: it has no price, or neither max_completion_tokens nor a limit of the model bounds its answer.`,
      { field: 'model' },
    )
  }
  call.reservedAccountId = identity.tenantId
  if (await gateway.reservations.reserve(call.id, identity.tenantId, amount)) return
  // What ended moments ago may still be held: ship it, and ask once more.
  await gateway.ledger.shipNow()
  if (await gateway.reservations.reserve(call.id, identity.tenantId, amount)) return
  throw new GatewayError(
    'insufficient_credit',
    `This request could cost up to $${usd(amount)}, which the balance cannot bear beside what is running. Lower max_completion_tokens, wait for running requests, or add credit.`,
  )
}

/** A plain decimal. */
export function usd(nano: bigint): string {
  const digits = nano.toString().padStart(10, '0')
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`.replace(/0+$/, '').replace(/\.$/, '')
}

function headerText(value: string | string[] | undefined, charactersMax: number): string | null {
  const text = Array.isArray(value) ? value[0] : value
  return text === undefined ? null : redactText(text.slice(0, charactersMax))
}
