import { isUtf8 } from 'node:buffer'
import { replaceSpans } from './secret-span.ts'
import { findSecrets } from './secrets.ts'
import { shapeOf } from './shape.ts'
import { truncateBody } from './truncate-body.ts'
import { windowBytes } from './truncation-edges.ts'

/**
 * `none`: the usage log stores no body. `shape`: it stores the structure, with hashes in place of strings.
 * `content`: it stores the text without secrets.
 */
export type CaptureMode = 'none' | 'shape' | 'content'

export interface RedactOptions {
  /**
   * The key of the hashes in `shape`: equal texts have equal hashes, but a text cannot be guessed from its
   * hash.
   */
  key: Buffer
  /**
   * The maximum size of the result, which can be slightly exceeded when a placeholder is longer than its
   * secret; 0 means that nothing is kept.
   */
  bytesMax: number
  /** A longer JSON string is truncated in the middle. */
  stringBytesMax: number
  /**
   * Secrets known by value: the client's key and the channels' credentials. Those shorter than 8 characters
   * are ignored.
   */
  exact?: readonly string[]
}

/**
 * Returns the part of a body that the usage log can store, truncated first and then redacted; null if nothing
 * is stored. The result is always valid UTF-8 without NUL. If nothing had to change, it is the same buffer;
 * otherwise read it at once, because the next call can overwrite its memory.
 */
export function redactBody(raw: Buffer, capture: CaptureMode, options: RedactOptions): Buffer | null {
  if (capture === 'none' || raw.length === 0 || options.bytesMax === 0) return null
  const exact = (options.exact ?? []).map(asLatin1)
  if (capture === 'shape') return Buffer.from(shapeOf(raw, options), 'utf8')
  return storable(scrubBytes(truncateBody(raw, options, exact), exact))
}

/** The maximum length of an error text, both in a row and in the response to the client. */
export const messageCharactersMax = 4_096

/**
 * Returns the first `charactersMax` characters of an error text, user agent or log line, without secrets, NUL
 * or lone surrogates. The result can be slightly longer when a placeholder is longer than its secret. Only as
 * much of the remaining text is read as is needed to recognise a secret that crosses the end.
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

/** Avoids a closure, because this runs a dozen times for each row. */
function hasOneOf(secrets: readonly string[], text: string): boolean {
  for (const secret of secrets) if (secret.length <= text.length && text.includes(secret)) return true
  return false
}

/** Remembers short texts without secrets, because most names recur from row to row. */
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

/**
 * How far past the end of a text to look for the end of a secret. A longer secret is recognised by its
 * beginning.
 */
function edgeCharacters(exact: readonly string[]): number {
  return exact.reduce((most, { length }) => Math.max(most, length), 2 * windowBytes)
}

/** True if the text ends with the first half of a surrogate pair. */
function isHigh(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00
}

/**
 * Reads the bytes as latin1: secrets are ASCII, every byte keeps its position, and nothing has to be decoded.
 */
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
