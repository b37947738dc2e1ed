import { gatewayError } from '../canonical/error.ts'
import type { Reason } from '../canonical/reasons/catalogue.ts'
import { unlimited } from '../catalog/limit-columns.ts'
import { type Decision, type Denial, type Held, isLimited, type LimitScope } from '../limits/limits.ts'
import type { Gateway } from './gateway.ts'
import type { Identified } from './identify.ts'
import { addLimitHeaders } from './limit-headers.ts'
import type { Metered } from './meter.ts'

/**
 * The first decision, made before the body is read: charges a request and a concurrency slot to the limits of
 * the key, its group and its tenant until the request ends. Throws, or rejects with, `rate_limited`. Returns
 * a promise only when limits are set and shared with other processes.
 */
export function takeLimits(gateway: Gateway, identified: Identified): Promise<void> | undefined {
  const scopes = scopesOf(identified)
  if (scopes.length === 0) return undefined
  const decision = identified.books.limits.take(scopes, 0, identified.id)
  if (decision instanceof Promise) return decision.then((shared) => keepLease(gateway, identified, shared))
  keepLease(gateway, identified, decision)
  return undefined
}

/**
 * The second decision, made when the request has been read: holds its tokens. A refusal gives back what the
 * first decision took. Without a token limit, it makes no call and returns no promise.
 */
export function takeTokens(
  gateway: Gateway,
  identified: Identified,
  tokensEstimate: number,
): Promise<void> | undefined {
  const { lease } = identified.life
  if (lease?.tokens === undefined) return undefined
  identified.trace?.step('limits')
  const held = lease.hold(tokensEstimate)
  if (held instanceof Promise) return held.then((shared) => requireGranted(gateway, identified, shared))
  requireGranted(gateway, identified, held)
  return undefined
}

/**
 * The tokens of an answer that count against limits. Implausible counts do not, because they would use up
 * hours of the limits.
 */
export function limitTokensOf({ usage, usageSource, bodyTokens = 0 }: Metered): number {
  return usage === null || usageSource === 'implausible'
    ? bodyTokens
    : usage.input + usage.cacheRead + usage.cacheWrite + usage.output + usage.reasoning
}

function scopesOf({ snapshot, identity, group }: Identified): readonly LimitScope[] {
  const tenantLimits = snapshot.tenants.get(identity.tenantId)?.limits
  const { keyId, parent } = identity
  const keyLimits = identity.limits ?? (parent === undefined ? group.limits : unlimited)
  const scopes: LimitScope[] = []
  if (isLimited(keyLimits)) scopes.push({ kind: 'key', id: keyId, limits: keyLimits })
  if (parent !== undefined) {
    const limits = parent.limits ?? group.limits
    if (isLimited(limits)) scopes.push({ kind: 'key', id: parent.keyId, limits })
  }
  if (isLimited(group.totalLimits)) scopes.push({ kind: 'group', id: group.id, limits: group.totalLimits })
  if (tenantLimits !== undefined && isLimited(tenantLimits)) {
    scopes.push({ kind: 'tenant', id: identity.tenantId, limits: tenantLimits })
  }
  return scopes
}

function keepLease(gateway: Gateway, identified: Identified, decision: Decision): void {
  requireGranted(gateway, identified, decision)
  if (!decision.granted) return
  const { life } = identified
  // The request ended while Redis was deciding, and nothing else will settle this decision.
  if (life.ended) decision.settle(0)
  else life.lease = decision
}

function requireGranted(gateway: Gateway, { books, headers, endpoint }: Identified, decision: Held): void {
  books.onLimits?.(decision)
  addLimitHeaders(headers, endpoint.protocol, decision, gateway.clock.now())
  if (decision.granted) return
  const { retryAfterMs } = decision
  // SDKs of both vendors prefer this header to retry-after, which has only whole seconds.
  if (retryAfterMs < 1_000) headers['retry-after-ms'] = String(retryAfterMs)
  const { scope, limit, allowed } = decision
  const options = { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) }
  throw gatewayError(reasonOf[limit], { who: whose[scope], allowed }, options)
}

const whose = {
  key: 'This key has',
  group: "The keys of this key's group together have",
  tenant: 'The keys of this tenant together have',
} as const satisfies Record<Denial['scope'], string>

const reasonOf = {
  requests: 'request_rate_reached',
  tokens: 'token_rate_reached',
  concurrency: 'concurrency_reached',
} as const satisfies Record<Denial['limit'], Reason>
