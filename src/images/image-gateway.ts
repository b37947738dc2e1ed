import type { JobQueue } from '../queue/queue.ts'
import type { Gateway } from '../stages/gateway.ts'
import type { ImageJobs } from './jobs/jobs.ts'
import type { JobWatch } from './jobs/watch.ts'
import type { ImageLinks } from './storage/links.ts'
import type { ImageStorage } from './storage/storage.ts'

/** What image requests and their jobs need of a process, beside what every request needs. */
export interface ImageGateway extends Gateway {
  images: Images
  /** Where clients reach us, as the operator says; undefined: at the address that each client called. */
  publicUrl: string | undefined
}

export interface Images {
  jobs: ImageJobs
  watch: JobWatch
  /** Takes the ids of jobs to run. */
  queue: Pick<JobQueue, 'add'>
  storage: ImageStorage
  links: ImageLinks
  /** Signs what webhooks are told. */
  webhookKey: Buffer
}
