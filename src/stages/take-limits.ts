import type { Identity } from '../access/identity.ts'
import { GatewayError } from '../canonical/error.ts'
import type { Group } from '../catalog/snapshot.ts'
import { type Decision, type Denial, isLimited, type Scope } from '../limits/limits.ts'
import type { Call } from './call.ts'
import type { Gateway } from './gateway.ts'
import { addLimitHeaders } from './limit-headers.ts'

/**
 * Charge the limits of a key, of its group and of its tenant, until the call is settled. Throws, or rejects with,
 * `rate_limited`. There is only something to wait for where limits are shared and some are set.
 */
export function takeLimits(
  gateway: Gateway,
  call: Call,
  identity: Identity,
  group: Group,
  tokensEstimate: number,
): Promise<void> | undefined {
  const scopes = scopesOf(gateway, identity, group)
  if (scopes.length === 0) return undefined
  const decision = gateway.limits.take(scopes, tokensEstimate, call.id)
  if (decision instanceof Promise) return decision.then((late) => obey(call, late))
  obey(call, decision)
  return undefined
}

function scopesOf({ catalog }: Gateway, identity: Identity, group: Group): readonly Scope[] {
  const tenantLimits = catalog.snapshot.tenants.get(identity.tenantId)?.limits
  const keyLimits = identity.limits ?? group.limits
  const scopes: Scope[] = []
  if (isLimited(keyLimits)) scopes.push({ kind: 'key', id: identity.keyId, limits: keyLimits })
  if (isLimited(group.totalLimits)) scopes.push({ kind: 'group', id: group.id, limits: group.totalLimits })
  if (tenantLimits !== undefined && isLimited(tenantLimits)) {
    scopes.push({ kind: 'tenant', id: identity.tenantId, limits: tenantLimits })
  }
  return scopes
}

function obey(call: Call, decision: Decision): void {
  addLimitHeaders(call.headers, call.endpoint.protocol, decision, Date.now())
  if (!decision.granted) {
    const { retryAfterMs } = decision
    // Clients of both vendors read it before retry-after, which knows no parts of a second.
    if (retryAfterMs < 1_000) call.headers['retry-after-ms'] = String(retryAfterMs)
    throw new GatewayError('rate_limited', refusalText(decision), {
      retryAfterSeconds: Math.ceil(retryAfterMs / 1_000),
    })
  }
  // A call that was ended while Redis was asked has nobody to settle its lease any more.
  if (call.settled) decision.settle(0)
  else call.lease = decision
}

function refusalText({ scope, limit, allowed }: Denial): string {
  const who = {
    key: 'This key has',
    group: "The keys of this key's group together have",
    tenant: 'The keys of this tenant together have',
  }[scope]
  switch (limit) {
    case 'requests':
      return `${who} used up the ${allowed} requests per minute that are allowed. Wait as long as retry-after says.`
    case 'tokens':
      return `${who} used up the ${allowed} tokens per minute that are allowed. Wait as long as retry-after says, or send less.`
    case 'concurrency':
      return `${who} as many requests running as are allowed, ${allowed}. Wait for one of them to end.`
  }
}
