import type { IdempotencyKeys } from '../access/idempotency-keys.ts'
import type { Keys } from '../access/keys.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Bounds } from '../config.ts'
import type { RunningCalls } from '../http/running-calls.ts'
import type { ImageJobs } from '../images/jobs/jobs.ts'
import type { JobWatch } from '../images/jobs/watch.ts'
import type { ImageLinks } from '../images/storage/links.ts'
import type { ImageStorage } from '../images/storage/storage.ts'
import type { HeldAnswers } from '../ledger/held-answers.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Reservations } from '../ledger/reservations.ts'
import type { Limits } from '../limits/limits.ts'
import type { Envelope } from '../protocols/envelope.ts'
import type { JobQueue } from '../queue/queue.ts'
import type { Routing } from '../routing/routing.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import type { Call } from './call.ts'

/** What the gateway's verbs need of a process. The context has it all and more. */
export interface Gateway {
  bounds: Bounds
  log: GatewayLog
  catalog: Catalog
  keys: Keys
  limits: Limits
  ledger: Ledger
  reservations: Reservations
  /** Which requests came before, and what they were answered. */
  idempotency: IdempotencyKeys
  upstreams: Upstreams
  /** Which channels fail, and which credentials rest. */
  routing: Routing
  /** Which channel holds an answer that can be asked for again. */
  heldAnswers: HeldAnswers
  /** Carries seals of reasoning through clients that speak another format. */
  envelope: Envelope
  /** Features of a format that no upstream is asked for, whatever the client says. */
  deniedBetas: ReadonlySet<string>
  images: Images
  /** Where clients reach us, as the operator says; undefined: where each of them has called. */
  publicUrl: string | undefined
  /** Keys the hashes of bodies that are kept as shape. */
  redactionKey: Buffer
  /** Requests that run now. */
  calls: RunningCalls<Call>
  /** Set once by the drain: no new work. */
  draining: boolean
}

export interface GatewayLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** What images are made with. */
export interface Images {
  jobs: ImageJobs
  watch: JobWatch
  /** Takes the ids of jobs to run. */
  queue: Pick<JobQueue, 'add'>
  storage: ImageStorage
  links: ImageLinks
  /** Signs what is told to webhooks. */
  webhookKey: Buffer
}
