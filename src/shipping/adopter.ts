import { join } from 'node:path'
import type { Client } from 'pg'
import { type FoundJournal, journalOwner, listJournals } from '../journal/journal-directory.ts'
import { LayoutError } from '../journal/layout.ts'
import { pauseAfter } from '../runtime/backoff.ts'
import type { Clock } from '../runtime/clock.ts'
import { type Disk, systemDisk } from '../runtime/disk.ts'
import type { Log } from '../telemetry/log.ts'
import type { Adoption } from './adoption.ts'
import { AnswerShipment } from './answer-shipment.ts'
import { instanceKeepDays } from './forget-instances.ts'
import { endSessions, knownInstances, noteFirstSeen } from './instances.ts'
import { LeftAnswers } from './left-answer-journals.ts'
import { isDataError, PositionError, Shipment } from './shipment.ts'

export interface AdopterOptions {
  /** The folder that contains all journals. */
  root: string
  /** The id of this process, whose own journal is ignored. */
  instanceId: string
  instanceDeadMs: number
  /** How long a shipped journal stays on disk. */
  keepMs: number
  batchBytes: number
  disk?: Disk
  clock: Clock
  log: Log
  /** `orphans` are the ids of the requests for which orphaned rows were written. */
  onAdopted(instance: string, orphans: readonly string[]): void
  /** Called when the adoption of a journal begins or ends, and when one fails. */
  onChange(adoption: Adoption): void
}

const lookMs = 5_000
/** The pause after a journal could not be adopted. */
const failureMs = { least: 60_000, most: 3_600_000 }

/**
 * Ships the journals of dead processes on this disk, and deletes those that Postgres has completely.
 * A process counts as dead if the operating system reports that it has ended. A process on another host, or
 * in another container or boot, can only be judged by its heartbeat: it counts as dead if its row in
 * `instances` has been silent for `instanceDeadMs` and this connection has lasted as long, because after an
 * outage of Postgres all heartbeats are old. If a journal has no such row, one is inserted, and the time
 * starts from then.
 */
export class Adopter {
  readonly #options: AdopterOptions
  readonly #disk: Disk
  readonly #failures = new Map<string, { times: number; until: number; message: string }>()
  readonly #leftAnswers: LeftAnswers
  #current: RunningAdoption | undefined
  #connectedAt: number
  #nextLookAt = 0

  constructor(options: AdopterOptions) {
    this.#options = options
    this.#disk = options.disk ?? systemDisk
    this.#connectedAt = options.clock.elapsed()
    this.#leftAnswers = new LeftAnswers(options)
  }

  /** Starts over on a new connection. The locks of the previous one are gone. */
  reconnect(): void {
    this.#current?.shipment.close()
    this.#current = undefined
    this.#connectedAt = this.#options.clock.elapsed()
    this.#nextLookAt = 0
    this.#tell()
  }

  /**
   * Ships at most one batch, so that the caller's own frames and heartbeat are never late. Returns true if
   * there is more to do now.
   */
  async step(client: Client): Promise<boolean> {
    if (this.#current === undefined) {
      if (this.#options.clock.elapsed() < this.#nextLookAt) return false
      this.#current = await this.#begin(client)
      if (this.#current !== undefined) this.#tell()
      if (this.#current === undefined) this.#nextLookAt = this.#options.clock.elapsed() + lookMs
      return this.#current !== undefined
    }
    const adoption = this.#current
    await this.#alone(client, adoption.journal, async () => {
      if (await adoption.shipment.shipNext(client)) return
      if (await adoption.answers.shipNext(client)) return
      const orphans = await adoption.shipment.adopt(client, adoption.silentMs)
      this.#options.onAdopted(adoption.journal.instance, orphans)
      markShipped(adoption.journal.directory, this.#disk)
      this.#failures.delete(adoption.journal.instance)
      this.#leftAnswers.take(adoption.journal, adoption.answers)
      await this.#leave(client, adoption)
    })
    return true
  }

  /** Forgets failures of journals that no longer exist. */
  #forgetFailures(instances: readonly string[]): void {
    const gone = [...this.#failures.keys()].filter((instance) => !instances.includes(instance))
    for (const instance of gone) this.#failures.delete(instance)
    if (gone.length > 0) this.#tell()
  }

  #tell(): void {
    const failed = [...this.#failures].map(([instance, { message }]) => ({ instance, reason: message }))
    this.#options.onChange({ current: this.#current?.journal.instance, failed })
  }

  async #begin(client: Client): Promise<RunningAdoption | undefined> {
    const { root, instanceId, instanceDeadMs } = this.#options
    const journals = listJournals(root, this.#disk).filter(({ instance }) => instance !== instanceId)
    const instances = journals.map(({ instance }) => instance)
    this.#forgetFailures(instances)
    this.#leftAnswers.forget((instance) => instances.includes(instance))
    if (journals.length === 0) return undefined
    const known = await knownInstances(client, instances, instanceDeadMs)
    const isSettled = this.#options.clock.elapsed() - this.#connectedAt >= instanceDeadMs
    const unknown: string[] = []
    for (const journal of journals) {
      const { instance } = journal
      if (this.#options.clock.elapsed() < (this.#failures.get(instance)?.until ?? 0)) continue
      const found = known.get(instance)
      if (found?.state === 'closed' || found?.state === 'adopted') {
        await this.#alone(client, journal, () => this.#endKept(client, journal))
        continue
      }
      const owner = journalOwner(journal.directory, this.#disk)
      if (owner === 'alive') continue
      if (found === undefined && isForgotten(journal, this.#options.clock.now(), this.#disk)) {
        await this.#alone(client, journal, async () =>
          this.#disk.rmSync(journal.directory, { recursive: true, force: true }),
        )
        continue
      }
      if (owner === 'elsewhere') {
        if (found === undefined) unknown.push(instance)
        if (found?.isSilent !== true || !isSettled) continue
      }
      const adoption = await this.#lock(client, journal, owner === 'elsewhere')
      if (adoption !== undefined) return adoption
    }
    if (unknown.length > 0) await noteFirstSeen(client, unknown)
    return undefined
  }

  async #lock(
    client: Client,
    journal: FoundJournal,
    isElsewhere: boolean,
  ): Promise<RunningAdoption | undefined> {
    if (!(await tryLock(client, journal.instance))) return undefined
    let adoption: RunningAdoption | undefined
    await this.#alone(client, journal, async () => {
      const { directory, instance: instanceId } = journal
      const { instanceDeadMs, batchBytes, clock, log } = this.#options
      const disk = this.#disk
      // Another process may have adopted it since it was listed.
      const found = (await knownInstances(client, [instanceId], instanceDeadMs)).get(instanceId)
      if (found?.state === 'closed' || found?.state === 'adopted' || !this.#disk.existsSync(directory)) return
      await endSessions(client, instanceId)
      // The mark is outdated, because Postgres has lost what it had when the mark was written.
      this.#disk.rmSync(join(directory, shippedMark), { force: true })
      const shipment = new Shipment({ directory, instanceId, growing: false, batchBytes, disk, clock, log })
      await shipment.resume(client)
      const answers = new AnswerShipment({ directory, growing: false, batchBytes, disk, clock, log })
      adoption = { journal, shipment, answers, silentMs: isElsewhere ? instanceDeadMs : undefined }
    })
    if (adoption === undefined) await unlock(client, journal.instance)
    return adoption
  }

  /** Works on a single journal. An error caused by that journal alone must not hold up the others. */
  async #alone(client: Client, journal: FoundJournal, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!isOfJournal(error)) throw error
      await client.query('ROLLBACK')
      const before = this.#failures.get(journal.instance)
      const times = (before?.times ?? 0) + 1
      const retryMs = pauseAfter(times, failureMs)
      const message = String(error)
      this.#failures.set(journal.instance, { times, until: this.#options.clock.elapsed() + retryMs, message })
      this.#tell()
      // Each reason is logged once, however often the adoption is retried.
      if (before?.message !== message)
        this.#options.log.error(
          { directory: journal.directory, error: message, retryMs },
          'the journal of a dead process cannot be adopted now; it stays on disk',
        )
      if (this.#current?.journal.instance === journal.instance) await this.#leave(client, this.#current)
    }
  }

  async #leave(client: Client, { journal, shipment }: RunningAdoption): Promise<void> {
    this.#current = undefined
    this.#tell()
    shipment.close()
    await unlock(client, journal.instance)
  }

  /** Handles a journal whose rows are all in Postgres. */
  async #endKept(client: Client, journal: FoundJournal): Promise<void> {
    if (!(await tryLock(client, journal.instance))) return
    try {
      const mark = join(journal.directory, shippedMark)
      if (!this.#disk.existsSync(mark)) markShipped(journal.directory, this.#disk)
      if (await this.#leftAnswers.ship(client, journal, shippedMark)) this.#deleteKept(journal)
    } finally {
      await unlock(client, journal.instance)
    }
  }

  /**
   * Deletes a journal that Postgres has completely, but keeps it for a while in case Postgres loses its last
   * commits.
   */
  #deleteKept({ directory }: FoundJournal): void {
    const mark = join(directory, shippedMark)
    const since = this.#disk.statSync(mark, { throwIfNoEntry: false })?.mtimeMs
    const { clock, keepMs } = this.#options
    if (clock.now() - (since ?? 0) >= keepMs) this.#disk.rmSync(directory, { recursive: true, force: true })
  }
}

interface RunningAdoption {
  journal: FoundJournal
  shipment: Shipment
  answers: AnswerShipment
  /** Undefined: the machine itself reports that the process is dead. */
  silentMs: number | undefined
}

export const shippedMark = 'shipped'

/**
 * True if Postgres received the journal so long ago that it has forgotten the process. Shipping the journal
 * again would try to write every row a second time.
 */
function isForgotten({ directory }: FoundJournal, nowMs: number, disk: Disk): boolean {
  const since = disk.statSync(join(directory, shippedMark), { throwIfNoEntry: false })?.mtimeMs
  return since !== undefined && nowMs - since > instanceKeepDays * 24 * 60 * 60_000
}

/** Records when Postgres had the whole journal, as the modification time of the file. */
export function markShipped(directory: string, disk = systemDisk): void {
  if (disk.existsSync(directory)) disk.writeFileSync(join(directory, shippedMark), '', { mode: 0o600 })
}

/** False if another process holds the lock of this journal. */
async function tryLock(client: Client, instance: string): Promise<boolean> {
  const locked = await client.query<{ ok: boolean }>(
    'SELECT pg_try_advisory_lock(hashtextextended($1, 7)) AS ok',
    [instance],
  )
  return locked.rows[0]?.ok === true
}

async function unlock(client: Client, instance: string): Promise<void> {
  await client.query('SELECT pg_advisory_unlock(hashtextextended($1, 7))', [instance])
}

/**
 * True for errors of a single journal: an unreadable file, a frame that Postgres rejects, a position moved by
 * another process, or a column of a later release that this Postgres does not have yet.
 */
function isOfJournal(error: unknown): boolean {
  if (error instanceof PositionError || error instanceof LayoutError || isDataError(error)) return true
  if (typeof error !== 'object' || error === null) return false
  // File errors without a path come from files that are already open. Socket errors have other codes.
  const isOfFile = 'syscall' in error && ('path' in error || /^(EIO|EISDIR|ESTALE)$/.test(codeOf(error)))
  const isUnknownColumn = codeOf(error) === '42703'
  return isOfFile || isUnknownColumn || error instanceof SyntaxError || error instanceof RangeError
}

function codeOf(error: object): string {
  return 'code' in error ? String(error.code) : ''
}
