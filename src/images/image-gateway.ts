import type { KeyRing } from '../canonical/key-ring.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import type { ImageLinks } from '../storage/links.ts'
import type { ImageStorage } from '../storage/storage.ts'

/**
 * The parts of a process that image requests and their jobs need, in addition to those that every request
 * needs.
 */
export interface ImageGateway extends Gateway {
  images: Images
}

export interface Images {
  storage: ImageStorage
  links: ImageLinks
  /** Signs webhooks. */
  webhookKeys: KeyRing
}
