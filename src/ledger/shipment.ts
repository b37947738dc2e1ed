import * as fs from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Log } from '../telemetry/log.ts'
import { addCharge, type Charges, settlementOf } from './charges.ts'
import { type CloseFrame, openRecordOf, readFrame } from './frame.ts'
import { listSegments, segmentName } from './journal-directory.ts'
import { orphanOf } from './orphan.ts'
import {
  copyColumns,
  copyHeader,
  copyTrailer,
  momentOf,
  TupleWriter,
  uuidText,
  writeChargeTuple,
  writeRequestTuple,
} from './tuple.ts'

export interface ShipmentOptions {
  directory: string
  instanceId: string
  /** True while the process that writes this journal may write more. */
  growing: boolean
  batchBytes: number
  log: Log
}

/** Where an open frame stands whose close has not been shipped. */
interface Location {
  segment: number
  at: number
  bytes: number
}

/** Whole frames of one segment and what committing them changes. */
interface Batch {
  segment: number
  from: number
  to: number
  frames: number
  tuples: Record<keyof typeof copyColumns, Buffer[]>
  opened: Map<string, Location>
  closed: string[]
  released: string[]
  charges: Charges
}

/** Another process ships, or has adopted, this journal. */
export class FencedError extends Error {
  override readonly name = 'FencedError'
}

/** A sealed segment with less than this share still open is rewritten to hold only its open frames. */
const compactBelow = 0.25

/**
 * Carries one process's journal into Postgres, batch by batch. Exactly once: the position moves in the same
 * transaction as the rows, and only from where this shipment believed it to be.
 *
 * A batch that Postgres refuses for its data is halved until the one bad frame is found and set aside.
 */
export class Shipment {
  readonly #options: ShipmentOptions
  readonly #charges = new TupleWriter(64 * 1024)
  #buffer: Buffer
  #segment = 0
  #at = 0
  #fd: number | undefined
  /** How far Postgres has each segment, as last read. */
  #shipped = new Map<number, number>()
  /** Requests in flight, by id as 16 latin1 characters. */
  #open = new Map<string, Location>()
  #inDoubt: Batch | undefined
  #framesMax = Number.MAX_SAFE_INTEGER

  constructor(options: ShipmentOptions) {
    this.#options = options
    this.#buffer = Buffer.allocUnsafeSlow(options.batchBytes)
    this.#segment = listSegments(options.directory)[0] ?? 0
  }

  get openCount(): number {
    return this.#open.size
  }

  /** Ask Postgres where this journal stands: at the start and after every lost connection. */
  async resume(client: Client): Promise<void> {
    const found = await client.query<{ segment: number; position: string }>(
      'SELECT segment, position FROM journal_positions WHERE instance_id = $1',
      [this.#options.instanceId],
    )
    this.#shipped = new Map(found.rows.map((row) => [row.segment, Number(row.position)]))
    const doubtful = this.#inDoubt
    this.#inDoubt = undefined
    if (doubtful !== undefined && this.#shipped.get(doubtful.segment) === doubtful.to) this.#commit(doubtful)
  }

  /** Where the journal ends now: the goal of one pass, since under load it never stops growing. */
  end(): { segment: number; bytes: number } {
    const segment = listSegments(this.#options.directory).at(-1) ?? this.#segment
    const path = join(this.#options.directory, segmentName(segment))
    return { segment, bytes: fs.existsSync(path) ? fs.statSync(path).size : 0 }
  }

  isBefore(end: { segment: number; bytes: number }): boolean {
    return this.#segment < end.segment || (this.#segment === end.segment && this.#at < end.bytes)
  }

  /** Ship one batch. Answers false when nothing whole is left to ship for now. */
  async shipNext(client: Client): Promise<boolean> {
    const batch = this.#nextBatch()
    if (batch === undefined) return false
    if (batch.to <= (this.#shipped.get(batch.segment) ?? 0)) {
      this.#commit(batch)
      return true
    }
    try {
      this.#inDoubt = batch
      await this.#ship(client, batch)
      this.#inDoubt = undefined
      this.#commit(batch)
      this.#framesMax = Number.MAX_SAFE_INTEGER
    } catch (error) {
      if (!isDataError(error)) throw error
      this.#inDoubt = undefined
      await client.query('ROLLBACK')
      await this.#narrow(client, batch, error)
    }
    return true
  }

  /** Delete what is shipped whole; answers how many bytes that freed. */
  async deleteShipped(client: Client): Promise<number> {
    let freed = 0
    const live = this.#openBytesBySegment()
    const segments = listSegments(this.#options.directory)
    for (const segment of segments) {
      if (segment >= this.#segment) break
      const path = join(this.#options.directory, segmentName(segment))
      const size = fs.statSync(path).size
      const open = live.get(segment) ?? 0
      if (open === 0) {
        fs.rmSync(path)
        freed += size
      } else if (open < size * compactBelow) {
        freed += size - this.#compact(segment, path)
      }
    }
    const oldest = listSegments(this.#options.directory)[0]
    if (freed > 0 && oldest !== undefined) {
      await client.query('DELETE FROM journal_positions WHERE instance_id = $1 AND segment < $2', [
        this.#options.instanceId,
        oldest,
      ])
    }
    return freed
  }

  /**
   * The process is dead and all its frames are shipped: requests still open become orphaned rows, its
   * reservations are released, and the instance is marked, all in one transaction.
   */
  async adopt(client: Client): Promise<number> {
    const orphans = [...this.#open.values()].map((location) => this.#readOpen(location))
    await client.query('BEGIN')
    const existing = await existingIds(
      client,
      orphans.map((orphan) => orphan.id),
    )
    const out = new TupleWriter(64 * 1024)
    let count = 0
    for (const open of orphans) {
      // A close that was shipped from a segment now deleted: the row is there.
      if (existing.has(open.id)) continue
      writeRequestTuple(out, open, orphanOf())
      count += 1
    }
    await copy(client, 'requests', count === 0 ? [] : [out.buffer.subarray(0, out.length)])
    await client.query('SELECT release_instance($1)', [this.#options.instanceId])
    await this.#end(client, 'adopted')
    await client.query('COMMIT')
    return count
  }

  /** Everything is shipped and nothing is open: forget this instance. */
  async finish(client: Client): Promise<void> {
    await client.query('BEGIN')
    await this.#end(client, 'closed')
    await client.query('COMMIT')
  }

  close(): void {
    if (this.#fd !== undefined) fs.closeSync(this.#fd)
    this.#fd = undefined
  }

  async #end(client: Client, state: 'adopted' | 'closed'): Promise<void> {
    await client.query('UPDATE instances SET state = $2 WHERE id = $1', [this.#options.instanceId, state])
    await client.query('DELETE FROM journal_positions WHERE instance_id = $1', [this.#options.instanceId])
  }

  #nextBatch(): Batch | undefined {
    for (;;) {
      const batch = this.#readBatch()
      if (batch !== undefined) return batch
      const next = listSegments(this.#options.directory).find((segment) => segment > this.#segment)
      if (next === undefined) return undefined
      // The writer has moved on, but may have written here after our last look: look once more.
      const rest = this.#readBatch()
      if (rest !== undefined) return rest
      this.close()
      this.#segment = next
      this.#at = 0
    }
  }

  #readBatch(): Batch | undefined {
    const path = join(this.#options.directory, segmentName(this.#segment))
    if (this.#fd === undefined) {
      if (!fs.existsSync(path)) return undefined
      this.#fd = fs.openSync(path, 'r')
    }
    const bytes = fs.readSync(this.#fd, this.#buffer, 0, this.#buffer.length, this.#at)
    const batch = this.#parse(this.#buffer.subarray(0, bytes))
    if (batch !== undefined || bytes < this.#buffer.length) return batch
    // One frame is larger than the buffer.
    this.#buffer = Buffer.allocUnsafeSlow(this.#buffer.length * 2)
    return this.#readBatch()
  }

  #parse(bytes: Buffer): Batch | undefined {
    const batch: Batch = {
      segment: this.#segment,
      from: this.#at,
      to: this.#at,
      frames: 0,
      tuples: { requests: [], request_payloads: [], attempts: [], entries: [] },
      opened: new Map(),
      closed: [],
      released: [],
      charges: new Map(),
    }
    const shipped = this.#shipped.get(this.#segment) ?? 0
    this.#charges.length = 0
    let at = 0
    while (batch.frames < this.#framesMax) {
      // A batch lies wholly before or wholly behind the shipped position.
      if (batch.from < shipped && this.#at + at >= shipped) break
      const frame = readFrame(bytes, at)
      if (frame === 'damaged' && !this.#options.growing) {
        this.#options.log.error(
          { segment: this.#segment, at: this.#at + at },
          'a journal segment is damaged: the rest of it is skipped',
        )
      }
      if (frame === 'incomplete' || frame === 'damaged') break
      const id = frame.id.toString('latin1')
      if (frame.kind === 'open') {
        batch.opened.set(id, { segment: this.#segment, at: this.#at + at, bytes: frame.bytes })
        if (frame.payloadTuple.length > 0) batch.tuples.request_payloads.push(frame.payloadTuple)
      } else {
        this.#addClose(batch, id, frame)
      }
      at += frame.bytes
      batch.frames += 1
    }
    batch.to = this.#at + at
    return batch.frames === 0 ? undefined : batch
  }

  #addClose(batch: Batch, id: string, frame: CloseFrame): void {
    batch.closed.push(id)
    batch.tuples.requests.push(frame.requestTuple)
    if (frame.attemptTuples.length > 0) batch.tuples.attempts.push(frame.attemptTuples)
    if (frame.reservedAccount !== undefined) batch.released.push(uuidText(frame.id))
    if (frame.charge === 0n) return
    addCharge(batch.charges, frame)
    const start = this.#charges.length
    writeChargeTuple(this.#charges, frame.id, frame.account, frame.charge)
    batch.tuples.entries.push(Buffer.from(this.#charges.buffer.subarray(start, this.#charges.length)))
  }

  async #ship(client: Client, batch: Batch): Promise<void> {
    await client.query('BEGIN')
    const moved = await client.query(
      `INSERT INTO journal_positions AS p (instance_id, segment, position) VALUES ($1, $2, $4)
       ON CONFLICT (instance_id, segment) DO UPDATE SET position = excluded.position WHERE p.position = $3`,
      [this.#options.instanceId, batch.segment, batch.from, batch.to],
    )
    if (moved.rowCount !== 1)
      throw new FencedError(`journal ${this.#options.instanceId} is shipped by another process`)
    // In this order, because rolling the partitions locks the tables in it.
    await copy(client, 'requests', batch.tuples.requests)
    await copy(client, 'request_payloads', batch.tuples.request_payloads)
    await copy(client, 'attempts', batch.tuples.attempts)
    await copy(client, 'entries', batch.tuples.entries)
    // Last, because it locks accounts that admissions wait for.
    const settlement = settlementOf(batch.released, batch.charges)
    if (settlement !== undefined) await client.query(settlement)
    await client.query('COMMIT')
  }

  #commit(batch: Batch): void {
    this.#at = batch.to
    this.#shipped.set(batch.segment, Math.max(batch.to, this.#shipped.get(batch.segment) ?? 0))
    // Most requests begin and end in one batch: they never stand in the map of those in flight.
    for (const id of batch.closed) if (!batch.opened.delete(id)) this.#open.delete(id)
    for (const [id, location] of batch.opened) this.#open.set(id, location)
  }

  async #narrow(client: Client, batch: Batch, error: unknown): Promise<void> {
    if (batch.frames > 1) {
      this.#framesMax = Math.ceil(batch.frames / 2)
      return
    }
    const aside = join(
      this.#options.directory,
      '..',
      `set-aside-${this.#options.instanceId}-${batch.segment}-${batch.from}.frame`,
    )
    fs.writeFileSync(aside, this.#buffer.subarray(0, batch.to - batch.from), { mode: 0o600 })
    this.#options.log.error(
      { file: aside, error: String(error) },
      'Postgres refused a journal frame; it is set aside',
    )
    const empty = { ...batch, tuples: { requests: [], request_payloads: [], attempts: [], entries: [] } }
    await this.#ship(client, { ...empty, released: [], charges: new Map() })
    this.#commit(batch)
    this.#framesMax = Number.MAX_SAFE_INTEGER
  }

  #openBytesBySegment(): Map<number, number> {
    const bytes = new Map<number, number>()
    for (const location of this.#open.values()) {
      bytes.set(location.segment, (bytes.get(location.segment) ?? 0) + location.bytes)
    }
    return bytes
  }

  /** Positions stay: all of what is left lies before the shipped position. Answers the new size. */
  #compact(segment: number, path: string): number {
    const kept = [...this.#open.values()].filter((location) => location.segment === segment)
    const frames = kept.map((location) => readAt(path, location))
    fs.writeFileSync(`${path}.compact`, Buffer.concat(frames), { mode: 0o600, flush: true })
    fs.renameSync(`${path}.compact`, path)
    let at = 0
    for (const location of kept) {
      location.at = at
      at += location.bytes
    }
    return at
  }

  #readOpen(location: Location) {
    const bytes = readAt(join(this.#options.directory, segmentName(location.segment)), location)
    const frame = readFrame(bytes, 0)
    if (typeof frame === 'string' || frame.kind !== 'open')
      throw new Error(`no open frame at ${JSON.stringify(location)}`)
    return openRecordOf(frame)
  }
}

async function copy(client: Client, table: keyof typeof copyColumns, tuples: Buffer[]): Promise<void> {
  if (tuples.length === 0) return
  const stream = client.query(copyFrom(`COPY ${table} (${copyColumns[table]}) FROM STDIN (FORMAT binary)`))
  stream.end(Buffer.concat([copyHeader, ...tuples, copyTrailer]))
  await finished(stream)
}

async function existingIds(client: Client, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const found = await client.query<{ id: string }>(
    `SELECT r.id FROM unnest($1::uuid[], $2::timestamptz[]) AS o(id, created_at)
     JOIN requests r ON r.id = o.id AND r.created_at = o.created_at`,
    [ids, ids.map((id) => new Date(momentOf(id)))],
  )
  return new Set(found.rows.map((row) => row.id))
}

function readAt(path: string, location: Location): Buffer {
  const bytes = Buffer.alloc(location.bytes)
  const fd = fs.openSync(path, 'r')
  try {
    fs.readSync(fd, bytes, 0, bytes.length, location.at)
  } finally {
    fs.closeSync(fd)
  }
  return bytes
}

/** Errors that the rows themselves cause: the same batch would fail again. */
function isDataError(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  return /^(22|23)/.test(code)
}
