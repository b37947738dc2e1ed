import type { KeyRing } from '../canonical/key-ring.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { JobWatch } from '../jobs/watch.ts'
import type { Gateway, QueuesOfJobs } from '../stages/gateway.ts'
import type { ImageLinks } from './storage/links.ts'
import type { ImageStorage } from './storage/storage.ts'

/** The parts of a process that image requests and their jobs need, beside those that every request needs. */
export interface ImageGateway extends Gateway {
  images: Images
}

export interface Images {
  jobs: Jobs
  watch: JobWatch
  /** Takes the ids of jobs to run, each for the queue of its kind. */
  queue: QueuesOfJobs
  storage: ImageStorage
  links: ImageLinks
  /** Signs webhooks. */
  webhookKeys: KeyRing
}
