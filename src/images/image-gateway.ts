import type { KeyRing } from '../canonical/key-ring.ts'
import type { JobQueue } from '../queue/queue.ts'
import type { Gateway } from '../stages/gateway.ts'
import type { ImageJobs } from './jobs/jobs.ts'
import type { JobWatch } from './jobs/watch.ts'
import type { ImageLinks } from './storage/links.ts'
import type { ImageStorage } from './storage/storage.ts'

/** The parts of a process that image requests and their jobs need, beside those that every request needs. */
export interface ImageGateway extends Gateway {
  images: Images
  /** The address where clients reach us, as the operator set it; undefined: the address that each client called. */
  publicUrl: string | undefined
  /** Whether webhooks may go to loopback and private addresses. */
  privateWebhooks: boolean
}

export interface Images {
  jobs: ImageJobs
  watch: JobWatch
  /** Takes the ids of jobs to run. */
  queue: Pick<JobQueue, 'add'>
  storage: ImageStorage
  links: ImageLinks
  /** Signs webhooks. */
  webhookKeys: KeyRing
}
