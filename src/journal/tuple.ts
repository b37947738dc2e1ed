/**
 * Rows in the binary format of Postgres's COPY.
 * https://www.postgresql.org/docs/18/sql-copy.html#SQL-COPY-FILE-FORMATS-BINARY-FORMAT
 */

import { latestMs } from '../db/moments.ts'

/** The bytes before the first tuple of a COPY, and after the last. */
export const copyHeader = Buffer.from('5047434f50590aff0d0a000000000000000000', 'hex')
export const copyTrailer = Buffer.from('ffff', 'hex')

/** The size of a head: a uuid and a timestamp, as two columns. */
export const headBytes = 4 + 16 + 4 + 8

/**
 * Appends columns to one growing buffer. The caller frames the bytes by reading and setting `length`.
 * Every request writes about sixty short values here. Their bytes are written in loops, because a native call
 * for each value would cost more than writing the bytes.
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

  /** The bytes so far. Valid until the next write or change of `length`. */
  get written(): Buffer {
    return this.#buffer.subarray(0, this.length)
  }

  /**
   * Makes room. Must be called before a write that could exceed the capacity; `text` and `bytes` do so
   * themselves.
   */
  reserve(bytes: number): void {
    const wanted = this.length + bytes
    if (wanted <= this.#buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(wanted, this.#buffer.length * 2))
    this.#buffer.copy(larger, 0, 0, this.length)
    this.#buffer = larger
    this.#view = viewOf(larger)
  }

  /**
   * Begins a tuple or a part of one by making room for its columns. A whole tuple begins with their number.
   */
  begin(columns: number, whole = true): void {
    // Columns other than texts and bytes take at most 20 bytes.
    this.reserve(2 + columns * columnBytesMax)
    if (!whole) return
    this.#view.setInt16(this.length, columns)
    this.length += 2
  }

  /** Writes two columns: the id of a request (a uuidv7) and the time inside it. */
  head(id: string): void {
    this.uuid(id)
    this.moment(momentIn(this.#buffer, this.length - 16))
  }

  /** Like `head`, for an id in another buffer. */
  headOf(from: Buffer, idAt: number): void {
    this.uuidOf(from, idAt)
    this.moment(momentIn(from, idAt))
  }

  /** Appends bytes of another buffer. */
  copy(from: Buffer, start: number, end: number): void {
    this.reserve(end - start)
    from.copy(this.#buffer, this.length, start, end)
    this.length += end - start
  }

  /** Appends a copy of earlier bytes of this buffer. */
  repeat(from: number, bytes: number): void {
    this.reserve(bytes)
    this.#buffer.copyWithin(this.length, from, from + bytes)
    this.length += bytes
  }

  null(): void {
    this.#view.setInt32(this.length, -1)
    this.length += 4
  }

  /** Appends a text, truncated to `unitsMax` UTF-16 units; see `fitText`. */
  text(value: string, unitsMax: number): void {
    // Makes room for this text and for the rest of the tuple, because begin() only counted short columns.
    this.reserve(Math.min(value.length, unitsMax) * 3 + restBytes)
    const start = this.length + 4
    const written =
      value.length <= shortText && value.length <= unitsMax ? this.#writeAscii(value, start) : -1
    const bytes = written >= 0 ? written : this.#buffer.write(fitText(value, unitsMax), start, 'utf8')
    this.#view.setInt32(this.length, bytes)
    this.length = start + bytes
  }

  bytes(value: Buffer): void {
    this.reserve(value.length + restBytes)
    this.#view.setInt32(this.length, value.length)
    this.#buffer.set(value, this.length + 4)
    this.length += 4 + value.length
  }

  uuid(value: string): void {
    this.#view.setInt32(this.length, 16)
    writeUuid(this.#view, value, this.length + 4)
    this.length += 20
  }

  /** Like `uuid`, for 16 bytes of another buffer. */
  uuidOf(from: Buffer, at: number): void {
    this.#view.setInt32(this.length, 16)
    from.copy(this.#buffer, this.length + 4, at, at + 16)
    this.length += 20
  }

  bool(value: boolean): void {
    this.#view.setInt32(this.length, 1)
    this.#view.setUint8(this.length + 4, value ? 1 : 0)
    this.length += 5
  }

  int2(value: number): void {
    this.#view.setInt32(this.length, 2)
    this.#view.setInt16(this.length + 4, value)
    this.length += 6
  }

  int4(value: number): void {
    this.#view.setInt32(this.length, 4)
    this.#view.setInt32(this.length + 4, value)
    this.length += 8
  }

  int8(value: bigint): void {
    this.#view.setInt32(this.length, 8)
    this.#view.setBigInt64(this.length + 4, value)
    this.length += 12
  }

  /** Writes a timestamptz from milliseconds since the epoch. */
  moment(ms: number): void {
    this.#view.setInt32(this.length, 8)
    const us = (ms - postgresEpochMs) * 1000
    // Written in two halves, which costs less than a BigInt per row.
    const high = Math.floor(us / 0x1_0000_0000)
    this.#view.setInt32(this.length + 4, high)
    this.#view.setUint32(this.length + 8, us - high * 0x1_0000_0000)
    this.length += 12
  }

  /** Writes a one-dimensional array. */
  texts(values: readonly string[], unitsMax: number): void {
    const start = this.length
    this.reserve(24 + restBytes)
    this.#view.setInt32(start + 4, 1)
    this.#view.setInt32(start + 8, 0)
    this.#view.setInt32(start + 12, textOid)
    this.#view.setInt32(start + 16, values.length)
    this.#view.setInt32(start + 20, 1)
    this.length = start + 24
    for (const value of values) this.text(value, unitsMax)
    this.#view.setInt32(start, this.length - start - 4)
  }

  /** Returns the number of bytes written; -1 if the text contains NUL or a non-ASCII character. */
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

const columnBytesMax = 20
/** Room for the columns that follow one of the texts in the longest tuple. */
const restBytes = 64 * columnBytesMax
const postgresEpochMs = Date.UTC(2000, 0, 1)
/** Up to this length, a loop costs less than a native call. */
const shortText = 64
/** https://github.com/postgres/postgres/blob/master/src/include/catalog/pg_type.dat */
const textOid = 25

/**
 * The text, truncated to `unitsMax` UTF-16 units, each of which takes at most 3 bytes. Postgres does not
 * accept NUL, so each NUL is replaced by its escape. Truncation never splits a surrogate pair.
 */
export function fitText(value: string, unitsMax: number): string {
  // Truncated twice, because an escape is longer than its NUL, and a long text need not be escaped to its
  // end.
  const near = value.length > unitsMax ? value.slice(0, unitsMax) : value
  const clean = near.includes('\0') ? near.replaceAll('\0', '\\u0000') : near
  if (clean.length === value.length && clean.length <= unitsMax) return clean
  const cut = clean.slice(0, unitsMax)
  const last = cut.charCodeAt(cut.length - 1)
  const isHalf = cut.length === unitsMax && last >= 0xd800 && last < 0xdc00
  return isHalf ? cut.slice(0, -1) : cut
}

/**
 * The milliseconds since the epoch inside a uuidv7: the created_at of the row with this id. For another kind
 * of uuid, at most the second-to-last moment that Postgres can represent, so that the end of the span after
 * it can be represented too. No row has that moment.
 */
export function momentOf(id: string): number {
  return Math.min(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16), latestMs - 1)
}

/** Like `momentOf`, for a uuidv7 given as 16 bytes. */
export function momentIn(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * 0x1_0000 + bytes.readUInt16BE(at + 4)
}

/** The milliseconds since the epoch of a timestamptz given as 8 bytes. */
export function momentFrom(bytes: Buffer): number {
  return Number(bytes.readBigInt64BE() / 1000n) + postgresEpochMs
}

/** Writes the 16 bytes of a uuid given as text. */
export function writeUuid(out: DataView, value: string, at: number): void {
  const place = wordsOf.get(value) ?? remember(value)
  // In bounds: a remembered place has four words.
  out.setUint32(at, words[place] as number)
  out.setUint32(at + 4, words[place + 1] as number)
  out.setUint32(at + 8, words[place + 2] as number)
  out.setUint32(at + 12, words[place + 3] as number)
}

/**
 * The uuids written lately: where their words are. A request's own id is written three times, and those of
 * its tenant, key and channel come again with the next one, so most need not be read digit by digit.
 */
const wordsOf = new Map<string, number>()
const rememberedMax = 4_096
const words = new Uint32Array(4 * rememberedMax)

function remember(value: string): number {
  if (wordsOf.size === rememberedMax) wordsOf.clear()
  const place = 4 * wordsOf.size
  words[place] = fourDigits(value, 0) * 0x1_0000 + fourDigits(value, 4)
  words[place + 1] = fourDigits(value, 9) * 0x1_0000 + fourDigits(value, 14)
  words[place + 2] = fourDigits(value, 19) * 0x1_0000 + fourDigits(value, 24)
  words[place + 3] = fourDigits(value, 28) * 0x1_0000 + fourDigits(value, 32)
  wordsOf.set(value, place)
  return place
}

function fourDigits(hex: string, at: number): number {
  return (
    (digitOf(hex.charCodeAt(at)) << 12) |
    (digitOf(hex.charCodeAt(at + 1)) << 8) |
    (digitOf(hex.charCodeAt(at + 2)) << 4) |
    digitOf(hex.charCodeAt(at + 3))
  )
}

/** The value of a hexadecimal digit. The character codes of its letters, in either case, have bit 64 set. */
function digitOf(code: number): number {
  return (code & 15) + (code >> 6) * 9
}

/** The text of a uuid given as 16 bytes. */
export function uuidText(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** The end of the column that begins at `at`, where the next one begins. */
export function endOfColumn(bytes: Buffer, at: number): number {
  return at + 4 + Math.max(0, bytes.readInt32BE(at))
}

export function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}
