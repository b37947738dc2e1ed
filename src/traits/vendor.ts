import type { Traits } from '../canonical/traits.ts'
import type { ProtocolName } from '../protocols/protocol.ts'

/** A company or server software behind a channel: `vendor` in gateway.yaml. */
export interface Vendor {
  /** For people. */
  title: string
  /**
   * Base URLs exactly as the vendor's own SDK takes them. Empty: the operator runs it or has an address of
   * its own there, so only the operator knows it. A channel's own `protocols` have precedence.
   */
  baseUrls: Readonly<Partial<Record<ProtocolName, string>>>
  /** For people: what the base URLs look like, where `baseUrls` is empty. */
  where?: Readonly<Partial<Record<ProtocolName, string>>>
  /** Traits of all its models, by protocol, before those of a family. */
  traits: Readonly<Partial<Record<ProtocolName, Traits>>>
  /** Addresses of pages or threads that say so. */
  sources: readonly string[]
  /** The day on which we read them: `2026-11-22`. */
  read: string
}
