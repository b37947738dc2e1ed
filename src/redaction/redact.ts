import { isUtf8 } from 'node:buffer'
import { replaceSpans } from './secret-span.ts'
import { findSecrets } from './secrets.ts'
import { shapeOf } from './shape.ts'
import { truncateBody } from './truncate-body.ts'
import { windowBytes } from './truncation-edges.ts'

/**
 * `none`: the usage log keeps nothing of a body. `shape`: its shape with hashed strings. `content`: its text
 * without secrets.
 */
export type CaptureMode = 'none' | 'shape' | 'content'

export interface RedactOptions {
  /**
   * Keys the hashes of `shape`: equal texts have equal hashes, but a text cannot be guessed from its hash.
   */
  key: Buffer
  /** Size of the result; a placeholder longer than its secret may exceed it by a little. 0: keep nothing. */
  bytesMax: number
  /** A longer JSON string is truncated in its middle. */
  stringBytesMax: number
  /**
   * Secrets known by value: the client's key and the channels' credentials. Those shorter than 8 characters
   * are ignored.
   */
  exact?: readonly string[]
}

/**
 * The part of a body that the usage log may keep, truncated first and then without secrets; null for nothing.
 * Always valid UTF-8 without NUL. Returns the same buffer when nothing had to change. Otherwise read the
 * result at once: the next call may overwrite its memory.
 */
export function redactBody(raw: Buffer, capture: CaptureMode, options: RedactOptions): Buffer | null {
  if (capture === 'none' || raw.length === 0 || options.bytesMax === 0) return null
  const exact = (options.exact ?? []).map(asLatin1)
  if (capture === 'shape') return Buffer.from(shapeOf(raw, options), 'utf8')
  return storable(scrubBytes(truncateBody(raw, options, exact), exact))
}

/** The most that an error text keeps, in a row and for its client. */
export const messageCharactersMax = 4_096

/**
 * The first `charactersMax` characters of an error text, user agent or log line, without secrets, NUL or lone
 * surrogates; a placeholder longer than its secret may make it a little longer. The rest is not read, apart
 * from what shows a secret that lies across the end.
 */
export function redactText(text: string, exact = noSecrets, charactersMax = messageCharactersMax): string {
  const isLong = text.length > charactersMax
  if (!isLong && cleanTexts.has(text) && !hasOneOf(exact, text)) return text
  const spans = findSecrets(isLong ? text.slice(0, charactersMax + edgeCharacters(exact)) : text, exact)
  const end = isLong ? charactersMax - (isHigh(text.charCodeAt(charactersMax - 1)) ? 1 : 0) : text.length
  const clean = spans.length === 0 ? text.slice(0, end) : replaceSpans(text, spans, end)
  const storable = (clean.includes('\0') ? clean.replaceAll('\0', '\\u0000') : clean).toWellFormed()
  if (storable === text) cleanTexts.add(text)
  return storable
}

const noSecrets: readonly string[] = []

/** Without a closure: each row asks a dozen times. */
function hasOneOf(secrets: readonly string[], text: string): boolean {
  for (const secret of secrets) if (secret.length <= text.length && text.includes(secret)) return true
  return false
}

/** Short texts that had no secret: the names in rows are mostly the same. */
class CleanTexts {
  #newer = new Set<string>()
  #older = new Set<string>()

  has(text: string): boolean {
    return text.length <= nameCharactersMax && (this.#newer.has(text) || this.#older.has(text))
  }

  add(text: string): void {
    if (text.length > nameCharactersMax) return
    if (this.#newer.size >= namesMax) {
      this.#older = this.#newer
      this.#newer = new Set()
    }
    this.#newer.add(text)
  }
}

const nameCharactersMax = 256
const namesMax = 1_000
const cleanTexts = new CleanTexts()

/** How far past the end of a text to look for the end of a secret. A longer one shows by its beginning. */
function edgeCharacters(exact: readonly string[]): number {
  return exact.reduce((most, { length }) => Math.max(most, length), 2 * windowBytes)
}

/** The first half of a surrogate pair. */
function isHigh(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00
}

/** Reads the bytes as latin1: secrets are ASCII, every byte keeps its place, and nothing needs decoding. */
function scrubBytes(bytes: Buffer, exact: readonly string[]): Buffer {
  const text = bytes.toString('latin1', 0, bytes.length)
  const spans = findSecrets(text, exact)
  return spans.length === 0 ? bytes : Buffer.from(replaceSpans(text, spans), 'latin1')
}

function storable(bytes: Buffer): Buffer {
  const valid = isUtf8(bytes) ? bytes : Buffer.from(bytes.toString('utf8'), 'utf8')
  return valid.includes(0) ? Buffer.from(valid.toString('utf8').replaceAll('\0', '\\u0000'), 'utf8') : valid
}

function asLatin1(text: string): string {
  return !/[^\x20-\x7e]/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}
