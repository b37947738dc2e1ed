import { GatewayError } from './error.ts'

/** A GatewayError `invalid_request` about one field; the path `body` stands for the whole body. */
export function invalid(path: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `${path}: ${problem}`, path === 'body' ? {} : { field: path })
}

/** A GatewayError `invalid_request` for a value of the wrong type. */
export function wrongType(value: unknown, path: string, expected: string): GatewayError {
  return invalid(path, `expected ${expected}, got ${kindOf(value)}`)
}

/** A GatewayError `invalid_request` for a value that is none of the words. */
export function wrongWord(value: unknown, path: string, words: readonly string[]): GatewayError {
  if (typeof value !== 'string') return wrongType(value, path, 'a string')
  return invalid(path, `expected ${anyOf(words)}, got ${quoted(value)}`)
}

/** `"a", "b" or "c"`. */
export function anyOf(words: readonly string[]): string {
  const last = words.slice(-1).map((word) => `"${word}"`)
  const others = words.slice(0, -1).map((word) => `"${word}"`)
  return [...(others.length > 0 ? [others.join(', ')] : []), ...last].join(' or ')
}

/** A client's text as it may stand in a message: quoted, and of its first 40 characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text)
}

/** The type of a JSON value, in a word. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
