import type { CaptureMode } from '../redaction/redact.ts'

/** An answer that a client got, as the usage log keeps it. */
export interface AnswerRecord {
  /** The request's id: a uuidv7, whose millisecond is the created_at. */
  id: string
  capture: CaptureMode
  /** True: a part of what the client got is missing. */
  truncated: boolean
  /** Redacted JSON: UTF-8 without NUL. */
  answer: Uint8Array
}
