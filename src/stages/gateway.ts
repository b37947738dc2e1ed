import type { IdempotencyKeys } from '../access/idempotency-keys.ts'
import type { Keys } from '../access/keys.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Bounds } from '../config.ts'
import type { RunningRequests } from '../http/running-requests.ts'
import type { HeldAnswers } from '../ledger/held-answers.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Reservations } from '../ledger/reservations.ts'
import type { Limits } from '../limits/limits.ts'
import type { Envelope } from '../protocols/envelope.ts'
import type { Routing } from '../routing/routing.ts'
import type { Log } from '../telemetry/log.ts'
import type { Upstreams } from '../upstream/upstreams.ts'
import type { Life } from './life.ts'

/** What requests need of a process. The context has it all and more. */
export interface Gateway {
  bounds: Bounds
  log: Log
  catalog: Catalog
  keys: Keys
  limits: Limits
  ledger: Ledger
  reservations: Reservations
  /** Idempotency-Keys, and what their first requests were answered. */
  idempotency: IdempotencyKeys
  upstreams: Upstreams
  /** Which channels fail, and which credentials must wait. */
  routing: Routing
  /** Which channel holds an answer that can be asked for again. */
  heldAnswers: HeldAnswers
  /** Carries reasoning signatures through clients that speak another format. */
  envelope: Envelope
  /** Features of a format that no upstream is asked for, whatever the client says. */
  deniedBetas: ReadonlySet<string>
  /** Keys the hashes of bodies that are kept as shape. */
  redactionKey: Buffer
  /** Requests that run now. */
  requests: RunningRequests<Life>
  /** Set once by the drain: no new work. */
  draining: boolean
}
