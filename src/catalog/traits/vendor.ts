import type { Traits } from '../../canonical/traits.ts'
import type { ProtocolName } from '../../protocols/protocol.ts'

/** A company or server software behind a channel, set by `vendor` in gateway.yaml. */
export interface Vendor {
  /** The display name. */
  title: string
  /**
   * Base URLs in the form that the vendor's own SDK uses. Empty if only the operator knows the URL, because
   * the operator runs the server or has an individual address at the vendor. A channel's own `protocols` take
   * precedence.
   */
  baseUrls: Readonly<Partial<Record<ProtocolName, string>>>
  /** A human-readable pattern of the base URLs, if `baseUrls` is empty. */
  where?: Readonly<Partial<Record<ProtocolName, string>>>
  /** Traits of all the vendor's models by protocol. Family traits override them. */
  traits: Readonly<Partial<Record<ProtocolName, Traits>>>
  /** URLs of pages or threads that confirm the traits. */
  sources: readonly string[]
  /** The date on which we read them: `2026-11-22`. */
  read: string
}
