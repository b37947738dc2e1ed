import type { IdempotencyKeys } from '../access/idempotency-keys.ts'
import type { Identity } from '../access/identity.ts'
import type { Keys } from '../access/keys.ts'
import type { BodyThreads } from '../bodies/body-threads.ts'
import type { CapturedAnswers } from '../bodies/captured-answers.ts'
import type { RememberedBodies } from '../bodies/remembered-bodies.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { ModelLists } from '../catalog/listed-models.ts'
import type { Refusals } from '../catalog/refusals.ts'
import type { Bounds } from '../config/config.ts'
import type { BodyMemory } from '../http/body-memory.ts'
import type { RunningRequests } from '../http/running-requests.ts'
import type { TurnBudget } from '../http/turn-budget.ts'
import type { BackgroundAnswers } from '../jobs/answers/background-answers.ts'
import type { Enqueued, Jobs } from '../jobs/jobs.ts'
import type { JobWatch } from '../jobs/watch.ts'
import type { Held, Limits } from '../limits/limits.ts'
import type { Reservations } from '../money/reservations.ts'
import type { Envelope } from '../protocols/envelope.ts'
import type { Routing } from '../routing/routing.ts'
import type { Clock } from '../runtime/clock.ts'
import type { RunningCounts } from '../runtime/running-counts.ts'
import type { HeldAnswers } from '../shipping/held-answers.ts'
import type { Ledger } from '../shipping/ledger.ts'
import type { FileSource } from '../state/files/file-source.ts'
import type { KeptAnswers } from '../state/kept/kept-answers.ts'
import type { Log } from '../telemetry/log.ts'
import type { Traces } from '../telemetry/traces/traces.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import type { Life } from './life.ts'

/** The parts of a process that requests need. A Context has all of them and more. */
export interface Gateway {
  bounds: Bounds
  clock: Clock
  log: Log
  /** Called for each request that ends without a row; undefined when there is no listener. */
  onUnlogged: ((request: Unlogged) => void) | undefined
  /** Undefined when tracing is off. */
  traces: Traces | undefined
  catalog: Pick<Catalog, 'snapshot'>
  /** The model lists that upstreams publish. */
  modelLists: { readonly lists: ModelLists }
  keys: Pick<Keys, 'lookup'>
  limits: Limits
  /** Called for each limit decision; undefined when decisions are not counted. */
  onLimits: ((decision: Held) => void) | undefined
  ledger: RequestLedger
  reservations: Pick<Reservations, 'hold' | 'ended'>
  /** Idempotency-Keys, with the answers to their first requests. */
  idempotency: IdempotencyKeys
  upstreams: Pick<Upstreams, 'call'>
  /** Knows which channels are failing and which credentials must wait. */
  routing: Routing
  /** Parameters that upstreams refuse in translated requests, shared by all processes. */
  refusals: Refusals
  /** Finds the channel that holds an earlier answer. */
  heldAnswers: HeldAnswers
  /** The answers that the gateway keeps. */
  kept: KeptAnswers
  /** Image jobs and background answers, which workers run after the request. */
  jobs: Jobs
  jobWatch: JobWatch
  /** Enqueues the ids of jobs to run, each in the queue of its kind. */
  jobQueue: { add(jobs: readonly Enqueued[]): Promise<void> }
  backgroundAnswers: BackgroundAnswers
  /**
   * The address at which clients reach the gateway, as set by the operator; undefined means the address that
   * each client called.
   */
  publicUrl: string | undefined
  /** Whether webhooks may go to loopback and private addresses. */
  privateWebhooks: boolean
  /** Clients' files that requests can name. */
  files: FileSource
  /** Whether answers reveal channel names to clients. */
  showsRouting: boolean
  /** Carries reasoning signatures through clients that speak another format. */
  envelope: Envelope
  /** Features of a format that are never requested from an upstream, even when the client requests them. */
  deniedBetas: ReadonlySet<string>
  /** The key for the hashes of bodies with `capture: shape`. */
  redactionKey: Buffer
  /** The requests that are running. */
  requests: RunningRequests<Life>
  /** The number of running requests of each key. */
  keyRequests: RunningCounts
  /** The memory of request bodies. */
  bodies: BodyMemory
  /** The last conversations of each key. */
  rememberedBodies: RememberedBodies
  /** The budget of body bytes for one turn of the event loop. */
  turns: TurnBudget
  /** Worker threads for large bodies. */
  bodyThreads: BodyThreads
  /** The answers that keys have the usage log keep. */
  capturedAnswers: CapturedAnswers
  /** True when the process was asked to end: `/readyz` reports this, and requests are still accepted. */
  leaving: boolean
  /** Set by the drain: no new work begins. */
  draining: boolean
}

/** The parts of the ledger that requests need. */
export type RequestLedger = Pick<
  Ledger,
  'instance' | 'doubtOf' | 'requireRoom' | 'open' | 'opened' | 'close' | 'refuse' | 'refuseUnknown'
>

/** A request that ended without a row, such as a read of the usage log. */
export interface Unlogged {
  id: string
  path: string
  status: number
  identity: Identity | null
  ms: number
}
