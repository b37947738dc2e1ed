import { addCharge, type Charges } from './charges.ts'
import { CopyBuffer } from './copy-buffer.ts'
import { type CloseFrame, payloadColumns, readFrame } from './frame.ts'
import { type Layout, writeNamed } from './layout.ts'
import { addOpenRequest, openRequestColumns } from './open-requests.ts'
import { unknownOpen } from './orphan.ts'
import type { OpenRecord } from './record.ts'
import { openColumns } from './row.ts'
import { standInOf } from './stand-in-row.ts'
import { endOfColumn, TupleWriter, uuidText, viewOf } from './tuple.ts'

/** The open frame of a request that has not ended, with its half of the row. */
export interface OpenRequest {
  segment: number
  at: number
  bytes: number
  /** The memory that contains the half. Nothing overwrites it. */
  source: Buffer
  halfAt: number
  halfEnd: number
}

/**
 * Whole frames of one segment, and the changes that their commit makes. The reader's `copies` contain their
 * tuples.
 */
export interface Batch {
  segment: number
  from: number
  to: number
  frames: number
  /** Requests that began but did not end in this batch, by id as 16 latin1 characters. */
  opened: Map<string, OpenRequest>
  /** Requests that ended in this batch but began in an earlier one. */
  closed: string[]
  /** Ids of requests whose reservations are released. */
  released: string[]
  charges: Charges
}

/** The position in the journal of the bytes that make up a batch. */
export interface BatchSource {
  segment: number
  from: number
  /** Postgres has the segment up to this offset. */
  shipped: number
  framesMax: number
}

export interface BatchReaderOptions {
  /** The layout of the journal. */
  layout: Layout
  /** The process whose running requests are also kept in Postgres; undefined if they are not. */
  keepsOpenOf?: string | undefined
  /** Called if the journal contains the end of this request but not its beginning. */
  onUnknown(id: string): void
}

/**
 * Converts frames of a journal to COPY inputs. Halves of rows and all other tuples are copied byte by byte.
 */
export class BatchReader {
  readonly #options: BatchReaderOptions
  /** Running requests that began in earlier batches. */
  readonly open = new Map<string, OpenRequest>()
  readonly layout: Layout
  readonly copies: readonly CopyBuffer[]
  readonly #requests: CopyBuffer
  readonly #payloads = new CopyBuffer('request_payloads', payloadColumns)
  readonly #attempts: CopyBuffer
  readonly #entries = new CopyBuffer('entries', ['id', 'created_at', 'account_id', 'kind', 'amount_nano'])
  readonly #openRequests = new CopyBuffer('open_requests', openRequestColumns)
  readonly #keyColumn: number

  constructor(options: BatchReaderOptions) {
    this.#options = options
    this.layout = options.layout
    const { open, close, attempts } = this.layout
    this.#keyColumn = open.indexOf('key_id')
    this.#requests = new CopyBuffer('requests', [...open, ...close])
    this.#attempts = new CopyBuffer('attempts', attempts)
    this.copies = [this.#requests, this.#payloads, this.#attempts, this.#entries, this.#openRequests]
  }

  /** Reads the whole frames in `bytes`; undefined if there are none. */
  read(bytes: Buffer, { segment, from, shipped, framesMax }: BatchSource): Batch | undefined {
    for (const copy of this.copies) copy.clear()
    const batch: Batch = {
      segment,
      from,
      to: from,
      frames: 0,
      opened: new Map(),
      closed: [],
      released: [],
      charges: new Map(),
    }
    // A batch is either entirely before or entirely after the shipped position.
    const isShipped = from < shipped
    const view = viewOf(bytes)
    let at = 0
    while (batch.frames < framesMax && !(isShipped && from + at >= shipped)) {
      const bytesTaken = this.#addFrame(batch, bytes, view, at, isShipped)
      if (bytesTaken === 0) break
      at += bytesTaken
      batch.frames += 1
    }
    const { keepsOpenOf } = this.#options
    for (const [id, opened] of batch.opened) {
      copyHalf(opened)
      if (keepsOpenOf !== undefined && !isShipped)
        addOpenRequest(this.#openRequests, keepsOpenOf, id, opened.source)
    }
    batch.to = from + at
    return batch.frames === 0 ? undefined : batch
  }

  /** What is shipped instead of a single frame that Postgres rejects: a row without texts, and its charge. */
  standIn(): readonly CopyBuffer[] {
    const { open, close } = this.layout
    return [standInOf(this.#requests, [...open, ...close]), this.#entries, this.#openRequests]
  }

  /** Records that Postgres has committed the batch. */
  commit({ opened, closed }: Batch): void {
    for (const id of closed) this.open.delete(id)
    for (const [id, one] of opened) this.open.set(id, one)
  }

  /** Adds the frame at `at` to the batch. Returns its length in bytes, or 0 if there is no whole frame. */
  #addFrame(batch: Batch, bytes: Buffer, view: DataView, at: number, isShipped: boolean): number {
    const frame = readFrame(bytes, at, view)
    if (frame === 'incomplete' || frame === 'damaged') return 0
    const id = bytes.toString('latin1', frame.idAt, frame.idAt + 16)
    switch (frame.kind) {
      case 'open': {
        const { bytes: length, halfAt, halfEnd } = frame
        const place = { segment: batch.segment, at: batch.from + at, bytes: length }
        batch.opened.set(id, { ...place, source: bytes, halfAt, halfEnd })
        if (!isShipped) this.#payloads.out.copy(bytes, frame.payloadAt, frame.end)
        break
      }
      case 'close': {
        const opened = batch.opened.get(id) ?? this.open.get(id)
        if (!batch.opened.delete(id)) batch.closed.push(id)
        if (isShipped) break
        if (frame.reservedAt >= 0) batch.released.push(uuidText(bytes.subarray(frame.idAt, frame.idAt + 16)))
        this.#addRow(batch, bytes, frame, opened)
        break
      }
    }
    return frame.bytes
  }

  #addRow(batch: Batch, bytes: Buffer, frame: CloseFrame, known: OpenRequest | undefined): void {
    const opened = known ?? this.#halfOfUnknown(bytes, frame)
    const { out } = this.#requests
    out.begin(this.layout.open.length + this.layout.close.length)
    out.copy(opened.source, opened.halfAt, opened.halfEnd)
    out.copy(bytes, frame.halfAt, frame.halfEnd)
    this.#attempts.out.copy(bytes, frame.attemptsAt, frame.end)
    if (frame.chargeAt < 0) return
    let keyAt = opened.halfAt
    for (let column = 0; column < this.#keyColumn; column++) keyAt = endOfColumn(opened.source, keyAt)
    this.#charge(batch, bytes, frame, { source: opened.source, keyAt })
  }

  #charge(
    batch: Batch,
    bytes: Buffer,
    { idAt, chargeAt }: { idAt: number; chargeAt: number },
    owners: { source: Buffer; keyAt: number },
  ): void {
    const nano = bytes.readBigInt64LE(chargeAt + 16)
    addCharge(batch.charges, { bytes, idAt, accountAt: chargeAt, nano, ...owners })
    const { out } = this.#entries
    out.begin(5)
    out.headOf(bytes, idAt)
    out.uuidOf(bytes, chargeAt)
    out.text('charge', 6)
    out.int8(-nano)
  }

  /** Makes an open half for a request whose open frame is lost. The charged account has the tenant's id. */
  #halfOfUnknown(bytes: Buffer, { idAt, chargeAt }: CloseFrame) {
    const uuidAt = (at: number) => uuidText(bytes.subarray(at, at + 16))
    const id = uuidAt(idAt)
    this.#options.onUnknown(id)
    return this.#halfOf(unknownOpen(id, chargeAt < 0 ? null : uuidAt(chargeAt)))
  }

  #halfOf(open: OpenRecord) {
    const out = new TupleWriter(1024)
    writeNamed(out, this.layout.open, openColumns, open)
    return { source: out.buffer, halfAt: 0, halfEnd: out.length }
  }
}

/**
 * Copies the half of a request that continues after its batch, because the next batch overwrites the memory.
 */
function copyHalf(opened: OpenRequest): void {
  opened.source = Buffer.from(opened.source.subarray(opened.halfAt, opened.halfEnd))
  opened.halfEnd -= opened.halfAt
  opened.halfAt = 0
}
