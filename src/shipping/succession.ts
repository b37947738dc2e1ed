import type { Client } from 'pg'
import type { OpenRequest } from '../journal/batch.ts'
import { findFrame, readFrame, writeBareOpenFrame } from '../journal/frame.ts'
import type { JournalPosition } from '../journal/journal-reader.ts'
import { ownLayout } from '../journal/layout.ts'
import { setAside } from '../journal/set-aside.ts'
import { momentOf, TupleWriter, uuidText } from '../journal/tuple.ts'
import type { Clock } from '../runtime/clock.ts'
import { type Disk, systemDisk } from '../runtime/disk.ts'
import type { Log } from '../telemetry/log.ts'
import { type Durability, registerInstance, registration } from './instances.ts'

/** The segments of the adopted journal, as the process still has them open. */
export interface Tail {
  segments: readonly { number: number; fd: number; end: number }[]
}

export interface SuccessionOptions {
  /** The folder that contains all journals. */
  root: string
  /** The id that was taken for dead. */
  instanceId: string
  /** The id under which the process continues, which no process has used. */
  newInstanceId: string
  pid: number
  durability: Durability
  batchBytes: number
  /** Everything before this position was shipped under the old id. */
  position: JournalPosition
  /** The requests that were open at this position. */
  open: ReadonlyMap<string, OpenRequest>
  disk?: Disk
  clock: Clock
  log: Log
  /** Starts a journal with this new id, which is registered in Postgres, and then calls `setTail`. */
  begin(instanceId: string): void
  /** Writes these frames to the new journal. */
  carry(frames: Uint8Array): void
}

export const setAsideReason =
  'another process took this one for dead and recorded the request as orphaned before it ended here'

/**
 * The continuation of a process that was taken for dead and whose journal was adopted. It gets a new id and a
 * new journal.
 * What the adopter has not seen is carried over: all frames of requests that have no row. A request that the
 * adopter recorded as orphaned keeps that row; its close frame is set aside.
 */
export class Succession {
  readonly #options: SuccessionOptions
  readonly #tail = Promise.withResolvers<Tail>()
  /** By id: the requests that have not ended, with what is known about their beginning. */
  readonly #running = new Map<string, Half | undefined>()
  #hasBegun = false
  #hasCarriedOpen = false
  #position: JournalPosition

  constructor(options: SuccessionOptions) {
    this.#options = options
    this.#position = options.position
    for (const [id, { source, halfAt, halfEnd }] of options.open)
      this.#running.set(uuidText(Buffer.from(id, 'latin1')), { bytes: source.subarray(halfAt, halfEnd) })
  }

  get instanceId(): string {
    return this.#options.newInstanceId
  }

  setTail(tail: Tail): void {
    this.#tail.resolve(tail)
  }

  /**
   * Returns the requests running here that are recorded as orphaned. After an error, it must be called again.
   */
  async run(client: Client): Promise<string[]> {
    await client.query(registerInstance, registration({ ...this.#options, instanceId: this.instanceId }))
    await lockJournal(client, this.#options.instanceId)
    if (!this.#hasBegun) {
      this.#hasBegun = true
      this.#options.begin(this.instanceId)
    }
    const { segments } = await this.#tail.promise
    if (!this.#hasCarriedOpen) await this.#carryOpen(client)
    for (const segment of segments) {
      if (segment.number < this.#position.segment) continue
      if (segment.number > this.#position.segment) this.#position = { segment: segment.number, at: 0 }
      while (await this.#carryNext(client, segment));
    }
    const found = await outcomesOf(client, [...this.#running.keys()])
    return [...this.#running.keys()].filter((id) => found.has(id))
  }

  /** Carries over requests that began before the tail, because their close frames will need them. */
  async #carryOpen(client: Client): Promise<void> {
    const found = await outcomesOf(client, [...this.#running.keys()])
    const out = new TupleWriter(1024)
    for (const [id, half] of this.#running)
      if (!found.has(id) && half !== undefined) writeBareOpenFrame(out, half.bytes)
    this.#carry(out.written)
    this.#hasCarriedOpen = true
  }

  async #carryNext(client: Client, segment: Tail['segments'][number]): Promise<boolean> {
    const { at: from } = this.#position
    // While a long journal is carried over, other processes must not take this one for dead again.
    await client.query('UPDATE instances SET heartbeat_at = now() WHERE id = $1', [this.instanceId])
    const bytes = this.#read(segment, from)
    const frames = framesIn(bytes)
    const found = await outcomesOf(
      client,
      frames.map(({ id }) => id),
    )
    const carried = new TupleWriter(1024)
    const aside = new TupleWriter(1024)
    const begun = new Map<string, Half>()
    const ended: string[] = []
    let requests = 0
    for (const { id, at, end, half } of frames) {
      const outcome = found.get(id)
      if (outcome === undefined) carried.copy(bytes, at, end)
      if (half !== undefined) {
        begun.set(id, { bytes: Buffer.from(half) })
        continue
      }
      ended.push(id)
      if (outcome !== 'orphaned') continue
      const opened = begun.get(id) ?? this.#running.get(id)
      if (opened !== undefined) writeBareOpenFrame(aside, opened.bytes)
      aside.copy(bytes, at, end)
      requests += 1
    }
    const { root, instanceId, disk, clock, log } = this.#options
    // First does what can fail and can be repeated.
    if (requests > 0)
      setAsideLate(
        root,
        clock,
        log,
        { instance: instanceId, segment: segment.number, at: from, bytes: aside.written, requests },
        disk,
      )
    this.#carry(carried.written)
    for (const [id, half] of begun) this.#running.set(id, half)
    for (const id of ended) this.#running.delete(id)
    const last = frames.at(-1)
    // Skips bytes that are not a frame: the adopter has set them aside, or a write was cut off.
    const next = last?.end ?? findFrame(bytes, 1)
    if (next <= 0) return false
    this.#position = { segment: segment.number, at: from + next }
    return this.#position.at < segment.end
  }

  #read(segment: Tail['segments'][number], from: number): Buffer {
    const { batchBytes, disk = systemDisk } = this.#options
    try {
      return readTail(disk, segment, from, batchBytes)
    } catch (error) {
      const { instanceId, log } = this.#options
      const lost = segment.end - from
      log.error(
        { instance: instanceId, segment: segment.number, bytes: lost, error: String(error) },
        'the end of an adopted journal cannot be read: requests that are only recorded there are lost',
      )
      return Buffer.alloc(0)
    }
  }

  #carry(frames: Buffer): void {
    if (frames.length > 0) this.#options.carry(Uint8Array.from(frames))
  }
}

/**
 * The journal must not be adopted while its frames are carried over, but a paused adopter must not block this
 * process.
 */
async function lockJournal(client: Client, instance: string): Promise<void> {
  try {
    await client.query(`SET lock_timeout = '1s'`)
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 7))', [instance])
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === '55P03')) throw error
  }
  await client.query('RESET lock_timeout')
}

/**
 * The former id of a process. `isCarried` means that the new journal contains everything from the former one
 * that Postgres did not have.
 */
export interface Predecessor {
  instanceId: string
  isCarried: boolean
}

/** Called when the whole former journal is in Postgres, so that it need not be read any more. */
export async function endPredecessor(client: Client, instance: string): Promise<void> {
  await client.query('BEGIN')
  await client.query(`UPDATE instances SET state = 'adopted' WHERE id = $1 AND state = 'lost'`, [instance])
  await client.query('DELETE FROM journal_positions WHERE instance_id = $1', [instance])
  await client.query('DELETE FROM open_requests WHERE instance_id = $1', [instance])
  await client.query('COMMIT')
  await client.query('SELECT pg_advisory_unlock(hashtextextended($1, 7))', [instance])
}

interface Half {
  bytes: Buffer
}

export interface LateFrames {
  instance: string
  segment: number
  at: number
  bytes: Buffer
  requests: number
}

/** Sets aside the frames of requests that ended after they were recorded as orphaned. */
export function setAsideLate(
  root: string,
  clock: Clock,
  log: Log,
  { requests, ...aside }: LateFrames,
  disk = systemDisk,
): void {
  const directory = setAside(root, clock, { ...aside, reason: setAsideReason, layout: ownLayout }, disk)
  log.error(
    { directory, requests },
    'requests ended after another process had recorded them as orphaned; set aside',
  )
}

interface TailFrame {
  id: string
  at: number
  end: number
  /** The open half; undefined if the frame ends the request. */
  half: Buffer | undefined
}

function framesIn(bytes: Buffer): TailFrame[] {
  const frames: TailFrame[] = []
  for (let at = 0; at < bytes.length; ) {
    const frame = readFrame(bytes, at)
    if (typeof frame === 'string') break
    const end = at + frame.bytes
    const id = uuidText(bytes.subarray(frame.idAt, frame.idAt + 16))
    const half = frame.kind === 'open' ? bytes.subarray(frame.halfAt, frame.halfEnd) : undefined
    frames.push({ id, at, end, half })
    at = end
  }
  return frames
}

/** Reads at least one whole frame, if there is one. */
function readTail(disk: Disk, { fd, end }: Tail['segments'][number], from: number, bytesMax: number): Buffer {
  const left = Math.max(0, end - from)
  for (let length = Math.min(bytesMax, left); ; length = Math.min(length * 2, left)) {
    const buffer = Buffer.alloc(length)
    const bytes = buffer.subarray(0, disk.readSync(fd, buffer, 0, length, from))
    if (length === left || readFrame(bytes, 0) !== 'incomplete') return bytes
  }
}

/** The outcomes of those requests that have rows. */
async function outcomesOf(client: Client, ids: string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const { rows } = await client.query<{ id: string; outcome: string }>(
    `SELECT r.id, r.outcome FROM unnest($1::uuid[], $2::timestamptz[]) AS o(id, created_at)
     JOIN requests r ON r.id = o.id AND r.created_at = o.created_at`,
    [ids, ids.map((id) => new Date(momentOf(id)))],
  )
  return new Map(rows.map(({ id, outcome }) => [id, outcome]))
}
