import { randomUUID } from 'node:crypto'
import type { RateLimits } from '../../src/catalog/snapshot.ts'
import type { Decision, LimitLease, LimitRefusal, LimitScope } from '../../src/limits/limits.ts'

const none: RateLimits = {
  requestsPerMinute: undefined,
  tokensPerMinute: undefined,
  concurrency: undefined,
}

/** A scope with an id of its own. */
export function scopeOf(limits: Partial<RateLimits>, kind: LimitScope['kind'] = 'key'): LimitScope {
  return { kind, id: randomUUID(), limits: { ...none, ...limits } }
}

export async function granted(decision: Decision | Promise<Decision>): Promise<LimitLease> {
  const decided = await decision
  if (!decided.granted) throw new Error(`refused by ${decided.limit} of the ${decided.scope}`)
  return decided
}

export async function refused(decision: Decision | Promise<Decision>): Promise<LimitRefusal> {
  const decided = await decision
  if (decided.granted) throw new Error('granted')
  return decided
}
