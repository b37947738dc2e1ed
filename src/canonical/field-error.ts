import { type GatewayError, gatewayError } from './error.ts'

/** Creates an error about one field. The path `body` means the whole body. */
export function invalid(path: string, problem: string): GatewayError {
  return gatewayError('field_invalid', { path, problem }, { field: fieldOf(path) })
}

/** Creates an error for a value of the wrong type. */
export function wrongType(value: unknown, path: string, expected: string): GatewayError {
  return gatewayError('field_wrong_type', { path, expected, got: jsonType(value) }, { field: fieldOf(path) })
}

const fieldOf = (path: string) => (path === 'body' ? undefined : path)

/** Creates an error for a value that is not one of the allowed words. */
export function wrongWord(value: unknown, path: string, words: readonly string[]): GatewayError {
  if (typeof value !== 'string') return wrongType(value, path, 'a string')
  const facts = { path, expected: anyOf(words), got: quoted(value) }
  return gatewayError('field_unknown_value', facts, { field: fieldOf(path) })
}

/** `"a", "b" or "c"`. */
export function anyOf(words: readonly string[]): string {
  const last = words.slice(-1).map((word) => `"${word}"`)
  const others = words.slice(0, -1).map((word) => `"${word}"`)
  return [...(others.length > 0 ? [others.join(', ')] : []), ...last].join(' or ')
}

/** A client's text shortened for a message: its first 40 characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text)
}

/** The type name of a JSON value. */
export function jsonType(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
