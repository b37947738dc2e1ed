import type { RateLimits } from '../catalog/snapshot.ts'
import type { CaptureMode } from '../redaction/redact.ts'

/** Who is calling: one valid key as the hot path sees it. Immutable; cached until its revision changes. */
export interface Identity {
  keyId: string
  keyName: string
  tenantId: string
  groupId: string
  capture: CaptureMode
  usageScope: 'tenant' | 'key'
  /** What a translation would lose is refused instead. */
  strict: boolean
  /** Ids of models, never aliases. Undefined: whatever the group allows. */
  allowedModels: ReadonlySet<string> | undefined
  /** Undefined: from anywhere. Parsed CIDR blocks. */
  allowedCidrs: readonly string[] | undefined
  /** Milliseconds since the epoch. */
  expiresAt: number | undefined
  disabled: boolean
  /** Undefined: its group's. */
  limits: RateLimits | undefined
  /** True when what it spends is bounded: requests are admitted by reservation. */
  budgeted: boolean
}
