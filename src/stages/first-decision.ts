import { GatewayError } from '../canonical/error.ts'
import type { Gateway } from './gateway.ts'
import { isKeyed, isTaken } from './idempotency.ts'
import type { Identified } from './identify.ts'
import { takeLimits } from './take-limits.ts'

/**
 * Take a request and a place of the limits, before the body is read. Throws, or rejects with, `rate_limited`; but for a repeat
 * of an earlier request it resolves with that refusal: the repeat may get the first one's answer, which counts against no limit.
 * Throw the refusal when `answeredBefore` has not answered. Returns a promise only where another process is asked.
 */
export function decideFirst(
  gateway: Gateway,
  identified: Identified,
): Promise<GatewayError | undefined> | undefined {
  identified.trace?.station('limits')
  if (isKeyed(identified)) return decideKeyed(gateway, identified)
  return takeLimits(gateway, identified)?.then(() => undefined)
}

async function decideKeyed(gateway: Gateway, identified: Identified): Promise<GatewayError | undefined> {
  try {
    await takeLimits(gateway, identified)
    return undefined
  } catch (error) {
    if (error instanceof GatewayError && (await isTaken(gateway, identified))) return error
    throw error
  }
}
