import { isRecord, type Json } from './json.ts'

declare global {
  /**
   * Access to the source text of numbers: https://github.com/tc39/proposal-json-parse-with-source, available
   * since Node 22.
   */
  interface JSON {
    rawJSON(text: string): { readonly rawJSON: string }
    isRawJSON(value: unknown): value is { readonly rawJSON: string }
    parse(
      text: string,
      reviver: (key: string, value: unknown, context?: { source?: string }) => unknown,
    ): unknown
  }
}

/**
 * Parses JSON so that numbers in opaque parts keep their digits: `1.0`, `1e400` and `12345678901234567890`
 * are written back unchanged. Opaque parts are tool arguments, JSON Schemas and metadata, which we pass on
 * without reading. Elsewhere, numbers are parsed as usual. Throws SyntaxError like JSON.parse. `losesDigits`:
 * whether a scan has found a number that would lose digits; tested here by default.
 */
export function parseKeepingDigits(text: string, losesDigits = mayLoseDigits.test(text)): unknown {
  if (!losesDigits || !mayHaveOpaque(text)) return JSON.parse(text)
  return settled(JSON.parse(text, keepDigits))
}

/**
 * Parses a text that is opaque as a whole, such as tool arguments. Returns undefined if it is not a JSON
 * object.
 */
export function opaqueObject(text: string): Json | undefined {
  try {
    const value: unknown = mayLoseDigits.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function mayHaveOpaque(text: string): boolean {
  return words.some((word) => text.includes(word))
}

const words = ['"tool', '"metadata"', '"schema"', '"functionCall"', '"function_call"'] as const

/**
 * Matches a number with many digits, trailing zeros or an exponent, or -0. The pattern starts with a
 * character that is rare in prose, so that a single search is enough for nearly every body.
 */
const mayLoseDigits = /[:[,]\s*-?(?:\d[\d.]{14}|\d+\.\d*0[\s,}\]]|\d+(?:\.\d+)?[eE]|(?<=-)0[\s,}\]])/

/**
 * Members whose values are opaque. `input` is opaque in a tool call, where it is an object, but not in a
 * Responses request, where it can be an array.
 */
const opaque: ReadonlySet<string> = new Set([
  'parameters',
  'input_schema',
  'parametersJsonSchema',
  'schema',
  'arguments',
  'args',
  'metadata',
])

function keepDigits(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  return typeof value === 'number' && source !== undefined && String(value) !== source
    ? JSON.rawJSON(source)
    : value
}

/** Converts raw numbers outside opaque parts back to numbers. */
function settled(value: unknown): unknown {
  if (Array.isArray(value)) {
    for (const [at, element] of value.entries()) value[at] = settled(element)
    return value
  }
  if (typeof value !== 'object' || value === null) return value
  if (JSON.isRawJSON(value)) return Number(value.rawJSON)
  if (!isRecord(value)) return value
  for (const [name, member] of Object.entries(value)) {
    const isOpaque = opaque.has(name) || (name === 'input' && !Array.isArray(member))
    if (!isOpaque || JSON.isRawJSON(member)) value[name] = settled(member)
  }
  return value
}
