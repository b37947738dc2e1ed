import * as fs from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import type { Client } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Log } from '../telemetry/log.ts'
import { type Batch, BatchReader, type OpenRequest } from './batch.ts'
import { settlementOf } from './charges.ts'
import { CopyBuffer } from './copy-buffer.ts'
import { writeBareOpenFrame } from './frame.ts'
import { listSegments, segmentName } from './journal-directory.ts'
import { readLayout, writeLayout, writeNamed } from './layout.ts'
import { orphan } from './orphan.ts'
import { closeColumns } from './row.ts'
import { momentOf, TupleWriter, uuidText } from './tuple.ts'

export interface ShipmentOptions {
  directory: string
  instanceId: string
  /** True while the process that writes this journal may write more. */
  growing: boolean
  batchBytes: number
  log: Log
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
  #reader: BatchReader
  #buffer: Buffer
  #segment = 0
  #at = 0
  #fd: number | undefined
  /** How far Postgres has each segment, as last read. */
  #shipped = new Map<number, number>()
  #inDoubt: Batch | undefined
  #framesMax = Number.MAX_SAFE_INTEGER

  constructor(options: ShipmentOptions) {
    this.#options = options
    this.#reader = this.#newReader()
    this.#buffer = Buffer.allocUnsafeSlow(options.batchBytes)
    this.#segment = listSegments(options.directory)[0] ?? 0
  }

  /** Requests in flight. */
  get openCount(): number {
    return this.#reader.open.size
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
      await this.#ship(client, batch, this.#reader.copies)
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

  /** Delete what is shipped whole; answers how many bytes that freed. */
  async deleteShipped(client: Client): Promise<number> {
    let freed = 0
    const openBytes = this.#openBytesBySegment()
    const segments = listSegments(this.#options.directory)
    for (const segment of segments) {
      if (segment >= this.#segment) break
      const path = join(this.#options.directory, segmentName(segment))
      const size = fs.statSync(path).size
      const open = openBytes.get(segment) ?? 0
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
    const { open, layout } = this.#reader
    const ids = [...open.keys()].map((id) => uuidText(Buffer.from(id, 'latin1')))
    await client.query('BEGIN')
    // A close that was shipped from a segment now deleted: the row is there.
    const existing = await existingIds(client, ids)
    const end = new TupleWriter(1024)
    writeNamed(end, layout.close, closeColumns, orphan)
    const rows = new CopyBuffer('requests', [...layout.open, ...layout.close])
    let count = 0
    for (const [i, { source, halfAt, halfEnd }] of [...open.values()].entries()) {
      if (existing.has(ids[i] ?? '')) continue
      rows.out.begin(layout.open.length + layout.close.length)
      rows.out.copy(source, halfAt, halfEnd)
      rows.out.copy(end.buffer, 0, end.length)
      count += 1
    }
    await send(client, rows)
    await client.query('SELECT release_instance($1)', [this.#options.instanceId])
    await this.#endInstance(client, 'adopted')
    await client.query('COMMIT')
    return count
  }

  /** Everything is shipped and nothing is open: forget this instance. */
  async finish(client: Client): Promise<void> {
    await client.query('BEGIN')
    await this.#endInstance(client, 'closed')
    await client.query('COMMIT')
  }

  close(): void {
    if (this.#fd !== undefined) fs.closeSync(this.#fd)
    this.#fd = undefined
  }

  async #endInstance(client: Client, state: 'adopted' | 'closed'): Promise<void> {
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
    const batch = this.#reader.read(this.#buffer.subarray(0, bytes), {
      segment: this.#segment,
      from: this.#at,
      shipped: this.#shipped.get(this.#segment) ?? 0,
      framesMax: this.#framesMax,
    })
    if (batch !== undefined || bytes < this.#buffer.length) return batch
    // One frame is larger than the buffer.
    this.#buffer = Buffer.allocUnsafeSlow(this.#buffer.length * 2)
    return this.#readBatch()
  }

  #newReader(): BatchReader {
    const { directory, growing, log } = this.#options
    return new BatchReader({
      layout: readLayout(directory),
      onDamaged: (segment, at) => {
        // The end of a journal that grows may be half written.
        if (growing) return
        log.error({ segment, at }, 'a journal segment is damaged: the rest of it is skipped')
      },
      onUnknown: (id) =>
        log.error({ id }, 'the beginning of a request is not in the journal: its row has only its end'),
    })
  }

  async #ship(client: Client, batch: Batch, copies: readonly CopyBuffer[]): Promise<void> {
    await client.query('BEGIN')
    const moved = await client.query(
      `INSERT INTO journal_positions AS p (instance_id, segment, position) VALUES ($1, $2, $4)
       ON CONFLICT (instance_id, segment) DO UPDATE SET position = excluded.position WHERE p.position = $3`,
      [this.#options.instanceId, batch.segment, batch.from, batch.to],
    )
    if (moved.rowCount !== 1)
      throw new FencedError(`journal ${this.#options.instanceId} is shipped by another process`)
    for (const copy of copies) await send(client, copy)
    // Last, because it locks accounts that admissions wait for.
    const settlement = settlementOf(batch.released, batch.charges)
    if (settlement !== undefined) await client.query(settlement)
    await client.query('COMMIT')
  }

  #commit(batch: Batch): void {
    this.#at = batch.to
    this.#shipped.set(batch.segment, Math.max(batch.to, this.#shipped.get(batch.segment) ?? 0))
    this.#reader.commit(batch)
  }

  async #isolateRefused(client: Client, batch: Batch, error: unknown): Promise<void> {
    if (batch.frames > 1) {
      this.#framesMax = Math.ceil(batch.frames / 2)
      return
    }
    this.#options.log.error(
      { directory: this.#setAside(batch), error: String(error) },
      'Postgres refused a journal frame; it is set aside',
    )
    await this.#ship(client, { ...batch, released: [], charges: new Map() }, [])
    this.#commit(batch)
    this.#framesMax = Number.MAX_SAFE_INTEGER
  }

  /** A batch of one frame becomes a journal of its own, in which a close frame has its open frame before it. */
  #setAside({ segment, from, to, closed }: Batch): string {
    const { directory, instanceId } = this.#options
    const aside = join(directory, '..', `set-aside-${instanceId}-${segment}-${from}`)
    fs.mkdirSync(aside, { recursive: true, mode: 0o700 })
    writeLayout(aside, this.#reader.layout)
    const out = new TupleWriter(1024)
    for (const id of closed) {
      const opened = this.#reader.open.get(id)
      // Its body was shipped with the open frame that has it.
      if (opened !== undefined) writeBareOpenFrame(out, opened.source.subarray(opened.halfAt, opened.halfEnd))
    }
    out.copy(this.#buffer, 0, to - from)
    fs.writeFileSync(join(aside, segmentName(0)), out.written, { mode: 0o600, flush: true })
    return aside
  }

  #openBytesBySegment(): Map<number, number> {
    const bytes = new Map<number, number>()
    for (const opened of this.#reader.open.values()) {
      bytes.set(opened.segment, (bytes.get(opened.segment) ?? 0) + opened.bytes)
    }
    return bytes
  }

  /** Positions stay: all of what is left lies before the shipped position. Answers the new size. */
  #compact(segment: number, path: string): number {
    const kept = [...this.#reader.open.values()].filter((opened) => opened.segment === segment)
    const frames = kept.map((opened) => this.#readOpen(opened))
    fs.writeFileSync(`${path}.compact`, Buffer.concat(frames), { mode: 0o600, flush: true })
    fs.renameSync(`${path}.compact`, path)
    let at = 0
    for (const opened of kept) {
      opened.at = at
      at += opened.bytes
    }
    return at
  }

  #readOpen({ segment, at, bytes }: OpenRequest): Buffer {
    const frame = Buffer.alloc(bytes)
    const fd = fs.openSync(join(this.#options.directory, segmentName(segment)), 'r')
    try {
      fs.readSync(fd, frame, 0, bytes, at)
    } finally {
      fs.closeSync(fd)
    }
    return frame
  }
}

async function send(client: Client, copy: CopyBuffer): Promise<void> {
  if (copy.isEmpty) return
  const stream = client.query(copyFrom(copy.statement))
  stream.end(copy.end())
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

/** Errors that the rows themselves cause: the same batch would fail again. */
function isDataError(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  return /^(22|23)/.test(code)
}
