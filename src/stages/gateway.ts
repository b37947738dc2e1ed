import type { IdempotencyKeys } from '../access/idempotency-keys.ts'
import type { Keys } from '../access/keys.ts'
import type { BackgroundAnswers } from '../background/background-answers.ts'
import type { BodyThreads } from '../bodies/body-threads.ts'
import type { CapturedAnswers } from '../bodies/captured-answers.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { ModelLists } from '../catalog/listed-models.ts'
import type { Refusals } from '../catalog/refusals.ts'
import type { Bounds } from '../config.ts'
import type { BodyMemory } from '../http/body-memory.ts'
import type { RunningRequests } from '../http/running-requests.ts'
import type { TurnBudget } from '../http/turn-budget.ts'
import type { Enqueued, Jobs } from '../jobs/jobs.ts'
import type { JobWatch } from '../jobs/watch.ts'
import type { KeptAnswers } from '../kept/kept-answers.ts'
import type { HeldAnswers } from '../ledger/held-answers.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Reservations } from '../ledger/reservations.ts'
import type { Held, Limits } from '../limits/limits.ts'
import type { Envelope } from '../protocols/envelope.ts'
import type { Routing } from '../routing/routing.ts'
import type { Clock } from '../runtime/clock.ts'
import type { RunningCounts } from '../runtime/running-counts.ts'
import type { Log } from '../telemetry/log.ts'
import type { Traces } from '../telemetry/traces/traces.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import type { FileSource } from './file-source.ts'
import type { Life } from './life.ts'
import type { Unlogged } from './unlogged.ts'

/** The parts of a process that requests need. A Context has them all and more. */
export interface Gateway {
  bounds: Bounds
  clock: Clock
  log: Log
  /** Called for each request that ends without a row; undefined: there is no listener. */
  onUnlogged: ((request: Unlogged) => void) | undefined
  /** Undefined: traces are off. */
  traces: Traces | undefined
  catalog: Pick<Catalog, 'snapshot'>
  /** The upstreams' own lists of models. */
  modelLists: { readonly lists: ModelLists }
  keys: Pick<Keys, 'lookup'>
  limits: Limits
  /** Called for each decision about limits; undefined: they are not counted. */
  onLimits: ((decision: Held) => void) | undefined
  ledger: RequestLedger
  reservations: Pick<Reservations, 'hold' | 'ended'>
  /** Idempotency-Keys, with the answers to their first requests. */
  idempotency: IdempotencyKeys
  upstreams: Pick<Upstreams, 'call'>
  /** Which channels fail, and which credentials must wait. */
  routing: Routing
  /** What upstreams refuse of translated requests: all processes learn it. */
  refusals: Refusals
  /** Finds the channel that holds an earlier answer. */
  heldAnswers: HeldAnswers
  /** The answers that the gateway keeps. */
  kept: KeptAnswers
  /** Images, and answers in the background: workers make them after their requests. */
  jobs: Jobs
  jobWatch: JobWatch
  /** Takes the ids of jobs to run, each for the queue of its kind. */
  jobQueue: { add(jobs: readonly Enqueued[]): Promise<void> }
  backgroundAnswers: BackgroundAnswers
  /**
   * The address where clients reach us, as the operator set it; undefined: the address that each client
   * called.
   */
  publicUrl: string | undefined
  /** Whether webhooks may go to loopback and private addresses. */
  privateWebhooks: boolean
  /** Files of clients, which their requests name. */
  files: FileSource
  /** Whether answers name our channels to clients. */
  showsRouting: boolean
  /** Carries reasoning signatures through clients that speak another format. */
  envelope: Envelope
  /** Features of a format that we never ask an upstream for, even when the client does. */
  deniedBetas: ReadonlySet<string>
  /** Keys the hashes of bodies with `capture: shape`. */
  redactionKey: Buffer
  /** Requests that run now. */
  requests: RunningRequests<Life>
  /** Those of each key. */
  keyRequests: RunningCounts
  /** The memory of their bodies. */
  bodies: BodyMemory
  /** Their bytes in one turn of the event loop. */
  turns: TurnBudget
  /** Work on large ones. */
  bodyThreads: BodyThreads
  /** The answers that keys ask the usage log to keep. */
  capturedAnswers: CapturedAnswers
  /** The process was asked to end: `/readyz` says so, and requests are still taken. */
  leaving: boolean
  /** The drain sets it: no new work begins. */
  draining: boolean
}

/** What requests need of the ledger. */
export type RequestLedger = Pick<
  Ledger,
  'instance' | 'doubtOf' | 'requireRoom' | 'open' | 'opened' | 'close' | 'refuse' | 'refuseUnknown'
>
