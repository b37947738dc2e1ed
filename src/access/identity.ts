import type { RateLimits } from '../catalog/snapshot.ts'
import type { settingsOfParents } from '../db/settings/key-settings.ts'
import type { SettingValues } from '../db/settings/setting.ts'

/**
 * The caller: a valid key with what the hot path needs. Immutable, and cached until the key's revision
 * changes.
 */
export interface Identity extends SettingValues<typeof settingsOfParents> {
  keyId: string
  keyName: string
  tenantId: string
  groupId: string
  usageScope: 'tenant' | 'key'
  /** The ids of the allowed models, never aliases. Undefined: all models that the group allows. */
  allowedModels: ReadonlySet<string> | undefined
  /** CIDR blocks. Undefined: any address is allowed. */
  allowedCidrs: readonly string[] | undefined
  /** Milliseconds since the epoch. */
  expiresAt: number | undefined
  disabled: boolean
  /** A person has blocked the key or its parent. */
  blocked: boolean
  /** Undefined: the group's limits apply; for a sub-key, only its parent's. */
  limits: RateLimits | undefined
  /** True: the key or its parent has a budget, so its requests need a reservation. */
  budgeted: boolean
  /** The key that created this one. Undefined: an admin or a file created it. */
  parent: ParentKey | undefined
  /** The maximum number of sub-keys at a time. */
  subKeysMax: number
}

/**
 * The parent's settings that restrict a sub-key. For settings that both have, `Identity` contains the
 * stricter value.
 */
export interface ParentKey {
  keyId: string
  limits: RateLimits | undefined
  allowedCidrs: readonly string[] | undefined
}
