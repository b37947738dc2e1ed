import { crc32 } from 'node:zlib'
import type { CloseRecord, OpenRecord } from './record.ts'
import {
  currentAttempts,
  type TupleWriter,
  writeAttemptTuple,
  writePayloadTuple,
  writeRequestTuple,
  writeUuid,
} from './tuple.ts'

/**
 * Journal frames: `length u32 | crc32 u32 | payload`, little-endian, crc over the payload.
 *
 *   open  = 1 | id 16 | json length u32 | json of the OpenRecord | payload tuple (may be empty)
 *   close = 2 | id 16 | flags u8 | account 16 | charge i64 | reserved account 16 | tuple length u32 | request tuple | attempt tuples
 *
 * The tuples are ready for COPY, so that shipping parses next to nothing.
 */

export const frameHeaderBytes = 8
const openKind = 1
const closeKind = 2
const charged = 1
const reserved = 2
const idAt = 1
const openJsonAt = idAt + 16
const flagsAt = idAt + 16
const accountAt = flagsAt + 1
const chargeAt = accountAt + 16
const reservedAccountAt = chargeAt + 8
const tupleLengthAt = reservedAccountAt + 16
const tupleAt = tupleLengthAt + 4

export function writeOpenFrame(out: TupleWriter, open: OpenRecord): void {
  const { body } = open
  open.body = null
  const json = JSON.stringify(open)
  open.body = body
  const start = beginFrame(out, openJsonAt + 4 + json.length * 3)
  out.buffer[start] = openKind
  writeUuid(out.buffer, open.id, start + idAt)
  const jsonBytes = out.buffer.write(json, start + openJsonAt + 4, 'utf8')
  out.view.setUint32(start + openJsonAt, jsonBytes, true)
  out.length = start + openJsonAt + 4 + jsonBytes
  if (body !== null) writePayloadTuple(out, open.id, open.capture, body)
  endFrame(out, start)
}

export function writeCloseFrame(out: TupleWriter, open: OpenRecord, close: CloseRecord): void {
  const start = beginFrame(out, tupleAt)
  const charge = close.accountId === null || close.costNano === null ? 0n : close.costNano
  out.buffer[start] = closeKind
  writeUuid(out.buffer, open.id, start + idAt)
  out.buffer[start + flagsAt] = (charge > 0n ? charged : 0) | (open.reservedAccountId === null ? 0 : reserved)
  writeUuid(out.buffer, close.accountId ?? nobody, start + accountAt)
  out.view.setBigInt64(start + chargeAt, charge, true)
  writeUuid(out.buffer, open.reservedAccountId ?? nobody, start + reservedAccountAt)
  out.length = start + tupleAt
  writeRequestTuple(out, open, close)
  out.view.setUint32(start + tupleLengthAt, out.length - start - tupleAt, true)
  for (let i = 0; i < close.attempts.length; i++) {
    const attempt = close.attempts[i]
    if (attempt !== undefined) writeAttemptTuple(out, open.id, i + 1, attempt)
  }
  endFrame(out, start)
}

const nobody = '00000000-0000-0000-0000-000000000000'

/** Where a frame's payload starts, after room was made for its header and fixed part. */
function beginFrame(out: TupleWriter, fixedBytes: number): number {
  out.reserve(frameHeaderBytes + fixedBytes)
  return out.length + frameHeaderBytes
}

function endFrame(out: TupleWriter, start: number): void {
  const length = out.length - start
  out.view.setUint32(start - frameHeaderBytes, length, true)
  out.view.setUint32(start - 4, crc32(out.buffer.subarray(start, out.length)), true)
}

export type Frame = OpenFrame | CloseFrame

export interface OpenFrame {
  kind: 'open'
  id: Buffer
  /** Length of the whole frame, header included. */
  bytes: number
  /** Ready for COPY into request_payloads; empty when no body is kept. */
  payloadTuple: Buffer
  json: Buffer
}

export interface CloseFrame {
  kind: 'close'
  id: Buffer
  bytes: number
  /** Nano-USD to take from `account`; 0n: nothing. */
  charge: bigint
  account: Buffer
  /** The account whose reservation for this request is released; undefined when none was taken. */
  reservedAccount: Buffer | undefined
  requestTuple: Buffer
  attemptTuples: Buffer
}

/**
 * The frame at `at`, as views into `buffer`; `incomplete` when more bytes are needed (or its tail was torn);
 * `damaged` when the bytes there cannot be a frame of ours.
 */
export function readFrame(buffer: Buffer, at: number): Frame | 'incomplete' | 'damaged' {
  if (buffer.length - at < frameHeaderBytes) return 'incomplete'
  const length = buffer.readUInt32LE(at)
  if (length < openJsonAt + 4) return 'damaged'
  if (buffer.length - at - frameHeaderBytes < length) return 'incomplete'
  const payload = buffer.subarray(at + frameHeaderBytes, at + frameHeaderBytes + length)
  if (crc32(payload) !== buffer.readUInt32LE(at + 4)) return 'damaged'
  const bytes = frameHeaderBytes + length
  const id = payload.subarray(idAt, idAt + 16)
  if (payload[0] === openKind) {
    const jsonEnd = openJsonAt + 4 + payload.readUInt32LE(openJsonAt)
    const json = payload.subarray(openJsonAt + 4, jsonEnd)
    return { kind: 'open', id, bytes, json, payloadTuple: payload.subarray(jsonEnd) }
  }
  if (payload[0] !== closeKind || length < tupleAt) return 'damaged'
  const flags = payload[flagsAt] ?? 0
  const tupleEnd = tupleAt + payload.readUInt32LE(tupleLengthAt)
  return {
    kind: 'close',
    id,
    bytes,
    charge: flags & charged ? payload.readBigInt64LE(chargeAt) : 0n,
    account: payload.subarray(accountAt, chargeAt),
    reservedAccount: flags & reserved ? payload.subarray(reservedAccountAt, tupleLengthAt) : undefined,
    requestTuple: payload.subarray(tupleAt, tupleEnd),
    attemptTuples: currentAttempts(payload.subarray(tupleEnd)),
  }
}

/** The OpenRecord of an open frame, without its body (which has been shipped by itself). */
export function openRecordOf(frame: OpenFrame): OpenRecord {
  return { ...(JSON.parse(frame.json.toString('utf8')) as Omit<OpenRecord, 'body'>), body: null }
}
