import { randomBytes } from 'node:crypto'
import type { Identity } from '../access/identity.ts'
import type { TypedQueries } from '../db/connections.ts'
import { ensureProbeKey } from './queries.ts'

/** The tenant, and the group, of all requests that probes make. */
export const probeTenant = 'tollgate-probes'

/**
 * The caller of one run: a key of its own, whose budget is the most that the run may cost. A run that is
 * begun again has the same key, so that both together stay within the budget. `costMax` null: no price of the
 * model is known, so no budget can bound it.
 */
export async function callerOf(db: TypedQueries, keyName: string, costMax: bigint | null): Promise<Identity> {
  const secretHash = randomBytes(32)
  const owners = await ensureProbeKey(db, { tenant: probeTenant, key: keyName, secretHash, costMax })
  return {
    ...owners,
    keyName,
    capture: 'content',
    captureAnswers: undefined,
    keptDays: 0,
    usageScope: 'key',
    strict: false,
    allowedModels: undefined,
    allowedCidrs: undefined,
    expiresAt: undefined,
    disabled: false,
    limits: undefined,
    budgeted: costMax !== null,
    parent: undefined,
    subKeysMax: 0,
  }
}
