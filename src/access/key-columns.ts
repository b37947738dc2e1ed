import type { KeyEntry } from '../catalog/gateway-file.ts'
import { budgetColumns, limitColumns } from '../catalog/limit-columns.ts'
import type { KeyRow } from './queries.ts'

/** The columns of a key's settings, without its name, group and secret. */
export function keyColumns(key: KeyEntry, existing: Pick<KeyRow, 'disabledAt'> | undefined) {
  return {
    capture: key.capture,
    captureAnswers: key.captureAnswers ?? null,
    keptDays: key.keptDays ?? null,
    usageScope: key.usageScope,
    strict: key.strict,
    subKeysMax: key.subKeysMax ?? null,
    ...limitColumns(key.limits),
    ...budgetColumns(key.budget),
    allowedModels: key.allowedModels ?? null,
    allowedCidrs: key.allowedCidrs ?? null,
    expiresAt: key.expiresAt ?? null,
    disabledAt: key.disabled ? (existing?.disabledAt ?? new Date()) : null,
  } satisfies Partial<KeyRow>
}
