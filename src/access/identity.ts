import type { RateLimits } from '../catalog/snapshot.ts'
import type { CaptureMode } from '../redaction/redact.ts'

/** The caller: one valid key, as the hot path needs it. Immutable; cached until its revision changes. */
export interface Identity {
  keyId: string
  keyName: string
  tenantId: string
  groupId: string
  capture: CaptureMode
  /** Whether the usage log keeps its answers, if `capture` is `content`. Undefined: as its group says. */
  captureAnswers: boolean | undefined
  /** Days for which its answers are kept; 0: none is kept. Undefined: as its group says. */
  keptDays: number | undefined
  usageScope: 'tenant' | 'key'
  /** True: a request is refused when its translation would lose something. */
  strict: boolean
  /** Ids of models, never aliases. Undefined: all models that the group allows. */
  allowedModels: ReadonlySet<string> | undefined
  /** CIDR blocks. Undefined: any address. */
  allowedCidrs: readonly string[] | undefined
  /** Milliseconds since the epoch. */
  expiresAt: number | undefined
  disabled: boolean
  /** Undefined: the limits of its group; of a sub-key, its parent's alone. */
  limits: RateLimits | undefined
  /** True: the key or its parent has a budget, and its requests need a reservation. */
  budgeted: boolean
  /** The key that made this one. Undefined: an admin or a file made it. */
  parent: ParentKey | undefined
  /** How many sub-keys it may have at once. */
  subKeysMax: number
}

/**
 * The settings of its parent that restrict a sub-key. Where both have a setting, `Identity` has the narrower
 * one.
 */
export interface ParentKey {
  keyId: string
  limits: RateLimits | undefined
  allowedCidrs: readonly string[] | undefined
}
