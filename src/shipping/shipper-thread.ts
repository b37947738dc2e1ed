import type { Clock } from '../runtime/clock.ts'
import type { Disk } from '../runtime/disk.ts'
import type { Log } from '../telemetry/log.ts'
import type { Outage } from './outage.ts'
import type { NewPostgresClient } from './shipper-connection.ts'
import type { FromShipper, ShipperData, ToShipper } from './shipper-messages.ts'

/** What the parts of the shipper have in common throughout the life of its thread. */
export interface ShipperThread {
  readonly data: ShipperData
  readonly clock: Clock
  readonly disk: Disk
  readonly newPostgresClient: NewPostgresClient
  /** Returns a new uuidv7. */
  newId(): string
  readonly log: Log
  readonly inbox: Inbox
  readonly outage: Outage
  post(message: FromShipper): void
  /** Called when another process wants this one to ship. */
  onCall(): void
}

/** The end of the thread's channel to its process. */
export interface ShipperPort {
  postMessage(message: FromShipper): void
  on(event: 'message', listener: (message: ToShipper) => void): unknown
  close(): void
}

/** What the process has asked for, in any mode, until the thread has done it. */
export interface Inbox {
  ships: readonly { token: number; everyone: boolean }[]
  /** The tokens of `check`. */
  checks: number[]
  isRestored: boolean
  /**
   * The deadline of the shutdown, as a time of `Clock.elapsed`; undefined while the process keeps running.
   */
  endsBy: number | undefined
  /** Whether anything has arrived since the last pass began. Another pass then follows at once. */
  hasNews: boolean
}
