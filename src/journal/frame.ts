import { attemptColumns } from './attempt-row.ts'
import { checksum } from './checksum.ts'
import { writeColumns } from './column.ts'
import { type AttemptRecord, type CloseRecord, chargeOf, type OpenRecord } from './record.ts'
import { closeColumns, openColumns } from './row.ts'
import { headBytes, type TupleWriter, viewOf, writeUuid } from './tuple.ts'

/**
 * Journal frames: `length u32 | check u32 | payload`, little-endian, where the check is the XXH32 of the
 * payload.
 *   open  = 3 | half length u32 | open half | payload tuple, if a body is kept
 *   close = 4 | flags u8 | head 32 | account 16 and charge i64, if charged | reserved account 16, if reserved
 *   | half length u32 | close half | attempt tuples
 * A head consists of two columns: the request's id and the time inside it. An open half begins with a head.
 * Halves and tuples are in COPY format, so that the shipper only has to concatenate them.
 */

export const frameHeaderBytes = 8
const openKind = 3
const closeKind = 4
const charged = 1
const reserved = 2
const openHalfAt = 1 + 4
const closeHeadAt = 1 + 1
/** The offsets of the head in the payloads of both kinds. */
export const headInOpen = openHalfAt
export const headInClose = closeHeadAt
/** The offset of the id in a head, after the length of its column. */
const idInHead = 4
/** An open half begins with a head. */
export const idInOpenHalf = idInHead

export function writeOpenFrame(out: TupleWriter, open: OpenRecord): void {
  const start = beginFrame(out, openHalfAt)
  out.buffer[start] = openKind
  out.length = start + openHalfAt
  writeOpenHalf(out, open)
  out.view.setUint32(start + 1, out.length - start - openHalfAt, true)
  if (open.body !== null) writePayloadTuple(out, start + openHalfAt, open.capture, open.body)
  endFrame(out, start)
}

/** Writes an open frame from an existing half, without a body. */
export function writeBareOpenFrame(out: TupleWriter, half: Buffer): void {
  const start = beginFrame(out, openHalfAt)
  out.buffer[start] = openKind
  out.view.setUint32(start + 1, half.length, true)
  out.length = start + openHalfAt
  out.copy(half, 0, half.length)
  endFrame(out, start)
}

export function writeCloseFrame(out: TupleWriter, open: OpenRecord, close: CloseRecord): void {
  const { accountId } = close
  const chargedNano = chargeOf(close)
  const { reservedAccountId } = open
  const start = beginFrame(out, closeHeadAt + headBytes + 16 + 8 + 16 + 4)
  const isCharged = accountId !== null && chargedNano !== null && chargedNano > 0n
  out.buffer[start] = closeKind
  out.buffer[start + 1] = (isCharged ? charged : 0) | (reservedAccountId === null ? 0 : reserved)
  out.length = start + closeHeadAt
  out.head(open.id)
  if (isCharged) {
    writeUuid(out.view, accountId, out.length)
    out.view.setBigInt64(out.length + 16, chargedNano, true)
    out.length += 16 + 8
  }
  if (reservedAccountId !== null) {
    writeUuid(out.view, reservedAccountId, out.length)
    out.length += 16
  }
  const half = out.length + 4
  out.length = half
  writeCloseHalf(out, close)
  out.view.setUint32(half - 4, out.length - half, true)
  for (let i = 0; i < close.attempts.length; i++) {
    const attempt = close.attempts[i]
    if (attempt !== undefined) writeAttemptTuple(out, start + closeHeadAt, open.id, i + 1, attempt)
  }
  endFrame(out, start)
}

/** `body` must be valid UTF-8 without NUL. Redaction ensures that. */
function writePayloadTuple(out: TupleWriter, headAt: number, capture: string, body: Buffer): void {
  out.begin(payloadColumns.length)
  out.repeat(headAt, headBytes)
  out.text(capture, capture.length)
  out.bytes(body)
}

/** The columns of `request_payloads`. */
export const payloadColumns = ['request_id', 'created_at', 'capture', 'body'] as const

/** Makes room for a frame's header and `bytes` of payload. Returns the start of the payload. */
function beginFrame(out: TupleWriter, bytes: number): number {
  out.reserve(frameHeaderBytes + bytes)
  return out.length + frameHeaderBytes
}

function endFrame(out: TupleWriter, start: number): void {
  const { view, length } = out
  view.setUint32(start - frameHeaderBytes, length - start, true)
  view.setUint32(start - 4, checksum(view, start, length), true)
}

/** A frame, as offsets in the buffer from which it was read. */
export type Frame = OpenFrame | CloseFrame

export interface OpenFrame {
  kind: 'open'
  /** The length of the whole frame, including the header. */
  bytes: number
  /** The start of the request's id, which has 16 bytes. */
  idAt: number
  halfAt: number
  halfEnd: number
  /** The start of the tuple of `request_payloads`, which ends with the frame. Empty if no body is kept. */
  payloadAt: number
  end: number
}

export interface CloseFrame {
  kind: 'close'
  bytes: number
  idAt: number
  /** The start of the charged account (16 bytes, followed by the nano-USD); -1 if nothing is charged. */
  chargeAt: number
  /**
   * The start of the account whose reservation for this request is released; -1 if there is no reservation.
   */
  reservedAt: number
  halfAt: number
  halfEnd: number
  /** The start of the tuples of `attempts`, which end with the frame. */
  attemptsAt: number
  end: number
}

/**
 * Returns the frame at `at`. `incomplete`: more bytes are needed, or the frame was only partly written.
 * `damaged`: the bytes are not a frame.
 */
export function readFrame(
  buffer: Buffer,
  at: number,
  view: DataView = viewOf(buffer),
): Frame | 'incomplete' | 'damaged' {
  const start = at + frameHeaderBytes
  if (start > buffer.length) return 'incomplete'
  const length = view.getUint32(at, true)
  if (length < payloadBytesMin) return 'damaged'
  const end = start + length
  if (end > buffer.length) return 'incomplete'
  const bytes = frameHeaderBytes + length
  const check = view.getUint32(at + 4, true)
  const kind = buffer[start]
  if (checksum(view, start, end) !== check) return 'damaged'
  if (kind === openKind) {
    const halfAt = start + openHalfAt
    const halfEnd = halfAt + view.getUint32(start + 1, true)
    if (halfEnd < halfAt + headBytes || halfEnd > end) return 'damaged'
    return { kind: 'open', bytes, idAt: halfAt + idInHead, halfAt, halfEnd, payloadAt: halfEnd, end }
  }
  if (kind !== closeKind) return 'damaged'
  const flags = buffer[start + 1] ?? 0
  let next = start + closeHeadAt + headBytes
  const chargeAt = flags & charged ? next : -1
  if (chargeAt >= 0) next += 16 + 8
  const reservedAt = flags & reserved ? next : -1
  if (reservedAt >= 0) next += 16
  const halfAt = next + 4
  if (halfAt > end) return 'damaged'
  const halfEnd = halfAt + view.getUint32(next, true)
  if (halfEnd > end) return 'damaged'
  const idAt = start + closeHeadAt + idInHead
  return { kind: 'close', bytes, idAt, chargeAt, reservedAt, halfAt, halfEnd, attemptsAt: halfEnd, end }
}

/**
 * Returns where the first whole frame at or after `from` begins; -1 if there is none. A frame is recognised
 * by its checksum. A body cannot look like a frame, because it contains no NUL, whereas the length of every
 * frame that fits into a segment does.
 */
export function findFrame(buffer: Buffer, from: number): number {
  const view = viewOf(buffer)
  for (let at = from; at + frameHeaderBytes + payloadBytesMin <= buffer.length; at++) {
    const kind = buffer[at + frameHeaderBytes] ?? 0
    if (kind !== openKind && kind !== closeKind) continue
    if (at + frameHeaderBytes + view.getUint32(at, true) > buffer.length) continue
    if (typeof readFrame(buffer, at, view) !== 'string') return at
  }
  return -1
}

/** The minimum payload: an open frame with nothing but a head. */
const payloadBytesMin = openHalfAt + headBytes

/**
 * A row of `requests` is written in two halves, as its columns become known. The number of columns, the open
 * half and the close half together are one tuple.
 */

/** Appends the open half, which begins with the row's head. */
function writeOpenHalf(out: TupleWriter, open: OpenRecord): void {
  out.begin(openColumns.length, false)
  out.head(open.id)
  writeColumns(out, openRest, open)
}

function writeCloseHalf(out: TupleWriter, close: CloseRecord): void {
  out.begin(closeColumns.length, false)
  writeColumns(out, closeColumns, close)
}

/** Appends a tuple of `attempts`. `headAt` is the start of its request's head in `out`. */
function writeAttemptTuple(
  out: TupleWriter,
  headAt: number,
  id: string,
  ordinal: number,
  attempt: AttemptRecord,
): void {
  out.begin(attemptColumns.length)
  out.repeat(headAt, headBytes)
  writeColumns(out, attemptRest, { id, ordinal, attempt })
}

const openRest = openColumns.slice(2)
const attemptRest = attemptColumns.slice(2)
