import { isUtf8 } from 'node:buffer'
import { findSecrets, replaceSpans } from './secrets.ts'
import { shapeOf } from './shape.ts'
import { truncateBody } from './truncate-body.ts'

/** What the usage log keeps of a body: nothing, its shape with hashed strings, or its text without secrets. */
export type CaptureMode = 'none' | 'shape' | 'content'

export interface RedactOptions {
  /** Keys the hashes of `shape`, so that equal texts can be told equal but not guessed. */
  key: Buffer
  /** Size of the result; replacing short secrets may exceed it by a little. 0: keep nothing. */
  bytesMax: number
  /** JSON strings longer than this are cut in their middle. */
  stringBytesMax: number
  /** Secrets known by value: the presented key and the channels' credentials. Shorter than 8: ignored. */
  exact?: readonly string[]
}

/**
 * What the usage log may keep of a body; null when nothing. Capped first, scrubbed next.
 * Always valid UTF-8 without NUL. The same buffer when nothing had to change; else to be read at once, because the
 * next call may write to the same memory.
 */
export function redactBody(raw: Buffer, capture: CaptureMode, options: RedactOptions): Buffer | null {
  if (capture === 'none' || raw.length === 0 || options.bytesMax === 0) return null
  const exact = (options.exact ?? []).map(asLatin1)
  if (capture === 'shape') return Buffer.from(shapeOf(raw, options), 'utf8')
  return storable(scrubBytes(truncateBody(raw, options, exact), exact))
}

/** An error text, user agent or log line without secrets, NUL and lone surrogates. */
export function redactText(text: string, exact: readonly string[] = []): string {
  const spans = findSecrets(text, exact)
  const clean = spans.length === 0 ? text : replaceSpans(text, spans)
  return (clean.includes('\0') ? clean.replaceAll('\0', '\\u0000') : clean).toWellFormed()
}

/** Bytes are read as latin1: secrets are ASCII, every byte keeps its place, nothing has to be decoded. */
function scrubBytes(bytes: Buffer, exact: readonly string[]): Buffer {
  const raw = bytes.toString('latin1', 0, bytes.length)
  const text = raw.includes('\\u00') ? withPlainAscii(raw) : raw
  const spans = findSecrets(text, exact)
  return spans.length === 0 ? bytes : Buffer.from(replaceSpans(text, spans), 'latin1')
}

/** Some serializers escape `=`, `&` or `'`; printable ASCII means the same without. */
function withPlainAscii(text: string): string {
  return text.replace(/\\\\|\\u00([2-7][0-9a-fA-F])/g, (written, hex: string | undefined) => {
    if (hex === undefined || hex === '22' || /^5c|7f$/i.test(hex)) return written
    return String.fromCharCode(Number.parseInt(hex, 16))
  })
}

function storable(bytes: Buffer): Buffer {
  const valid = isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'), 'utf8')
  return valid.includes(0) ? Buffer.from(valid.toString('utf8').replaceAll('\0', '\\u0000'), 'utf8') : valid
}

function asLatin1(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}
