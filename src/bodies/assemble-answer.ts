import { isRecord } from '../canonical/json.ts'
import { SseDecoder } from '../protocols/decode-sse.ts'
import { type RedactOptions, redactBody, redactText } from '../redaction/redact.ts'
import { truncateBody } from '../redaction/truncate-body.ts'
import { AnswerChoices, type ClientAnswerFormat } from './answer-choices.ts'

export interface AssembleInput {
  /** What the client got, from the beginning, in pieces. */
  pieces: readonly Uint8Array<ArrayBuffer>[]
  format: ClientAnswerFormat
  /** Whether the pieces are server-sent events. */
  streams: boolean
  /** Whether the client got more than these bytes. */
  isCut: boolean
  /** Secrets that must not appear in any text. */
  exact: readonly string[]
  /** The maximum size of the result. */
  bytesMax: number
}

export interface AssembledAnswer {
  /** JSON: `{"choices": [...]}`, or `{"raw": "..."}` if the format could not be read. */
  bytes: Uint8Array<ArrayBuffer>
  /** Whether a part of what the client got is missing. */
  truncated: boolean
}

/**
 * Assembles the text, tool calls and reasoning that a client got from the bytes sent to it, without secrets.
 * Undefined if nothing can be stored. Never throws, whatever the bytes.
 */
export function assembleAnswer(
  { pieces, format, streams, isCut, exact, bytesMax }: AssembleInput,
  redaction: Pick<RedactOptions, 'key'>,
): AssembledAnswer | undefined {
  const bytes = Buffer.concat(pieces)
  if (bytes.length === 0) return undefined
  const choices = new AnswerChoices(format)
  const isRead = streams ? readStream(choices, bytes) : readWhole(choices, bytes)
  const kept = choices.choices(exact, isCut ? edgeBytes : 0)
  const hasContent = kept.some(({ content, end, error }) => content.length > 0 || end !== null || error)
  const answer = hasContent ? { choices: kept } : { raw: rawOf(bytes, isCut, exact) }
  const json = Buffer.from(JSON.stringify(answer))
  // Most of a long response is usually a single text, so one string may take most of the room.
  const limits = { bytesMax, stringBytesMax: bytesMax - (bytesMax >> 2) }
  const redacted = redactBody(json, 'content', { ...redaction, ...limits, exact })
  if (redacted === null) return undefined
  // Copied, because the next redaction reuses the memory.
  const result = Uint8Array.from(redacted)
  const isTruncated = truncateBody(json, limits, []) !== json
  return { bytes: result, truncated: isCut || isTruncated || choices.isUnread || !isRead }
}

/**
 * The maximum number of bytes of a secret that is cut off at the end and cannot be recognised by its
 * beginning.
 */
const edgeBytes = 512

function readStream(choices: AnswerChoices, bytes: Buffer): boolean {
  const decoder = new SseDecoder(choices, bytes.length)
  decoder.push(bytes)
  decoder.end()
  return true
}

/** Returns false if the bytes are not a complete JSON object. */
function readWhole(choices: AnswerChoices, bytes: Buffer): boolean {
  try {
    const body: unknown = JSON.parse(bytes.toString('utf8'))
    if (!isRecord(body)) return false
    choices.takeWhole(body)
    return true
  } catch {
    return false
  }
}

function rawOf(bytes: Buffer, isCut: boolean, exact: readonly string[]): string {
  const end = isCut ? Math.max(0, bytes.length - edgeBytes) : bytes.length
  return redactText(bytes.toString('utf8', 0, end), exact, end)
}
