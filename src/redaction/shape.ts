import { createHmac } from 'node:crypto'
import { closingQuote, int32View } from '../canonical/json-quote.ts'
import { replaceSpans } from './secret-span.ts'
import { findSecrets } from './secrets.ts'

/**
 * Returns a JSON body without its content. Every string value becomes `[REDACTED LENGTH=n HASH=8hex]`;
 * structure, numbers and the values of `model`, `role` and `type` are kept. The text is read in one pass, so
 * any depth is safe. From the first byte that is not JSON, the rest becomes one placeholder. The result ends
 * at `bytesMax`.
 */
export function shapeOf(raw: Buffer, options: ShapeOptions): string {
  const out: string[] = []
  let bytes = 0
  let keyName = ''
  let at = 0
  const words = int32View(raw)
  while (at < raw.length) {
    const next = readToken(raw, words, at)
    if (next === undefined) {
      out.push(JSON.stringify(placeholder(raw.toString('utf8', at), options.key)))
      return out.join('')
    }
    let text = next.text
    if (next.kind === 'string') {
      const key = isKey(raw, next.end)
      text = key ? shapeKey(text, options) : shapeValue(text, keyName, options)
      if (key) keyName = next.text
    } else if (next.kind === 'mark' && text !== ':') {
      keyName = ''
    }
    bytes += Buffer.byteLength(text)
    if (bytes > options.bytesMax) {
      out.push(`…[${raw.length - at} bytes cut]…`)
      return out.join('')
    }
    out.push(text)
    at = next.end
  }
  return out.join('')
}

export interface ShapeOptions {
  key: Buffer
  bytesMax: number
  exact?: readonly string[]
}

const keptMembers = new Set(['"model"', '"role"', '"type"'])
const nameLike = /^"[\w.:/-]{1,128}"$/
const keyLengthMax = 128

interface Token {
  kind: 'string' | 'mark' | 'other'
  text: string
  end: number
}

const other = /\s{1,64}|-?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?|true|false|null/y

function readToken(raw: Buffer, words: Int32Array, at: number): Token | undefined {
  const character = String.fromCharCode(raw[at] ?? 0)
  if ('{}[],:'.includes(character)) return { kind: 'mark', text: character, end: at + 1 }
  if (character === '"') {
    const end = closingQuote(raw, words, at + 1, raw.length)
    return end === -1 ? undefined : { kind: 'string', text: raw.toString('utf8', at, end + 1), end: end + 1 }
  }
  const ahead = raw.toString('latin1', at, at + 64)
  other.lastIndex = 0
  if (!other.test(ahead)) return undefined
  return { kind: 'other', text: ahead.slice(0, other.lastIndex), end: at + other.lastIndex }
}

function isKey(raw: Buffer, end: number): boolean {
  let at = end
  while (raw[at] === 0x20 || raw[at] === 0x0a || raw[at] === 0x0d || raw[at] === 0x09) at++
  return raw[at] === 0x3a
}

function shapeKey(literal: string, options: ShapeOptions): string {
  if (literal.length > keyLengthMax) return JSON.stringify(placeholder(unquote(literal), options.key))
  const spans = findSecrets(literal, options.exact)
  const clean = spans.length === 0 ? literal : replaceSpans(literal, spans)
  return clean.replaceAll('\0', '\\u0000')
}

function shapeValue(literal: string, keyName: string, options: ShapeOptions): string {
  if (
    keptMembers.has(keyName) &&
    nameLike.test(literal) &&
    findSecrets(literal, options.exact).length === 0
  ) {
    return literal
  }
  return JSON.stringify(placeholder(unquote(literal), options.key))
}

/** A literal that is not valid JSON (it has a raw line break or an invalid escape) is kept as written. */
function unquote(literal: string): string {
  try {
    return String(JSON.parse(literal))
  } catch {
    return literal.slice(1, -1)
  }
}

function placeholder(text: string, key: Buffer): string {
  const hash = createHmac('sha256', key).update(text).digest('hex').slice(0, 8)
  return `[REDACTED LENGTH=${text.length} HASH=${hash}]`
}
