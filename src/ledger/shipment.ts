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

/** Another process ships this journal, or has adopted it. */
export class FencedError extends Error {
  override readonly name = 'FencedError'
}

/** When open frames are less than this share of a full segment, the shipment rewrites it to hold only them. */
const compactBelow = 0.25

/**
 * Ships the journal of one process to Postgres in batches, each exactly once: the transaction that writes the rows also
 * moves the position, and only if it still stands where this shipment last saw it.
 *
 * When Postgres refuses the data of a batch, the shipment halves the batch until it finds the bad frame, which it sets
 * aside.
 */
export class Shipment {
  readonly #options: ShipmentOptions
  #reader: BatchReader
  #buffer: Buffer
  #segment = 0
  #at = 0
  #fd: number | undefined
  /** The positions of the segments in Postgres, at the last read or commit. */
  #shipped = new Map<number, number>()
  /** The batch whose transaction has no answer yet. After a lost connection it may or may not be committed. */
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

  /** Read the positions from Postgres. Call it at the start and after every lost connection. */
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

  /** The present end of the journal. One pass ships up to here: under load, the journal never stops growing. */
  end(): { segment: number; bytes: number } {
    const segment = listSegments(this.#options.directory).at(-1) ?? this.#segment
    const path = join(this.#options.directory, segmentName(segment))
    return { segment, bytes: fs.existsSync(path) ? fs.statSync(path).size : 0 }
  }

  isBefore(end: { segment: number; bytes: number }): boolean {
    return this.#segment < end.segment || (this.#segment === end.segment && this.#at < end.bytes)
  }

  /** Ship one batch. Returns false when there is no whole frame to ship now. */
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

  /** Delete shipped segments, and shrink those with few open frames. Returns the number of freed bytes. */
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
   * Adopt the journal of a dead process, once all its frames are shipped. One transaction writes orphaned rows for the
   * open requests, releases the reservations, and marks the instance. Returns the number of orphaned rows.
   */
  async adopt(client: Client): Promise<number> {
    const { open, layout } = this.#reader
    const ids = [...open.keys()].map((id) => uuidText(Buffer.from(id, 'latin1')))
    await client.query('BEGIN')
    // A row exists already when the segment with the close frame was shipped and deleted.
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

  /** Mark this instance as closed. Call it when all frames are shipped and no request is open. */
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
      // The writer uses the next segment, but it may have added to this one after our last read: read once more.
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
    // The next frame is larger than the buffer.
    this.#buffer = Buffer.allocUnsafeSlow(this.#buffer.length * 2)
    return this.#readBatch()
  }

  #newReader(): BatchReader {
    const { directory, growing, log } = this.#options
    return new BatchReader({
      layout: readLayout(directory),
      onDamaged: (segment, at) => {
        // In a journal that grows, the last frame may be half written.
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
    // Settle last: it locks accounts that admissions wait for.
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

  /** Write a batch of one frame as a small journal. A close frame gets its open frame before it. */
  #setAside({ segment, from, to, closed }: Batch): string {
    const { directory, instanceId } = this.#options
    const aside = join(directory, '..', `set-aside-${instanceId}-${segment}-${from}`)
    fs.mkdirSync(aside, { recursive: true, mode: 0o700 })
    writeLayout(aside, this.#reader.layout)
    const out = new TupleWriter(1024)
    for (const id of closed) {
      const opened = this.#reader.open.get(id)
      // Without the body, which was shipped with the original open frame.
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

  /** Keep only the open frames of a segment. They are before the shipped position, which stays valid. Returns the size. */
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

/** True for errors that the rows cause: the same batch would fail again. */
function isDataError(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  return /^(22|23)/.test(code)
}
