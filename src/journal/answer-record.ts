import type { CaptureMode } from '../redaction/redact.ts'

/** An answer that a client received, as stored in the usage log. */
export interface AnswerRecord {
  /** The request's id: a uuidv7, whose millisecond is the row's created_at. */
  id: string
  capture: CaptureMode
  /** True if part of what the client received is missing. */
  truncated: boolean
  /** Redacted JSON: UTF-8 without NUL. */
  answer: Uint8Array
}
