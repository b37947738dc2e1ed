import { isRecord, type Json } from './json.ts'

declare global {
  /**
   * Numbers by their text: https://github.com/tc39/proposal-json-parse-with-source, which Node 22 and newer
   * have.
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
 * Parse JSON so that the numbers of its opaque parts keep their digits: `1.0`, `1e400` and
 * `12345678901234567890` are written as they came. Opaque are arguments of tools, JSON Schemas and metadata,
 * which we pass on and do not read. Elsewhere, a number is a number. Throws SyntaxError as JSON.parse does.
 * `losesDigits`: whether a scan has found such a number; undefined: none has looked.
 */
export function parseKeepingDigits(text: string, losesDigits = mayLoseDigits.test(text)): unknown {
  if (!losesDigits || !mayHaveOpaque(text)) return JSON.parse(text)
  return settled(JSON.parse(text, keepDigits))
}

/**
 * The JSON object in a text that is opaque as a whole, such as arguments of a tool; undefined if it is
 * anything else.
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
 * A number of many digits, with zeros at its end, with an exponent, or -0. It begins where text of people
 * rarely has such a sign: nearly every body is through in one search.
 */
const mayLoseDigits = /[:[,]\s*-?(?:\d[\d.]{14}|\d+\.\d*0[\s,}\]]|\d+(?:\.\d+)?[eE]|(?<=-)0[\s,}\]])/

/**
 * Members whose values are opaque. `input` of a tool's call is an object; that of a Responses request is not.
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

/** Raw numbers outside of opaque parts become numbers again. */
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
