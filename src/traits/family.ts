import type { Traits } from '../canonical/traits.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import type { VendorName } from './vendors.ts'

/**
 * A line of the built-in table: traits of a family of models, as a vendor documents them or as users have
 * found them.
 */
export interface Family {
  /**
   * Matches the upstream's name of the model in lower case, without a path before it:
   * `anthropic/claude-opus-4-8` is tried as `claude-opus-4-8` too.
   */
  models: RegExp
  /** Absent: wherever the models are served. */
  vendors?: readonly VendorName[]
  /** Absent: in all protocols. */
  protocols?: readonly ProtocolName[]
  traits: Traits
  /** Names that it must match: a test tries each. */
  examples: readonly string[]
  /** Addresses of pages or threads that say so. */
  sources: readonly string[]
  /** The day on which we read them: `2026-11-22`. */
  read: string
}
