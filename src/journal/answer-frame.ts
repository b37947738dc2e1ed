import type { AnswerRecord } from './answer-record.ts'
import { checksum } from './checksum.ts'
import { uuidText, viewOf, writeUuid } from './tuple.ts'

/**
 * The frame of an answer: `length u32 | check u32 | payload`, little-endian, like all frames of the journal.
 *
 *   answer = 5 | flags u8 | id 16 | length of capture u8 | capture | answer
 *
 * It has its own files (answer-files.ts), so a release that does not know this kind never encounters it.
 */

const headerBytes = 8
const answerKind = 5
const truncatedFlag = 1
const captureAt = 1 + 1 + 16
/** No frame is longer, because CAPTURE_ANSWER_BYTES_MAX is far below this. */
const payloadBytesMax = 256 * 1024 * 1024

export function answerFrame({ id, capture, truncated, answer }: AnswerRecord): Buffer {
  const word = Buffer.from(capture)
  const payloadBytes = captureAt + 1 + word.length + answer.length
  const frame = Buffer.allocUnsafe(headerBytes + payloadBytes)
  const view = viewOf(frame)
  frame[headerBytes] = answerKind
  frame[headerBytes + 1] = truncated ? truncatedFlag : 0
  writeUuid(view, id, headerBytes + 2)
  frame[headerBytes + captureAt] = word.length
  word.copy(frame, headerBytes + captureAt + 1)
  frame.set(answer, headerBytes + captureAt + 1 + word.length)
  view.setUint32(0, payloadBytes, true)
  view.setUint32(4, checksum(view, headerBytes, frame.length), true)
  return frame
}

export interface ReadAnswer {
  /** The length of the whole frame. */
  bytes: number
  id: string
  capture: string
  truncated: boolean
  answer: string
}

/**
 * Returns the frame at `at`, the number of bytes it needs if it is incomplete, or `damaged` if the bytes are
 * not a frame.
 */
export function readAnswerFrame(buffer: Buffer, at: number): ReadAnswer | { needs: number } | 'damaged' {
  const start = at + headerBytes
  if (start > buffer.length) return { needs: headerBytes }
  const view = viewOf(buffer)
  const length = view.getUint32(at, true)
  if (length <= captureAt || length > payloadBytesMax) return 'damaged'
  const end = start + length
  if (end > buffer.length) return { needs: headerBytes + length }
  if (checksum(view, start, end) !== view.getUint32(at + 4, true)) return 'damaged'
  if (buffer[start] !== answerKind) return 'damaged'
  const answerAt = start + captureAt + 1 + (buffer[start + captureAt] ?? 0)
  if (answerAt > end) return 'damaged'
  return {
    bytes: headerBytes + length,
    id: uuidText(buffer.subarray(start + 2, start + 18)),
    capture: buffer.toString('utf8', start + captureAt + 1, answerAt),
    truncated: ((buffer[start + 1] ?? 0) & truncatedFlag) !== 0,
    answer: buffer.toString('utf8', answerAt, end),
  }
}
