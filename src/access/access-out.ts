import type { Json } from '../canonical/json.ts'
import { usd } from '../canonical/usd.ts'
import { settingsOfGroups } from '../db/settings/group-settings.ts'
import { settingsOfKeys } from '../db/settings/key-settings.ts'
import { exportOf } from '../db/settings/setting.ts'
import { settingsOfTenants } from '../db/settings/tenant-settings.ts'
import type { ExportRows } from './export-queries.ts'

// Rows in the vocabulary of gateway.yaml, without settings that have their default values.

export function groupWords(row: ExportRows['groups'][number]): Json {
  return { name: row.name, ...exportOf(settingsOfGroups, row) }
}

/** `balance` is undefined if the tenant's money is not limited. A file cannot contain a negative balance. */
export function tenantOut(row: ExportRows['tenants'][number]['tenant'], balance: bigint | undefined): Json {
  return {
    name: row.name,
    ...(balance !== undefined && { balance_usd: usd(balance < 0n ? 0n : balance) }),
    ...exportOf(settingsOfTenants, row),
  }
}

/** Without the secret, because only its hash is stored. */
export function keyWords(row: ExportRows['keys'][number], group: string): Json {
  return { name: row.name, group, ...exportOf(settingsOfKeys, row) }
}
