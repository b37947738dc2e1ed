import { randomBytes } from 'node:crypto'
import type { Identity } from '../access/identity.ts'
import type { TypedQueries } from '../db/connections.ts'
import { settingsOfParents } from '../db/settings/key-settings.ts'
import { defaultsOf } from '../db/settings/setting.ts'
import { ensureProbeKey } from './queries.ts'

/** The tenant and the group of all requests made by probes. */
export const probeTenant = 'tollgate-probes'

/**
 * Returns the caller of one run. It has its own key, whose budget is the most that the run may cost. A run
 * that is restarted has the same key, so both runs together stay within the budget. `costMax` is null when no
 * price of the model is known, because no budget can then bound the cost.
 */
export async function callerOf(db: TypedQueries, keyName: string, costMax: bigint | null): Promise<Identity> {
  const secretHash = randomBytes(32)
  const owners = await ensureProbeKey(db, { tenant: probeTenant, key: keyName, secretHash, costMax })
  return {
    ...owners,
    keyName,
    ...defaultsOf(settingsOfParents),
    keptDays: 0,
    usageScope: 'key',
    allowedModels: undefined,
    allowedCidrs: undefined,
    expiresAt: undefined,
    disabled: false,
    limits: undefined,
    budgeted: costMax !== null,
    parent: undefined,
    blocked: false,
    subKeysMax: 0,
  }
}
