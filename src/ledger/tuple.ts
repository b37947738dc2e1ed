import { type AttemptRecord, type CloseRecord, callsIn, type OpenRecord } from './record.ts'

/**
 * Rows as Postgres's binary COPY takes them, made once on the request's own path so that the shipper only
 * concatenates bytes. https://www.postgresql.org/docs/18/sql-copy.html#SQL-COPY-FILE-FORMATS-BINARY-FORMAT
 */

/** Column order of the tuples, by table. */
export const copyColumns = {
  requests:
    'id, created_at, tenant_id, key_id, group_id, endpoint, client_protocol, upstream_protocol, requested_model, ' +
    'served_model, channel, stream, status, outcome, error_kind, error_message, error_upstream_status, finish_reason, ' +
    'input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, usage_source, stream_end, ' +
    'cost_nano, price_id, price_multiplier, queue_ms, first_token_ms, total_ms, attempt_count, notes, client_address, ' +
    'user_agent, upstream_request_id, idempotency_key, folded',
  request_payloads: 'request_id, created_at, capture, body',
  attempts:
    'request_id, created_at, ordinal, channel, upstream_protocol, upstream_model, reason, status, error_kind, ' +
    'error_message, first_byte_ms, total_ms, upstream_request_id, passed_over',
  entries: 'id, account_id, created_at, kind, amount_nano',
} as const

/** Before the first tuple of a COPY, and after the last. */
export const copyHeader = Buffer.from('5047434f50590aff0d0a000000000000000000', 'hex')
export const copyTrailer = Buffer.from('ffff', 'hex')

/** Milliseconds since the epoch inside a uuidv7: the created_at of the row that bears it. */
export function momentOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

export function writeRequestTuple(out: TupleWriter, open: OpenRecord, close: CloseRecord): void {
  const { usage, error } = close
  out.begin(38)
  out.uuid(open.id)
  out.moment(momentOf(open.id))
  out.uuid(open.tenantId)
  out.uuid(open.keyId)
  out.uuid(open.groupId)
  out.text(open.endpoint)
  out.text(open.clientProtocol)
  out.text(close.upstreamProtocol)
  out.text(open.requestedModel)
  out.text(close.servedModel)
  out.text(close.channel)
  out.bool(open.stream)
  out.int2(close.status)
  out.text(close.outcome)
  out.text(error === null ? null : error.kind)
  out.text(error === null ? null : error.message)
  out.int2(error === null ? null : error.upstreamStatus)
  out.text(close.finishReason)
  out.int4(usage === null ? null : usage.input)
  out.int4(usage === null ? null : usage.cacheRead)
  out.int4(usage === null ? null : usage.cacheWrite)
  out.int4(usage === null ? null : usage.output)
  out.int4(usage === null ? null : usage.reasoning)
  out.text(close.usageSource)
  out.text(close.streamEnd)
  out.int8(close.costNano)
  out.uuid(close.priceId)
  out.text(close.priceMultiplier)
  out.int4(close.queueMs)
  out.int4(close.firstTokenMs)
  out.int4(close.totalMs)
  out.int2(callsIn(close.attempts))
  out.text(close.notes)
  out.text(open.clientAddress)
  out.text(open.userAgent)
  out.text(close.upstreamRequestId)
  out.text(open.idempotencyKey)
  out.int4(close.folded)
}

/** The key and the group in a request's tuple, as 16 bytes each; undefined where it has none. */
export function ownersIn(tuple: Buffer): { key: Buffer | undefined; group: Buffer | undefined } {
  let at = tenantAt
  const next = () => {
    const bytes = tuple.readInt32BE(at)
    at += 4
    if (bytes < 0) return undefined
    at += bytes
    return tuple.subarray(at - bytes, at)
  }
  next()
  return { key: next(), group: next() }
}

/** Behind the number of columns, the id and the moment. */
const tenantAt = 2 + (4 + 16) + (4 + 8)

export function writeAttemptTuple(
  out: TupleWriter,
  id: string,
  ordinal: number,
  attempt: AttemptRecord,
): void {
  out.begin(attemptColumns)
  out.uuid(id)
  out.moment(momentOf(id))
  out.int2(ordinal)
  out.text(attempt.channel)
  out.text(attempt.upstreamProtocol)
  out.text(attempt.upstreamModel)
  out.text(attempt.reason)
  out.int2(attempt.status)
  out.text(attempt.error === null ? null : attempt.error.kind)
  out.text(attempt.error === null ? null : attempt.error.message)
  out.int4(attempt.firstByteMs)
  out.int4(attempt.totalMs)
  out.text(attempt.upstreamRequestId)
  out.bool(attempt.passedOver)
}

/**
 * Tuples of attempts, one behind the other, as they are written now. A journal may hold some of a version that did not
 * know `passed_over`, which was false. What is no such tuple is left as it is.
 */
export function currentAttempts(tuples: Buffer): Buffer {
  if (tuples.length < 2 || tuples.readInt16BE(0) !== attemptColumns - 1) return tuples
  const current: Buffer[] = []
  let from = 0
  while (from + 2 <= tuples.length) {
    let at = from + 2
    for (let column = tuples.readInt16BE(from); column > 0; column--) {
      if (at + 4 > tuples.length) return tuples
      at += 4 + Math.max(0, tuples.readInt32BE(at))
    }
    current.push(attemptHead, tuples.subarray(from + 2, at), notPassedOver)
    from = at
  }
  return Buffer.concat(current)
}

const attemptColumns = 14
const attemptHead = Buffer.from([0, attemptColumns])
/** A boolean of one byte, which is false. */
const notPassedOver = Buffer.from([0, 0, 0, 1, 0])

/** `body` must be valid UTF-8 without NUL, which is what redaction answers with. */
export function writePayloadTuple(out: TupleWriter, id: string, capture: string, body: Buffer): void {
  out.begin(4)
  out.uuid(id)
  out.moment(momentOf(id))
  out.text(capture)
  out.bytes(body)
}

export function writeChargeTuple(out: TupleWriter, id: Buffer, accountId: Buffer, amountNano: bigint): void {
  out.begin(5)
  out.bytes(id)
  out.bytes(accountId)
  out.moment(id.readUIntBE(0, 6))
  out.text('charge')
  out.int8(-amountNano)
}

const postgresEpochMs = Date.UTC(2000, 0, 1)
const int2Max = 32_767
const int4Max = 2_147_483_647

/**
 * Appends to one growing buffer; `length` is for whoever frames what was written.
 *
 * Every request writes some eighty short values here, so they are written byte by byte: a native call for each
 * costs more than the bytes.
 */
export class TupleWriter {
  #buffer: Buffer
  #view: DataView
  length = 0

  constructor(capacityBytes: number) {
    this.#buffer = Buffer.allocUnsafeSlow(capacityBytes)
    this.#view = viewOf(this.#buffer)
  }

  get buffer(): Buffer {
    return this.#buffer
  }

  get view(): DataView {
    return this.#view
  }

  /** Make room; call before any write that could pass the capacity. */
  reserve(bytes: number): void {
    const wanted = this.length + bytes
    if (wanted <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(wanted, this.#buffer.length * 2))
    this.#buffer.copy(larger, 0, 0, this.length)
    this.#buffer = larger
    this.#view = viewOf(larger)
  }

  begin(columns: number): void {
    // Every column but text and bytes takes at most 20 bytes.
    this.reserve(2 + columns * 20)
    this.#view.setInt16(this.length, columns)
    this.length += 2
  }

  text(value: string | null): void {
    if (value === null) {
      this.#null()
      return
    }
    // Room for this text and for the rest of the row, whose begin() counted on it.
    this.reserve(value.length * 3 + 1024)
    const start = this.length + 4
    const written = value.length <= shortText ? this.#writeAscii(value, start) : -1
    const bytes = written >= 0 ? written : this.#buffer.write(withoutNul(value), start, 'utf8')
    this.#view.setInt32(this.length, bytes)
    this.length = start + bytes
  }

  bytes(value: Buffer): void {
    this.reserve(value.length + 1024)
    this.#view.setInt32(this.length, value.length)
    this.#buffer.set(value, this.length + 4)
    this.length += 4 + value.length
  }

  uuid(value: string | null): void {
    if (value === null) {
      this.#null()
      return
    }
    this.#view.setInt32(this.length, 16)
    writeUuid(this.#buffer, value, this.length + 4)
    this.length += 20
  }

  bool(value: boolean): void {
    this.#view.setInt32(this.length, 1)
    this.#view.setUint8(this.length + 4, value ? 1 : 0)
    this.length += 5
  }

  /** Values beyond the type's range are clamped: a count too large must not cost the row. */
  int2(value: number | null): void {
    if (value === null) {
      this.#null()
      return
    }
    this.#view.setInt32(this.length, 2)
    this.#view.setInt16(this.length + 4, clamp(value, int2Max))
    this.length += 6
  }

  int4(value: number | null): void {
    if (value === null) {
      this.#null()
      return
    }
    this.#view.setInt32(this.length, 4)
    this.#view.setInt32(this.length + 4, clamp(value, int4Max))
    this.length += 8
  }

  int8(value: bigint | null): void {
    if (value === null) {
      this.#null()
      return
    }
    this.#view.setInt32(this.length, 8)
    this.#view.setBigInt64(this.length + 4, value)
    this.length += 12
  }

  /** A timestamptz from milliseconds since the epoch. */
  moment(ms: number): void {
    this.#view.setInt32(this.length, 8)
    const us = (ms - postgresEpochMs) * 1000
    // Two halves: a BigInt per row costs more than this arithmetic.
    const high = Math.floor(us / 0x1_0000_0000)
    this.#view.setInt32(this.length + 4, high)
    this.#view.setUint32(this.length + 8, us - high * 0x1_0000_0000)
    this.length += 12
  }

  #null(): void {
    this.#view.setInt32(this.length, -1)
    this.length += 4
  }

  /** The bytes written, or -1 when the text holds anything but plain ASCII. */
  #writeAscii(value: string, start: number): number {
    const buffer = this.#buffer
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i)
      if (code === 0 || code > 0x7f) return -1
      buffer[start + i] = code
    }
    return value.length
  }
}

/** Up to here a loop is cheaper than a native call. */
const shortText = 64

/** Write the 16 bytes of a uuid given as text. */
export function writeUuid(out: Buffer, value: string, at: number): void {
  let place = at
  for (let i = 0; i < 36; i += 2) {
    // The dashes stand before the digits with the numbers 8, 12, 16 and 20.
    if (i === 8 || i === 13 || i === 18 || i === 23) i += 1
    out[place] =
      (hexDigit[value.charCodeAt(i) & 0x7f] ?? 0) * 16 + (hexDigit[value.charCodeAt(i + 1) & 0x7f] ?? 0)
    place += 1
  }
}

const hexDigit = new Uint8Array(128)
for (const [digit, character] of [...'0123456789abcdef'].entries()) {
  hexDigit[character.charCodeAt(0)] = digit
  hexDigit[character.toUpperCase().charCodeAt(0)] = digit
}

function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\\u0000') : text
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}

/** The text of a uuid given as 16 bytes. */
export function uuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

function clamp(value: number, most: number): number {
  if (!(value > 0)) return 0
  return value > most ? most : Math.trunc(value)
}
