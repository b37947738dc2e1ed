import type { GatewayError } from '../canonical/error.ts'
import { invalid } from '../canonical/field-error.ts'
import {
  type ByteRange,
  checkText,
  type JsonBounds,
  kindAt,
  parseSpan,
  scanMembers,
  skipSpace,
} from './json-scan.ts'
import type { Watch } from './json-words.ts'
import { modelName } from './model-name.ts'

/**
 * Readers for members that most formats share, using the spans found by `scanMembers`. Hand-written for the
 * hot path: they look at the bytes of a few members and parse nothing else.
 */

/**
 * The named members of a body, found in one scan that checks its grammar and limits. Throws the same errors
 * as `scanMembers`.
 */
export function scanBody<Name extends string>(
  raw: Buffer,
  names: readonly Name[],
  { jsonDepthMax, jsonValuesMax, outline }: JsonBounds,
  watch?: Watch,
): Partial<Record<Name, ByteRange>> {
  checkText(raw, outline?.ends.at(-1))
  const bounds = { depthMax: jsonDepthMax, valuesMax: jsonValuesMax, outline, ...(watch && { watch }) }
  return scanMembers(raw, { start: 0, end: raw.length }, names, bounds)
}

/** Reads a model id, with the rules of `modelName`. Throws GatewayError `invalid_request`. */
export function readModel(raw: Buffer, span: ByteRange | undefined): string {
  if (span === undefined) return modelName(undefined)
  if (kindAt(raw, span.start) !== 'string') throw wrongKind(raw, span, 'model', 'a string')
  return modelName(parseSpan(raw, span, 'model'))
}

/** Throws GatewayError `invalid_request` unless `messages` is a non-empty array. */
export function checkMessages(raw: Buffer, span: ByteRange | undefined): asserts span is ByteRange {
  if (!span) throw invalid('messages', 'required: send a non-empty array of messages')
  if (kindAt(raw, span.start) !== 'array') throw wrongKind(raw, span, 'messages', 'a non-empty array')
  if (skipSpace(raw, span.start + 1, span.end) === span.end - 1) {
    throw invalid('messages', 'expected a non-empty array, got an empty one')
  }
}

/** False if absent or null. */
export function readBoolean(raw: Buffer, span: ByteRange | undefined, path: string): boolean {
  if (!span) return false
  const kind = kindAt(raw, span.start)
  if (kind !== 'boolean' && kind !== 'null') throw wrongKind(raw, span, path, 'a boolean')
  // The scan has checked the literal, so its first letter is sufficient.
  return raw[span.start] === 0x74
}

/** Undefined if absent or null. */
export function readInteger(
  raw: Buffer,
  span: ByteRange | undefined,
  path: string,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (!span) return undefined
  const kind = kindAt(raw, span.start)
  if (kind !== 'number' && kind !== 'null') throw wrongKind(raw, span, path, 'an integer')
  const value = digitsAt(raw, span) ?? parseSpan(raw, span, path)
  if (value === null) return undefined
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least || value > most) {
    const range = most === Number.MAX_SAFE_INTEGER ? `of ${least} or more` : `from ${least} to ${most}`
    throw invalid(path, `expected an integer ${range}, got ${value}`)
  }
  return value
}

/** Reads a number of a few digits without creating a string. */
function digitsAt(raw: Buffer, { start, end }: ByteRange): number | undefined {
  if (end - start > 9) return undefined
  let value = 0
  for (let at = start; at < end; at++) {
    const digit = (raw[at] ?? 0) - 0x30
    if (digit < 0 || digit > 9) return undefined
    value = value * 10 + digit
  }
  return value
}

/**
 * The highest output token limit set by these members. Undefined if there is none, or if one of them is 0,
 * which an upstream could interpret as unlimited.
 */
export function readTokensMax<Name extends string>(
  raw: Buffer,
  members: Partial<Record<Name, ByteRange>>,
  ...names: readonly Name[]
): number | undefined {
  let most: number | undefined
  for (const name of names) {
    const value = readInteger(raw, members[name], name, 0)
    if (value === 0) return undefined
    if (value !== undefined && (most === undefined || value > most)) most = value
  }
  return most
}

/** Returns the span if it is a non-empty string. */
export function stringAt(raw: Buffer, span: ByteRange | undefined): ByteRange | undefined {
  if (span === undefined || kindAt(raw, span.start) !== 'string' || span.end - span.start <= 2)
    return undefined
  return span
}

/** A GatewayError `invalid_request` for a value of the wrong type. */
export function wrongKind(raw: Buffer, span: ByteRange, path: string, expected: string): GatewayError {
  return invalid(path, `expected ${expected}, got ${kindAt(raw, span.start)}`)
}
