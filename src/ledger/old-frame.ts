import { crc32 } from 'node:zlib'
import type { OpenRecord } from './record.ts'

/**
 * Reads the frames of releases up to 3592f34. After an upgrade, the shipper still ships journals of these releases. The
 * check is the CRC-32 of the payload.
 *
 *   open  = 1 | id 16 | json length u32 | json of the OpenRecord | payload tuple (may be empty)
 *   close = 2 | id 16 | flags u8 | account 16 | charge i64 | reserved account 16 | tuple length u32 | request tuple |
 *           attempt tuples
 */

/** The columns of these releases: of their tuples of `requests`, and of `attempts`. */
export const oldRequestColumns: readonly string[] = [
  ...[
    'id',
    'created_at',
    'tenant_id',
    'key_id',
    'group_id',
    'endpoint',
    'client_protocol',
    'upstream_protocol',
  ],
  ...[
    'requested_model',
    'served_model',
    'channel',
    'stream',
    'status',
    'outcome',
    'error_kind',
    'error_message',
  ],
  ...['error_upstream_status', 'finish_reason', 'input_tokens', 'cache_read_tokens', 'cache_write_tokens'],
  ...['output_tokens', 'reasoning_tokens', 'usage_source', 'stream_end', 'cost_nano', 'price_id'],
  ...[
    'price_multiplier',
    'queue_ms',
    'first_token_ms',
    'total_ms',
    'attempt_count',
    'notes',
    'client_address',
  ],
  ...['user_agent', 'upstream_request_id', 'idempotency_key', 'folded'],
]
export const oldAttemptColumns: readonly string[] = [
  ...[
    'request_id',
    'created_at',
    'ordinal',
    'channel',
    'upstream_protocol',
    'upstream_model',
    'reason',
    'status',
  ],
  ...['error_kind', 'error_message', 'first_byte_ms', 'total_ms', 'upstream_request_id', 'passed_over'],
]

export interface OldOpenFrame {
  kind: 'old-open'
  /** Length of the whole frame, header included. */
  bytes: number
  /** Start of the request's id, 16 bytes. */
  idAt: number
  record(): OpenRecord
  /** Start of the tuple of `request_payloads`, which ends with the frame. Empty when no body is kept. */
  payloadAt: number
  end: number
}

export interface OldCloseFrame {
  kind: 'old-close'
  bytes: number
  idAt: number
  /** Start of the charged account, 16 bytes, which the nano-USD follow; -1: nothing is charged. */
  chargeAt: number
  /** Start of the account whose reservation for this request is released; -1: there is no reservation. */
  reservedAt: number
  tupleAt: number
  tupleEnd: number
  attempts: Buffer
}

const charged = 1
const reserved = 2
const idAt = 1
const jsonLengthAt = idAt + 16
const flagsAt = idAt + 16
const accountAt = flagsAt + 1
const chargeAt = accountAt + 16
const reservedAccountAt = chargeAt + 8
const tupleLengthAt = reservedAccountAt + 16
const tupleAt = tupleLengthAt + 4

/** The frame of length `bytes` whose payload is between `start` and `end`. */
export function readOldFrame(
  buffer: Buffer,
  { start, end, bytes, check }: { start: number; end: number; bytes: number; check: number },
): OldOpenFrame | OldCloseFrame | 'damaged' {
  if (crc32(buffer.subarray(start, end)) !== check) return 'damaged'
  if (buffer[start] === 1) {
    const jsonAt = start + jsonLengthAt + 4
    const jsonEnd = jsonAt + buffer.readUInt32LE(start + jsonLengthAt)
    if (jsonEnd > end) return 'damaged'
    const record = () => recordOf(buffer.toString('utf8', jsonAt, jsonEnd))
    return { kind: 'old-open', bytes, idAt: start + idAt, record, payloadAt: jsonEnd, end }
  }
  if (end - start < tupleAt) return 'damaged'
  const tupleEnd = start + tupleAt + buffer.readUInt32LE(start + tupleLengthAt)
  if (tupleEnd > end) return 'damaged'
  const flags = buffer[start + flagsAt] ?? 0
  return {
    kind: 'old-close',
    bytes,
    idAt: start + idAt,
    chargeAt: flags & charged ? start + accountAt : -1,
    reservedAt: flags & reserved ? start + reservedAccountAt : -1,
    tupleAt: start + tupleAt,
    tupleEnd,
    attempts: withPassedOver(buffer.subarray(tupleEnd, end)),
  }
}

/** The record has no members of later releases. */
function recordOf(json: string): OpenRecord {
  const open: Omit<OpenRecord, 'body'> = JSON.parse(json)
  return { ...open, body: null }
}

/**
 * Adds the column `passed_over`, with the value false, to consecutive tuples of `attempts`: the oldest releases did not
 * write it. Returns all other bytes unchanged.
 */
function withPassedOver(tuples: Buffer): Buffer {
  const columns = oldAttemptColumns.length
  if (tuples.length < 2 || tuples.readInt16BE(0) !== columns - 1) return tuples
  const whole: Buffer[] = []
  let from = 0
  while (from + 2 <= tuples.length) {
    let at = from + 2
    for (let column = tuples.readInt16BE(from); column > 0; column--) {
      if (at + 4 > tuples.length) return tuples
      at += 4 + Math.max(0, tuples.readInt32BE(at))
    }
    whole.push(Buffer.from([0, columns]), tuples.subarray(from + 2, at), falseColumn)
    from = at
  }
  return Buffer.concat(whole)
}

/** The length of a boolean, and the byte of false. */
const falseColumn = Buffer.from([0, 0, 0, 1, 0])
