import type { Traits } from '../../canonical/traits.ts'
import type { ProtocolName } from '../../protocols/protocol.ts'
import type { VendorName } from './vendors.ts'

/**
 * A line of the built-in table: the traits of a model family, as documented by a vendor or discovered by
 * users.
 */
export interface Family {
  /**
   * Matches the upstream's model name in lower case, both with and without a leading path:
   * `anthropic/claude-opus-4-8` is also tried as `claude-opus-4-8`.
   */
  models: RegExp
  /** Absent: applies wherever the models are served. */
  vendors?: readonly VendorName[]
  /** Absent: applies to all protocols. */
  protocols?: readonly ProtocolName[]
  traits: Traits
  /** Names that `models` must match; a test checks each of them. */
  examples: readonly string[]
  /** URLs of pages or threads that confirm the traits. */
  sources: readonly string[]
  /** The date on which we read them: `2026-11-22`. */
  read: string
}
