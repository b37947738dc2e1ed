import type { AnswerPosition } from '../journal/answer-files.ts'
import type { JournalPosition } from '../journal/journal-reader.ts'
import type { LogLevel } from '../telemetry/relay-log.ts'
import type { Adoption } from './adoption.ts'
import type { Durability } from './instances.ts'
import type { FromOwner } from './ownership.ts'

/**
 * Messages of the API process to its shipper thread. `everyone`: all other processes must ship too. `commit`:
 * a request waits until Postgres has what is in the journal, which is reported by `position`.
 */
export type ToShipper =
  | { type: 'ship'; token: number; everyone: boolean }
  | { type: 'commit' }
  | { type: 'end'; deadlineMs: number }
  | FromOwner

/**
 * Messages of the thread to its process. `shipped` answers `ship`: Postgres has all frames that were written
 * before it. `adopted` without an instance: the orphans belong to a lost process whose journal no process
 * has. `away` and `back`: Postgres has stopped answering, or answers again. `live` answers `check`. `gone`:
 * the journal directory does not exist. `fenced`: another process has adopted the journal; start a new one as
 * `instanceId` and answer with `tail`. `carry`: frames of the adopted journal that were not shipped.
 * `decided`: that journal has been read to its end; the requests in `orphaned` are running here.
 */
export type FromShipper =
  | { type: 'shipped'; token: number }
  | { type: 'position'; position: JournalPosition }
  | { type: 'answers'; position: AnswerPosition }
  | { type: 'adopted'; instance?: string; orphans: readonly string[] }
  | { type: 'adoption'; adoption: Adoption }
  | { type: 'live'; token: number }
  | { type: 'gone' }
  | { type: 'fenced'; instanceId: string }
  | { type: 'carry'; frames: Uint8Array }
  | { type: 'decided'; orphaned: readonly string[] }
  | { type: 'away'; message: string }
  | { type: 'back' }
  | { type: 'log'; level: LogLevel; message: string; fields: object }

export interface ShipperData {
  /** The folder that contains all journals. */
  root: string
  /** The id with which the process began. */
  instanceId: string
  /** Whether a thread before this one has reported `away` and not `back`. */
  isAway: boolean
  durability: Durability
  databaseUrl: string
  pid: number
  intervalMs: number
  batchBytes: number
  instanceDeadMs: number
  /** The reservations of a process are released after this time without a heartbeat. */
  instanceLostMs: number
  /** How long a caller of `shipNow` or `shipAll` waits. */
  onQueryMs: number
  /** How long, and up to how many bytes, shipped segments stay on disk. */
  keepMs: number
  keepBytesMax: number
}
