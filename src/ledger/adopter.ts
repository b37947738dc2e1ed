import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from 'pg'
import { pauseAfter } from '../runtime/backoff.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../telemetry/log.ts'
import type { Adoption } from './adoption.ts'
import { AnswerShipment } from './answer-shipment.ts'
import { instanceKeepDays } from './forget-instances.ts'
import { endSessions, knownInstances, noteFirstSeen } from './instances.ts'
import { type FoundJournal, journalOwner, listJournals } from './journal-directory.ts'
import { LayoutError } from './layout.ts'
import { LeftAnswers } from './left-answer-journals.ts'
import { isDataError, PositionError, Shipment } from './shipment.ts'

export interface AdopterOptions {
  /** The folder of all journals. */
  root: string
  /** Of this process, whose own journal is left out. */
  instanceId: string
  instanceDeadMs: number
  /** How long a shipped journal stays on disk. */
  keepMs: number
  batchBytes: number
  clock: Clock
  log: Log
  /** `orphans`: the ids of the requests whose rows it has written. */
  onAdopted(instance: string, orphans: readonly string[]): void
  /** Called when it begins or ends to adopt a journal, and when one cannot be adopted. */
  onChange(adoption: Adoption): void
}

const lookMs = 5_000
/** Pause after a journal could not be adopted. */
const failureMs = { least: 60_000, most: 3_600_000 }

/**
 * Ships the journals of dead processes on this disk, and deletes those that Postgres has whole.
 *
 * A process counts as dead when the system says that it has ended. Of another host, container or boot only
 * its heartbeat can tell: its row in `instances` was silent for `instanceDeadMs`, and this connection is as
 * old, because after an outage of Postgres all heartbeats are old. A journal without such a row gets one, and
 * the time counts from then.
 */
export class Adopter {
  readonly #options: AdopterOptions
  readonly #failures = new Map<string, { times: number; until: number; message: string }>()
  readonly #leftAnswers: LeftAnswers
  #current: RunningAdoption | undefined
  #connectedAt: number
  #nextLookAt = 0

  constructor(options: AdopterOptions) {
    this.#options = options
    this.#connectedAt = options.clock.elapsed()
    this.#leftAnswers = new LeftAnswers(options)
  }

  /** Begin on a new connection. The locks of the previous one are gone. */
  reconnect(): void {
    this.#current?.shipment.close()
    this.#current = undefined
    this.#connectedAt = this.#options.clock.elapsed()
    this.#nextLookAt = 0
    this.#tell()
  }

  /**
   * Ship one batch at most, so that the caller's own frames and heartbeat are never late. True: there is more
   * to do now.
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
      markShipped(adoption.journal.directory)
      this.#failures.delete(adoption.journal.instance)
      this.#leftAnswers.take(adoption.journal, adoption.answers)
      await this.#leave(client, adoption)
    })
    return true
  }

  /** Forget the failures of journals that are gone. */
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
    const journals = listJournals(root).filter(({ instance }) => instance !== instanceId)
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
      const owner = journalOwner(journal.directory)
      if (owner === 'alive') continue
      if (found === undefined && isForgotten(journal, this.#options.clock.now())) {
        await this.#alone(client, journal, async () =>
          rmSync(journal.directory, { recursive: true, force: true }),
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
      // Another process may have adopted it since it was listed.
      const found = (await knownInstances(client, [instanceId], instanceDeadMs)).get(instanceId)
      if (found?.state === 'closed' || found?.state === 'adopted' || !existsSync(directory)) return
      await endSessions(client, instanceId)
      // Postgres has lost what it had when this was written.
      rmSync(join(directory, shippedMark), { force: true })
      const shipment = new Shipment({ directory, instanceId, growing: false, batchBytes, clock, log })
      await shipment.resume(client)
      const answers = new AnswerShipment({ directory, growing: false, batchBytes, clock, log })
      adoption = { journal, shipment, answers, silentMs: isElsewhere ? instanceDeadMs : undefined }
    })
    if (adoption === undefined) await unlock(client, journal.instance)
    return adoption
  }

  /** Do something with one journal. An error that it alone causes must not keep the others waiting. */
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
      // Each reason once, however often it is tried again.
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

  /** Postgres has all of its rows. */
  async #endKept(client: Client, journal: FoundJournal): Promise<void> {
    if (!(await tryLock(client, journal.instance))) return
    try {
      if (!existsSync(join(journal.directory, shippedMark))) markShipped(journal.directory)
      if (await this.#leftAnswers.ship(client, journal, shippedMark)) this.#deleteKept(journal)
    } finally {
      await unlock(client, journal.instance)
    }
  }

  /** Postgres has all of it. It stays for a while, in case Postgres loses its last commits. */
  #deleteKept({ directory }: FoundJournal): void {
    const mark = join(directory, shippedMark)
    const since = statSync(mark, { throwIfNoEntry: false })?.mtimeMs
    const { clock, keepMs } = this.#options
    if (clock.now() - (since ?? 0) >= keepMs) rmSync(directory, { recursive: true, force: true })
  }
}

interface RunningAdoption {
  journal: FoundJournal
  shipment: Shipment
  answers: AnswerShipment
  /** Undefined: its machine says that the process is dead. */
  silentMs: number | undefined
}

export const shippedMark = 'shipped'

/**
 * Postgres got all of it long enough ago to have forgotten the process: shipping it again would try to write
 * every row a second time.
 */
function isForgotten({ directory }: FoundJournal, nowMs: number): boolean {
  const since = statSync(join(directory, shippedMark), { throwIfNoEntry: false })?.mtimeMs
  return since !== undefined && nowMs - since > instanceKeepDays * 24 * 60 * 60_000
}

/** Note when Postgres had the whole journal: the time of the file. */
export function markShipped(directory: string): void {
  if (existsSync(directory)) writeFileSync(join(directory, shippedMark), '', { mode: 0o600 })
}

/** False: another process has the lock of this journal. */
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
 * A file that cannot be read, a frame that Postgres refuses, a position that another process moved, or a
 * column that this Postgres does not have yet, of the journal of a later release.
 */
function isOfJournal(error: unknown): boolean {
  if (error instanceof PositionError || error instanceof LayoutError || isDataError(error)) return true
  if (typeof error !== 'object' || error === null) return false
  // Errors of an open file name no path. Those of a socket have other codes.
  const isOfFile = 'syscall' in error && ('path' in error || /^(EIO|EISDIR|ESTALE)$/.test(codeOf(error)))
  const isUnknownColumn = codeOf(error) === '42703'
  return isOfFile || isUnknownColumn || error instanceof SyntaxError || error instanceof RangeError
}

function codeOf(error: object): string {
  return 'code' in error ? String(error.code) : ''
}
