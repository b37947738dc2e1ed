import type { AnswerRecord } from './answer-record.ts'
import { checksum } from './checksum.ts'
import { uuidText, viewOf, writeUuid } from './tuple.ts'

/**
 * The frame of an answer: `length u32 | check u32 | payload`, little-endian, as all frames of the journal.
 *
 *   answer = 5 | flags u8 | id 16 | length of capture u8 | capture | answer
 *
 * It is in files of its own (answer-files.ts): a release that does not know its kind never meets it.
 */

const headerBytes = 8
const answerKind = 5
const truncatedFlag = 1
const captureAt = 1 + 1 + 16
/** No frame of ours is longer: CAPTURE_ANSWER_BYTES_MAX is far below it. */
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
  /** Length of the whole frame. */
  bytes: number
  id: string
  capture: string
  truncated: boolean
  answer: string
}

/**
 * The frame at `at`; how many bytes it needs, where some are missing; or `damaged`: the bytes are no
 * frame of ours.
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
