import type { Client } from 'pg'
import type { Batch, OpenRequest } from '../journal/batch.ts'
import { settlementOf } from '../journal/charges.ts'
import type { CopyBuffer } from '../journal/copy-buffer.ts'
import { listSegments, syncDirectory } from '../journal/journal-directory.ts'
import { type JournalPosition, JournalReader, type JournalReaderOptions } from '../journal/journal-reader.ts'
import { endOpenRequests } from '../journal/open-requests.ts'
import { orphanRows } from '../journal/orphan-rows.ts'
import { standInOf } from '../journal/stand-in-row.ts'
import { momentOf, uuidText } from '../journal/tuple.ts'
import { runWithCopies } from './copy-query.ts'
import { noteFirstSeen } from './instances.ts'

export interface Unshipped {
  /** The number of rows that are complete in the journal. */
  rows: number
  /** The number of requests that have not ended. */
  running: number
}

/**
 * The position of this journal in Postgres differs from what this shipment expects. The positions must be
 * read again.
 */
export class PositionError extends Error {
  override readonly name = 'PositionError'
}

/**
 * Ships the journal of one process to Postgres in batches, each exactly once: the transaction that writes the
 * rows also advances the position, and only if the position is still where this shipment last saw it.
 * If Postgres rejects the data of a batch, the shipment halves the batch until it finds the bad frame, which
 * it sets aside.
 */
export class Shipment {
  readonly #options: JournalReaderOptions
  readonly #journal: JournalReader
  /** The positions of the segments in Postgres, at the last read or commit. */
  #shipped = new Map<number, number>()
  /**
   * The batch whose transaction has not been answered yet. After a lost connection, it may or may not be
   * committed.
   */
  #inDoubt: Batch | undefined
  #framesMax = Number.MAX_SAFE_INTEGER
  /**
   * The end of the last batch that was shipped. When a new segment begins, Postgres must still have this
   * position.
   */
  #last: JournalPosition | undefined

  constructor(options: JournalReaderOptions) {
    this.#options = options
    this.#journal = new JournalReader(options)
  }

  /** The number of running requests. */
  get openCount(): number {
    return this.open.size
  }

  /** By id as 16 latin1 characters. */
  get open(): ReadonlyMap<string, OpenRequest> {
    return this.#journal.batches.open
  }

  /** Everything before this position has been shipped. The position goes back if Postgres has lost rows. */
  get position(): JournalPosition {
    return this.#journal.position
  }

  /** See `JournalReader`. */
  end(): JournalPosition {
    return this.#journal.end()
  }

  isBefore(position: JournalPosition): boolean {
    return this.#journal.isBefore(position)
  }

  close(): void {
    this.#journal.close()
  }

  /** See `JournalReader`. */
  restore(): void {
    this.#journal.restore()
  }

  /** What has not been shipped to Postgres. This shipment cannot ship anything after this call. */
  unshipped(): Unshipped {
    const counted: Unshipped = { rows: 0, running: 0 }
    for (;;) {
      const batch = this.#journal.next(this.#shipped, Number.MAX_SAFE_INTEGER)
      if (batch === undefined) return { ...counted, running: this.openCount }
      const { segment, to, frames, opened, closed } = batch
      const endedWithin = (frames - opened.size - closed.length) / 2
      if (to > (this.#shipped.get(segment) ?? 0)) counted.rows += closed.length + endedWithin
      this.#journal.commit(batch)
    }
  }

  /**
   * Reads the positions from Postgres. Must be called at the start, after every lost connection, and after a
   * PositionError.
   * If Postgres has lost its last commits, for example in a failover, it has lost the rows and the position
   * together. The shipment then reads the journal again from its first segment and ships what Postgres lost.
   * `isWrong` forces this.
   */
  async resume(client: Client, isWrong = false): Promise<void> {
    const { directory, instanceId, log } = this.#options
    const found = await client.query<{ segment: number; position: string }>(
      'SELECT segment, position FROM journal_positions WHERE instance_id = $1',
      [instanceId],
    )
    const before = this.#shipped
    this.#shipped = new Map(found.rows.map((row) => [row.segment, Number(row.position)]))
    const doubtful = this.#inDoubt
    this.#inDoubt = undefined
    if (doubtful !== undefined && this.#shipped.get(doubtful.segment) === doubtful.to) this.#commit(doubtful)
    const isLost = (segment: number) => (this.#shipped.get(segment) ?? 0) < (before.get(segment) ?? 0)
    if (!isWrong && !listSegments(directory, this.#options.disk).some(isLost)) return
    this.#journal.restart()
    this.#last = undefined
    log.warn(
      { directory },
      'Postgres reports a different position for this journal than before: the journal is read again from its start',
    )
  }

  /** Ships one batch. Returns false if there is no whole frame to ship now. */
  async shipNext(client: Client): Promise<boolean> {
    const batch = this.#journal.next(this.#shipped, this.#framesMax)
    if (batch === undefined) return false
    if (batch.to <= (this.#shipped.get(batch.segment) ?? 0)) {
      this.#commit(batch)
      return true
    }
    try {
      this.#inDoubt = batch
      await this.#ship(client, batch, this.#journal.batches.copies)
      this.#inDoubt = undefined
      this.#commit(batch)
      this.#framesMax = Number.MAX_SAFE_INTEGER
    } catch (error) {
      if (!isDataError(error)) throw error
      this.#inDoubt = undefined
      await client.query('ROLLBACK')
      await this.#isolateRefused(client, batch, error)
    }
    return true
  }

  /** Like `JournalReader.deleteOld`, but also deletes the positions of the deleted segments. */
  async deleteShipped(client: Client, keepMs: number, keepBytes: number): Promise<void> {
    const oldest = this.#journal.deleteOld(keepMs, keepBytes)
    if (oldest === undefined) return
    const { directory, instanceId, disk } = this.#options
    // A power failure can bring a deleted segment back. Without its position, it would be shipped once more.
    if ((await syncDirectory(directory, disk)) !== null) return
    // The position of the last deleted segment is kept, to check that Postgres still has it when the next one
    // begins.
    await client.query('DELETE FROM journal_positions WHERE instance_id = $1 AND segment < $2', [
      instanceId,
      oldest - 1,
    ])
  }

  /**
   * Adopts the journal of a dead process, once all its frames have been shipped. One transaction writes
   * orphaned rows for the open requests, releases the reservations, and marks the instance. Returns the ids
   * of the orphaned rows.
   * `silentMs` is set if only the heartbeat shows that the process is dead. Throws PositionError if the
   * process has sent one again.
   */
  async adopt(client: Client, silentMs?: number): Promise<string[]> {
    await client.query('BEGIN')
    const open = await this.#unended(client)
    // A row already exists if the segment with the close frame was shipped and deleted.
    const existing = await existingIds(client, [...open.keys()])
    for (const id of existing) open.delete(id)
    await this.#copyOrphans(client, [...open.values()])
    await client.query('SELECT release_instance($1)', [this.#options.instanceId])
    if (silentMs !== undefined) await this.#requireSilent(client, silentMs)
    // It may have died before it was registered, or Postgres is another one since.
    await noteFirstSeen(client, [this.#options.instanceId])
    await this.#endInstance(client, 'adopted')
    await client.query('COMMIT')
    return [...open.keys()]
  }

  /**
   * The open requests, by id. With DURABILITY=postgres, Postgres may have some whose frames a power failure
   * took from the disk.
   */
  async #unended(client: Client): Promise<Map<string, OpenRequest>> {
    const open = new Map<string, OpenRequest>()
    for (const { id, half: source } of await keptOpenRequests(client, this.#options.instanceId))
      open.set(id, { segment: 0, at: 0, bytes: 0, source, halfAt: 0, halfEnd: source.length })
    for (const [id, one] of this.open) open.set(uuidText(Buffer.from(id, 'latin1')), one)
    return open
  }

  /**
   * If Postgres rejects the data of some of them, each of these is set aside and gets a row without texts.
   */
  async #copyOrphans(client: Client, orphans: readonly OpenRequest[]): Promise<void> {
    const [first] = orphans
    if (first === undefined) return
    const rows = orphanRows(orphans, this.#journal.batches.layout)
    const refusal = await refusalOf(client, () => send(client, rows))
    if (refusal === undefined) return
    if (orphans.length > 1) {
      const middle = Math.ceil(orphans.length / 2)
      await this.#copyOrphans(client, orphans.slice(0, middle))
      await this.#copyOrphans(client, orphans.slice(middle))
      return
    }
    this.#options.log.error(
      { directory: this.#journal.setAsideOrphan(first, refusal), error: refusal },
      'Postgres refused the row of an orphaned request; its frame is set aside',
    )
    await refusalOf(client, () => send(client, standInOf(rows, rows.columns)))
  }

  /** Marks this instance as closed. Must be called when all frames are shipped and no request is open. */
  async finish(client: Client): Promise<void> {
    await client.query('BEGIN')
    await this.#endInstance(client, 'closed')
    await client.query('COMMIT')
  }

  async #requireSilent(client: Client, silentMs: number): Promise<void> {
    const { instanceId } = this.#options
    const found = await client.query(
      `SELECT FROM instances WHERE id = $1
       AND (state <> 'live' OR heartbeat_at < now() - make_interval(secs => $2)) FOR UPDATE`,
      [instanceId, silentMs / 1000],
    )
    if (found.rowCount !== 1) throw new PositionError(`process ${instanceId} has been heard from again`)
  }

  async #endInstance(client: Client, state: 'adopted' | 'closed'): Promise<void> {
    await client.query('UPDATE instances SET state = $2 WHERE id = $1', [this.#options.instanceId, state])
    await client.query('DELETE FROM journal_positions WHERE instance_id = $1', [this.#options.instanceId])
    await client.query('DELETE FROM open_requests WHERE instance_id = $1', [this.#options.instanceId])
  }

  async #ship(client: Client, batch: Batch, copies: readonly CopyBuffer[]): Promise<void> {
    const { instanceId, keepsOpen } = this.#options
    const full = copies.filter(({ isEmpty }) => !isEmpty)
    const last = this.#last === undefined ? 'NULL, NULL' : `${this.#last.segment}, ${this.#last.at}`
    const statements = [
      'BEGIN',
      `SELECT move_journal_position('${instanceId}', ${batch.segment}, ${batch.from}, ${batch.to}, ${last})`,
      ...full.map(({ statement }) => statement),
      ...(keepsOpen === true ? endOpenRequests(instanceId, batch.closed) : []),
      // Settled last, because this locks accounts for which admissions wait.
      ...settlementOf(batch.released, batch.charges),
      'COMMIT',
    ]
    try {
      await runWithCopies(
        client,
        statements,
        full.map((copy) => copy.end()),
      )
    } catch (error) {
      throw codeOf(error) === wrongPosition ? new PositionError(String(error)) : error
    }
  }

  #commit(batch: Batch): void {
    const { segment } = batch
    const at = Math.max(batch.to, this.#shipped.get(segment) ?? 0)
    this.#last = { segment, at }
    this.#shipped.set(segment, at)
    this.#journal.commit(batch)
  }

  async #isolateRefused(client: Client, batch: Batch, error: unknown): Promise<void> {
    if (batch.frames > 1) {
      this.#framesMax = Math.ceil(batch.frames / 2)
      return
    }
    this.#options.log.error(
      { directory: this.#journal.setAside(batch, String(error)), error: String(error) },
      'Postgres refused a journal frame; it is set aside',
    )
    // A request that already has a row, such as an orphaned one, gets no second row and is not charged for
    // one.
    const release = { ...batch, charges: new Map() }
    const isShipped =
      (await this.#tryToShip(client, batch, this.#journal.batches.standIn())) ||
      (await this.#tryToShip(client, release, []))
    if (!isShipped) await this.#ship(client, { ...release, released: [] }, [])
    this.#commit(batch)
    this.#framesMax = Number.MAX_SAFE_INTEGER
  }

  /** Returns false if Postgres rejects the data. */
  async #tryToShip(client: Client, batch: Batch, copies: readonly CopyBuffer[]): Promise<boolean> {
    try {
      await this.#ship(client, batch, copies)
      return true
    } catch (error) {
      if (!isDataError(error)) throw error
      await client.query('ROLLBACK')
      return false
    }
  }
}

/**
 * Returns the error of work that Postgres rejects because of its data, inside a transaction that continues
 * without it.
 */
export async function refusalOf(client: Client, work: () => Promise<void>): Promise<string | undefined> {
  await client.query('SAVEPOINT refusable')
  try {
    await work()
    await client.query('RELEASE SAVEPOINT refusable')
    return undefined
  } catch (error) {
    if (!isDataError(error)) throw error
    await client.query('ROLLBACK TO SAVEPOINT refusable')
    return String(error)
  }
}

export async function send(client: Client, copy: CopyBuffer): Promise<void> {
  if (!copy.isEmpty) await runWithCopies(client, [copy.statement], [copy.end()])
}

/** The open requests of a process that Postgres has. */
export async function keptOpenRequests(
  client: Client,
  instance: string,
): Promise<{ id: string; half: Buffer }[]> {
  const found = await client.query<{ id: string; half: Buffer }>(
    'SELECT request_id AS id, half FROM open_requests WHERE instance_id = $1',
    [instance],
  )
  return found.rows
}

export async function existingIds(client: Client, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const found = await client.query<{ id: string }>(
    `SELECT r.id FROM unnest($1::uuid[], $2::timestamptz[]) AS o(id, created_at)
     JOIN requests r ON r.id = o.id AND r.created_at = o.created_at`,
    [ids, ids.map((id) => new Date(momentOf(id)))],
  )
  return new Set(found.rows.map((row) => row.id))
}

/**
 * True for errors caused by the rows, for which the same batch would fail again: invalid data, violated
 * constraints and limits of Postgres, such as that of an index entry.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function isDataError(error: unknown): boolean {
  return /^(22|23|54)/.test(codeOf(error))
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
}

/** Raised by move_journal_position. */
const wrongPosition = 'TG001'
